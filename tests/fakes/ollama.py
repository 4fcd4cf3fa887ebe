"""A strict Ollama on a loopback port, over real HTTP, for tests.

    async with FakeOllama(window=131072) as ollama:
        ollama.answer("hello", thinking="hm")
        ... ask ollama.url ...
        ollama.requests[0].body["options"]["num_ctx"]

- It has the model `granite:8b` (`model`), described by `about` (the answer of `/api/show`), of `size` bytes.
- `/api/chat` and `/api/generate` load it: with the window that is asked for, at most `allocates`, as `/api/ps` then
  tells (`tells_window=False`: an old server, without the figure). `loads` are the windows it was loaded with; another
  `num_ctx` or `shift` loads it anew, as in a real one. `loaded` is the present window, 0 while it is not loaded.
- A token is four characters. What does not fit is refused with 400, llama.cpp's JSON in a string; `old=True` is a
  server before October 2025: it does not know `truncate` and `shift`, and cuts the front of the prompt silently.
- `answer(...)`, `requests`, `refused`, `disconnected`, `arrived` are as in `FakeProvider`; `lines` are JSON values.
  `pulls` are the lines of `/api/pull`. `failures` maps a path to (status, body), which is what it answers. `loading` is
  awaited, with the reader, instead of an answer of `/api/generate`. `stalls` maps a path to what is awaited, with the
  reader, before it is answered. `done=False` ends a stream without the line that tells of its end.
- `cloud` is how far a model that runs in Ollama's cloud is from being answered: `signed out`, or `off`.

It refuses with 400, and keeps in `refused`, what a real one refuses or silently passes over: a body that only Python
takes for JSON, unknown keys, wrong types, unknown roles, images, results without a tool's name, arguments that are no
object, a window out of bounds.
"""

import json

from tests.fakes.ollama_rules import find_wrong
from tests.fakes.provider import FakeProvider, Planned, Seen, read_json

JSON = {"content-type": "application/json; charset=utf-8"}
CREATED = "2026-08-21T18:48:22.123456789Z"


