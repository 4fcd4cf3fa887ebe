"""The tool `read_file`: a page of numbered lines; what is no text file is described or refused, never waited for."""

import asyncio
import codecs
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pydantic import Field

from wisp_core.errors import ToolFailure
from wisp_core.redaction import NO_SECRETS, Redaction
from wisp_core.requests import ToolKind, ToolResult
from wisp_core.settings import KIB
from wisp_core.text import byte_size
from wisp_core.tools.budget import Budget
from wisp_core.tools.capture import BINARY_SAMPLE_BYTES, is_binary
from wisp_core.tools.files import Protection, locate, missing, open_file, place_of
from wisp_core.tools.ledger import Ledger
from wisp_core.tools.page import Page, cut_page
from wisp_core.tools.tool import Arguments, Running, Tool

BLOCK_BYTES = 64 * KIB
TRAILER_BYTES = 200
CRLF, CRLF_MARK = "\r\n", "␍"
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
)


class FileArguments(Arguments):
    """The file's path, and the lines: from `offset` (1 is the first), `limit` of them."""

    path: str = Field(min_length=1)
    offset: int = Field(1, ge=1, description="first line, from 1")
    limit: int | None = Field(None, ge=1, description="lines")


class ReadFile(Tool[FileArguments]):
    """Reads files; a relative path starts at `cwd`; what was read is noted in the `ledger`.

    Secrets go before a line is cut, so that no part of one is left.
    """

    name = "read_file"
    kind = ToolKind.READS
    description = "Read a text file as numbered lines, a page at a time."
    arguments = FileArguments

    def __init__(
        self,
        cwd: Path,
        budget: Budget,
        *,
        protection: Protection,
        ledger: Ledger | None = None,
        redaction: Redaction = NO_SECRETS,
    ) -> None:
        self._redaction = redaction
        self._cwd = cwd
        self._budget = budget
        self._protection = protection
        self._ledger = ledger or Ledger()

    async def run(self, arguments: FileArguments, running: Running) -> ToolResult:
        """Return a page of the file.

        Raises:
            ToolFailure: there is no such file, it is protected, or it is nothing that can be read.
        """
        stopped = threading.Event()
        try:
            text = await asyncio.to_thread(self._read, arguments, stopped)
        finally:
            # A thread cannot be cancelled: it looks at this before each block.
            stopped.set()
        return ToolResult(text, bytes=len(text.encode()), lines=text.count("\n") + 1)

    def _read(self, arguments: FileArguments, stopped: threading.Event) -> str:
        path = locate(arguments.path, self._cwd, protection=self._protection)
        try:
            fd = open_file(path, protection=self._protection)
        except FileNotFoundError as error:
            raise ToolFailure(missing(path)) from error
        with open(fd, "rb", buffering=0) as file:
            since = os.fstat(fd)
            try:
                text = self._page(file, path, arguments=arguments, stopped=stopped)
                place = place_of(fd, path)
                if place is not None and not stopped.is_set():
                    self._ledger.note_read(file, place, since=since)
                return text
            except OSError as error:
                raise ToolFailure(f"{path} cannot be read: {error.strerror}") from error

    def _page(self, file: IO[bytes], path: Path, *, arguments: FileArguments, stopped: threading.Event) -> str:
        sample = file.read(BINARY_SAMPLE_BYTES)
        encoding = next((name for bom, name in _BOMS if sample.startswith(bom)), "utf-8")
        if encoding != "utf-16" and is_binary(sample):
            size = os.fstat(file.fileno()).st_size
            return f"[{path.name} is {_type(sample)} of {byte_size(size)}, no text; it is not shown]"
        file.seek(0)
        page = cut_page(
            self._redaction.blocks(_blocks(file, encoding, stopped=stopped)),
            offset=arguments.offset,
            limit=arguments.limit,
            room=self._budget.bytes - TRAILER_BYTES,
        )
        if not page.shown and page.read:
            lines = f"{page.read:,} line{'s' if page.read > 1 else ''}"
            raise ToolFailure(f"{path} has {lines}; there is no line {arguments.offset:,}")
        return _render(page, encoding)


def _blocks(file: IO[bytes], encoding: str, *, stopped: threading.Event) -> Iterator[bytes]:
    """Yield the file as UTF-8, without a byte order mark, until its end or until it is stopped."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    first = True
    while not stopped.is_set() and (data := file.read(BLOCK_BYTES)):
        if encoding == "utf-16":
            yield decoder.decode(data).encode()
        else:
            yield data.removeprefix(codecs.BOM_UTF8) if first else data
        first = False


def _render(page: Page, encoding: str) -> str:
    ends = {line.end for line in page.shown}
    crlf, mixed = CRLF in ends, {CRLF, "\n"} <= ends
    mark = CRLF_MARK if mixed else ""
    lines = [f"{line.number}\t{line.text}{mark if line.end == CRLF else ''}" for line in page.shown]
    if crlf:
        lines.append(f"[line ends: CRLF where {CRLF_MARK} stands, else LF]" if mixed else "[line ends: CRLF]")
    if encoding != "utf-8":
        lines.append("[UTF-16]" if encoding == "utf-16" else "[UTF-8 with a byte order mark]")
    if page.unsound:
        lines.append("[bytes that are no UTF-8 are shown as \ufffd]")
    if not page.shown:
        lines.append("[the file is empty]")
    lines.append("[end of file]" if page.next is None else f"more from offset {page.next}")
    return "\n".join(lines)


def _type(sample: bytes) -> str:
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "a WebP image"
    return next((name for magic, name in _TYPES if sample.startswith(magic)), "a binary file")
