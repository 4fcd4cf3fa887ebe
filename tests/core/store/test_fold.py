"""What each event does to a thread's record."""

from collections.abc import Iterable

from wisp_core.events import (
    CallData,
    CommandRun,
    ContextCompactionUndone,
    ContextCondensation,
    ContextCut,
    ContextReference,
    ContextSummary,
    Event,
    EventData,
    FactDeleted,
    FactRecorded,
    FactSuperseded,
    ModeChanged,
    ModelChanged,
    PermissionGranted,
    Prompt,
    RequestComposed,
    RequestRetried,
    Response,
    SegmentData,
    ThreadDeleted,
    ThreadRenamed,
    ThreadStart,
    ToolCalled,
    ToolReturned,
    TurnEnd,
    UsageData,
)
from wisp_core.records import (
    EntryKind,
    EntryState,
    Mode,
    Outcome,
    PromptContent,
    Rendering,
    ReplyContent,
    ThreadRecord,
    Usage,
)
from wisp_core.store.changes import KEPT_SUMMARIES
from wisp_core.store.fold import apply, wanted

START = ThreadStart(cwd="/work", model="m", mode="plan", instructions=[SegmentData(name="core", text="be brief")])


def fold(*datas: EventData, record: ThreadRecord | None = None) -> ThreadRecord:
    record = record or ThreadRecord("t")
    for data in datas:
        apply(record, event(record, data))
    return record


def event(record: ThreadRecord, data: EventData) -> Event:
    seq = record.last_seq + 1
    turn = record.last_turn + isinstance(data, Prompt) or None
    return Event(f"e{seq}", seq, f"2026-01-01T00:00:{seq:02}Z", "s", record.id, turn, None, data)


def reply(
    text: str = "", calls: Iterable[str] = (), *, request: str = "none", usage: UsageData | None = None
) -> Response:
    made = [CallData(call=call, tool="read_file", arguments="{}") for call in calls]
    return Response(request=request, step=1, text=text, calls=made, finish="stop", model="m", usage=usage)


def result(call: str, text: str = "out") -> ToolReturned:
    return ToolReturned(call=call, tool="read_file", text=text, ok=True, bytes=3, lines=1)


def kinds(record: ThreadRecord) -> list[EntryKind]:
    return [entry.kind for entry in record.entries.values()]


def test_a_thread_starts_over_its_instructions_as_entry_one_of_no_turn():
    record = fold(START)
    assert (record.cwd, record.model, record.mode, record.created) == ("/work", "m", Mode.PLAN, "2026-01-01T00:00:01Z")
    assert [entry.kind for entry in record.active_entries()] == [EntryKind.INSTRUCTIONS]
    assert record.entries[1].turn == 0
    assert record.instructions[0].version == 1
    assert record.entries[1].content == record.instructions[0]


def test_a_prompt_opens_a_turn_and_the_first_one_gives_the_title_on_one_line_of_80_characters():
    record = fold(START, Prompt(text="read\nthe  file " + "x" * 100), TurnEnd(outcome="done"), Prompt(text="again"))
    assert record.title.startswith("read the file xxx")
    assert len(record.title) == 80
    assert [turn.prompt for turn in record.turns.values()] == [2, 3]
    assert record.open_turn() is record.turns[2]


def test_a_response_gives_a_reply_and_each_call_an_entry_joined_to_its_events():
    record = fold(START, Prompt(text="p"), reply("let me see", ["aa", "bb"]))
    call = ToolCalled(call="aa", tool="read_file", arguments={})
    fold(call, result("aa"), result("bb"), record=record)
    assert kinds(record)[2:] == [
        EntryKind.REPLY,
        EntryKind.TOOL_CALL,
        EntryKind.TOOL_CALL,
        EntryKind.TOOL_OUTPUT,
        EntryKind.TOOL_OUTPUT,
    ]
    assert record.calls == {"aa": 4, "bb": 5}
    assert record.entries[4].sources == ("e3", "e4")
    assert [record.entries[i].wire_id for i in (3, 4, 6)] == ["e3", "aa", "aa"]


def test_an_answer_of_nothing_is_kept_and_one_of_calls_alone_has_no_empty_reply():
    assert kinds(fold(START, Prompt(text="p"), reply("")))[-1] is EntryKind.REPLY
    assert kinds(fold(START, Prompt(text="p"), reply("", ["aa"])))[2:] == [EntryKind.TOOL_CALL]


