"""Writes messages for a template that knows neither calls nor results. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from wisp_core.requests import Message, Role, WireCall
from wisp_core.text import one_line

NAME_MOST = 80
"""Characters of a tool's name that stand over its output."""
ARGUMENTS_MOST = 160
"""Characters of a call's arguments that stand there."""


def as_plain(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with results on the person's side, framed, and without calls.

    A call itself stands in the frame of its result; neighbours of one side become one message.
    """
    plain: list[Message] = []
    calls = {call.id: call for message in messages for call in message.calls}
    for message in messages:
        if message.role is Role.TOOL:
            one = Message(Role.USER, _frame(calls.get(message.call_id), message))
        else:
            one = Message(message.role, message.text)
        if not one.text.strip():
            continue
        if plain and plain[-1].role is one.role:
            plain[-1] = replace(plain[-1], text=f"{plain[-1].text}\n\n{one.text}")
        else:
            plain.append(one)
    return tuple(plain)


def _frame(call: WireCall | None, result: Message) -> str:
    name = one_line(call.name if call else result.name, NAME_MOST) or "a tool"
    given = one_line(call.arguments, ARGUMENTS_MOST) if call and call.arguments.strip() not in ("", "{}") else ""
    return f"Output of {name}{' ' if given else ''}{given}:\n{result.text}"
