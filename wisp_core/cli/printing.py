"""Prints what a thread says: as text for a person, or as one JSON object a line for a program."""

import json
import sys
from collections.abc import Iterable
from typing import Protocol

from wisp_core.cli.streams import Streams, tell, tell_error
from wisp_core.commands.pending import asked_lines
from wisp_core.commands.results import Said
from wisp_core.events import (
    CallData,
    CommandRun,
    Event,
    FactRecorded,
    Live,
    Published,
    Response,
    ToolCalled,
    ToolReturned,
    TurnEnd,
)
from wisp_core.fact import learnt
from wisp_core.records import CUT_SHORT, JsonObject
from wisp_core.requests import Approval, Question
from wisp_core.text import displayable, one_line, revealed, revealed_line, split_lines

HEAD_LINES, TAIL_LINES, LINE_CHARACTERS = 8, 4, 200
TOLD_ONCE = frozenset({"loading", "prompt"})


class Printer(Protocol):
    """What the chat shows its person or program."""

    def show(self, published: Published) -> None:
        """Show what the thread published."""

    def note(self, text: str) -> None:
        """Show a quiet line of wisp's own."""

    def error(self, text: str) -> None:
        """Show what was wrong, one sentence."""

    def view(self, said: Said) -> None:
        """Show the result of a slash command."""

    def ask(self, asked: Approval | Question) -> None:
        """Show a question that the next line answers."""

    def ready(self) -> None:
        """Show that a prompt can be typed."""


