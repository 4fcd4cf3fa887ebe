"""Ctrl-O: an output of any size, whole, from stored files as the store makes them."""

import os
import stat
import time
from pathlib import Path

import pytest

from tests.tui.face import shown, until
from tests.tui.paging import Stored, ask, numbered, paged, settled, state
from wisp_core.settings import KIB, MIB
from wisp_tui.screens.pager import PagerScreen
from wisp_tui.widgets.live_output import LiveOutput
from wisp_tui.widgets.page_lines import Place
from wisp_tui.widgets.pages import MOST_CHUNKS, MOST_PAGES, Part, read_text


async def test_only_what_is_scrolled_to_is_read_and_four_pages_at_most_are_held(tmp_path: Path) -> None:
    stored = Stored(tmp_path, numbered(200_000))
    async with paged(stored.read) as (pilot, view):
        assert view.rows[0] == "line 1"
        assert set(stored.offsets) <= {0, 64 * KIB}
        for _ in range(3):
            await pilot.press("pagedown")
        assert set(stored.offsets) <= {0, 64 * KIB}
        await pilot.press("G")
        await settled(pilot)
        assert view.rows[-1] == "line 200000"
        assert len(view.pages._held) <= MOST_PAGES
        assert len(view.pages._chunks) <= MOST_CHUNKS
        assert MOST_PAGES + MOST_CHUNKS <= 4


async def test_every_row_has_the_number_of_its_line_and_a_wrapped_line_has_it_once(tmp_path: Path) -> None:
    stored = Stored(tmp_path, b"a\n" + b"x" * 100 + b"\nb\n")
    async with paged(stored.read, size=(60, 16)) as (pilot, _):
        rows = [row.rstrip("█│ ") for row in shown(pilot.app.screen).split("\n")[1:5]]
        assert [row[:4] for row in rows] == ["  1 ", "  2 ", "    ", "  3 "]
        assert rows[1][4:] + rows[2][4:] == "x" * 100
        assert "lines 1–3 of 3 · 100%" in state(pilot)


async def test_down_to_the_end_and_up_again_shows_every_row_once(tmp_path: Path) -> None:
    data = b"".join(b"%d " % number + b"x" * (number % 170) + b"\n" for number in range(1, 2_000))
    stored = Stored(tmp_path, data)
    async with paged(stored.read) as (pilot, view):
        down = list(view.rows)
        while not view.at_end:
            before = view.shown[-1].place
            await view.move(7)
            down += [row.text for row in view.shown if row.place > before]
        width = view.lines.width
        wanted = [line[at : at + width] for line in data.decode().splitlines() for at in range(0, len(line), width)]
        assert down == wanted
        up = list(view.rows)
        while view.top > Place():
            after = view.shown[0].place
            await view.move(-7)
            up = [row.text for row in view.shown if row.place < after] + up
        assert up == wanted
        await pilot.pause()


async def test_a_line_can_be_gone_to_and_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    stored = Stored(tmp_path, numbered(100_000))
    async with paged(stored.read) as (pilot, view):
        await ask(pilot, "colon", answer="54321")
        assert view.rows[0] == "line 54321"
        await ask(pilot, "g", answer="3")
        assert view.rows[0] == "line 3"
        await ask(pilot, "g", answer="100001")
        assert "there is no line 100,001; there are 100,000" in state(pilot)
        await ask(pilot, "g", answer="x")
        assert "not x" in state(pilot)
        assert view.rows[0] == "line 3"
        await pilot.press("home")
        assert view.rows[0] == "line 1"


async def test_a_search_covers_the_whole_output_both_ways_and_around(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(60_000)]
    for at in (40, 30_000, 59_990):
        lines[at] += " Needle here"
    stored = Stored(tmp_path, "\n".join(lines).encode())
    async with paged(stored.read) as (pilot, view):
        await ask(pilot, "slash", answer="needle")
        found = [view.rows[view.found]]
        for _ in range(2):
            await pilot.press("n")
            await settled(pilot)
            found.append(view.rows[view.found])
        assert found == [lines[40], lines[30_000], lines[59_990]]
        await pilot.press("n")
        await settled(pilot)
        assert view.rows[view.found] == lines[40]
        assert "from the start again" in state(pilot)
        await pilot.press("N")
        await settled(pilot)
        assert view.rows[view.found] == lines[59_990]
        assert "from the end again" in state(pilot)
        await pilot.press("N")
        await settled(pilot)
        assert view.rows[view.found] == lines[30_000]


async def test_a_capital_makes_the_search_exact_and_nothing_found_is_said(tmp_path: Path) -> None:
    stored = Stored(tmp_path, b"error\nError\nERROR (.*)\n")
    async with paged(stored.read) as (pilot, view):
        await ask(pilot, "slash", answer="Error")
        assert view.found == 1
        await ask(pilot, "slash", answer="(.*)")
        assert view.found == 2
        await ask(pilot, "slash", answer="eRROR")
        assert view.found == -1
        assert "not found: eRROR" in state(pilot)


