"""M6: calls and outputs reach a model whose template knows none of them, as text."""

from wisp_core.models.plain import as_plain
from wisp_core.requests import Message, Role, WireCall


def test_outputs_reach_a_template_without_tools_as_framed_text_of_the_persons_side():
    messages = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "read a.txt and tell the date"),
        Message(Role.ASSISTANT, calls=(WireCall("a", "read_file", '{"path": "a.txt"}'), WireCall("b", "d", "{}"))),
        Message(Role.TOOL, "one", call_id="a", name="read_file"),
        Message(Role.TOOL, "Monday", call_id="b", name="d"),
        Message(Role.ASSISTANT, "One, on Monday."),
        Message(Role.USER, "thanks"),
    )
    assert [(message.role.value, message.text) for message in as_plain(messages)] == [
        ("system", "Be brief."),
        (
            "user",
            'read a.txt and tell the date\n\nOutput of read_file {"path": "a.txt"}:\none\n\nOutput of d:\nMonday',
        ),
        ("assistant", "One, on Monday."),
        ("user", "thanks"),
    ]
    assert as_plain(messages[:2]) == messages[:2]


def test_the_words_before_a_call_stay_the_assistants():
    said = Message(Role.ASSISTANT, "I look.", calls=(WireCall("a", "d", "{}"),))
    plain = as_plain((Message(Role.USER, "date?"), said, Message(Role.TOOL, "Monday", call_id="a", name="d")))
    assert [message.role.value for message in plain] == ["user", "assistant", "user"]
    assert not any(message.calls for message in plain)
