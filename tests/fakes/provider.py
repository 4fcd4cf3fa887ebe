"""A strict provider of chat completions on a loopback port, over real HTTP, for tests.

    async with FakeProvider() as provider:
        provider.answer(text="hello", usage={"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4})
        ... ask provider.url (…/v1) ...
        provider.requests[0].body["messages"]

- `answer(...)` queues the answer of one chat request; with none left the request is answered "ok".
  `text` (a string or a list of deltas), `reasoning` (sent as `reasoning_content`), `calls` ([{"name", "arguments"}]),
  `usage`, `finish`; or `chunks` (JSON values, each one event, `[DONE]` added); or `raw` (bytes, or a list of bytes,
  each written for itself). `split=N` writes whatever it is in pieces of N bytes. `cut=True` breaks the connection
  off before the answer's end, `hang=True` waits there until the client goes; `release` (an asyncio.Event) waits
  before closing. `status`, `body` (JSON or text) and `headers` give a refusal or another plain answer.
- `requests` are the chat requests (`path`, `headers` with names in lower case, `body`), `refused` what was wrong with
  those that broke the rules, `paths` every path asked, `proxied` the urls asked of it as a proxy, `connections` how
  many were opened.
- `disconnected` is set when a client goes away before its answer ended; `arrived` when a chat request has come.
- `props`, `models`, `input_tokens` are what `/props`, `/v1/models`, `/v1/chat/completions/input_tokens` answer
  (None: 404); `input_tokens` may be a function of the body. `rejects` are words: a request with such a key at its top
  is refused with 400 as unknown. `busy` answers all other questions with 503.
  `hold` (an asyncio.Event) is waited for before the first part of an answer. `go_down` and `come_up` again.
  `drops` many chat requests find their connection closed instead of an answer.

It refuses with 400: a body that only Python takes for JSON, unknown keys, null or empty messages, a wrong order of
roles, orphan calls and results, repeated or long call ids, names outside the pattern, calls whose arguments are no JSON
object, a system message that is not the first.
"""

import asyncio
import json
import math
import re
from dataclasses import dataclass, field

TOP = {
    "model", "messages", "stream", "stream_options", "tools", "max_tokens", "max_completion_tokens", "temperature",
    "response_format", "return_progress", "reasoning_effort",
}  # fmt: skip
KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}
BEFORE = {
    "system": {None},
    "user": {None, "system", "assistant"},
    "assistant": {"user", "tool"},
    "tool": {"assistant", "tool"},
}


NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST_ID = 40


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict
    body: dict


@dataclass
class Planned:
    """One answer: bytes to write in pieces, or a plain body with a status."""

    pieces: list
    status: int = 200
    headers: dict = field(default_factory=dict)
    plain: bool = False
    cut: bool = False
    hang: bool = False
    release: asyncio.Event | None = None


