"""Reads lines and server-sent events from bytes split anywhere. Pure."""

import json
import re
from dataclasses import dataclass
from typing import Any

from wisp_core.errors import CutStreamError
from wisp_core.text import decode

MAX_LINE_BYTES = 16 * 1024 * 1024
"""A line, or the data of one event, may take this many bytes; more is no answer of a model."""

_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class LineReader:
    """Joins bytes split anywhere into lines; only CR, LF and CRLF end one, so it reads NDJSON too."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._after_cr = False
        self._begun = False

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes, without their ends.

        Raises:
            CutStreamError: a line is longer than the limit.
        """
        if self._after_cr and data:
            # The CR ended its line at once; an LF that follows belongs to it, even in the next read.
            data = data.removeprefix(b"\n")
            self._after_cr = False
        lines: list[str] = []
        start = 0
        for match in _END.finditer(data):
            self._keep(data[start : match.start()])
            lines.append(self._take())
            start = match.end()
        self._after_cr = start == len(data) and data.endswith(b"\r")
        self._keep(data[start:])
        return lines

    def finish(self) -> list[str]:
        """Return the unfinished last line, if there is one."""
        return [self._take()] if self._rest else []

    def _keep(self, part: bytes) -> None:
        if len(self._rest) + len(part) > self._limit:
            raise CutStreamError(f"the answer holds a line over {self._limit} bytes")
        self._rest += part

    def _take(self) -> str:
        line = bytes(self._rest)
        self._rest.clear()
        if not self._begun:
            line = line.removeprefix(_BOM)
            self._begun = True
        return decode(line)


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One server-sent event: its `event` name ("" where none is given) and its data lines joined by LF."""

    event: str
    data: str


class EventReader:
    """Joins bytes split anywhere into server-sent events."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._lines = LineReader(limit)
        self._limit = limit
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Return the events that `data` completes.

        Raises:
            CutStreamError: a line, or the data of an event, is longer than the limit.
        """
        return self._read(self._lines.feed(data))

    def finish(self) -> list[ServerEvent]:
        """Return what the end of the stream left without its blank line: some servers do not write the last one."""
        return self._read([*self._lines.finish(), ""])

    def _read(self, lines: list[str]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            if line:
                self._field(line)
            else:
                if self._data:
                    events.append(ServerEvent(self._event, "\n".join(self._data)))
                self._event, self._data, self._size = "", [], 0
        return events

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._size += len(value)
            if self._size > self._limit:
                raise CutStreamError(f"the answer holds an event over {self._limit} bytes")
            self._data.append(value)
        elif name == "event":
            self._event = value


def parse_payloads(data: str) -> list[Any]:
    """Return the JSON values of one event's data, `[DONE]` as the string "[DONE]".

    Where the joined lines are no JSON, each line is read for itself: some servers leave out the blank lines.

    Raises:
        CutStreamError: the data is no JSON.
    """
    if data.strip() == "[DONE]":
        return ["[DONE]"]
    try:
        return [json.loads(data)]
    except (ValueError, RecursionError) as error:
        lines = [line for line in data.split("\n") if line.strip()]
        if len(lines) < 2:
            raise CutStreamError("the answer holds a part that is no JSON", detail=data[:2000]) from error
        return [value for line in lines for value in parse_payloads(line)]
