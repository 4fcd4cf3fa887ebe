"""The budget of a result, and what the model sees of one that is larger."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wisp_core.requests import KeptOutput
from wisp_core.settings import Outputs
from wisp_core.text import decode
from wisp_core.tools.bound import Keeping, Stretch, bound_text, cut_line, whole_text
from wisp_core.tools.budget import Budget

KIB = 1024


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (None, 4 * KIB),
        (1024, 2 * KIB),
        (4096, 2 * KIB),
        (8191, 8191 * 4 // 8),
        (8192, 4 * KIB),
        (32_768, 16 * KIB),
        (131_072, 64 * KIB),
        (2_000_000, 64 * KIB),
    ],
)
def test_the_budget_is_an_eighth_of_the_window_within_its_bounds(window, expected):
    budget = Budget(Outputs())
    budget.set_window(window)
    assert budget.bytes == expected


def test_the_budget_follows_the_window():
    budget = Budget(Outputs())
    budget.set_window(32_768)
    budget.set_window(None)
    assert budget.bytes == 4 * KIB


def stretch(name, data, *, room):
    return Stretch(name, data[:room], data[-room:], len(data), data.count(b"\n"), data.endswith(b"\n"))


def stored_of(parts, data):
    """The stored bytes, as run_command puts them together."""
    found = b""
    for part in parts:
        if isinstance(part, str):
            found += part.encode()
        else:
            found += data[part.name] + (b"" if part.ended else b"\n")
    return found


line = st.one_of(
    st.text(max_size=60).map(str.encode),
    st.binary(max_size=60),
    st.integers(0, 4000).map(lambda count: b"x" * count),
    st.integers(0, 900).map(lambda count: "é漢🙂".encode() * count),
)
streams = st.builds(
    lambda lines, times, ended: b"\n".join(lines * times) + (b"\n" if ended else b""),
    st.lists(line, min_size=0, max_size=12),
    st.integers(1, 40),
    st.booleans(),
)
HELD = re.compile(r"(stdout|stderr) lines? ([\d,]+)(?:–([\d,]+))?")


@settings(max_examples=300)
@given(streams, streams, st.integers(512, 9000))
def test_a_bounded_result_is_true_in_every_figure(out, err, limit):
    data = {"stdout": out, "stderr": err}
    parts = ["exit status: 1\n"]
    for name, content in data.items():
        if content:
            parts += [f"{name}:\n", stretch(name, content, room=limit)]
    stored = stored_of(parts, data)
    whole = whole_text(parts, limit)
    if whole is not None:
        assert whole == decode(stored)
        return
    kept = KeptOutput("3f9a2c1b", len(stored), stored.count(b"\n"), "")
    text = bound_text(parts, limit, keeping=Keeping("3f9a2c1b", kept, command=True))
    assert len(text.encode()) <= limit
    *body, note = text.split("\n")
    assert note.startswith("held back: ")
    assert "output 3f9a2c1b" in note
    assert f"({kept.lines:,} lines)" in note
    stored_lines = stored.split(b"\n")
    markers = [each for each in body if each.startswith("[… ") and each.endswith(" held back …]")]
    ranges = HELD.findall(note)
    assert len(markers) >= len(ranges) >= 1
    shown = "\n".join(body)
    for name, first, last in ranges:
        first, last = int(first.replace(",", "")), int((last or first).replace(",", ""))
        start = stored_lines.index(f"{name}:".encode()) if name == "stdout" else None
        assert 2 < first <= last <= kept.lines
        # What is above the range is shown whole, line by line; so is what is below it.
        if start is not None:
            above = stored_lines[start + 1 : first - 1]
            assert "\n".join(map(decode, above)) in shown
        below = stored_lines[last : last + 3]
        if name == "stdout" and b"stderr:" in below:
            below = below[: below.index(b"stderr:")]
        assert all(decode(each) in shown for each in below)
    # No character is cut: what is shown holds no replacement that the output does not.
    if "\ufffd" not in decode(stored):
        assert "\ufffd" not in text


@settings(max_examples=200)
@given(streams.filter(lambda data: len(data) > 9000), st.integers(512, 9000))
def test_head_held_and_tail_are_everything(out, limit):
    part = stretch("stdout", out, room=limit)
    kept = KeptOutput("3f9a2c1b", 1, 1, "")
    text = bound_text(["stdout:\n", part], limit, keeping=Keeping("3f9a2c1b", kept))
    body = text.removeprefix("stdout:\n")
    marker = re.search(r"^\[… ([\d,]+) lines? \([^)]*\) held back …\]$", body, re.MULTILINE)
    first, last = re.search(r"stdout lines? ([\d,]+)(?:–([\d,]+))?", text.split("\n")[-1]).groups()
    held = int((last or first).replace(",", "")) - int(first.replace(",", "")) + 1
    assert int(marker.group(1).replace(",", "")) == held
    try:
        out.decode()
    except UnicodeDecodeError:
        return
    if b"\0" in out or b"held back" in out:
        return
    head, _, rest = body.partition(marker.group() + "\n")
    tail = rest.rsplit("held back: ", 1)[0]
    whole = out.decode()
    head = head if whole.startswith(head) else head.removesuffix("\n")
    tail = tail if whole.endswith(tail) else tail.removesuffix("\n")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    shown = len(head.encode()) + len(tail.encode())
    assert shown < len(out)
    size = re.search(r"\(([\d.]+) (bytes?|KiB|MiB)\) held back", marker.group())
    unit = {"byte": 1, "bytes": 1, "KiB": 1024, "MiB": 1024**2}[size.group(2)]
    assert float(size.group(1)) * unit >= len(out) - shown


def test_a_stream_with_something_to_show_has_a_fifth_of_the_room():
    out = b"".join(b"out %d\n" % number for number in range(100_000))
    err = b"".join(b"err %d\n" % number for number in range(1000))
    text = bound_text(
        [stretch("stdout", out, room=4096), stretch("stderr", err, room=4096)], 4096, keeping=Keeping("3f9a2c1b")
    )
    shown = sum(len(each) + 1 for each in text.split("\n") if each.startswith("err "))
    assert shown > 4096 * 0.2 * 0.7
    assert "err 999\n" in text
    assert "out 99999\n" in text


def test_a_small_stream_beside_a_flood_is_whole():
    out = b"".join(b"out %d\n" % number for number in range(100_000))
    text = bound_text(
        [stretch("stdout", out, room=4096), stretch("stderr", b"one error\n", room=4096)], 4096, keeping=Keeping("c")
    )
    assert "one error\n" in text
    assert text.count("held back …]") == 1
    assert len(text) > 3500


def test_one_huge_line_is_cut_inside_at_a_character():
    text = bound_text([stretch("stdout", "漢".encode() * 100_000, room=4096)], 4096, keeping=Keeping("c"))
    assert text.startswith("漢" * 100)
    assert "[… 1 line (" in text
    assert "\ufffd" not in text


def test_the_note_names_no_tool_and_tells_not_to_run_the_command_again():
    out = b"line\n" * 10_000
    kept = KeptOutput("3f9a2c1b", len(out), 10_000, "")
    keeping = Keeping("3f9a2c1b", kept, command=True)
    note = bound_text([stretch("stdout", out, room=4096)], 4096, keeping=keeping).split("\n")[-1]
    assert re.fullmatch(
        r"held back: stdout lines [\d,]+–[\d,]+ \(\d+ KiB\); the whole output is kept as output 3f9a2c1b "
        r"\(10,000 lines\); do not run the command again to see it",
        note,
    )


def test_the_note_names_the_memory_tool_where_the_model_has_it():
    out = b"line\n" * 10_000
    kept = KeptOutput("3f9a2c1b", len(out), 10_000, "")
    keeping = Keeping("3f9a2c1b", kept, command=True, memory=True)
    note = bound_text([stretch("stdout", out, room=4096)], 4096, keeping=keeping).split("\n")[-1]
    first = re.search(r"stdout lines ([\d,]+)–", note).group(1).replace(",", "")
    assert f'memory "recall output 3f9a2c1b from line {first}" pages it' in note


def test_the_note_is_honest_where_nothing_is_kept():
    out = b"line\n" * 10_000
    note = bound_text(
        [stretch("stdout", out, room=4096)], 4096, keeping=Keeping("c", failure="the audit is off", command=True)
    )
    assert note.endswith("; not kept (the audit is off)")


@given(line.filter(lambda data: b"\n" not in data and len(data) > 10), st.integers(120, 2000))
def test_a_line_is_cut_inside_to_its_room(data, room):
    text = cut_line(data[:room], data[-room:], size=len(data), room=room)
    assert len(text.encode()) <= room or len(decode(data).encode()) <= room
    if "\ufffd" not in decode(data):
        assert "\ufffd" not in text