def test_a_call_has_one_output_at_most_and_a_result_of_no_call_is_none():
    record = fold(START, Prompt(text="p"), reply("", ["aa"]), result("aa"), result("aa", "again"), result("zz"))
    assert kinds(record)[3:] == [EntryKind.TOOL_OUTPUT]


def test_totals_sum_what_was_reported_and_the_last_usage_is_that_of_the_latest_response():
    record = fold(START, Prompt(text="p"), reply("a", usage=UsageData(prompt=5, total=9)), reply("b"))
    assert (record.totals.requests, record.totals.prompt, record.totals.total) == (2, 5, 9)
    assert record.last_usage is None
    fold(reply("c", usage=UsageData(prompt=1, cached=1)), record=record)
    assert record.last_usage == Usage(prompt=1, cached=1)


def test_a_command_goes_with_the_turn_after_it():
    record = fold(
        START, Prompt(text="p"), TurnEnd(outcome="done"), CommandRun(command="ls", output="a"), Prompt(text="q")
    )
    assert [entry.turn for entry in record.entries.values()] == [0, 1, 2, 2]


def composed(entries: list[tuple[int, str]], **more: object) -> RequestComposed:
    return RequestComposed.model_validate(
        {"step": 1, "entries": entries, "instructions": 1, "settings": {"cuts": True}, "sha256": "h", **more}
    )


def test_a_plan_is_kept_of_the_latest_turn_and_knows_the_response_that_answered_it():
    record = fold(START, Prompt(text="p"), composed([(1, "whole"), (2, "cut")]), reply("r", request="e3"))
    (plan,) = record.plans[1]
    assert plan.entries == ((1, Rendering.WHOLE), (2, Rendering.CUT))
    assert plan.answered == "e4"
    fold(TurnEnd(outcome="done"), Prompt(text="q"), composed([(1, "whole")]), record=record)
    assert list(record.plans) == [2]


def test_new_instructions_are_a_version_and_take_the_place_of_the_old_in_entry_one():
    segments = [{"name": "core", "text": "be long"}]
    record = fold(START, Prompt(text="p"), composed([(1, "whole")], instructions=2, segments=segments))
    assert [content.version for content in record.instructions] == [1, 2]
    assert record.entries[1].content == record.instructions[1]
    assert list(record.entries) == [1, 2]


def test_a_turn_that_fails_before_a_tool_has_run_leaves_what_is_composed_but_keeps_what_is_shown():
    record = fold(START, Prompt(text="p"), reply("half"), TurnEnd(outcome="failed", error="server died"))
    assert record.active == [1]
    assert [record.entries[i].state for i in (2, 3)] == [EntryState.FAILED] * 2
    assert record.entries[2].content == PromptContent("p")
    assert (record.turns[1].outcome, record.turns[1].error) == (Outcome.FAILED, "server died")


def test_a_failed_turn_takes_the_commands_before_its_prompt_with_it():
    record = fold(START, CommandRun(command="ls", output=""), Prompt(text="p"), TurnEnd(outcome="failed"))
    assert record.active == [1]


def test_a_retry_sends_the_prompt_again_without_a_copy_and_without_the_failed_answer():
    record = fold(START, Prompt(text="p"), reply("half"), TurnEnd(outcome="failed"), RequestRetried(reason="person"))
    assert record.active == [1, 2]
    assert record.entries[3].state is EntryState.FAILED
    assert record.open_turn() is record.turns[1]
    fold(reply("whole"), TurnEnd(outcome="done"), record=record)
    assert record.active == [1, 2, 4]
    assert record.turns[1].outcome is Outcome.DONE


def test_a_turn_that_fails_after_a_tool_has_run_stays_and_a_retry_goes_on_from_there():
    ran = ToolCalled(call="aa", tool="read_file", arguments={})
    record = fold(START, Prompt(text="p"), reply("", ["aa"]), ran, result("aa"), TurnEnd(outcome="failed"))
    assert record.active == [1, 2, 3, 4]
    fold(RequestRetried(reason="person"), record=record)
    assert record.active == [1, 2, 3, 4]
    assert record.open_turn() is not None


