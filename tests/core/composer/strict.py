"""What the strictest providers ask of a history."""

import json

from wisp_core.requests import Message, Role


def assert_strict(found: tuple[Message, ...]) -> None:
    """Assert that roles alternate, results stand right after their calls, and nothing is empty or an orphan."""
    assert found[0].role is Role.SYSTEM
    assert found[1].role is Role.USER
    open_calls: list[str] = []
    before = Role.SYSTEM
    for message in found[1:]:
        if message.role is Role.TOOL:
            assert message.call_id == open_calls.pop(0), "results stand right after their calls, in their order"
            assert message.text
        else:
            assert not open_calls, "every call has its result before anything else is said"
            assert message.text or message.calls, "no message is empty"
            assert message.role is not before, "roles alternate"
            assert message.role in (Role.USER, Role.ASSISTANT)
            open_calls = [call.id for call in message.calls]
            assert len(set(open_calls)) == len(open_calls)
            assert all(isinstance(json.loads(call.arguments), dict) for call in message.calls)
        before = message.role
    assert not open_calls
    assert before in (Role.USER, Role.TOOL), "a request ends with something to answer"
