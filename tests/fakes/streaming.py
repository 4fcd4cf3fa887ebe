"""What the strict fakes of one path have alike: they read a request, judge it, and stream what was planned for it."""

import json

from tests.fakes.provider import FakeProvider, Planned, Seen, read_json

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}


class FakeStreaming(FakeProvider):
    """A provider with one `path` that answers; use it as an async context manager.

    `answer`, `requests`, `refused`, `disconnected`, `arrived`, `drops` and `models` are as in `FakeProvider`.

    A subclass gives `usual()`, the values of an ordinary answer, `events(values)`, the bytes of a stream,
    `judge(seen)`, the status and report of a refusal or None, and `decline(seen)`, the same for what breaks no rule.

    `rejects` are (pattern, message): a body whose JSON holds the pattern is refused with the message, as no fault.
    """

    path = ""

    def answer(
        self, *values, raw=None, split=None, status=200, body=None, headers=None, cut=False, hang=False, release=None
    ):  # fmt: skip
        """Queue the answer of one request: the `values` of its events, `raw` bytes, or a plain `body`."""
        if body is not None or status != 200:
            data = body if isinstance(body, str) else json.dumps(body)
            kind = {"content-type": "text/plain"} if isinstance(body, str) else JSON
            self._planned.append(Planned([data.encode()], status, kind | (headers or {}), True))
            return
        raw = self.events(values) if raw is None else raw
        pieces = [raw[at : at + split] for at in range(0, len(raw), split)] if split else [raw]
        self._planned.append(Planned(pieces, 200, EVENTS | (headers or {}), False, cut, hang, release))

    async def _one(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        self.paths.append(path)
        if method == "POST" and path == self.path:
            if self.drops:
                self.drops -= 1
                return False
            try:
                asked = read_json(data)
            except ValueError as error:
                return await self._refuse_body(writer, error)
            return await self._reply(reader, writer, seen=Seen(path, headers, asked))
        known = self.models if path == "/v1/models" else None
        body = {"error": {"message": "not found"}} if known is None else known
        await self._plain(writer, Planned([json.dumps(body).encode()], 404 if known is None else 200, JSON))
        return True

    async def _reply(self, reader, writer, *, seen):
        self.requests.append(seen)
        self.arrived.set()
        wrong = self.judge(seen)
        if wrong:
            self.refused.append(wrong)
        else:
            written = json.dumps(seen.body)
            wrong = next((self.report(400, said) for pattern, said in self.rejects if pattern in written), None)
            wrong = wrong or self.decline(seen)
        if wrong:
            status, body = wrong
            await self._plain(writer, Planned([json.dumps(body).encode()], status, JSON))
            return True
        if not self._planned:
            self.answer(*self.usual())
        planned = self._planned.pop(0)
        if planned.plain:
            await self._plain(writer, planned)
            return True
        return await self._stream(reader, writer, planned=planned)
