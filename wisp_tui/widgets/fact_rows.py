"""The rows of the facts screen, and what it says of the one at the cursor. Pure."""

from datetime import datetime

from textual.content import Content

from wisp_core.fact import TASK, Fact, FactState, KnownFact, Proposal
from wisp_core.text import displayable, one_line
from wisp_tui.widgets.columns import column
from wisp_tui.widgets.thread_rows import AGE_CELLS, QUIET, age

MARK_CELLS, VERSION_CELLS = 2, 4
LEAST_SOURCE, MOST_SOURCE = 12, 34
SOURCE_SHARE = 0.28  # of a row
MOST_CHARACTERS = 1_000  # of a value that is shown whole under the rows
NAME_CHARACTERS = 200
ENTRIES_SHOWN = 3
WHO = {"model": "the model", "tool": "a tool", "caller": "a caller", "person_command": "the person's command"}
MARKS = {"conflict": ("≠", "$text-error"), "unsupported": ("!", "$text-warning"), "waits": ("?", "$accent")}


def fact_heads(cells: int) -> Content:
    """Return the names of the columns."""
    what, source = _widths(cells)
    words = f"{'':{MARK_CELLS}}{column('fact', what)} {column('from', source)} "
    return Content.styled(words + f"{column('ver', VERSION_CELLS, right=True)} {'age':>{AGE_CELLS}}", QUIET)


def fact_row(known: KnownFact, cells: int, *, now: datetime, history: bool = False) -> Content:
    """Return a fact in so many cells; in its `history` what became of it stands where its name would."""
    fact = known.fact
    what, source = _widths(cells)
    sign, colour = MARKS.get(mark_of(known), (" ", QUIET))
    over = fact.state != FactState.CURRENT
    head = f"{fact.state}: " if history else f"{title_of(fact)}: "
    text = column(head + fact.value, what)
    lead = min(len(head), len(text))
    return Content.assemble(
        (f"{sign} ", colour),
        (text[:lead], QUIET),
        (text[lead:], QUIET if over else ""),
        (f" {column(known.source, source)} ", QUIET),
        (column(str(fact.version), VERSION_CELLS, right=True), QUIET),
        (f" {column(age(fact.time, now), AGE_CELLS, right=True)}", QUIET),
    )


def mark_of(known: KnownFact) -> str:
    """Return the word of what is to be marked of a fact, empty for nothing; the gravest where there is more."""
    if known.conflict:
        return "conflict"
    if known.fact.unsupported:
        return "unsupported"
    return "waits" if waits(known.fact) else ""


def waits(fact: Fact) -> bool:
    """Tell whether a fact waits for the person to keep or drop it."""
    return fact.state == FactState.CURRENT and fact.proposal == Proposal.WAITING


def title_of(fact: Fact) -> str:
    """Return subject and name on one line."""
    name = "" if fact.subject == TASK else fact.name
    return one_line(displayable(f"{fact.subject} {name}"), NAME_CHARACTERS).rstrip()


def about(known: KnownFact, *, thread: str) -> Content:
    """Return a fact with its whole value, where it came from and what is to be known of it, in the thread of this id.

    The value is cut at `MOST_CHARACTERS`; each part has a line of its own.
    """
    fact = known.fact
    value = one_line(displayable(fact.value), MOST_CHARACTERS)
    place = _place(fact) if fact.thread == thread else f"in conversation {one_line(fact.thread, 40)}{_place(fact)}"
    words = [f"from {known.source}{place}" if fact.thread == thread else f"from {known.source}, {place}"]
    words += [fact.scope, f"version {fact.version}", fact.id]
    told = [Content.assemble((f"{title_of(fact)}: ", QUIET), value), Content.styled(_line(" · ".join(words)), QUIET)]
    if notes := _notes(known):
        told.append(Content.styled(_line("; ".join(notes)), MARKS.get(mark_of(known), ("", QUIET))[1]))
    return Content("\n").join(told)


def _notes(known: KnownFact) -> list[str]:
    fact, notes = known.fact, []
    if fact.state != FactState.CURRENT:
        by = f", by {fact.superseded_by}" if fact.superseded_by else ""
        notes.append(f"{fact.state}{by}")
    if known.conflict:
        notes.append("sources disagree: state the value (e), or delete a side (x)")
    if fact.unsupported:
        notes.append("unsupported: not sent to the model")
    if waits(fact):
        notes.append(f"{WHO.get(fact.proposed_by, 'someone')} asks to keep it for every conversation")
    elif fact.proposal == Proposal.DROPPED:
        notes.append("dropped: not proposed again with this value")
    return notes


def _place(fact: Fact) -> str:
    first, last = fact.turns or (fact.turn, fact.turn)
    turns = f", turn {first}" if first == last else f", turns {first}-{last}"
    if not fact.entries:
        return turns if fact.turns else ""
    shown = ", ".join(str(entry) for entry in fact.entries[:ENTRIES_SHOWN])
    return f"{turns}, {'entry' if len(fact.entries) == 1 else 'entries'} {shown}"


def _line(text: str) -> str:
    return one_line(displayable(text), MOST_CHARACTERS)


def _widths(cells: int) -> tuple[int, int]:
    """Return the cells of the fact and of its source."""
    source = max(LEAST_SOURCE, min(MOST_SOURCE, int(cells * SOURCE_SHARE)))
    return max(1, cells - MARK_CELLS - source - VERSION_CELLS - AGE_CELLS - 3), source
