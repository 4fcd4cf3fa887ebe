"""O1, O6, O7, O9, A16, A20: outputs become references and retyped stretches are cut, through a thread's real turns."""

from pathlib import Path

import pytest

from tests.flows.chat import Chat
from tests.flows.reading import FILE, READ, RETYPED, SHOW, outputs, sent, starts_with, write_script
from tests.opened import Opened, opened
from wisp_core.events import Event
from wisp_core.records import EntryKind, Outcome, Rendering
from wisp_core.requests import Answer, Role, Verdict

DOWN = {"error": {"type": "bad_request", "message": "no"}}


def names(home: Opened) -> list[str]:
    return [heard.name for heard in home.heard if isinstance(heard, Event)]


async def test_an_output_is_whole_in_its_turn_and_its_reference_from_the_next_on(tmp_path: Path):
    model = write_script(tmp_path, READ, {"text": "read"}, {"text": "b"}, {"text": "c"})
    async with opened(tmp_path, model=model) as home:
        for text in ("read it", "and now?", "and then?"):
            assert await home.thread.send(text) is Outcome.DONE
        _, own, after, later = [outputs(messages) for messages in sent(home.thread)]
        assert "the harbour master of pier 20" in own[0]
        assert after[0].startswith("[output of entry 4 not repeated: read_file at ")
        assert later == after, "rendered once, with its time, and never again"
        (reference,) = home.events("context.reference")
        assert (reference.entry, reference.text, reference.result) == (
            4,
            after[0],
            home.thread.record.entries[4].sources[0],
        )
        assert reference.bytes == len(own[0].encode()) - len(after[0].encode())
        assert starts_with(sent(home.thread)[3], sent(home.thread)[2])


async def test_references_come_once_at_the_start_of_the_turn_before_anything_is_composed_for_it(tmp_path: Path):
    model = write_script(tmp_path, READ, SHOW, {"text": "done"}, {"text": "b"}, {"text": "c"})
    async with opened(tmp_path, model=model, permissions={"allow": ["run_command(cat *)"]}) as home:
        await home.thread.send("read it, twice")
        home.heard.clear()
        await home.thread.send("and now?")
        await home.thread.send("and then?")
        first, second = [names(home)[at:] for at, name in enumerate(names(home)) if name == "prompt"]
        assert first[:4] == ["prompt", "context.reference", "context.reference", "context.estimated"]
        assert "context.reference" not in second
        found = [e for e in home.heard if isinstance(e, Event) and e.name == "context.reference"]
        assert found[1].seq == (found[0].seq or 0) + 1


async def test_a_reply_that_retypes_an_output_is_whole_for_the_person_and_cut_for_the_model(tmp_path: Path):
    model = write_script(tmp_path, READ, {"text": RETYPED}, {"text": "b"}, {"text": "c"})
    async with opened(tmp_path, model=model) as home:
        await home.thread.send("show it")
        (cut,) = home.events("context.cut")
        assert names(home).index("response") < names(home).index("context.cut") < names(home).index("turn.end")
        reply = home.thread.record.entries[cut.reply]
        assert reply.content.text == RETYPED  # type: ignore[union-attr]
        assert home.notes("cut") == [
            f"{cut.bytes:,} bytes of the reply repeat entry 4; the model carries a mark for them"
        ]
        await home.thread.send("and now?")
        await home.thread.send("and then?")
        _, _, after, later = sent(home.thread)
        said = [m.text for m in after if m.role is Role.ASSISTANT and m.text]
        assert said == ["Here it is:\n\n(showed the person the read_file output, entry 4)\n\nThat is all."]
        assert starts_with(later, after)


@pytest.mark.parametrize("switch", ["cuts", "references"])
async def test_what_is_switched_off_is_neither_recorded_nor_sent(tmp_path: Path, switch: str):
    model = write_script(tmp_path, READ, {"text": RETYPED}, {"text": "b"})
    async with opened(tmp_path, model=model, context={switch: False}) as home:
        await home.thread.send("show it")
        await home.thread.send("and now?")
        word = {"cuts": "context.cut", "references": "context.reference"}[switch]
        assert word not in names(home)
        carried = "\n".join(message.text for message in sent(home.thread)[-1])
        assert carried.count(FILE.split("\n")[9]) == 1


@pytest.mark.parametrize("end", ["cut", "error", "hang"])
async def test_nothing_is_cut_from_a_turn_that_did_not_end_well(tmp_path: Path, end: str):
    endings = {"cut": {"error": {"type": "cut"}}, "error": DOWN, "hang": {"hang": True}}
    text = "" if end == "error" else RETYPED
    model = write_script(tmp_path, READ, {"text": text, **endings[end]}, {"text": "b"})
    async with opened(tmp_path, model=model, retries={"most": 0}) as home:
        if end == "hang":
            home.wisp._journal.subscribe(lambda heard: home.thread.cancel() if "That is all" in str(heard) else None)
        outcome = await home.thread.send("show it")
        assert outcome is (Outcome.INTERRUPTED if end == "hang" else Outcome.FAILED)
        await home.thread.send("and now?")
        assert home.events("context.cut") == []
        assert len(home.events("context.reference")) == 1, "a tool had run, so its output stays and is referred to"
        assert ("[interrupted by the person]" if end == "hang" else "[the model's server failed here]") in "\n".join(
            message.text for message in sent(home.thread)[-1]
        )


