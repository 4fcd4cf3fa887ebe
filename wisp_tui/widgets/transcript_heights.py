"""The heights of blocks as a Fenwick tree: the top of a block, and the block at a row, in logarithmic time. Pure."""

from collections.abc import Iterable


class Heights:
    """Heights in rows, in order; all are non-negative."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for index in range(1, len(self._tree)):
            parent = index + (index & -index)
            if parent < len(self._tree):
                self._tree[parent] += self._tree[index]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """All rows."""
        return self.top(len(self._heights))

    def after(self, heights: Iterable[int]) -> "Heights":
        """Return these heights behind others."""
        return Heights([*heights, *self._heights])

    def append(self, height: int) -> None:
        """Add a block at the end."""
        self._heights.append(height)
        index = len(self._heights)
        low = index & -index
        self._tree.append(height + self.top(index - 1) - self.top(index - low))

    def set(self, index: int, height: int) -> int:
        """Change a height; return by how much."""
        change = height - self._heights[index]
        if change:
            self._heights[index] = height
            at = index + 1
            while at < len(self._tree):
                self._tree[at] += change
                at += at & -at
        return change

    def top(self, index: int) -> int:
        """Return the row at which block `index` begins; of one past the last, the total."""
        found = 0
        while index > 0:
            found += self._tree[index]
            index -= index & -index
        return found

    def find(self, row: int) -> tuple[int, int]:
        """Return (block, row in it) at a row of the whole; past the end, (number of blocks, rows past it)."""
        at, left = 0, row
        step = 1 << len(self._heights).bit_length()
        while step:
            ahead = at + step
            if ahead < len(self._tree) and self._tree[ahead] <= left:
                at = ahead
                left -= self._tree[ahead]
            step >>= 1
        return at, left
