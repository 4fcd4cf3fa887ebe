"""O1 to O6: what of a reply is an exact copy of its turn's output, and what is kept."""

import re
from dataclasses import replace

import pytest

from tests.core.composer.retyping import mark, numbered, tell
from wisp_core.composer.compose import compose
from wisp_core.composer.cuts import LEAST_WORDS, find_cuts
from wisp_core.records import Cut, Entry, EntryKind, OutputContent, Rendering, ReplyContent, ThreadRecord
from wisp_core.settings import Context

GUIDE = """# harbour sync: overview

harbour keeps two folders alike, one on this machine and one on the server.

1. It lists both sides and compares names, sizes and times.
2. What differs is copied, the newer over the older.

    harbour sync --dry-run ~/notes

Nothing is ever deleted without a line in the journal."""
SIZES = """12 alpha.py ready
340 beta.py ready
7 gamma.py failed
98 delta.py ready
1024 epsilon.py ready
3 zeta.py failed
56 eta.py ready
781 theta.py ready"""
CODE = """def ship(order):
    if not order.paid:
        raise Unpaid(order)

    for item in order.items:
        item.leave(order.harbour)
    return Receipt(order, items=len(order.items), harbour=order.harbour)

def refuse(order, reason):
    order.state = "refused"
    return Refusal(order, reason=reason, harbour=order.harbour)"""


def fenced(text: str, info: str = "") -> str:
    return f"```{info}\n{text}\n```"


def table(text: str, *, header: str = "size | file | state") -> str:
    rows = [f"| {' | '.join(line.split())} |" for line in text.split("\n")]
    return "\n".join([f"| {header} |", "|---:|:---|---|", *rows])


def entry(number: int, content: OutputContent | ReplyContent) -> Entry:
    kind = EntryKind.REPLY if isinstance(content, ReplyContent) else EntryKind.TOOL_OUTPUT
    return Entry(number, f"w{number}", kind, 1, "", content)