async def test_a_turn_gone_on_with_has_its_outputs_whole_and_its_reply_cut(tmp_path: Path):
    model = write_script(tmp_path, READ, DOWN, {"text": RETYPED}, {"text": "b"})
    async with opened(tmp_path, model=model, permissions={"allow": ["run_command(echo *)"]}) as home:
        assert await home.thread.send("show it") is Outcome.FAILED
        await home.thread.run_command("echo meanwhile")
        assert await home.thread.retry() is Outcome.DONE
        assert "the harbour master of pier 20" in outputs(sent(home.thread)[-1])[0]
        (cut,) = home.events("context.cut")
        assert home.events("context.reference") == []
        await home.thread.send("and now?")
        assert len(home.events("context.reference")) == 1
        carried = sent(home.thread)[-1]
        assert any("(showed the person the read_file output, entry 4)" in message.text for message in carried)
        assert carried[-1].text.startswith("The person ran `echo meanwhile` (exit status 0):\n")
        assert cut.output == 4


async def test_a_failed_turn_before_any_tool_leaves_no_trace_in_what_is_sent(tmp_path: Path):
    model = write_script(tmp_path, {"text": "a"}, DOWN, {"text": "c"}, {"text": "d"})
    async with opened(tmp_path, model=model) as home:
        for text in ("one", "two, which fails", "three", "four"):
            await home.thread.send(text)
        one, _, three, four = sent(home.thread)
        assert not any("two, which fails" in message.text for message in three)
        assert starts_with(three, one)
        assert starts_with(four, three)


async def test_a_request_begins_with_the_bytes_of_the_one_before_while_nothing_new_is_referred_to(tmp_path: Path):
    other = write_script(tmp_path, {"text": "f"}, {"text": "g"}, name="other")
    model = write_script(tmp_path, READ, SHOW, {"text": "done"}, {"text": "b"}, {"text": "c"})
    async with opened(
        tmp_path, model=model, permissions={"allow": ["run_command(cat *)", "run_command(echo *)"]}
    ) as home:
        await home.thread.send("read it")
        await home.thread.send("and now?")
        await home.thread.run_command("echo between")
        await home.thread.send("and then?")
        requests = sent(home.thread)
        await home.thread.change(model=other)
        await home.thread.send("another model")
        await home.thread.send("and again")
        requests += sent(home.thread)
        moved = [at for at in range(1, len(requests)) if not starts_with(requests[at], requests[at - 1])]
        assert moved == [3], "only the turn after the outputs' own"
        at = requests[3].index(next(message for message in requests[3] if message.role is Role.TOOL))
        assert requests[3][:at] == requests[2][:at], "and there only from the first output on"


async def test_a_setting_that_changes_between_sessions_changes_what_is_sent_and_not_what_was(tmp_path: Path):
    model = write_script(tmp_path, READ, {"text": RETYPED}, {"text": "b"}, {"text": "c"})
    async with opened(tmp_path, model=model) as home:
        await home.thread.send("show it")
        await home.thread.send("and now?")
        id = home.thread.record.id
    model = write_script(tmp_path, {"text": "plain"}, {"text": "d"})
    off = {"cuts": False, "references": False}
    async with opened(tmp_path, model=model, context=off) as home:
        await home.thread.close()
        home.thread = await home.wisp.open_thread(id, listen=home.heard.append, ask=home.ask)
        await home.thread.send("whole again?")
        assert "the harbour master of pier 20" in outputs(sent(home.thread)[0])[0]
        for turn in (1, 2, 3):
            past = await home.thread.reader.request_of(turn)
            assert past.same, turn
        second = await home.thread.reader.request_of(2)
        assert [i.rendering for i in second.composition.items if i.kind == "tool_output"] == [Rendering.REFERENCE]
    async with opened(tmp_path, model=write_script(tmp_path, {"text": "e"})) as home:
        await home.thread.close()
        home.thread = await home.wisp.open_thread(id, listen=home.heard.append, ask=home.ask)
        await home.thread.send("and back")
        assert home.events("context.reference") == [], "the reference that was made stands"
        assert outputs(sent(home.thread)[0])[0].startswith("[output of entry 4 not repeated")


def test_a_turn_that_a_kill_left_open_ends_as_abandoned_uncut_and_its_output_is_referred_to(tmp_path: Path):
    chat = Chat(tmp_path)
    process = chat.start("--json", "--model", write_script(chat.cwd, READ, {"text": RETYPED, "hang": True}))
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"show it\n")
    process.stdin.flush()
    for line in process.stdout:
        if b"That is all" in line:
            break
    process.kill()
    process.communicate()
    ran = chat.run("--json", "--continue", "--model", write_script(chat.cwd, {"text": "b"}), typed="and now?\n")
    assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["abandoned", "done"]
    assert len(ran.events("context.reference")) == 1
    assert ran.events("context.cut") == []


async def test_the_preview_of_the_next_request_is_that_request(tmp_path: Path):
    model = write_script(tmp_path, READ, {"text": RETYPED}, {"text": "b"})
    async with opened(tmp_path, model=model) as home:
        home.verdict = lambda _: Answer(Verdict.ONCE)
        await home.thread.send("show it")
        seen = await home.thread.preview("and now?")
        size = await seen.measure()
        await home.thread.send("and now?")
        assert seen.composition.messages == sent(home.thread)[-1]
        (composed,) = home.events("request.composed")[-1:]
        assert (composed.sha256, composed.tokens) == (seen.composition.sha256, size.tokens)
        kinds = [e.kind for e in home.thread.record.entries.values()]
        assert kinds[-2:] == [EntryKind.PROMPT, EntryKind.REPLY]
