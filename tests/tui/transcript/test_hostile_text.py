"""Text from outside is shown and does nothing, whatever it is and wherever it stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.transcript.samples import call, entry, output
from tests.tui.transcript.stage import in_view, said, staged, whole
from wisp_core.records import CallContent, CommandContent, Outcome, OutputContent, PromptContent, ReplyContent, Turn
from wisp_tui.widgets.transcript import Transcript

MARKUP = r"see [/INST] a[0] [=1] z [b + [@click=app.quit]x[/] \[q] [link=x] [bold]y"
HOSTILE = {
    "markup": MARKUP,
    "escapes": "before\x1b[2J\x1b[Hafter\x1b]0;PWN\x07\x1b]52;c;aGFjaw==\x07\x9b31m\rCR\bBS\x00\n",
    "hyperlink": "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\",
    "device control": "\x1bPq#0;2;0;0;0\x1b\\ \x1b_apc\x1b\\ \x1b^pm\x1b\\ \x90dcs\x9c",
    "unfinished": "\x1b[ \x1b] \x1b \x1b[38;2; \x1b[999999999999m \x1b[38;5m \x1b[m",
    "bidi": "safe\u202egnp.exe\u2066x\u2069 \u200fy \u061c",
    "zero width": "a\u200bb\u200cc\u200dd\ufeffe\u2060f\u00adg",
    "tags": "x" + "".join(chr(0xE0000 + ord(c)) for c in "hidden") + "y",
    "combining": "a" + "\u0301" * 3000 + "b",
    "leading marks": "\u0301\u200d\ufe0f" * 40,
    "separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "tabs": "\ta\tb\t漢\t" * 30,
    "wide": "漢字" * 200 + "👩‍👩‍👧‍👦" * 60 + "🇩🇪" * 40 + "❤️" * 40,
    "right to left": "שלום עולם مرحبا " * 30,
    "joiners": "a\u200db \u200d\u0915\u094d\u200d\u0937 \ufe0f*\u200d*👩*\u200d*🚀 **❤**\ufe0f",
    "surrogates": "x\ud800y\udfffz",
    "entities": "&#27;[2J &#x1b;]0;x&#7; &#x202e;abc &#8232; &lt;b&gt; &#155;",
    "html": "<script>alert(1)</script> <!-- hidden --> <b>bold</b>",
    "links": "[x](javascript:alert(1)) [y](file:///etc/passwd) ![i](http://e/x.png) [r]: http://hidden\n\n[r]",
    "nested": "> " * 300 + "deep " + "- " * 300,
    "brackets": "[" * 3000 + "![[" * 500 + "*_" * 900 + "`" * 99,
    "half a table": "| a | b\n|---|\n| c | d | e |\n|-",
    "half a fence": "```py\x1b[2J [/b]\nx = 1\n~~~",
    "one long line": "x" * 50_000,
    "digits as a list": "999999999. a\n1000000000. b\n0) c",
    "escape in a fence": "```\x1b]0;x\x07\n\x1b[31mred\x9b2J\n```\n",
}
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def fill(transcript: Transcript, text: str) -> None:
    """Put a text through every sink of the widget."""
    transcript.show_welcome(["wisp", text])
    transcript.show(entry(1, PromptContent(text)))
    transcript.show(entry(2, CommandContent(text, text, 1)))
    transcript.show(entry(3, ReplyContent(text, text)))
    transcript.show(entry(4, CallContent("c1", text, text)))
    transcript.stream("output", text, call="c1")
    transcript.status_of_call("c1", text)
    transcript.show(entry(5, OutputContent("c1", text, text, bytes=len(text), lines=1)))
    transcript.show(call(6, "c2", command=text))
    transcript.show(output(7, "c2", text=text, ok=False))
    transcript.show(output(8, text, text=text))
    transcript.stream("reasoning", text)
    transcript.stream("reply", text)
    transcript.stream(text, text, call=text)
    transcript.note(text, "warning")
    transcript.note(text, text)
    transcript.view(text, text)
    transcript.mark_turn(Turn(1, 1, "", Outcome.FAILED, text))


def check(transcript: Transcript) -> None:
    for block in transcript.blocks:
        block.toggle()
    for row in [*whole(transcript), *in_view(transcript)]:
        assert not FORBIDDEN.search(row), ascii(row[:200])
    for block in transcript.blocks:
        for row in block.drawn.rows if block.drawn else []:
            assert all(style.link is None and not style.meta for _, style in row.spans)


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_text_is_inert_in_every_sink(name: str) -> None:
    async with staged((60, 16)) as (transcript, pilot):
        fill(transcript, HOSTILE[name])
        await pilot.pause(0.15)
        check(transcript)
        await pilot.resize_terminal(33, 9)
        await pilot.pause()
        check(transcript)


async def test_hostile_text_in_a_view_of_hardly_any_width_does_no_harm() -> None:
    for width in (1, 2, 3, 5, 9):
        async with staged((width, 3)) as (transcript, pilot):
            for text in ("escapes", "wide", "half a table", "nested"):
                fill(transcript, HOSTILE[text])
            await pilot.pause()
            check(transcript)


@given(st.text(alphabet="ab \n\t\r`~|-#*_[]()<>!&;:1.\x1b\x9b漢\u0301\u200d\u202e👍\ud800", max_size=200))
def test_any_reply_renders_to_rows_that_fit_and_hold_no_control(text: str) -> None:
    from tests.tui.transcript.plain import PLAIN
    from wisp_tui.widgets.render_chunks import chunks_of
    from wisp_tui.widgets.render_markdown import render_chunk
    from wisp_tui.widgets.render_text import width_of

    for width in (8, 21):
        for chunk in chunks_of(text):
            for row in render_chunk(chunk, width, palette=PLAIN).rows:
                assert width_of(row.spans) <= width
                assert not FORBIDDEN.search("".join(part for part, _ in row.spans))


async def test_markup_is_shown_character_for_character() -> None:
    async with staged((100, 40)) as (transcript, pilot):
        transcript.show(entry(1, PromptContent(MARKUP)))
        transcript.show(call(2, "c1"))
        transcript.show(output(3, "c1", text=MARKUP))
        transcript.note(MARKUP)
        await pilot.pause()
        assert said(transcript).count("".join(MARKUP.split())) == 3


async def test_an_escape_in_a_reply_is_seen_as_a_picture() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(entry(1, ReplyContent("a\x1b[2Jb\x9bc")))
        await pilot.pause()
        assert "a␛[2Jb<U+009B>c" in said(transcript)


async def test_text_in_an_operating_system_command_is_seen_and_not_swallowed() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1"))
        transcript.show(output(2, "c1", text="a\x1b]0;secret\x07b\x1b[2J\x1b[1;31mred\x1b[0m"))
        await pilot.pause()
        assert "a␛]0;secret␇bred" in said(transcript)


async def test_html_and_what_markdown_hides_are_seen() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(entry(1, ReplyContent("<!-- hidden --> <b>x</b>\n\n[r]: http://hidden\n\n[t](http://t)")))
        await pilot.pause()
        shown = said(transcript)
        assert "<!--hidden--><b>x</b>" in shown
        assert "[r]:http://hidden" in shown
        assert "t(http://t)" in shown


async def test_a_click_on_text_that_asks_for_an_action_does_nothing() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(entry(1, PromptContent("[@click=app.quit]click me[/]")))
        transcript.show(entry(2, ReplyContent("[@click=app.quit]click[/] [me](http://127.0.0.1)")))
        await pilot.pause()
        shown = in_view(transcript)
        for y in range(4):
            await pilot.click(Transcript, offset=(10, y))
        assert in_view(transcript)[:1] == shown[:1]
        assert pilot.app.is_running


async def test_black_on_black_is_readable() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1"))
        transcript.show(output(2, "c1", text="\x1b[30;40mhidden\x1b[8m text\x1b[0m"))
        await pilot.pause()
        rows = transcript.blocks[-1].drawn.rows
        styles = [style for row in rows for text, style in row.spans if "hidden" in text]
        assert styles
        assert all(style.bgcolor != style.color and not style.conceal for style in styles)