def test_a_stretch_is_replaced_by_the_marker_to_the_character():
    output = entry(7, OutputContent("c", "read_file", numbered(GUIDE)))
    reply = entry(8, ReplyContent(f"Here it is:\n\n{fenced(GUIDE)}\n\nShall I go on?"))
    (cut,) = find_cuts([output, reply])
    assert cut.marker == "(showed the person the read_file output, entry 7)"
    assert (cut.reply, cut.output, cut.tool) == (8, 7, "read_file")
    size = len(fenced(GUIDE).encode())
    assert (cut.start, cut.end, cut.bytes) == (13, 13 + size, size)
    assert cut.tokens == -(-size // 4)
    assert cut.coverage == round(size / (size + len("Here it is:\n\n\n\nShall I go on?")), 4)


def test_the_rest_of_the_reply_is_carried_as_it_was():
    told = tell(f"Here it is:\n\n{fenced(GUIDE)}\n\nShall I go on?", GUIDE)
    assert told.carried == f"Here it is:\n\n{mark()}\n\nShall I go on?"


def test_a_reply_that_is_a_copy_as_a_whole_still_says_something():
    told = tell(GUIDE, GUIDE)
    assert told.carried == mark()
    assert told.cuts[0].coverage == 1.0


@pytest.mark.parametrize(
    "reply",
    [
        "The overview says one thing clearly:\n\n> Nothing is ever deleted without a line in the journal.",
        "The guide ends so:\n\nNothing is ever deleted without a line in the journal.\n\nThat is all of it.",
        "harbour compares both sides first, by name, size and time, and copies what is newer; a deletion is always "
        "written down, so that two people who work on the same notes can see what went and when it did.",
        fenced("def sync(here, there):\n" + "\n".join(f"    copy(here.file({n}), there)" for n in range(30)), "python"),
    ],
    ids=["a quoted line", "a line by itself", "analysis", "code that the model wrote"],
)
def test_what_the_model_says_itself_is_kept(reply):
    assert tell(reply, GUIDE).cuts == []


def test_a_table_that_reorders_the_columns_is_kept():
    turned = "\n".join(" ".join(reversed(line.split())) for line in SIZES.split("\n"))
    assert tell(table(turned, header="state | file | size"), SIZES).cuts == []


@pytest.mark.parametrize(
    "changed",
    [
        SIZES.replace("1024", "1025"),
        SIZES.replace("\n98", "\n1 omega.py ready\n98"),
        SIZES.replace("98 delta.py ready\n1024 epsilon.py ready", "1024 epsilon.py ready\n98 delta.py ready"),
        SIZES.replace("98 delta.py ready\n", ""),
        SIZES.replace("ready", "READY"),
    ],
    ids=["a value", "a line added", "two lines swapped", "a line left out", "case"],
)
def test_a_copy_that_is_not_exact_is_kept(changed):
    for reply in (fenced(changed), changed, table(changed)):
        assert tell(f"The files:\n\n{reply}", SIZES).cuts == []
    for reply in (fenced(SIZES), SIZES, table(SIZES)):
        assert len(tell(f"The files:\n\n{reply}", SIZES).cuts) == 1


def test_a_table_of_an_output_line_by_line_is_cut_with_its_header():
    told = tell(f"The files:\n\n{table(SIZES)}\n\nTwo failed.", SIZES)
    assert told.carried == f"The files:\n\n{mark()}\n\nTwo failed."


@pytest.mark.parametrize(
    "row",
    ["| {} | {} | {} |", "{} | {} | {}", "|{}|{}|{}|", "| {} |  | {} {} |"],
    ids=["usual", "bare", "tight", "empty"],
)
def test_the_look_of_a_table_does_not_matter(row):
    rows = "\n".join(row.format(*line.split()) for line in SIZES.split("\n"))
    assert tell(f"a | b | c\n--|---|--\n{rows}", SIZES).carried == mark()


def test_a_cell_with_a_bar_of_its_own_is_compared_with_it():
    lines = [f"job{n} runs grep x|sort daily" for n in range(8)]
    rows = [line.replace("|", "\\|").replace(" ", " | ", 1) for line in lines]
    reply = "\n".join(["| job | what |", "|---|---|", *(f"| {row} |" for row in rows)])
    assert tell(reply, "\n".join(lines)).carried == mark()
    assert tell(reply.replace("\\|", "/"), "\n".join(lines)).cuts == []


def test_a_table_that_the_output_has_itself_is_cut_as_it_is_and_in_part_and_fenced():
    output = f"# Sizes\n\n{table(SIZES)}\n\nThat is all."
    for reply in (table(SIZES), fenced(output), "\n".join(table(SIZES).split("\n")[2:])):
        assert tell(reply, output).carried == mark()


def test_in_fenced_code_a_changed_header_is_a_change():
    output = f"# Sizes\n\n{table(SIZES)}"
    assert tell(fenced(output.replace("state", "status")), output).cuts == []


def test_a_numbered_file_is_a_copy_with_its_numbers_and_without():
    output = ("read_file", numbered(CODE, first=98))
    page = "\n".join(output[1].split("\n")[:-1])
    for copy in (CODE, page, page.replace("\t", "   "), re.sub(r"\d+\t\n", "\n", page), output[1]):
        assert tell(f"So:\n\n{fenced(copy, 'python')}", output).carried == f"So:\n\n{mark(tool='read_file')}"
    for changed in (page.replace("99\t", "97\t"), page.replace("order", "orders", 1), CODE + "\nship(None)"):
        assert tell(fenced(changed, "python"), output).cuts == []


def test_numbers_are_those_of_read_file_alone_and_no_words():
    columns = "\n".join(f"{n * 7}\tfolder{n} of the person" for n in range(1, 9))
    bare = "\n".join(line.partition("\t")[2] for line in columns.split("\n"))
    assert tell(bare, columns).cuts == []
    single = "\n".join(f"word{n} more" for n in range(LEAST_WORDS // 2 - 1))
    page = "\n".join(numbered(single).split("\n")[:-1])
    assert tell(fenced(page), ("read_file", numbered(single))).cuts == []


def test_white_space_is_formatting():
    ragged = "\r\n\r\n".join(f" \t {line.replace(' ', '   ')}  " for line in GUIDE.split("\n"))
    told = tell(f"It says:\r\n\r\n{fenced(ragged)}\r\n\r\nSo.", GUIDE)
    assert told.carried == f"It says:\r\n\r\n{mark()}\r\n\r\nSo."
    assert tell(GUIDE.replace("\n", "\r"), GUIDE).carried == mark()


def test_24_words_are_cut_and_23_are_not():
    words = [f"word{n}" for n in range(LEAST_WORDS)]
    text = "\n".join(words)
    assert tell(text, text).carried == mark()
    assert tell("\n".join(words[1:]), text).cuts == []
    assert tell("\n\n".join(words), text).carried == mark()


def test_what_is_no_longer_than_its_marker_is_kept():
    text = " ".join("abcdefghijklmnopqrstuvwx")
    assert tell(text, text).cuts == []


def test_neighbouring_paragraphs_of_one_output_are_one_stretch_and_what_stands_between_parts_them():
    first, second = SIZES.split("\n98", 1)
    second = f"98{second}"
    extra = "\nthe last line of the listing says nothing at all about any file, it is only there to be long enough"
    assert tell(f"{first}\n\n{second}{extra}", SIZES + extra).carried == mark()
    told = tell(f"{SIZES}\n\nAnd then:\n\n{GUIDE}", f"{SIZES}\n{GUIDE}")
    assert told.carried == f"{mark()}\n\nAnd then:\n\n{mark()}"


def test_paragraphs_in_another_order_are_stretches_of_their_own():
    told = tell(f"{GUIDE}\n\n{SIZES}", f"{SIZES}\n\n{GUIDE}")
    assert told.carried == f"{mark()}\n\n{mark()}"


def test_each_stretch_names_its_own_output():
    told = tell(f"First:\n\n{GUIDE}\n\nthen\n\n{fenced(SIZES)}", SIZES, ("read_file", numbered(GUIDE)))
    assert told.carried == f"First:\n\n{mark(6, 'read_file')}\n\nthen\n\n{mark()}"


def test_a_stretch_is_of_one_output_and_of_the_first_that_has_it():
    half = SIZES.index("98 ")
    assert tell(fenced(SIZES), SIZES[:half], SIZES[half:]).cuts == []
    assert tell(fenced(SIZES), GUIDE, SIZES, SIZES).carried == mark(6)


def test_a_reply_before_the_output_retypes_nothing():
    reply, output = entry(3, ReplyContent(CODE)), entry(4, OutputContent("c", "run_command", CODE))
    assert find_cuts([reply, output]) == []
    later = entry(5, ReplyContent(CODE))
    assert [cut.reply for cut in find_cuts([reply, output, later])] == [5]
    again = entry(6, OutputContent("d", "run_command", CODE))
    assert [cut.output for cut in find_cuts([output, reply, later, again])] == [4]


def test_a_reply_that_has_cuts_is_not_cut_again():
    output, reply = entry(4, OutputContent("c", "run_command", CODE)), entry(5, ReplyContent(CODE))
    (cut,) = find_cuts([output, reply])
    done = replace(reply, cuts=(Cut(cut.start, cut.end, cut.output, cut.tool, cut.marker),))
    assert find_cuts([output, done]) == []


def test_fence_lines_go_with_their_code():
    for opened, closed in (("```python", "```"), ("~~~~", "~~~~"), ("````md", "`````"), ("```", "")):
        told = tell(f"So:\n{opened}\n{CODE}\n{closed}".rstrip(), CODE)
        assert told.carried == f"So:\n{mark()}"


def test_a_fence_in_a_list_leaves_its_indent():
    inside = "\n".join(f"   {line}" for line in fenced(CODE).split("\n"))
    assert tell(f"1. The code:\n\n{inside}\n\n2. Done.", CODE).carried == f"1. The code:\n\n   {mark()}\n\n2. Done."


def test_a_fence_inside_longer_fences_and_inline_code_are_no_ends():
    text = f"# Usage\n\n{fenced(CODE)}\n\nSee above."
    assert tell(f"````md\n{text}\n````", text).carried == mark()
    assert tell(f"```inline``` is code\n\n{fenced(CODE)}", CODE).carried == f"```inline``` is code\n\n{mark()}"


def test_wide_characters_are_counted_in_bytes_and_never_split():
    line = "über 日本語 👩‍🚀 naïve ﷽"
    text = "\n".join(f"{line} {n}" for n in range(8))
    told = tell(f"¡Aquí está! 🎉\n\n{text}\n\n— ça y est 🎉", text)
    assert told.carried == f"¡Aquí está! 🎉\n\n{mark()}\n\n— ça y est 🎉"
    assert told.cuts[0].bytes == len(text.encode())


def test_a_hostile_tool_name_stays_on_its_line():
    (cut,) = find_cuts([entry(4, OutputContent("c", "x\n# Ignore\n" + "y" * 99, CODE)), entry(5, ReplyContent(CODE))])
    assert "\n" not in cut.marker
    assert len(cut.marker) < 120


def test_overlapping_cuts_of_a_damaged_audit_carry_nothing_twice():
    marks = [Cut(4, 9, 4, "t", "(1)"), Cut(0, 6, 4, "t", "(2)"), Cut(20, 99, 4, "t", "(3)")]
    reply = replace(entry(5, ReplyContent("0123456789é123456789xyz")), cuts=tuple(marks))
    record = ThreadRecord("t", entries={5: reply}, active=[5])
    item = next(item for item in compose(record, Context()).items if item.entry == 5)
    assert (item.text, item.rendering) == ("(2)6789é12345678(3)", Rendering.CUT)


@pytest.mark.parametrize("reply", ["", " \n", "```", "```\n```", "| a |\n|---|", "|", "~~~\n\n\n~~~", "\\|\n-|-\n|"])
def test_a_reply_of_formatting_alone_is_kept(reply):
    assert tell(reply, GUIDE, table(SIZES), "").cuts == []
