"""U7: the facts by scope and what is proposed; each key does what it says, and hostile text does nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.face import conversation, script, shown, until
from tests.tui.knowing import NOW, Ledger, Over, fact
from tests.tui.test_conversation import done, send
from tests.tui.test_hostile_text import HOSTILE, RAW
from wisp_core.fact import KnownFact
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.facts import FactsScreen
from wisp_tui.screens.facts_views import EMPTY


@asynccontextmanager
async def facts(
    ledger: Ledger | None = None, *, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[None], FactsScreen, Over]]:
    app = Over(FactsScreen(ledger or Ledger(), now=lambda: NOW))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FactsScreen))
        screen = app.screen
        assert isinstance(screen, FactsScreen)
        await until(pilot, lambda: screen.known or "nothing is known" in shown(screen))
        await pilot.pause()
        yield pilot, screen, app


def lines(screen: FactsScreen) -> list[str]:
    return [" ".join(line.split()) for line in shown(screen).splitlines()]


def told(app: Over) -> str:
    """Return what toasts say."""
    return "\n".join(toast.message for toast in app._notifications)


async def test_the_facts_stand_by_scope_with_value_source_version_and_age() -> None:
    async with facts() as (pilot, screen, _app):
        assert "Permanent 1 [Thread 6] Session 1 Proposed 2" in lines(screen)
        assert "▌ tests pytest: passed (12) tool run_command 2 20 min" in lines(screen)
        await pilot.press("tab")
        assert "▌ service 8080: node (pid 311), listening tool system_info 1 20 min" in lines(screen)
        await pilot.press("left", "left")
        assert "▌ preference maria's reviews: prefers early returns the person 1 28 d" in lines(screen)
        await pilot.press("shift+tab")
        assert "▌? project language: Python 3.11 model, distilled: the person said 1 20 min" in lines(screen)
        assert "? person ada: owns the release the caller 1 20 min" in lines(screen)


async def test_an_empty_view_says_so_where_its_first_row_would_stand_and_names_no_columns() -> None:
    async with facts(Ledger([])) as (pilot, screen, _app):
        for view, words in EMPTY.items():
            screen.go(view)
            await pilot.pause()
            rows = lines(screen)
            assert f"[{view.capitalize()} 0]" in rows[0]
            assert rows[1] == words
            assert not [row for row in rows if row.startswith("fact ")]


async def test_sides_of_a_conflict_stand_one_under_the_other_and_say_what_resolves_it() -> None:
    async with facts() as (pilot, screen, _app):
        rows = lines(screen)
        at = rows.index("≠ build make: flaky; ignore it the person 1 20 min")
        assert rows[at + 1] == "≠ build make: failed (exit status 2) tool run_command 1 20 min"
        await pilot.press("down")
        assert "sources disagree: state the value (e), or delete a side (x)" in rows + lines(screen)


async def test_an_unsupported_fact_is_marked() -> None:
    async with facts() as (pilot, screen, _app):
        await pilot.press("down", "down", "down", "down")
        assert any(line.startswith("▌! finding the cause: line 4711 of x.c") for line in lines(screen))
        assert "unsupported: not sent to the model" in lines(screen)


async def test_a_history_lists_every_version_and_esc_goes_back() -> None:
    async with facts() as (pilot, screen, _app):
        await pilot.press("h")
        assert "History of tests pytest" in lines(screen)
        assert "▌ current: passed (12) tool run_command 2 20 min" in lines(screen)
        assert "superseded: failed (exit status 1) tool run_command 1 50 min" in lines(screen)
        await pilot.press("escape")
        assert any("Thread 6" in line for line in lines(screen))


@pytest.mark.parametrize(
    ("keys", "did"),
    [
        (["tab", "tab", "k"], ("keep", "w1")),
        (["tab", "tab", "down", "d"], ("drop", "w2")),
        (["down", "x", "down", "enter"], ("delete", "c1")),
        (["s", "down", "enter"], ("move", "t2", "permanent")),
        (["e", "end", "backspace", "!", "enter"], ("correct", "t2", "passed (12!")),
    ],
)
async def test_a_key_does_what_it_says(keys: list[str], did: tuple[str, ...]) -> None:
    ledger = Ledger()
    async with facts(ledger) as (pilot, screen, app):
        for key in keys:
            await pilot.press(key)
            if key in ("x", "s"):
                await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await until(pilot, lambda: ledger.did == [did])
        await until(pilot, lambda: app.screen is screen)


async def test_deleting_asks_and_the_first_answer_keeps_it() -> None:
    ledger = Ledger()
    async with facts(ledger) as (pilot, screen, app):
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        assert "delete tests pytest: passed (12)?" in shown(app.screen)  # type: ignore[arg-type]
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert not ledger.did


async def test_only_what_waits_is_kept_or_dropped_and_what_is_elsewhere_is_not_edited() -> None:
    ledger = Ledger()
    async with facts(ledger) as (pilot, screen, app):
        await pilot.press("k", "d")
        await pilot.press("tab", "tab", "down", "e", "s")
        assert app.screen is screen
        assert not screen.value.display
        assert not ledger.did


async def test_enter_ends_with_the_entry_that_the_fact_came_from_or_says_why_there_is_none() -> None:
    async with facts() as (pilot, _screen, app):
        await pilot.press("left", "enter")
        await until(pilot, lambda: "/resume 01a22e792caa6541 goes there" in told(app))
        await pilot.press("right", "down", "enter")
        await until(pilot, lambda: "it came from no entry" in told(app))
        await pilot.press("up", "enter")
        await until(pilot, lambda: app.result == 9)


async def test_words_leave_the_facts_that_hold_them_and_letters_are_text_meanwhile() -> None:
    ledger = Ledger()
    async with facts(ledger) as (pilot, screen, _app):
        await pilot.press("slash", *"heron", "enter")
        assert "Permanent 0 [Thread 1] Session 0 Proposed 0" in lines(screen)
        await pilot.press("escape")
        assert any("Thread 6" in line for line in lines(screen))
        await pilot.press("slash", *"xkd")
        assert "no fact of this view holds that" in lines(screen)
        assert not ledger.did


async def test_what_was_refused_is_said_in_one_sentence() -> None:
    async with facts(Ledger(refuses="w1")) as (pilot, _screen, app):
        await pilot.press("tab", "tab", "k")
        await until(pilot, lambda: "there is no fact w1" in told(app))


async def test_facts_follow_the_conversation_while_they_are_shown() -> None:
    ledger = Ledger()
    async with facts(ledger) as (pilot, screen, _app):
        ledger.facts = [*ledger.facts, KnownFact(fact("n1", "git commit", says="abc123 Fix it"), "tool run_command")]
        screen.hear("fact.recorded")
        await until(pilot, lambda: any(line.startswith("git commit: abc123 Fix it") for line in lines(screen)))
        assert any(line.startswith("▌ tests pytest") for line in lines(screen))


async def test_hostile_facts_are_text_wherever_they_are_shown() -> None:
    hostile = KnownFact(fact("h1", HOSTILE, says=HOSTILE, thread=HOSTILE, entries=(1,)), HOSTILE, conflict=True)
    async with facts(Ledger([hostile], refuses=HOSTILE)) as (pilot, screen, app):
        for keys in (["h"], ["escape"], ["enter"], ["e"], ["escape"], ["x"]):
            await pilot.press(*keys)
            await pilot.pause()
            assert not [raw for raw in RAW if raw in shown(app.screen)]  # type: ignore[arg-type]
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        assert "[/INST]" in shown(app.screen)  # type: ignore[arg-type]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


STATED = "I always use tabs. Our staging host is called heron-3."


async def test_a_turn_says_under_its_reply_what_it_taught_and_so_it_stands_when_it_is_opened_again(
    tmp_path: Path,
) -> None:
    model = script(tmp_path, {"text": "Noted."})
    async with conversation(model, cwd=tmp_path) as (pilot, screen):
        send(screen, STATED)
        await until(pilot, lambda: done(screen, 1))
        await until(pilot, lambda: "facts: said: " in shown(screen))
        line = next(line for line in shown(screen).splitlines() if "facts: said:" in line)
        assert line.count("said: ") == 2
    async with conversation(model, cwd=tmp_path, newest=True) as (pilot, screen):
        await until(pilot, lambda: "Noted." in shown(screen))
        assert line.strip() in [row.strip() for row in shown(screen).splitlines()]


async def test_a_turn_that_taught_nothing_says_nothing(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, {"text": "Hello."}), cwd=tmp_path) as (pilot, screen):
        send(screen, "hello")
        await until(pilot, lambda: done(screen, 1))
        assert "fact" not in shown(screen).replace("^f Facts", "")


async def test_the_facts_of_a_conversation_are_kept_corrected_and_gone_to(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "Noted."}, {"text": "Yes."})
    async with conversation(model, cwd=tmp_path) as (pilot, screen):
        send(screen, STATED)
        await until(pilot, lambda: done(screen, 1))
        send(screen, "/fact preference editor = vim")
        await until(pilot, lambda: "preference editor: vim" in shown(screen))
        send(screen, "/facts")
        app = pilot.app
        await until(pilot, lambda: isinstance(app.screen, FactsScreen) and app.screen.rows.count)
        known = app.screen
        assert isinstance(known, FactsScreen)
        await pilot.press("slash", *"staging", "enter", "e", "end", *" now", "enter")
        await until(pilot, lambda: "heron-3 now" in shown(known).replace("3. now", "3 now"))
        await pilot.press("h")
        await until(pilot, lambda: "superseded: " in shown(known))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is screen and app.focused is screen.transcript)
        chosen = screen.transcript.chosen
        assert chosen is not None
        assert chosen.source()[0] == STATED