async def test_a_search_is_stopped_by_esc_and_the_pager_stays(tmp_path: Path) -> None:
    stored = Stored(tmp_path, numbered(10))

    async def endless(offset: int) -> Part:
        return Part("nothing\n" * 1000, offset + 8000, 1 << 40)

    async with paged(endless) as (pilot, view):
        await pilot.press("slash")
        pilot.app.screen.line.value = "something"
        await pilot.press("enter")
        await until(pilot, lambda: "Esc stops" in state(pilot))
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, PagerScreen)
        assert "Esc stops" not in state(pilot)
        assert view.rows[0] == "nothing"
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, PagerScreen))
    assert not stored.offsets


async def test_colour_is_kept_over_page_ends_and_every_other_sequence_is_text_or_nothing(tmp_path: Path) -> None:
    data = b"\x1b[31mred\n" + b"still red\n" * 10_000 + b"\x1b[0mplain\x1b]0;PWN\x07 \x1b[2J[/b] \xe2\x80\xae end\n"
    stored = Stored(tmp_path, data)
    async with paged(stored.read) as (pilot, view):

        def colour(row: int) -> int | None:
            found = view.shown[row].line[0][1].color
            return found.number if found is not None else None

        red = 1
        assert colour(0) == red
        await ask(pilot, "g", answer="9000")
        assert colour(0) == red
        await pilot.press("G")
        await settled(pilot)
        assert view.rows[-1].startswith("plain")
        assert "[/b]" in view.rows[-1]
        assert "<U+202E>" in view.rows[-1]
        assert colour(len(view.shown) - 1) != red
        assert not {"\x1b", "\x07", "\u202e"} & set(shown(pilot.app.screen))
        await ask(pilot, "slash", answer="[/b]")
        assert view.found == len(view.rows) - 1


async def test_wide_characters_fill_rows_to_the_edge_and_no_further(tmp_path: Path) -> None:
    stored = Stored(tmp_path, ("漢字" * 50_000 + "\n👩‍👩‍👧 e\u0301 עברית\ttab\n").encode())
    async with paged(stored.read, size=(60, 16)) as (pilot, view):
        for y in range(view.size.height):
            assert view.render_line(y).cell_length == view.size.width
        assert set("".join(view.rows)) == set("漢字")
        await pilot.press("w")
        for _ in range(4):
            await pilot.press("right")
        assert view.render_line(0).cell_length == view.size.width
        await pilot.press("G")
        await settled(pilot)
        assert view.shown[-1].number == 2


async def test_unwrapped_a_line_is_one_row_that_goes_on_to_the_side(tmp_path: Path) -> None:
    line = "".join(f"{number:>10}" for number in range(1, 201))
    stored = Stored(tmp_path, f"{line}\nshort\n".encode())
    async with paged(stored.read, size=(60, 16)) as (pilot, view):
        assert len(view.rows) > 3
        await pilot.press("w")
        assert view.rows == [line, "short"]
        assert "not wrapped" in state(pilot)
        await pilot.press("right", "right")
        assert view.render_line(0).text[4:-1] == line[32 : 32 + view.lines.width]
        await ask(pilot, "slash", answer=" 150")
        assert " 150" in view.render_line(0).text
        await pilot.press("w")
        assert len(view.rows) > 3


