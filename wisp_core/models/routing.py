"""Routes a request of a model whose template knows no tools: which tool it needs, as lines to go on with. Pure.

The prompt is plain text of examples, each a message and the tool that it needs. So small a model does what the nearest
examples do, so those that share words with the message stand last, and only their tools are offered.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from wisp_core.records import JsonObject
from wisp_core.requests import CallRequested, Message, Role, ToolSchema, WireCall
from wisp_core.resources import read
from wisp_core.text import one_line

ANSWER = "answer"
"""Stands for answering with words; a tool of this name cannot be called."""
MOST_OFFERED = 6
"""How many tools are offered at once, the nearest."""
MOST_EXAMPLES = 12
"""How many messages that need a tool are shown."""
ANSWER_EVERY = 3
"""After so many of them one is shown that needs none; with more of these so small a model hardly calls."""
LEAST_ANSWERS = 2
"""How many of those are shown at least."""
REQUEST_MOST = 400
"""Characters of the person's request that are read, its end."""
RESULT_MOST = 160
"""Characters of a result that are read."""
MOST_NAMED = 4
"""How many arguments the example of an unknown tool names."""
MOST_CALLS = 3
"""How many calls of the turn are read, the latest."""

# Both blocks that a request may begin with say so in their first line.
_RECORD = "record, not instructions"
_WORD = re.compile(r"[a-z0-9]+")
_PLACE = re.compile(r"\w[./]\w")
_STEM = 5
_STOP_WORDS = frozenset(
    _WORD.findall(
        """
a an and are as at be by can could did do does for from had has have how i in is it its me my no not of on or please
show tell that the their there these this those to us was we were what when where which who why will with would yes you
your
"""
    )
)
"""Words that any request may hold."""


@dataclass(frozen=True, slots=True)
class Route:
    """What decides which tool is needed: the prompt up to the choice, and the names offered beside `ANSWER`."""

    prompt: str
    offered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Example:
    """A message, and the line that says which tool it needs."""

    message: str
    line: str


def find_route(messages: Sequence[Message], tools: Sequence[ToolSchema], *, room: int) -> Route | None:
    """Return how to choose among the tools in a prompt of at most about `room` characters; None where none is near."""
    request, calls = _open_turn(messages)
    near = _nearest(request, tools)[:MOST_OFFERED]
    if not near:
        return None
    end = "".join(_done(call, result) for call, result in calls[-MOST_CALLS:])
    end = f"Message: {one_line(request, REQUEST_MOST)}\n{end}Tool:"
    lines = (_write(example, answered=bool(calls)) for example in _examples(request, near))
    examples = "".join(reversed(list(_fit(lines, room - len(end)))))
    return Route(examples + end, tuple(tool.name for tool in near))


def is_repeated(messages: Sequence[Message], asked: CallRequested) -> bool:
    """Tell whether the open turn holds this call already."""
    _, calls = _open_turn(messages)
    return any(call.name == asked.name and _same(call.arguments, asked.arguments) for call, _ in calls)


def _open_turn(messages: Sequence[Message]) -> tuple[str, list[tuple[WireCall, str]]]:
    """Return the person's latest request, and the calls made since with their results."""
    at = max((at for at, message in enumerate(messages) if message.role is Role.USER), default=None)
    if at is None:
        return "", []
    since = messages[at + 1 :]
    results = {message.call_id: message.text for message in since if message.role is Role.TOOL}
    calls = [(call, results.get(call.id, "")) for message in since for call in message.calls]
    return _request(messages[at].text), calls


def _request(text: str) -> str:
    """Return the end of what the person's side says, without the records that stand before the request."""
    said = [part for part in text.split("\n\n") if _RECORD not in part.partition("\n")[0]]
    return "\n".join(said)[-REQUEST_MOST:].strip()


def _done(call: WireCall, result: str) -> str:
    arguments = one_line(call.arguments, RESULT_MOST) or "{}"
    return f"Tool: {call.name} {arguments}\nResult: {one_line(result, RESULT_MOST)}\n"


def _same(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one or "{}") == json.loads(other or "{}"))
    except (ValueError, RecursionError):
        return one == other


@cache
def _known() -> tuple[Mapping[str, Sequence[_Example]], Sequence[_Example]]:
    """Return the examples of each of wisp's own tools, and those that need none."""
    kept: JsonObject = json.loads(read("routing.json"))
    tools = {
        name: [_Example(message, f"{name} {json.dumps(arguments)}") for message, arguments in pairs]
        for name, pairs in kept["tools"].items()
    }
    return tools, [_Example(message, ANSWER) for message in kept["answer"]]


def _examples_of(tool: ToolSchema) -> Sequence[_Example]:
    """Return a tool's examples; one that wisp does not know has its description for one."""
    if known := _known()[0].get(tool.name):
        return known
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) and properties else []
    given = json.dumps(dict.fromkeys(names[:MOST_NAMED], "..."))
    return [_Example(_summary(tool), f"{tool.name} {given}")]


def _summary(tool: ToolSchema) -> str:
    """Return the first sentence of a tool's description."""
    return one_line(re.split(r"(?<=\w)[.:] ", tool.description.strip())[0], RESULT_MOST) or tool.name


def _nearest(request: str, tools: Sequence[ToolSchema]) -> list[ToolSchema]:
    """Return the tools that share a word with the request, the nearest first; a word of many tools counts little."""
    asked = _stems(request)
    heard = [(tool, _heard(tool)) for tool in tools if tool.name != ANSWER]
    common = Counter(stem for _, stems in heard for stem in stems)
    scores = [(sum(1 / common[stem] for stem in asked & stems), tool) for tool, stems in heard]
    return [tool for score, tool in sorted(scores, key=lambda scored: -scored[0]) if score]


def _heard(tool: ToolSchema) -> frozenset[str]:
    examples = " ".join(example.message for example in _examples_of(tool))
    return _stems(f"{tool.name.replace('_', ' ')} {_summary(tool)} {examples}")


def _stems(text: str) -> frozenset[str]:
    """Return what is matched of a text: its words' beginnings, and `file` where it names a place of files."""
    stems = {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS}
    return frozenset(stems | {"file"}) if _PLACE.search(text) else frozenset(stems)


def _fit(lines: Iterator[str], room: int) -> Iterator[str]:
    """Yield as many of the lines as the room takes, in characters."""
    for line in lines:
        room -= len(line)
        if room < 0:
            return
        yield line


def _examples(request: str, near: Sequence[ToolSchema]) -> Iterator[_Example]:
    """Yield the examples, the one to stand last first: the nearest tool's, and among them some that need no tool."""
    asked = _stems(request)

    def far(example: _Example) -> int:
        return -len(asked & _stems(example.message))

    plain = sorted(_known()[1], key=far)
    mine = [example for tool in near for example in sorted(_examples_of(tool), key=far)][:MOST_EXAMPLES]
    chosen = [plain.pop(0)] if far(plain[0]) < min(map(far, mine)) else []
    for number, example in enumerate(mine, start=1):
        chosen.append(example)
        if number % ANSWER_EVERY == 0:
            chosen += plain[:1]
            del plain[:1]
    answers = sum(example.line == ANSWER for example in chosen)
    yield from [*chosen, *plain[: max(0, LEAST_ANSWERS - answers)]]


def _write(example: _Example, *, answered: bool) -> str:
    """Return the example as it is shown; `answered`, where the turn has called already, with how a call is followed."""
    follow = f"Result: ...\nTool: {ANSWER}\n" if answered and example.line != ANSWER else ""
    return f"Message: {example.message}\nTool: {example.line}\n{follow}\n"
