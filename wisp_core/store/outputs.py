"""Keeps outputs larger than the budget, whole up to a limit, as files of one session with a record beside each."""

import codecs
import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from io import FileIO
from pathlib import Path

from wisp_core.parts import Part, Reading
from wisp_core.records import JsonObject
from wisp_core.redaction import NO_SECRETS, Redaction
from wisp_core.requests import KeptOutput
from wisp_core.settings import KIB
from wisp_core.settings import Outputs as Limits
from wisp_core.store.reading import FileContent, TextContent, read_part
from wisp_core.store.spool import Source, Spooled, make_folder
from wisp_core.text import byte_size, decode, whole_end, whole_start

PAGE_BYTES = 64 * KIB
COPY_BYTES = 256 * KIB
# Room for the marker, so that what is kept with it is no more than the limit.
MARKER_BYTES = 256
# How far the cut is moved to stand at a line's end; a longer line is cut inside.
LINE_SEARCH_BYTES = 64 * KIB
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a stored output: `text` from byte `offset`, `next` where the next page starts, None at the end."""

    text: str
    offset: int
    next: int | None
    total: int


class Outputs:
    """The outputs of one session under `folder`; when not `enabled` (no audit) nothing is kept.

    `redaction` is what those who write outputs must put them through first.
    """

    def __init__(
        self,
        folder: Path,
        session: str,
        *,
        limits: Limits,
        enabled: bool = True,
        redaction: Redaction = NO_SECRETS,
    ) -> None:
        self.redaction = redaction
        self._folder = folder
        self._session = session
        self._limits = limits
        self._enabled = enabled

    def open(self, call: str) -> "Spool":
        """Return the spool that takes the output of one call as it comes."""
        return Spool(self._folder / self._session, call, limits=self._limits, enabled=self._enabled)

    def path(self, call: str, session: str | None = None) -> Path | None:
        """Return the file of an output of this or an earlier session, None where there is none."""
        owner = session or self._session
        if not (_NAME.fullmatch(call) and _NAME.fullmatch(owner)):
            return None
        found = self._folder / owner / call
        return found if found.is_file() and not found.is_symlink() else None

    def record(self, call: str, session: str | None = None) -> KeptOutput | None:
        """Return what is recorded of an output, None where nothing readable is."""
        found = self.path(call, session)
        if found is None:
            return None
        try:
            raw: JsonObject = json.loads(found.with_name(f"{call}.json").read_text("utf-8"))
            return KeptOutput(**raw)
        except (OSError, ValueError, TypeError):
            return None

    def read_page(
        self, call: str, offset: int = 0, *, size: int = PAGE_BYTES, session: str | None = None
    ) -> Page | None:
        """Return about `size` bytes of an output from byte `offset`, no character split; None where it is not kept."""
        found = self.path(call, session)
        if found is None:
            return None
        with found.open("rb") as file:
            total = os.fstat(file.fileno()).st_size
            start = min(max(0, offset), total)
            file.seek(start)
            data = file.read(max(4, size))
        if start:
            skipped = whole_start(data)
            start, data = start + skipped, data[skipped:]
        if start + len(data) < total:
            data = whole_end(data)
        end = start + len(data)
        return Page(decode(data), start, end if end < total else None, total)

    def read_part(
        self, call: str, part: Part, *, limit: int = PAGE_BYTES, session: str | None = None, returned: str | None = None
    ) -> Reading | None:
        """Return what `part` asks for of an output in at most `limit` bytes.

        Where it is not kept, the part is of what the tool `returned`, and says so; None where that is not given.
        """
        found = self.path(call, session)
        if found is None:
            return None if returned is None else _as_returned(read_part(TextContent(returned), part, limit=limit))
        with found.open("rb") as file:
            return read_part(FileContent(file.fileno()), part, limit=limit)


class Spool:
    """One output on its way: bytes by stream, then `keep` or `discard`."""

    def __init__(self, folder: Path, call: str, *, limits: Limits, enabled: bool) -> None:
        self._folder = folder
        self._call = call
        self._limits = limits
        self._streams: dict[str, Spooled] = {}
        self._failure = "" if enabled else "the audit is off"

    @property
    def failure(self) -> str:
        """Why nothing can be kept, empty while it can."""
        return self._failure

    def write(self, stream: str, data: bytes) -> None:
        """Take the next bytes of a stream; a full disk only sets `failure`."""
        if self._failure:
            return
        if stream not in self._streams:
            self._streams[stream] = Spooled(self._folder, head=self._limits.head_bytes, tail=self._limits.tail_bytes)
        try:
            self._streams[stream].write(data)
        except OSError as error:
            self._give_up(error)

    def keep(self, parts: Sequence[bytes | str]) -> KeptOutput | None:
        """Store the parts in order, bytes as they are, a stream by its name; None, with `failure`, where it cannot be.

        Reads and writes up to 16 MiB, so it belongs in a thread of its own.
        """
        if self._failure:
            return None
        path = self._folder / self._call
        try:
            make_folder(self._folder)
            kept = self._write_file(path, [self._source(part) for part in parts])
            _write_private(path.with_name(f"{self._call}.json"), json.dumps(asdict(kept)).encode())
        except OSError as error:
            self._give_up(error)
            with suppress(OSError):
                path.with_name(f"{self._call}.part").unlink(missing_ok=True)
            return None
        self.discard()
        return kept

    def discard(self) -> None:
        """Forget what came."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def _give_up(self, error: OSError) -> None:
        self._failure = error.strerror or "it could not be written"
        self.discard()

    def _source(self, part: bytes | str) -> Source:
        if isinstance(part, bytes):
            whole = Spooled(self._folder, head=len(part), tail=0)
            whole.write(part, in_memory=True)
            return whole
        return self._streams.get(part) or Spooled(self._folder, head=0, tail=0)

    def _write_file(self, path: Path, sources: list[Source]) -> KeptOutput:
        limits = self._limits
        size = sum(source.size for source in sources)
        cut = size > min(limits.file_bytes, limits.head_bytes + limits.tail_bytes)
        part = path.with_name(f"{path.name}.part")
        with _create(part) as file:
            _copy(file.fileno(), sources, limit=limits.head_bytes if cut else size)
            after, until = self._cut(file.fileno(), sources) if cut else (0, 0)
        digest, lines, encoding, total = _examine(part)
        os.replace(part, path)
        return KeptOutput(self._call, total, lines, digest, encoding, cut, after, until)

    def _cut(self, fd: int, sources: list[Source]) -> tuple[int, int]:
        """Write the marker and the last bytes behind the first ones; return the lines (of the whole) around the cut."""
        head = _trim_head(fd)
        after, mid_line = _count_lines(fd, head)
        tail = _last(sources, self._limits.tail_bytes - MARKER_BYTES)
        start, inside = _tail_start(tail)
        tail = tail[start:]
        ends = sum(source.newlines for source in sources)
        whole = ends + (0 if tail.endswith(b"\n") else 1)
        until = whole - tail.count(b"\n") - (0 if tail.endswith(b"\n") else 1) + 1
        lost = sum(source.size for source in sources) - head - len(tail)
        first, last = (after if mid_line else after + 1), (until if inside else until - 1)
        limit = min(self._limits.file_bytes, self._limits.head_bytes + self._limits.tail_bytes)
        lines = f"line {first:,}" if first >= last else f"lines {first:,}–{last:,}"
        marker = f"[… {lines} ({byte_size(lost)}) not kept: an output is kept up to {byte_size(limit)} …]\n"
        os.lseek(fd, head, os.SEEK_SET)
        _write_all(fd, (b"\n" if mid_line else b"") + marker.encode() + tail)
        return after, until