def test_a_request_sent_again_by_wisp_itself_reopens_nothing():
    record = fold(START, Prompt(text="p"), TurnEnd(outcome="failed"), RequestRetried(reason="overflow"))
    assert record.active == [1]


def test_a_condensation_drops_by_its_event_and_turn_and_never_the_instructions():
    record = fold(START, Prompt(text="p"), reply("r"), TurnEnd(outcome="done"), Prompt(text="q"))
    condensed = ContextCondensation(reason="budget", goal=1, before=2, after=1, dropped=[1, 2, 3, 99])
    fold(condensed, record=record)
    assert record.active == [1, 4]
    entry = record.entries[2]
    assert (entry.state, entry.dropped_by, entry.dropped_at, entry.content) == (EntryState.DROPPED, "e6", 2, None)


def test_undoing_a_compaction_brings_its_entries_back_in_their_places_with_the_contents_it_asked_for():
    record = fold(START, Prompt(text="p"), reply("r"), TurnEnd(outcome="done"), Prompt(text="q"))
    fold(ContextCondensation(reason="compact", goal=1, before=2, after=1, dropped=[2, 3]), record=record)
    undone = event(record, ContextCompactionUndone(undone="e6"))
    assert wanted(record, undone) == (2, 3)
    apply(record, undone, contents={2: PromptContent("p"), 3: ReplyContent("r")})
    assert record.active == [1, 2, 3, 4]
    assert (record.entries[2].content, record.entries[2].dropped_by) == (PromptContent("p"), None)


def test_a_reference_marks_the_output_and_a_cut_the_reply_and_neither_anything_else():
    record = fold(START, Prompt(text="p"), reply("r", ["aa"]), result("aa"))
    for entry in record.entries:
        fold(
            ContextReference(entry=entry, tool="t", result="e4", text=f"[entry {entry}]", bytes=1, tokens=1),
            ContextCut(reply=entry, output=5, tool="t", start=0, end=1, marker="(shown)", bytes=1, tokens=1),
            record=record,
        )
    assert [entry.reference for entry in record.entries.values()] == [None, None, None, None, "[entry 5]"]
    assert record.entries[5].referenced_at == 1
    assert [len(entry.cuts) for entry in record.entries.values()] == [0, 0, 1, 0, 0]


def test_the_last_twenty_versions_of_the_summary_are_kept_and_a_failed_one_is_none():
    record = fold(START, *(ContextSummary(version=i, text=f"s{i}", turns=i, highest=i) for i in range(1, 25)))
    fold(ContextSummary(version=25, text="", turns=0, highest=0, error="empty"), record=record)
    assert [summary.version for summary in record.summaries] == list(range(5, 25))
    assert len(record.summaries) == KEPT_SUMMARIES


def test_facts_follow_their_events():
    def fact(id: str) -> FactRecorded:
        return FactRecorded(fact=id, scope="thread", subject="s", key="k", value="v", source="person", version=1)

    record = fold(START, fact("a"), fact("b"), FactSuperseded(fact="a"), FactDeleted(fact="b"), FactDeleted(fact="zz"))
    assert {id: fact.state for id, fact in record.facts.items()} == {"a": "superseded", "b": "deleted"}


def test_model_mode_title_and_rules_follow_their_events():
    rules = [
        PermissionGranted(rule="run(ls)"),
        PermissionGranted(rule="run(ls)"),
        PermissionGranted(rule="x", scope="user"),
    ]
    record = fold(START, ModelChanged(model="n"), ModeChanged(mode="auto"), ModeChanged(mode="odd"), *rules)
    fold(ThreadRenamed(title="two\nlines"), record=record)
    assert (record.model, record.mode, record.grants, record.title) == ("n", Mode.AUTO, ("run(ls)",), "two lines")


def test_a_deleted_thread_holds_nothing_and_nothing_brings_it_back():
    record = fold(START, Prompt(text="p"), reply("r"), ThreadDeleted(), Prompt(text="q"))
    assert record.deleted
    assert (record.entries, record.active, record.turns, record.title) == ({}, [], {}, "")
    assert record.last_seq == 5


def test_an_event_that_is_not_newer_changes_nothing():
    record = fold(START, Prompt(text="p"))
    again = Event("e2", 2, "2027", "s", "t", 1, None, Prompt(text="other"))
    assert apply(record, again) == ()
    assert (len(record.entries), record.updated) == (2, "2026-01-01T00:00:02Z")
