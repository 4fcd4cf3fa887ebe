"""Every thread can be searched: what is found, how it is shown, and that no query is anything but words (A15)."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.store.event_streams import dumped, play, start
from wisp_core.events import CommandRun, EventData, Prompt, ThreadDeleted, ThreadRenamed, TurnEnd
from wisp_core.journal import Journal, rebuild
from wisp_core.records import ThreadRecord
from wisp_core.settings import Settings
from wisp_core.store.carried import fork_rows
from wisp_core.store.words import EXCERPT_CHARACTERS, MATCH_ENDS, MATCH_STARTS, QUERY_CHARACTERS

OPS = [
    *(("prompt", 0, "alpha"), ("segments", 1, "beta"), ("call", 1, "gamma"), ("run", 0, "delta")),
    *(("return", 1, "epsilon"), ("end", 1, ""), ("prompt", 0, "zeta"), ("fail", 0, ""), ("retry", 1, "")),
    *(("respond", 1, "eta"), ("reference", 6, "theta"), ("condense", 0, ""), ("end", 0, "")),
]


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Journal]:
    """Give an open journal."""
    journal = await Journal.open(home, Settings())
    try:
        yield journal
    finally:
        await journal.close()


async def say(journal: Journal, *texts: str) -> ThreadRecord:
    """Return the record of a thread with a turn for each text."""
    record = await journal.new_thread()
    await journal.record(record, start())
    for text in texts:
        await tell(journal, record, Prompt(text=text), TurnEnd(outcome="done"))
    return record


async def tell(journal: Journal, record: ThreadRecord, *datas: EventData) -> None:
    """Record events of a thread."""
    for data in datas:
        await journal.record(record, data)


async def found(journal: Journal, text: str, thread: str | None = None) -> list[str]:
    """Return the excerpts of what a query finds, the match in angle brackets."""
    passages = await journal.database.search(thread, text, limit=50)
    return [passage.excerpt.replace(MATCH_STARTS, "<").replace(MATCH_ENDS, ">") for passage in passages]


SAID = {
    "pack-17": ("see pack-17 and pack-170", "see <pack-17> and <pack-17>0"),
    "v2.3.1": ("since v2.3.1 it works", "since <v2.3.1> it works"),
    "/srv/harbour/docs": ("look in /srv/harbour/docs/a.txt", "look in /<srv/harbour/docs>/a.txt"),
    "harbour": ("look in /srv/harbour/docs", "look in /srv/<harbour>/docs"),
    "case": ("a snake_case_name()", "a snake_<case>_name()"),
    "cafe": ("le Café est là", "le <Café> est là"),
    "CAFÉ": ("le cafe\u0301 est là", "le <cafe\u0301> est là"),
    "文件": ("这个港口的文件在哪里", "这个港口的<文件>在哪里"),
    "検索": ("全文検索です", "全文<検索>です"),
    "색을": ("한국어 검색을 합니다", "한국어 검<색을> 합니다"),
    "ภาษา": ("ที่นี่ภาษาไทย", "ที่นี่<ภาษา>ไทย"),
    "prefi": ("the prefix is enough", "the <prefi>x is enough"),
    "is of": ("of what is here", "<of> what <is> here"),
    "user@example.org": ("mail user@example.org now", "mail <user@example.org> now"),
    "don't": ("we don't know", "we <don't> know"),
}


@pytest.mark.parametrize("query", SAID)
async def test_a_word_is_found_as_it_is_written_and_shown_in_its_line(tmp_path, query):
    text, shown = SAID[query]
    async with opened(tmp_path) as journal:
        await say(journal, text, "nothing of the kind, не то и не другое")
        assert await found(journal, query) == [shown]


UNFOUND = [
    "",
    "   ",
    "---",
    '"',
    "''",
    "a\x00b",
    "OR",
    "NEAR(alpha beta)",
    "thread : alpha",
    "text:",
    "-gamma -nothing",
    "(",
    "*",
    "🙂",
    "al",
]


@pytest.mark.parametrize("query", UNFOUND)
async def test_a_query_is_words_and_never_syntax_and_without_a_word_it_finds_nothing(tmp_path, query):
    async with opened(tmp_path) as journal:
        record = await say(journal, "beta gamma", "alphabet")
        assert await found(journal, query) == []
        assert await found(journal, query, record.id) == []


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(), max_size=30), min_size=1, max_size=6), st.text(st.characters(), max_size=300))
def test_no_text_and_no_query_can_raise_and_what_is_shown_is_one_line_with_its_marks_in_pairs(texts, query):
    async def check(home: Path) -> None:
        async with opened(home) as journal:
            record = await say(journal, *texts)
            for asked in (query, *texts):
                for thread in (None, record.id, asked):
                    for passage in await journal.database.search(thread, asked, limit=3):
                        shown = passage.excerpt
                        assert len(shown.splitlines()) <= 1
                        assert len(shown) <= EXCERPT_CHARACTERS * 2
                        assert shown.count(MATCH_STARTS) == shown.count(MATCH_ENDS)
                        pieces = shown.split(MATCH_STARTS)[1:]
                        assert all(piece.count(MATCH_ENDS) == 1 for piece in pieces)
                await journal.database.threads(5, text=asked)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.text("abcdeöß城9", min_size=1, max_size=6), min_size=1, max_size=8), min_size=1, max_size=8)
)
def test_what_holds_every_word_of_a_query_is_found_and_nothing_else_newest_first(texts):
    async def check(home: Path) -> None:
        async with opened(home) as journal:
            await say(journal, *(" ".join(words) for words in texts))
            for words in texts:
                asked = [*words, "zz"]
                assert await journal.database.search(None, " ".join(asked), limit=50) == []
                turns = [passage.turn for passage in await journal.database.search(None, " ".join(words), limit=50)]
                assert turns == sorted(turns, reverse=True)
                same = [number for number, others in enumerate(texts, 1) if set(words) <= set(others)]
                assert set(same) <= set(turns)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


async def test_prompts_replies_commands_and_outputs_are_found_whatever_became_of_them_and_each_once(tmp_path):
    async with opened(tmp_path) as journal:
        record = await journal.new_thread()
        await play(journal, record, ops=OPS)
        await tell(journal, record, CommandRun(command="ls iota", output="kappa", exitStatus=0))
        assert {entry.state for entry in record.entries.values()} == {"active", "dropped"}
        kinds = {}
        for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"):
            kinds[word] = [passage.kind for passage in await journal.database.search(None, word, limit=50)]
        assert kinds == {
            **{"alpha": ["prompt"], "beta": [], "gamma": ["reply"], "delta": [], "epsilon": ["tool_output"]},
            **{"zeta": ["prompt"], "eta": ["reply"], "theta": [], "iota": ["command"], "kappa": ["command"]},
        }


async def test_a_passage_says_where_it_stands(tmp_path):
    async with opened(tmp_path) as journal:
        record = await say(journal, "first", "the second")
        (passage,) = await journal.database.search(None, "second", limit=50)
        entry = record.entries[3]
        assert (passage.thread, passage.title, passage.entry, passage.turn) == (record.id, "first", 3, 2)
        assert (passage.kind, passage.time) == ("prompt", entry.time)


async def test_a_search_in_one_thread_finds_what_stands_in_it(tmp_path):
    async with opened(tmp_path) as journal:
        one, other = await say(journal, "lighthouse one"), await say(journal, "lighthouse two")
        assert len(await found(journal, "lighthouse")) == 2
        assert await found(journal, "lighthouse", one.id) == ["<lighthouse> one"]
        assert await found(journal, other.id) == []


async def test_whole_words_that_are_enough_are_found_before_the_starts_of_longer_ones(tmp_path):
    async with opened(tmp_path) as journal:
        await say(journal, "harbour", "harbourmaster")
        shown = [passage.excerpt for passage in await journal.database.search(None, "harbour", limit=1)]
        assert shown == [f"{MATCH_STARTS}harbour{MATCH_ENDS}"]
        assert await found(journal, "harbour") == ["<harbour>master", "<harbour>"]


async def test_a_long_text_is_shown_around_its_match_and_marks_of_its_own_are_none(tmp_path):
    async with opened(tmp_path) as journal:
        await say(journal, f"{'far ' * 5_000}{MATCH_STARTS}\r\n needle\t{MATCH_ENDS} {'away ' * 5_000}")
        (shown,) = await found(journal, "needle")
        assert (shown[0], shown[-1]) == ("…", "…")
        assert len(shown) < EXCERPT_CHARACTERS + 5
        assert "\ufffd <needle> \ufffd away" in shown


async def test_of_an_endless_query_its_start_is_looked_for(tmp_path):
    async with opened(tmp_path) as journal:
        words = " ".join(f"w{number}" for number in range(1000))
        await say(journal, words)
        assert len(await found(journal, words)) == 1
        assert len(await found(journal, "x" * QUERY_CHARACTERS * 100)) == 0


async def test_a_deleted_thread_is_found_no_more_and_its_words_have_left_the_index(tmp_path):
    async with opened(tmp_path) as journal:
        kept, gone = await say(journal, "lighthouse keeper"), await say(journal, "lighthouse ruin")
        await tell(journal, gone, ThreadDeleted())
        assert await found(journal, "lighthouse") == ["<lighthouse> keeper"]
        assert await found(journal, "ruin") == []
        assert await journal.database.fetch("SELECT rowid FROM passages WHERE passages MATCH 'ruin'") == []
        assert [row.id for row in await journal.database.threads(9, text="lighthouse")] == [kept.id]


async def test_a_rebuilt_database_finds_the_same_and_a_fork_finds_what_it_carried(tmp_path):
    async with opened(tmp_path) as journal:
        record = await journal.new_thread()
        await play(journal, record, ops=OPS)
        other = await journal.new_thread()
        rows = fork_rows(await dumped(journal, record), 2)
        await journal.record(other, start().model_copy(update={"carried": rows}))
        before = {
            word: await journal.database.search(other.id, word, limit=50) for word in ("alpha", "gamma", "epsilon")
        }
        assert [len(passages) for passages in before.values()] == [1, 1, 1]
    await rebuild(tmp_path, Settings())
    async with opened(tmp_path) as journal:
        assert before == {word: await journal.database.search(other.id, word, limit=50) for word in before}


async def test_threads_are_found_by_title_and_by_what_was_said_in_them_of_one_directory_or_of_all(tmp_path):
    async with opened(tmp_path) as journal:
        one, two = await say(journal, "fix the parser", "and the lighthouse"), await say(journal, "write docs")
        await tell(journal, two, ThreadRenamed(title="Élan vital"))
        rows = {
            text: [row.id for row in await journal.database.threads(9, text=text)]
            for text in ("light", "docs", "elan", "ÉLAN vi", "parser lighthouse", "", "...")
        }
        assert rows == {
            **{"light": [one.id], "docs": [two.id], "elan": [two.id], "ÉLAN vi": [two.id], "parser lighthouse": []},
            **{"": [two.id, one.id], "...": []},
        }
        assert await journal.database.threads(9, cwd="/elsewhere", text="light") == []
        assert len(await journal.database.threads(1)) == 1