def _as_returned(reading: Reading) -> Reading:
    return replace(reading, note=f"as the tool returned it, nothing more is kept; {reading.note}")


def _copy(fd: int, sources: list[Source], *, limit: int) -> None:
    for source in sources:
        for start in range(0, min(source.size, limit), COPY_BYTES):
            _write_all(fd, source.read(start, min(COPY_BYTES, limit - start)))
        limit -= min(source.size, limit)


def _last(sources: list[Source], limit: int) -> bytes:
    found = b""
    for source in reversed(sources):
        take = min(source.size, limit - len(found))
        found = source.read(source.size - take, take) + found
    return found


def _trim_head(fd: int) -> int:
    """Cut the file back to a line's end, or a character's where none is near; return its size."""
    size = os.lseek(fd, 0, os.SEEK_END)
    start = max(0, size - LINE_SEARCH_BYTES)
    end = os.pread(fd, LINE_SEARCH_BYTES, start)
    kept = end.rfind(b"\n") + 1
    size = start + (kept if kept else len(whole_end(end)))
    os.ftruncate(fd, size)
    return size


def _tail_start(tail: bytes) -> tuple[int, bool]:
    """Return where the tail starts, and whether that is inside a line."""
    newline = tail.find(b"\n", 0, LINE_SEARCH_BYTES)
    return (newline + 1, False) if 0 <= newline < len(tail) - 1 else (whole_start(tail), True)


def _count_lines(fd: int, size: int) -> tuple[int, bool]:
    """Return the lines in the first `size` bytes, a part of one included, and whether the last is a part."""
    ends, last = 0, b"\n"
    for start in range(0, size, COPY_BYTES):
        block = os.pread(fd, COPY_BYTES, start)
        ends, last = ends + block.count(b"\n"), block[-1:]
    return ends + (last != b"\n"), last != b"\n"


def _examine(path: Path) -> tuple[str, int, str, int]:
    """Return a file's SHA-256, lines, encoding (`utf-8`, or `binary` where it is none) and size in bytes."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    encoding, ends, size, last = "utf-8", 0, 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(COPY_BYTES):
            digest.update(block)
            ends, size, last = ends + block.count(b"\n"), size + len(block), block[-1:]
            if encoding == "utf-8":
                encoding = _encoding(decoder, block)
    return digest.hexdigest(), ends + (last != b"\n"), encoding, size


def _encoding(decoder: codecs.IncrementalDecoder, block: bytes) -> str:
    try:
        decoder.decode(block)
    except UnicodeDecodeError:
        return "binary"
    return "binary" if b"\0" in block else "utf-8"


def _create(path: Path) -> FileIO:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.fchmod(fd, 0o600)
    return FileIO(fd, "r+b")


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _write_private(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.part")
    with _create(part) as file:
        _write_all(file.fileno(), data)
    os.replace(part, path)
