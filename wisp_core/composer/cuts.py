"""Finds the stretches of a reply that retype an output of its turn, without a model. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, groupby
from string import digits

from wisp_core.composer.blocks import Block, fold_tables, normalise, raw_lines, split_blocks, without_blank
from wisp_core.composer.occurrences import MOST_LINES, Occurrences
from wisp_core.events import ContextCut
from wisp_core.records import Entry, OutputContent, ReplyContent
from wisp_core.text import one_line

LEAST_WORDS = 24
BYTES_A_TOKEN = 4
TOOL_CHARACTERS = 60
COVERAGE_DIGITS = 4
# For each byte of outputs and replies, this many lines may be looked at in search of copies; what is left is kept.
LINES_A_BYTE = 16
NUMBERING_TOOL, STREAMING_TOOL = "read_file", "run_command"
# What run_command writes between the two streams that it shows one after the other.
STREAM_HEADING = "stderr:"


@dataclass(frozen=True, slots=True)
class _Form:
    """One way in which an output may be retyped; `numbered` lines begin with a number that is no word of theirs."""

    output: int
    tool: str
    lines: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Blocks that stand one after another in the reply, and the form of the output that they retype."""

    blocks: Sequence[Block]
    form: _Form

    @property
    def words(self) -> int:
        """The words of the lines, less their numbers."""
        numbers = sum(len(block.lines) for block in self.blocks) if self.form.numbered else 0
        return sum(block.words for block in self.blocks) - numbers


def find_cuts(entries: Sequence[Entry]) -> list[ContextCut]:
    """Return the stretches, in order, in which replies among `entries`, of one turn, retype an earlier output of it.

    A stretch is one block or more with blank lines alone between them, whose normalised lines stand in one output in
    order and next to each other. It goes with its fence lines, so that what stays is sound Markdown, but for their
    indent and the last line's end. A stretch under 24 words, or no longer than its marker, is kept; so is a reply
    that has cuts already.
    """
    forms = [form for entry in entries for form in _forms(entry)]
    known = set().union(*(form.lines for form in forms))
    replies = [(entry, entry.content.text) for entry in entries if isinstance(entry.content, ReplyContent)]
    groups = {reply.id: list(_groups(text, known)) for reply, text in replies if not reply.cuts}
    wanted = {line for found in groups.values() for group in found for block in group for line in block.lines}
    if not 0 < len(wanted) <= MOST_LINES:
        return []
    room = LINES_A_BYTE * (sum(sum(map(len, form.lines)) for form in forms) + sum(len(text) for _, text in replies))
    occurrences = Occurrences((form.lines for form in forms), wanted=wanted, room=room)
    cuts: list[ContextCut] = []
    for reply, text in replies:
        earlier = bisect_left(forms, reply.id, key=lambda form: form.output)
        found = [_stretches(group, occurrences, forms=forms[:earlier]) for group in groups.get(reply.id, ())]
        cuts += _cuts(reply.id, text, stretches=chain.from_iterable(found))
    return cuts


def _forms(entry: Entry) -> Iterator[_Form]:
    """Yield the output's lines as a reply may have them: as they are, as cells, without frames, with numbers."""
    content = entry.content
    if not isinstance(content, OutputContent):
        return
    raw = raw_lines(content.text)
    lines = normalise(raw)
    if content.tool == NUMBERING_TOOL:
        numbered = lines
        lines = [_without_number(*pair) for pair in zip(raw, numbered, strict=True)]
        yield _Form(entry.id, content.tool, without_blank(numbered), numbered=True)
        # A reply may number the blank lines or leave them blank.
        yield _Form(entry.id, content.tool, list(compress(numbered, lines)), numbered=True)
    yield _Form(entry.id, content.tool, without_blank(lines))
    if "|" in content.text:
        yield _Form(entry.id, content.tool, without_blank(fold_tables(lines)))
    if content.tool == STREAMING_TOOL and lines.count(STREAM_HEADING) == 1:
        yield _Form(entry.id, content.tool, [line for line in lines if line and line != STREAM_HEADING])


def _without_number(raw: str, line: str) -> str:
    """Return a normalised line without the number and the tab that read_file puts before it."""
    rest = raw.lstrip(digits)
    return line.partition(" ")[2] if rest[:1] == "\t" and rest != raw else line


def _groups(text: str, known: set[str]) -> Iterator[list[Block]]:
    """Yield the runs of neighbouring blocks of known lines alone that have the words of a stretch."""
    for copied, group in groupby(split_blocks(text), lambda block: bool(block.lines) and known.issuperset(block.lines)):
        run = list(group) if copied else []
        if sum(block.words for block in run) >= LEAST_WORDS:
            yield run


def _stretches(group: Sequence[Block], occurrences: Occurrences, *, forms: Sequence[_Form]) -> Iterator[_Stretch]:
    """Yield the longest runs of blocks, from the left, that one of the forms has."""
    runs = [occurrences.encode(block.lines) for block in group]
    at = 0
    while at < len(group):
        end, number = occurrences.longest(runs, at, texts=len(forms))
        if end > at:
            yield _Stretch(group[at:end], forms[number])
        at = max(end, at + 1)


def _cuts(reply: int, text: str, *, stretches: Iterable[_Stretch]) -> Iterator[ContextCut]:
    whole = len(text.encode())
    at = before = 0
    for stretch in stretches:
        output, tool = stretch.form.output, one_line(stretch.form.tool, TOOL_CHARACTERS)
        first, last = stretch.blocks[0].start, stretch.blocks[-1].end
        start = before + len(text[at:first].encode())
        size = len(text[first:last].encode())
        at, before = last, start + size
        marker = f"(showed the person the {tool} output, entry {output})"
        if stretch.words >= LEAST_WORDS and size > len(marker.encode()):
            yield ContextCut(
                reply=reply,
                output=output,
                tool=tool,
                start=start,
                end=start + size,
                marker=marker,
                bytes=size,
                tokens=-(-size // BYTES_A_TOKEN),
                coverage=round(size / whole, COVERAGE_DIGITS),
            )