class FakeOllama(FakeProvider):
    """The server; use it as an async context manager."""

    def __init__(self, *, window=131072, allocates=None, old=False, tells_window=True, can=("completion", "tools")):
        super().__init__()
        self.model, self.size = "granite:8b", 4_000_000_000
        self.allocates, self.old, self.tells_window = allocates, old, tells_window
        self.loads, self.loaded, self.shift = [], 0, None
        self.pulls = [{"status": "pulling manifest"}, {"status": "success"}]
        self.failures = {}
        self.loading = None
        self.stalls = {}
        self.cloud = None
        self.asked = []
        self.about = {
            "details": {"family": "granite", "parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
            "model_info": {
                "general.architecture": "granite",
                "granite.context_length": window,
                "granite.block_count": 40,
                "granite.embedding_length": 4096,
                "granite.attention.head_count": 32,
                "granite.attention.head_count_kv": 8,
            },
        } | ({"capabilities": list(can)} if can is not None else {})

    async def __aenter__(self):
        await super().__aenter__()
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def answer(
        self, text="", *, thinking="", calls=(), counts=None, finish="stop", lines=None, raw=None, split=None,
        status=200, body=None, headers=None, cut=False, hang=False, release=None, done=True,
    ):  # fmt: skip
        """Queue the answer of one chat request; its counts are those of the prompt where none are given."""
        if body is not None or status != 200:
            super().answer(status=status, body=body, headers=headers)
            return
        if raw is None and lines is None:
            lines = make_lines(text, thinking, calls=calls)
            if done and not cut and not hang:
                lines.append(end(finish, counts))
        pieces = [write_lines(lines)] if raw is None else [raw] if isinstance(raw, bytes) else list(raw)
        if split:
            pieces = [piece[at : at + split] for piece in pieces for at in range(0, len(piece), split)]
        headers = {"content-type": "application/x-ndjson"} | (headers or {})
        self._planned.append(Planned(pieces, 200, headers, False, cut, hang, release))

    async def _one(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *fields = head.decode("latin-1").split("\r\n")
        method, path, version = first.split(" ")
        headers = {
            name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields if field)
        }
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        self.paths.append(path)
        try:
            body = read_json(data) if data else {}
        except ValueError as error:
            return await self._refuse_body(writer, error)
        self.asked.append((path, body))
        if path in self.stalls:
            await self.stalls[path](reader)
        if path in self.failures:
            await self._say(writer, self.failures[path])
        elif path == "/api/chat" and method == "POST":
            return await self._answer_chat(reader, writer, seen=Seen(path, headers, body))
        elif path == "/api/generate" and method == "POST":
            if self.loading:
                await self.loading(reader)
                return False
            await self._generate(writer, body)
        elif path == "/api/pull" and method == "POST":
            self.arrived.set()
            planned = self._planned.pop(0) if self._planned else Planned(
                [write_lines(self.pulls)], headers={"content-type": "application/x-ndjson"}
            )  # fmt: skip
            return await self._stream(reader, writer, planned=planned)
        else:
            await self._say(writer, self._describe(method, path, body=body))
        return version == "HTTP/1.1"

    def _describe(self, method, path, *, body):
        entry = {"name": self.model, "model": self.model, "size": self.size, "details": self.about["details"]}
        if path == "/api/show" and method == "POST" and self.cloud == "off":
            return 403, {"error": "ollama cloud is disabled: remote model details are unavailable"}
        if path == "/api/show" and method == "POST":
            return (200, self.about) if body.get("model") == self.model else (404, missing(body.get("model")))
        window = {"context_length": self.loaded} if self.tells_window else {}
        known = {
            "/api/tags": {"models": [entry | {"modified_at": CREATED, "digest": "abc"}]},
            "/api/ps": {"models": [entry | {"expires_at": CREATED, "size_vram": 0} | window] if self.loaded else []},
            "/api/version": {"version": "0.9.0" if self.old else "0.33.2"},
        }
        return (200, known[path]) if path in known and method == "GET" else (404, "404 page not found")

    def _load(self, body):
        """Load the model where it is not, or was loaded otherwise."""
        asked, shift = body.get("options", {}).get("num_ctx", 4096), body.get("shift", True)
        most = min(self.about["model_info"]["granite.context_length"], self.allocates or asked)
        if self.loaded != min(asked, most) or (self.shift is not None and self.shift != shift and not self.old):
            self.loaded, self.shift = min(asked, most), shift
            self.loads.append(asked)

    async def _generate(self, writer, body):
        wrong = find_wrong(body, chat=False)
        if wrong:
            self.refused.append(wrong)
            await self._say(writer, (400, {"error": wrong}))
        elif body["model"] != self.model:
            await self._say(writer, (404, missing(body["model"])))
        else:
            self._load(body)
            said = {"model": self.model, "created_at": CREATED, "response": "", "done": True, "done_reason": "load"}
            await self._say(writer, (200, said))

    async def _answer_chat(self, reader, writer, *, seen):
        self.requests.append(seen)
        self.arrived.set()
        refusal = self._refusal(seen.body)
        if refusal:
            await self._say(writer, refusal)
            return True
        self._load(seen.body)
        size, window = count(seen.body), self.loaded
        if size > window and (not self.old and seen.body.get("truncate", True) is False):
            await self._say(writer, (400, {"error": json.dumps(overflow(size, window))}))
            return True
        if not self._planned:
            self.answer("ok")
        planned = self._planned.pop(0)
        if planned.plain:
            await self._plain(writer, planned)
            return True
        counted = f'"prompt_eval_count": {min(size, window)}'.encode()
        planned.pieces = [piece.replace(b'"prompt_eval_count": -1', counted) for piece in planned.pieces]
        return await self._stream(reader, writer, planned=planned)

    def _refusal(self, body):
        wrong = find_wrong(body, chat=True)
        if wrong:
            self.refused.append(wrong)
            return 400, {"error": wrong}
        if body["model"] != self.model:
            return 404, missing(body["model"])
        if self.cloud == "off":
            return 403, {"error": "ollama cloud is disabled: remote model is unavailable"}
        if self.cloud == "signed out":
            return 401, {"error": "unauthorized", "signin_url": "https://ollama.com/connect?name=here&key=c3NoLWVk"}
        unknown = [word for word in self.rejects if word in body]
        if unknown:
            return 400, {"error": f"json: cannot unmarshal into Go struct field ChatRequest.{unknown[0]}"}
        can = self.about.get("capabilities", ["completion", "tools", "thinking"])
        if body.get("tools") and "tools" not in can:
            return 400, {"error": f"registry.ollama.ai/library/{self.model} does not support tools"}
        if body.get("think") and "thinking" not in can:
            return 400, {"error": f'"{self.model}" does not support thinking'}
        return None

    async def _say(self, writer, said):
        status, body = said
        text = body if isinstance(body, str) else json.dumps(body)
        headers = {"content-type": "text/plain"} if isinstance(body, str) else JSON
        await self._plain(writer, Planned([text.encode()], status, dict(headers)))


def missing(model):
    """Return the refusal of a model that is not there."""
    return {"error": f"model '{model}' not found"}


def overflow(size, window):
    """Return llama.cpp's report of a prompt that is too long."""
    message = f"request ({size} tokens) exceeds the available context size ({window} tokens), try increasing it"
    about = {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": size, "n_ctx": window}
    return {"error": about | {"message": message}}


def count(body):
    """Return how many tokens a request takes."""
    return len(json.dumps([body["messages"], body.get("tools", [])])) // 4


def line(**message):
    """Return one line of an answer."""
    return {"model": "granite:8b", "created_at": CREATED, "message": {"role": "assistant", **message}, "done": False}


def end(reason="stop", counts=None):
    """Return an answer's last line; a count of -1 becomes that of the prompt."""
    counts = {"prompt_eval_count": -1, "eval_count": 2} if counts is None else counts
    return line(content="") | {"done": True, "done_reason": reason, "total_duration": 5, "load_duration": 1} | counts


def make_lines(text, thinking="", *, calls=()):
    """Return the lines of an ordinary answer without its end."""
    lines = [line(content="", thinking=thinking)] if thinking else []
    lines += [line(content=part) for part in ([text] if isinstance(text, str) else text) if part]
    made = [{"function": {"index": 0, "name": call["name"], "arguments": call["arguments"]}} for call in calls]
    return lines + ([line(content="", tool_calls=made)] if made else [])


def write_lines(lines):
    """Return values as the bytes of a stream of lines."""
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in lines)
