"""U6: what fills the window, part by part."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.composer.conversations import Script
from tests.core.composer.histories import History, histories
from wisp_core.composer.compose import compose
from wisp_core.composer.estimate import wire_bytes
from wisp_core.composer.recompose import recompose
from wisp_core.composer.shares import shares
from wisp_core.events import CommandRun, Prompt, Response, TurnEnd
from wisp_core.records import InstructionsContent, Plan, Rendering, Segment
from wisp_core.requests import Share, ToolSchema
from wisp_core.settings import Context

SEGMENTS = InstructionsContent((Segment("core", "c" * 300), Segment("mode", "m" * 100)))
SCHEMA = ToolSchema("tool", "d", {})
TOOLS = wire_bytes((), [SCHEMA])
SCHEMA_BYTES = len('{"name":"tool","description":"d","parameters":{}}')


def conversation() -> Script:
    """Return a conversation of one turn of 600 bytes."""
    script = Script()
    script.start()
    script.write(Prompt(text="p" * 200), 1)
    script.write(Response(request="r", step=1, text="r" * 400, finish="stop", model="m"), 1)
    script.write(TurnEnd(outcome="done"), 1)
    return script


def bar(script: Script, *, prompt: str = "", size: int = 1000, headroom: int = 0, window: int | None = 4000):
    composition = compose(script.record, Context(), instructions=SEGMENTS, prompt=prompt)
    return shares(
        composition, tools=wire_bytes((), [SCHEMA]), instructions=SEGMENTS, size=size, headroom=headroom, window=window
    )


def test_each_part_has_its_tokens_in_the_order_of_the_request_at_the_measured_rate():
    size = 300 + 100 + SCHEMA_BYTES + 600 + 100
    assert bar(conversation(), prompt="q" * 100, size=size // 2, headroom=200) == (
        Share("instructions", "core", 150),
        Share("instructions", "mode", 50),
        Share("tools", "", SCHEMA_BYTES // 2),
        Share("turns", "", 300),
        Share("request", "", 50),
        Share("headroom", "", 100),
        Share("free", "", 4000 - size // 2 - 100),
    )


def test_between_turns_only_a_draft_and_the_commands_that_wait_are_the_request():
    script = conversation()
    assert "request" not in {share.part for share in bar(script)}
    script.write(CommandRun(command="ls", output="a.txt"), 2)
    assert [share.part for share in bar(script)][3:5] == ["turns", "request"]
    script.write(Prompt(text="what is it?"), 2)
    assert [share.part for share in bar(script)][3:5] == ["turns", "request"]


def test_an_overfull_window_has_nothing_free_and_no_part_is_negative():
    found = bar(conversation(), size=5000, headroom=300)
    assert [(share.part, share.tokens) for share in found[-2:]] == [("headroom", 0), ("free", 0)]
    assert sum(share.tokens for share in found) == 5000
    tight = bar(conversation(), size=3900, headroom=10_000)
    assert [(share.part, share.tokens) for share in tight[-2:]] == [("headroom", 100), ("free", 0)]


def test_of_an_unknown_window_only_what_is_carried_is_told():
    found = bar(conversation(), window=None, headroom=300)
    assert {share.part for share in found} == {"instructions", "tools", "turns"}
    assert sum(share.tokens for share in found) == 1000


def test_a_block_is_a_part_of_its_own():
    script = conversation()
    script.write(Prompt(text="and?"), 2)
    from_plan = _with_blocks(script)
    found = shares(from_plan, tools=0, instructions=SEGMENTS, size=900, headroom=0, window=None)
    assert [share.part for share in found] == ["instructions", "instructions", "earlier", "turns", "now", "request"]


def _with_blocks(script: Script):
    record = script.record
    plan = Plan("e", 2, 1, tuple((i, Rendering.WHOLE) for i in record.active), "e" * 90, "n" * 70, 1, {}, "")
    return recompose(plan, record.active_entries(), turns=record.turns, instructions=SEGMENTS)


@settings(max_examples=60, deadline=None)
@given(histories(most_turns=3), st.integers(0, 9000), st.integers(0, 9000), st.integers(1, 9000))
def test_the_parts_sum_to_the_window_and_else_to_what_is_carried(history: History, size, headroom, window):
    composition = compose(history.record, Context())
    version = history.record.instructions[-1]
    found = shares(composition, tools=TOOLS, instructions=version, size=size, headroom=headroom, window=window)
    assert all(share.tokens >= 0 for share in found)
    assert sum(share.tokens for share in found) == max(size, window)
    assert sum(share.tokens for share in found if share.part not in ("headroom", "free")) == size
