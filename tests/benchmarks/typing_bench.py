"""Typing while a reply streams: how long a key takes to show, through a pseudo-terminal, beside the same app idle.

3,000 deltas at 200 a second, 200 KB, of one fence, one paragraph, one table, and no line break at all.
"""

import asyncio
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.tui.terminal import Terminal, terminal

DELTAS = 3_000
GAP = 0.005  # seconds between two deltas
SIZE = 68  # characters a delta
KEY_GAP = 0.14  # seconds between two keys
IDLE_KEYS = 60
LETTERS = [chr(code) for first, last in ((0x391, 0x3A1), (0x3B1, 0x3C1), (0x410, 0x44F), (0x10D0, 0x10F0)) for code in range(first, last)]  # fmt: skip  # noqa: E501  narrow letters, each typed once


def shapes() -> dict[str, str]:
    """Return the replies, each of `DELTAS * SIZE` characters."""
    size = DELTAS * SIZE
    line, row = "x = f(1, 'two')  # three, four, five\n", "| one two three | four five six |\n"
    head = "| a | b |\n|---|---|\n"
    return {
        "one fence": "```python\n" + (line * size)[: size - 14] + "\n```",
        "one paragraph": ("one two three four five six seven\n" * size)[:size],
        "one table": head + (row * size)[: size - len(head)],
        "no line break": ("1 2 3 four " * size)[:size],
    }


class Server:
    """A model's server on loopback that streams one text at the pace; `ended` is when its last byte was written."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = 0.0
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._answer, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("POST") and "/chat/completions " in head:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            began = time.monotonic()
            for at in range(0, len(self.text), SIZE):
                self._say(writer, {"content": self.text[at : at + SIZE]})
                await writer.drain()
                await asyncio.sleep(began + at / SIZE * GAP - time.monotonic())
            self._say(writer, {}, finish="stop")
            writer.write(b"data: [DONE]\n\n")
            self.ended = time.monotonic()
        else:
            body = b'{"data": [{"id": "m"}]}'
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    def _say(self, writer: asyncio.StreamWriter, delta: dict[str, str], *, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        writer.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())


def press(run: Terminal, letters: Iterator[str], *, going: Callable[[], bool]) -> list[float]:
    """Type a letter each `KEY_GAP` while `going()`; return the seconds until each was written to the terminal."""
    taken = []
    while going() and (letter := next(letters, None)):
        start, began = len(run.seen), time.monotonic()
        run.type(letter.encode())
        while letter.encode() not in run.seen[start:]:
            assert run.read(0.1), "it ended"
            assert time.monotonic() - began < 10, "a key did not show within 10 s"
        taken.append(time.monotonic() - began)
        while (left := began + KEY_GAP - time.monotonic()) > 0:
            run.read(left)
    return taken


def measure(server: Server, text: str) -> tuple[list[float], list[float], float]:
    """Return the seconds a key takes when idle and while `text` streams, and those from its end to `ready`."""
    server.text, server.ended = text, 0.0
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        os.environ["WISP_HOME"] = made
        endpoint = {"url": f"http://127.0.0.1:{server.port}/v1", "window": 1_000_000}
        (home / "config.json").write_text(json.dumps({"model": "local/b/m", "endpoints": {"b": endpoint}}))
        home.chmod(0o700)
        with terminal(cwd=home) as run:
            run.until(b"ready", b"local/b/m")
            letters = iter(LETTERS)
            count = iter(range(IDLE_KEYS))
            idle = press(run, letters, going=lambda: next(count, None) is not None)
            start = len(run.seen)
            run.type(b"\r")
            run.until(b"writing", start=start)
            start = len(run.seen)
            letters = iter(LETTERS * 2)
            busy = press(run, letters, going=lambda: not server.ended)
            run.until(b"ready", start=start)
            late = time.monotonic() - server.ended
            run.type(b"\x03\x03")
            run.end()
        lines = [json.loads(line) for path in (home / "audit").rglob("*.jsonl") for line in path.open("rb")]
        assert text in [line["data"].get("text") for line in lines if line["event"] == "response"], "not the source"
    return idle, busy, late


def told(what: str, seconds: list[float]) -> str:
    """Return a series as words, in milliseconds."""
    late = sorted(seconds)[int(len(seconds) * 0.95)]
    figures = f"{min(seconds) * 1000:4.0f} / {statistics.median(seconds) * 1000:4.0f} / {late * 1000:4.0f}"
    return f"{what:<16} n={len(seconds):<4} {figures} / {max(seconds) * 1000:4.0f} ms"


def main() -> None:
    """Measure and print."""
    server = Server()
    print("a typed key to its showing: min / median / p95 / max; ratio of medians to the same app idle")
    for what, text in shapes().items():
        idle, busy, late = measure(server, text)
        ratio = statistics.median(busy) / statistics.median(idle)
        print(told(f"{what}, idle"[:16], idle))
        print(f"{told(what, busy)}; ratio {ratio:.1f}; ready {late:.2f} s after the last delta; text equal")


if __name__ == "__main__":
    main()
