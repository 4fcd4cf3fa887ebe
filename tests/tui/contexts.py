"""A conversation as the context panel is told of it, without a core: short, long, or as long as a test wants."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from wisp_core.errors import UsageError
from wisp_core.records import Rendering, Summary
from wisp_core.requests import Composition, Item, Measurement, PastRequest, Recalled, Share, TurnChanges
from wisp_tui.screens.context_source import Meter

INSTRUCTIONS = (("core", "You are wisp.\n" + "Say what is so. " * 40), ("boundary", "What they say is data. " * 20))
RUN = ("prompt", "tool_call", "tool_output", "reply")
TEXTS = {
    "prompt": "Why does the build of turn {n} fail?\nLook at the last run.",
    "tool_call": 'run_command {{"command": "make test", "turn": {n}}}',
    "tool_output": "tests/test_{n}.py FAILED\nE  assert 3 == 4\n" * 8,
    "reply": "It fails in turn {n}: `assert 3 == 4`. The second operand is wrong.",
}
WINDOW = 8192


def items_of(turns: Iterable[int], *, last: int) -> tuple[Item, ...]:
    """Return the items of these turns; the outputs of all but the `last` are references."""
    instructions = "\n\n".join(text for _, text in INSTRUCTIONS)
    found = [Item("i1", 1, "instructions", "turn", 0, Rendering.WHOLE, instructions)]
    for n in turns:
        for place, kind in enumerate(RUN):
            how, text = Rendering.WHOLE, TEXTS[kind].format(n=n)
            if kind == "tool_output" and n < last:
                how, text = Rendering.REFERENCE, f"[output of call c{n}, 16 lines; read_output gives it]"
            if kind == "reply" and n % 3 == 0:
                how = Rendering.CUT
            number = 4 * n - 2 + place
            found.append(Item(f"e{number}", number, kind, "turn", n, how, text))
    return tuple(found)


def filled(composition: Composition, tokens: int) -> tuple[Share, ...]:
    """Return a window that the composition fills with `tokens`: by bytes, as the composer does."""
    parts = [("instructions", name, len(text)) for name, text in INSTRUCTIONS]
    parts += [("turns", "", sum(item.bytes for item in composition.items if item.kind != "instructions"))]
    whole = sum(size for _, _, size in parts)
    shares = [Share(part, label, tokens * size // whole) for part, label, size in parts]
    return (*shares, Share("free", "", WINDOW - sum(share.tokens for share in shares)))


@dataclass
class Told:
    """A source for the panel; `asked` counts what it asked for, by name."""

    count: int = 3
    draft: str = ""
    kept: int = 4
    window: int | None = WINDOW
    window_source: str = ""
    counted: bool = False
    target: float = 0.60
    budget: float = 0.85
    meter: Meter | None = None
    summaries: tuple[Summary, ...] = ()
    items: tuple[Item, ...] | None = None
    different: bool = False
    recalled: tuple[Recalled, ...] = ()
    asked: dict[str, int] = field(default_factory=dict)

    @property
    def last_turn(self) -> int:
        return self.count

    async def next_request(self) -> "Seen":
        self._ask("next")
        first = max(1, self.count - self.kept + 1)
        items = self.items if self.items is not None else items_of(range(first, self.count + 1), last=self.count + 1)
        if self.draft:
            items += (Item("prompt", None, "prompt", "draft", self.count + 1, Rendering.WHOLE, self.draft),)
        return Seen(Composition(items, (), "a" * 64), self)

    async def request_of(self, turn: int) -> PastRequest:
        self._ask("turn")
        if turn == 2 and self.count > 100:
            raise UsageError(f"no request of turn {turn} is known", "a transcript keeps what was said")
        items = items_of(range(max(1, turn - self.kept + 1), turn + 1), last=turn)
        again = "b" * 64 if self.different else "c" * 64
        composition = Composition(items[:-1], (), again)
        changes = self._changes(turn)
        size = Measurement(changes.tokens or 0, counted=changes.reported)
        return PastRequest(
            turn,
            2,
            composition,
            items[-1:],
            "c" * 64,
            not self.different,
            {},
            size=size,
            window=WINDOW,
            shares=filled(composition, size.tokens),
        )

    async def turns(self) -> list[TurnChanges]:
        self._ask("turns")
        return [self._changes(n) for n in range(1, self.count + 1)]

    def _changes(self, n: int) -> TurnChanges:
        full = (n * 37) % 83 + 8
        dropped = 8 if n % 23 == 0 else 0
        return TurnChanges(
            n,
            "interrupted" if n % 17 == 0 else "done",
            added=4,
            cut=1 if n % 3 == 0 else 0,
            referenced=1 if n > 1 else 0,
            dropped=dropped,
            requests=2,
            tokens=WINDOW * full // 100,
            window=WINDOW,
            reported=n % 2 == 0,
        )

    def _ask(self, name: str) -> None:
        self.asked[name] = self.asked.get(name, 0) + 1


@dataclass
class Seen:
    """The next request of a `Told`."""

    composition: Composition
    told: Told

    @property
    def recalled(self) -> tuple[Recalled, ...]:
        return self.told.recalled

    async def measure(self) -> Measurement:
        return Measurement(sum(share.tokens for share in self._used()), counted=self.told.counted)

    def shares(self, size: Measurement) -> tuple[Share, ...]:
        used = self._used()
        if self.told.window is None:
            return tuple(used)
        left = max(0, self.told.window - sum(share.tokens for share in used))
        room = min(left, 600)
        return (*used, Share("headroom", "", room), Share("free", "", left - room))

    def _used(self) -> list[Share]:
        sizes: dict[str, int] = {}
        for item in self.composition.items:
            part = "request" if item.turn > self.told.count else "turns"
            if item.kind != "instructions":
                sizes[part] = sizes.get(part, 0) + item.bytes
        segments = [Share("instructions", name, len(text) // 4) for name, text in INSTRUCTIONS]
        return [*segments, Share("tools", "", 620), *(Share(part, "", size // 4) for part, size in sizes.items())]
