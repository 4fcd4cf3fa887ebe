"""Extracts facts from a turn's tool calls and the person's commands, without a model. Pure."""

from collections.abc import Iterator, Sequence

from wisp_core.facts.assertion import Assertion, Source
from wisp_core.facts.rules.calls import Called
from wisp_core.facts.rules.found import Found, flat
from wisp_core.facts.rules.registry import COMMAND_RULES, TOOL_RULES
from wisp_core.facts.rules.run import Run, read_runs
from wisp_core.records import CallContent, CommandContent, Entry, EntryState, JsonObject, OutputContent
from wisp_core.text import load_object

# How many facts a turn may give (F13).
MOST_FACTS = 12
METHOD = "observed"
COMMAND_TOOL = "run_command"
PATH_CHARACTERS = 800
# Which facts stay where a turn gives more: one look at the ports must not push out what the work came to.
_ORDER = ("answer", "tests", "build", "lint", "git", "version", "machine", "file", "service")
# What the turn may say before and after a tool's own text.
_REPEATED, _LAST = (
    "[this repeats an earlier call of this turn exactly; ",
    "[no more tool calls can be made in this turn: ",
)


def extract(turn_entries: Sequence[Entry], *, cwd: str) -> list[Assertion]:
    """Return at most 12 assertions about a turn, in the order of their entries; the newest of an identity alone.

    `turn_entries` are the turn's entries in order; `cwd` is where a relative path starts.
    """
    calls = {e.content.call: e.content for e in turn_entries if isinstance(e.content, CallContent)}
    newest: dict[tuple[str, str], Assertion] = {}
    for entry in turn_entries:
        if entry.state is EntryState.FAILED:
            continue
        for assertion in _assertions(entry, calls, cwd=cwd):
            identity = (assertion.subject, assertion.name)
            newest.pop(identity, None)
            newest[identity] = assertion
    found = list(newest.values())
    # Of one rank the newest stay.
    ranked = sorted(range(len(found)), key=lambda place: (_ORDER.index(found[place].subject), -place))
    return [found[place] for place in sorted(ranked[:MOST_FACTS])]


def start_facts(cwd: str, branch: str) -> list[Assertion]:
    """Return where a conversation starts: its working directory, and its git branch unless that is empty."""
    where = {"workdir": flat(cwd, PATH_CHARACTERS), "branch": flat(branch)}
    return [Assertion(subject, "", value, Source.TOOL, METHOD) for subject, value in where.items() if value]


def _assertions(entry: Entry, calls: dict[str, CallContent], *, cwd: str) -> Iterator[Assertion]:
    content = entry.content
    if isinstance(content, CommandContent):
        for found in _of_command(content.command, content.output, status=content.exit_status):
            yield _assertion(found, entry, source=Source.PERSON_COMMAND)
    elif isinstance(content, OutputContent) and content.call in calls:
        arguments = _arguments(calls[content.call])
        source = Source.PERSON if content.tool == "ask" else Source.TOOL
        for found in _of_tool(content, arguments, turn=entry.turn, cwd=cwd):
            yield _assertion(found, entry, source=source, tool=content.tool)


def _of_tool(content: OutputContent, arguments: JsonObject, *, turn: int, cwd: str) -> list[Found]:
    text = _own_text(content.text)
    if content.tool == COMMAND_TOOL:
        command = arguments.get("command")
        return _of_command(command, text, status=content.exit_status) if isinstance(command, str) else []
    rule = TOOL_RULES.get(content.tool)
    if rule is None or not content.ok:
        return []
    return rule(Called(arguments, text, turn, cwd))


def _of_command(command: str, output: str, *, status: int | None) -> list[Found]:
    return [found for run in read_runs(command, output, status=status) for found in _of_run(run)]


def _of_run(run: Run) -> list[Found]:
    return next((found for rule in COMMAND_RULES if (found := rule(run))), [])


def _own_text(text: str) -> str:
    """Return a result's text without what the turn put around it."""
    lines = text.split("\n")
    if lines[0].startswith(_REPEATED):
        lines = lines[1:]
    if len(lines) > 1 and lines[-1].startswith(_LAST):
        lines.pop()
    return "\n".join(lines)


def _arguments(call: CallContent) -> JsonObject:
    return load_object(call.arguments) or {}


def _assertion(found: Found, entry: Entry, *, source: Source, tool: str = "") -> Assertion:
    return Assertion(
        found.subject,
        found.name,
        found.value,
        source,
        METHOD,
        tool,
        entries=(entry.id,),
        events=entry.sources,
        turns=(entry.turn, entry.turn),
    )