async def test_a_resize_keeps_what_is_at_the_top(tmp_path: Path) -> None:
    stored = Stored(tmp_path, (b"%050d " * 3 + b"\n") % (1, 2, 3) * 5_000)
    async with paged(stored.read, size=(100, 30)) as (pilot, view):
        await ask(pilot, "g", answer="2500")
        for size in ((60, 16), (200, 50), (100, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert view.shown[0].number == 2500
            assert len(view.shown) == view.size.height


async def test_lines_are_chosen_and_copied_without_a_mouse(tmp_path: Path) -> None:
    stored = Stored(tmp_path, b"one\n\x1b[1mtwo\x1b[0m\tx\nthree\nfour\n")
    async with paged(stored.read, size=(60, 16)) as (pilot, view):
        await pilot.press("c")
        assert pilot.app.copied == "one"
        await pilot.press("down", "v", "down", "down")
        assert "choosing" in state(pilot)
        assert "›" in view.render_line(2).text
        await pilot.press("c")
        assert pilot.app.copied == "one\ntwo\tx\nthree"
        await pilot.press("v", "G")
        await settled(pilot)
        await pilot.press("c")
        assert pilot.app.copied == "one\ntwo\tx\nthree\nfour"
        await ask(pilot, "slash", answer="two")
        await pilot.press("c")
        assert pilot.app.copied == "two\tx"


async def test_of_too_long_a_line_the_first_part_is_copied_and_that_is_said(tmp_path: Path) -> None:
    stored = Stored(tmp_path, b"a\n" + b"x" * MIB)
    async with paged(stored.read) as (pilot, _):
        await ask(pilot, "g", answer="2")
        await ask(pilot, "slash", answer="x")
        await pilot.press("c")
        assert pilot.app.copied == "x" * (256 * KIB)
        assert "the first 256 KiB of it" in state(pilot)


async def test_the_whole_is_saved_to_a_new_private_file_and_to_no_other(tmp_path: Path) -> None:
    data = ("å漢\tx\r\n" * 30_000).encode()
    stored = Stored(tmp_path, data)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "there").write_text("mine")
    (folder / "link").symlink_to(folder / "nowhere")
    async with paged(stored.read, folder=folder) as (pilot, _):
        await ask(pilot, "s", answer="out.txt")
        assert (folder / "out.txt").read_bytes() == data
        assert stat.S_IMODE((folder / "out.txt").stat().st_mode) == 0o600
        assert "saved" in state(pilot)
        for name, why in (
            ("there", "is there already"),
            ("link", "is there already"),
            ("no/such/folder", "could not be written"),
            (".", "could not be written"),
        ):
            await ask(pilot, "s", answer=name)
            assert why in state(pilot) or "is there already" in state(pilot)
        await ask(pilot, "s", answer="  ")
        assert sorted(os.listdir(folder)) == ["link", "out.txt", "there"]
        assert (folder / "there").read_text() == "mine"


async def test_a_running_calls_output_is_followed_and_becomes_the_stored_one(tmp_path: Path) -> None:
    live = LiveOutput()
    live.add("first\n")
    stored = Stored(tmp_path, numbered(500))
    async with paged(stored.read, live=live, size=(60, 16)) as (pilot, view):
        assert view.rows == ["first"]
        assert "following" in state(pilot)
        assert "still running" in shown(pilot.app.screen)
        for number in range(30_000):
            live.add(f"more {number}\n")
        await until(pilot, lambda: view.rows[-1] == "more 29999")
        await pilot.press("up")
        row = view.rows[0]
        live.add("and more\n")
        await pilot.pause()
        assert view.rows[0] == row
        await pilot.press("f")
        await until(pilot, lambda: view.rows[-1] == "and more")
        live.end()
        live.close()
        await until(pilot, lambda: view.rows[-1] == "line 500")
        await settled(pilot)
        assert "still running" not in shown(pilot.app.screen)
        await pilot.press("f")
        assert "nothing to follow" in state(pilot)


async def test_what_is_left_of_a_followed_output_stays_where_it_was_when_it_ends(tmp_path: Path) -> None:
    live = LiveOutput()
    live.add(numbered(300).decode())
    stored = Stored(tmp_path, numbered(400))
    async with paged(stored.read, live=live, size=(60, 16)) as (pilot, view):
        await until(pilot, lambda: view.rows and view.rows[-1] == "line 300")
        await ask(pilot, "g", answer="100")
        live.end()
        await until(pilot, lambda: view.pages.lines == 400 or view.pages.total > 3_000)
        assert view.rows[0] == "line 100"
    live.close()


async def test_an_empty_output_and_one_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    async with paged(read_text("")) as (pilot, view):
        assert view.rows == []
        assert "there is nothing in it" in state(pilot)
        for key in ("G", "pagedown", "up", "n", "v", "c", "w", "slash", "escape"):
            await pilot.press(key)
        await settled(pilot)

    async def gone(_offset: int) -> Part:
        raise FileNotFoundError(2, "No such file or directory")

    async with paged(gone) as (pilot, _):
        assert "could not be read on: No such file" in shown(pilot.app.screen)


async def test_that_nothing_more_is_kept_is_said(tmp_path: Path) -> None:
    async with paged(read_text("one\ntwo\n", "as the tool returned it; nothing more is kept")) as (pilot, view):
        assert view.rows == ["one", "two"]
        assert "nothing more is kept" in shown(pilot.app.screen)


@pytest.mark.parametrize(
    "data",
    [
        b"x" * (16 * MIB),
        "漢".encode() * (16 * MIB // 3),
        b"a line of some words, as many are\n" * (16 * MIB // 34),
        b"\n" * MIB,
    ],
    ids=["one line", "one wide line", "many lines", "empty lines"],
)
async def test_sixteen_mebibytes_are_walked_in_little_time_and_memory(tmp_path: Path, data: bytes) -> None:
    stored = Stored(tmp_path, data)
    async with paged(stored.read) as (pilot, view):
        began = time.monotonic()
        await pilot.press("G")
        await settled(pilot)
        assert view.at_end
        for _ in range(10):
            await pilot.press("up", "pageup")
        await ask(pilot, "g", answer="1")
        await ask(pilot, "slash", answer="not in it")
        assert "not found" in state(pilot)
        assert time.monotonic() - began < 30
        assert len(view.pages._held) + len(view.pages._chunks) <= 4
