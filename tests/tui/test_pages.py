"""A text of any size in pages: its lines, its rows and what is found in it, without a screen."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tests.tui.paging import Stored
from wisp_core.settings import KIB
from wisp_tui.widgets.page_lines import PageLines, Place
from wisp_tui.widgets.page_search import Needle, search
from wisp_tui.widgets.pages import Pages, Part


async def test_every_place_in_one_line_is_found_across_pages_and_pieces(tmp_path: Path) -> None:
    data = bytearray(b"." * (300 * KIB))
    ats = [10, 64 * KIB - 3, 150_000, 300 * KIB - 6]
    for at in ats:
        data[at : at + 6] = b"needle"
    lines = PageLines(Pages(Stored(tmp_path, bytes(data)).read))
    lines.fit(80, Style(), wrapped=True)
    place, found = Place(at=-1), []
    while (
        next_one := await search(lines, Needle("needle"), start=place, back=False, tell=lambda _: None)
    ) and not next_one[1]:
        place = next_one[0]
        found.append(lines.pages.offset(place.chunk) + place.at)
    assert found == ats


@given(
    st.lists(st.text(st.sampled_from("ab\n\r\t漢é\x1b[31m😀"), max_size=40), max_size=60).map("".join),
    st.integers(1, 60),
    st.integers(2, 30),
)
async def test_the_rows_of_any_text_in_pages_of_any_size_are_the_text(text: str, size: int, width: int) -> None:
    data = text.encode()

    async def read(offset: int) -> Part:
        return Part(*_piece(data, offset, size))

    pages = Pages(read)
    lines = PageLines(pages)
    lines.fit(width, Style(), wrapped=True)
    await lines.read_to_end(lambda _: None)
    assert pages.lines == text.count("\n") + (not text.endswith("\n") and bool(text))
    forward: list[Place] = []
    place: Place | None = await lines.row_of(Place())
    while place is not None and await lines.laid(place) is not None:
        forward.append(place)
        place = await lines.after(place)
    backward: list[Place] = []
    place = await lines.end() if forward else None
    while place is not None:
        backward.append(place)
        place = await lines.before(place)
    assert backward[::-1] == forward
    for number, line in enumerate(text.split("\n")[: pages.lines], 1):
        found = await pages.find_line(number)
        assert found is not None
        chunk = await pages.chunk(found[0])
        assert chunk is not None
        assert line.startswith(chunk.lines[found[1]])


def _piece(data: bytes, offset: int, size: int) -> tuple[str, int | None, int]:
    end = min(len(data), offset + max(4, size))
    while end < len(data) and 0x80 <= data[end] < 0xC0:
        end -= 1
    return data[offset:end].decode(), end if end < len(data) else None, len(data)