class JsonPrinter:
    """One object a line on standard output: the audit's own shapes, and `delta`, `note`, `view`."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def show(self, published: Published) -> None:
        """Print it as it is."""
        self._print(published.as_object())

    def note(self, text: str) -> None:
        """Print a note."""
        self._print(Live("note", None, None, {"kind": "info", "text": text}).as_object())

    def error(self, text: str) -> None:
        """Print a note of kind `error`."""
        self._print(Live("note", None, None, {"kind": "error", "text": text}).as_object())

    def view(self, said: Said) -> None:
        """Print a view; of an output the part itself, what it is, and which part comes next, if any."""
        data: JsonObject = {"title": said.title, "text": said.text}
        if said.reading is not None:
            data |= {"text": said.reading.text, "note": said.reading.note}
            data |= {"next": str(said.reading.next)} if said.reading.next else {}
        if said.title or said.text:
            self._print(Live("view", None, None, data).as_object())

    def ask(self, asked: Approval | Question) -> None:
        """Print nothing: the recorded `approval.requested` or `question.asked` is the question."""

    def ready(self) -> None:
        """Print nothing."""

    def _print(self, found: JsonObject) -> None:
        # ASCII alone: no line-like character of a text can break a reader that splits lines too eagerly.
        self._streams.reply(json.dumps(found, separators=(",", ":")) + "\n")


class PlainPrinter:
    """The reply on standard output, everything else on standard error; nothing from outside is a control sequence."""

    def __init__(self, streams: Streams, *, terminal: bool) -> None:
        self._streams = streams
        self._terminal = terminal
        self._shows_controls = sys.stdout is not None and sys.stdout.isatty()
        self._told: set[str] = set()
        self._facts: dict[str, FactRecorded] = {}
        self._asked: dict[str, CallData] = {}
        self._open_line = False

    def show(self, published: Published) -> None:
        """Print what a reader wants of it."""
        if isinstance(published, Live):
            self._live(published)
            return
        self._event(published)

    def _live(self, live: Live) -> None:
        text = str(live.data.get("text", ""))
        if live.name == "delta" and live.data.get("kind") == "reply":
            self._reply(text)
        elif live.name == "note":
            kind = str(live.data.get("kind", ""))
            if kind not in TOLD_ONCE:
                self.note(text)
            elif self._terminal and kind not in self._told:
                self._told.add(kind)
                self.note(f"{text} …")

    def _event(self, event: Event) -> None:
        match event.data:
            case Response(calls=calls, finish=finish):
                self._end_line()
                self._asked = {call.call: call for call in calls}
                if finish in CUT_SHORT and not calls:
                    self.note(CUT_SHORT[finish])
            case ToolCalled(call=call, tool=tool, arguments=arguments):
                self._asked.pop(call, None)
                _tell_call(tool, json.dumps(arguments, ensure_ascii=False))
            case ToolReturned() as result:
                if refused := self._asked.pop(result.call, None):
                    # It never ran.
                    _tell_call(refused.tool, refused.given or refused.arguments)
                self._output(result)
            case CommandRun(output=output):
                # The person asked for it: as much of it as the model is shown.
                tell(displayable(output))
            case FactRecorded() as fact:
                self._facts[fact.fact] = fact
            case TurnEnd(outcome=outcome, error=error, facts=facts):
                self._told.clear()
                self._end_line()
                self._learnt(facts)
                if outcome == "failed":
                    self.error(f"{error} (/retry sends it again)")
                elif outcome == "interrupted":
                    self.note("interrupted")
            case _:
                return

    def _learnt(self, facts: Iterable[str]) -> None:
        """Print a quiet line on what the turn recorded (F4)."""
        found = [self._facts[id] for id in facts if id in self._facts]
        self._facts.clear()
        if line := learnt((fact.subject, fact.key, fact.value) for fact in found):
            self.note(line)

    def _output(self, result: ToolReturned) -> None:
        status = "ok" if result.ok else "cancelled" if result.cancelled else "failed"
        if result.exitStatus is not None:
            status = f"exit status {result.exitStatus}"
        tell(f"  {status} · {result.seconds:.1f} s · {_count(result.lines, 'line')} · {_count(result.bytes, 'byte')}")
        lines = split_lines(displayable(result.text))
        held = len(lines) - HEAD_LINES - TAIL_LINES
        shown = lines if held <= 1 else [*lines[:HEAD_LINES], "", *lines[-TAIL_LINES:]]
        for index, line in enumerate(shown):
            if held > 1 and index == HEAD_LINES:
                line = f"… {held:,} more lines of it; /show {result.call} shows it whole"
            tell(f"  │ {line[:LINE_CHARACTERS]}")

    def note(self, text: str) -> None:
        """Print a quiet line."""
        self._end_line()
        tell(f"· {displayable(text)}")

    def error(self, text: str) -> None:
        """Print one sentence."""
        self._end_line()
        tell_error(text)

    def view(self, said: Said) -> None:
        """Print the text; it is no reply, so it goes where notes go, but on a terminal that is the same place."""
        if said.title or said.text:
            tell(displayable(said.text))

    def ask(self, asked: Approval | Question) -> None:
        """Print the question and its choices, or the call in full, why it asks, and the keys."""
        self._end_line()
        if isinstance(asked, Question):
            first, *others = asked_lines(asked)
            tell(f"? {first}")
            for line in others:
                tell(f"  {line}")
            tell("  type the answer" + (", or a number" if asked.choices else ""))
            return
        tell(f"? {asked.tool} wants to run in {revealed_line(asked.cwd)} ({revealed_line(asked.why)}):")
        for line in asked_lines(asked):
            tell(f"  {line}")
        rule = revealed_line(asked.rule)
        lasting = f"a for this conversation, always for all [{rule}] · " if rule else ""
        tell(f"  y once · {lasting}n no · n REASON")

    def ready(self) -> None:
        """Print the prompt sign on a terminal."""
        if self._terminal:
            tell("› ", end="")

    def _reply(self, text: str) -> None:
        if not text:
            return
        self._streams.reply(displayable(text) if self._shows_controls else text)
        self._open_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._open_line:
            self._open_line = False
            self._streams.reply("\n")


def _tell_call(tool: str, arguments: str) -> None:
    tell(f"● {revealed_line(tool)} {one_line(revealed(arguments), LINE_CHARACTERS)}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