class FakeProvider:
    """The provider; use it as an async context manager."""

    def __init__(self):
        self.requests = []
        self.refused = []
        self.paths = []
        self.connections = 0
        self.disconnected = asyncio.Event()
        self.arrived = asyncio.Event()
        self.props = None
        self.models = {"object": "list", "data": [{"id": "fake", "object": "model"}]}
        self.input_tokens = None
        self.rejects = []
        self.drops = 0
        self.proxied = []
        self.busy = False
        self.hold = None
        self._planned = []
        self._tasks = set()

    async def __aenter__(self):
        await self.come_up()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    async def __aexit__(self, *error):
        await self.go_down()

    async def come_up(self, port=0):
        """Listen, at any free port where none is given."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def go_down(self):
        """Close all connections and listen no more."""
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def answer(
        self, text="", *, reasoning="", calls=(), usage=None, finish=None, chunks=None, raw=None, split=None,
        status=200, body=None, headers=None, cut=False, hang=False, release=None,
    ):  # fmt: skip
        """Queue the answer of one chat request."""
        if body is not None or status != 200:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            plain = (
                {"content-type": "application/json"} if not isinstance(body, str) else {"content-type": "text/plain"}
            )
            self._planned.append(Planned([data], status, plain | (headers or {}), True))
            return
        if raw is None:
            raw = events(
                chunks if chunks is not None else make_chunks(text, reasoning, calls=calls, usage=usage, finish=finish)
            )
            if cut or hang:
                # It breaks off in the middle: the end of the answer is not sent.
                raw = events(
                    [c for c in (chunks or make_chunks(text, reasoning, calls=calls)) if c != end(finish or "stop")]
                )
                raw = raw.removesuffix(b"data: [DONE]\n\n")
        pieces = [raw] if isinstance(raw, bytes) else list(raw)
        if split:
            pieces = [piece[at : at + split] for piece in pieces for at in range(0, len(piece), split)]
        headers = {"content-type": "text/event-stream"} | (headers or {})
        self._planned.append(Planned(pieces, 200, headers, False, cut, hang, release))

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.disconnected.set()
        except asyncio.CancelledError:
            pass  # the test is over; asyncio would log a cancelled connection as an error
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return False
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        try:
            asked = read_json(data) if data else {}
        except ValueError as error:
            return await self._refuse_body(writer, error)
        if path.startswith("http://"):
            # It is asked as a proxy.
            self.proxied.append(path)
            path = "/" + path.split("/", 3)[3]
        self.paths.append(path)
        if self.drops and path == "/v1/chat/completions":
            self.drops -= 1
            return False
        if path == "/v1/chat/completions" and method == "POST":
            return await self._chat(reader, writer, seen=Seen(path, headers, asked))
        known = {
            "/props": self.props,
            "/v1/models": self.models,
            "/v1/chat/completions/input_tokens": self.input_tokens,
        }
        value = known.get(path)
        if callable(value):
            value = value(asked)
        status = 404 if value is None else 200
        if isinstance(value, tuple):
            status, value = value
        if self.busy:
            value, status = {"error": {"message": "Loading model", "code": 503}}, 503
        body = {"error": {"message": "not found", "code": 404}} if value is None else value
        await self._plain(writer, Planned([json.dumps(body).encode()], status, {"content-type": "application/json"}))
        return True

    async def _refuse_body(self, writer, error):
        self.refused.append(str(error))
        data = json.dumps({"error": f"the body is no JSON: {error}"}).encode()
        await self._plain(writer, Planned([data], 400, {"content-type": "application/json"}))
        return True

    async def _chat(self, reader, writer, *, seen):
        self.requests.append(seen)
        self.arrived.set()
        unknown = [word for word in self.rejects if word in seen.body]
        wrong = f"Unknown parameter: {unknown[0]} is not supported" if unknown else find_wrong(seen.body)
        if wrong:
            if not unknown:
                self.refused.append(wrong)
            body = {"error": {"message": wrong, "type": "invalid_request_error", "code": 400}}
            await self._plain(writer, Planned([json.dumps(body).encode()], 400, {"content-type": "application/json"}))
            return True
        planned = self._planned.pop(0) if self._planned else Planned(
            [events(make_chunks("ok", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}))],
            200, {"content-type": "text/event-stream"},
        )  # fmt: skip
        if planned.plain:
            await self._plain(writer, planned)
            return True
        return await self._stream(reader, writer, planned=planned)

    async def _plain(self, writer, planned):
        data = b"".join(planned.pieces)
        headers = planned.headers | {"content-length": str(len(data))}
        writer.write(_head(planned.status, headers) + data)
        await writer.drain()

    async def _stream(self, reader, writer, *, planned):
        writer.write(_head(planned.status, planned.headers | {"transfer-encoding": "chunked"}))
        if self.hold:
            await self.hold.wait()
        for piece in planned.pieces:
            if piece:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
        if planned.release:
            await planned.release.wait()
        if planned.hang:
            await reader.read(1)
            self.disconnected.set()
            return False
        if planned.cut:
            writer.transport.abort()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def _head(status, headers):
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_json(text):
    """Return the JSON value of a text as servers in Go or C++ read it: no constants, no number beyond a double."""
    return json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)


def _refuse(word):
    raise ValueError(f"{word} is no JSON")


def _finite(digits):
    return float(digits) if math.isfinite(float(digits)) else _refuse(digits[:20])


def _whole(digits):
    return int(digits) if math.isfinite(float(digits)) else _refuse(digits[:20])


def delta(**fields):
    """Return a chunk with one delta."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def end(reason="stop"):
    """Return the chunk that ends an answer."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def make_chunks(text, reasoning="", *, calls=(), usage=None, finish=None):
    """Return the chunks of an ordinary answer."""
    chunks = [delta(role="assistant", content=None)]
    if reasoning:
        chunks.append(delta(reasoning_content=reasoning))
    chunks += [delta(content=part) for part in ([text] if isinstance(text, str) else text) if part]
    for at, call in enumerate(calls):
        arguments = call["arguments"] if isinstance(call["arguments"], str) else json.dumps(call["arguments"])
        function = {"name": call["name"], "arguments": arguments}
        chunks.append(delta(tool_calls=[{"index": at, "id": f"call_{at}", "type": "function", "function": function}]))
    chunks.append(end(finish or ("tool_calls" if calls else "stop")))
    if usage:
        chunks.append({"choices": [], "usage": usage})
    return chunks


def events(chunks):
    """Return chunks as the bytes of server-sent events, `[DONE]` last."""
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"


def find_wrong(body):
    """Return what is wrong with the body of a chat request, "" where nothing is."""
    extra = set(body) - TOP
    if extra:
        return f"Unknown parameter: {sorted(extra)[0]}"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages must not be empty"
    waiting, used, before = [], set(), None
    for at, message in enumerate(messages):
        wrong = _message(message, before)
        if wrong:
            return f"messages.{at}: {wrong}"
        role = message["role"]
        if role != "tool" and waiting:
            return f"messages.{at}: call {waiting[0]} has no result before it"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                return f"messages.{at}: result of no call"
            waiting.remove(message["tool_call_id"])
        for call in message.get("tool_calls", ()):
            if call["id"] in used:
                return f"messages.{at}: call id {call['id']} is used twice"
            used.add(call["id"])
            waiting.append(call["id"])
        before = role
    if waiting:
        return f"call {waiting[0]} has no result"
    return "" if before in ("user", "tool") else "the last message must be of user or tool"


def _message(message, before):
    role = message.get("role")
    if role not in KEYS:
        return f"unknown role {role!r}"
    if set(message) - KEYS[role]:
        return f"unknown key {sorted(set(message) - KEYS[role])[0]}"
    if before not in BEFORE[role]:
        return f"{role} after {before}"
    calls = message.get("tool_calls")
    if calls is not None and (not isinstance(calls, list) or not calls):
        return "empty tool_calls"
    content = message.get("content")
    if ("content" in message or not calls) and (not isinstance(content, str) or not content.strip()):
        return "null or empty content"
    if role == "tool" and not 0 < len(message.get("tool_call_id", "")) <= LONGEST_ID:
        return f"no tool_call_id, or one over {LONGEST_ID} characters"
    return next((wrong for call in calls or () if (wrong := _call(call))), "")


def _call(call):
    function = call.get("function")
    if set(call) != {"id", "type", "function"} or call["type"] != "function" or not call["id"]:
        return "a call needs id, type and function"
    if len(call["id"]) > LONGEST_ID:
        return f"string too long: a call's id has at most {LONGEST_ID} characters"
    if set(function) != {"name", "arguments"} or not NAME.fullmatch(function["name"]):
        return f"a function needs arguments, and a name that matches {NAME.pattern}"
    try:
        whole = isinstance(read_json(function["arguments"]), dict)
    except (TypeError, ValueError):
        whole = False
    return "" if whole else "arguments are no JSON object"
