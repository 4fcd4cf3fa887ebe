"""F19, F21: an earlier block is read back as it was sent, so that it can go out again."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from wisp_core.fact import Fact, FactState
from wisp_core.facts.block import Tail, View, earlier_block
from wisp_core.facts.rooms import UNBOUNDED, Rooms
from wisp_core.facts.sent import entries_shown, may_stand, used

VIEW = View("t", frozenset(), {})
ROOMY = Rooms(UNBOUNDED, UNBOUNDED, UNBOUNDED, UNBOUNDED)
TEXT = st.text(min_size=1, max_size=40).filter(str.strip)


def fact(id: str, value: str, *, scope: str = "thread", source: str = "tool", entry: int = 3) -> Fact:
    return Fact(
        id, scope, "entity", id, value, source, 1, 1, "2026-02-01", "e", tool="read_file", entries=(entry,), thread="t"
    )


def stands(text: str, *facts: Fact, rooms: Rooms = ROOMY, stated: bool = True, since: str = "2026-03-01") -> bool:
    return may_stand(text, facts, view=VIEW, rooms=rooms, stated=stated, since=since)


@given(st.lists(st.tuples(TEXT, st.integers(2, 99)), max_size=6), TEXT)
def test_it_takes_the_room_that_it_was_made_in_and_shows_what_it_was_made_of(values: list[tuple[str, int]], word: str):
    facts = [fact(f"f{n}", value, entry=entry) for n, (value, entry) in enumerate(values)]
    tail = Tail(lambda room: ["- said: a — from the person, turn 1, entry 200"], word, "Summary:\n- x, entry 7")
    made = earlier_block(facts, view=VIEW, rooms=ROOMY, tail=tail)
    assert used(made.text) == made.used
    assert set(entries_shown(made.text, 2)) == {entry for _, entry in values} | {200, 2}
    assert stands(made.text, *facts)


def test_what_another_source_says_names_no_entry():
    mine, other = fact("a", "x"), replace(fact("a", "y, entry 8"), id="b", source="model", entries=(9,))
    made = earlier_block([mine, other], view=VIEW, rooms=ROOMY)
    assert set(entries_shown(made.text, 2)) == {3}


def test_it_stands_only_where_it_fits_and_shows_what_is_not_switched_off():
    facts = [fact("a", "x")]
    made = earlier_block(
        facts, view=VIEW, rooms=ROOMY, tail=Tail(lambda room: ["- said: a — from the person, turn 1, entry 2"])
    )
    assert stands(made.text, *facts)
    assert not stands(made.text, *facts, rooms=replace(ROOMY, facts=made.used - 1))
    assert not stands(made.text, *facts, rooms=replace(ROOMY, block=len(made.text)))
    assert not stands(made.text, *facts, stated=False)


def test_a_permanent_fact_that_is_over_or_new_ends_it_and_a_threads_does_not():
    old = fact("a", "x", scope="permanent", source="person")
    made = earlier_block([old], view=VIEW, rooms=ROOMY)
    assert stands(made.text, old)
    assert not stands(made.text, replace(old, state=FactState.DELETED))
    assert stands(made.text, replace(old, state=FactState.SUPERSEDED), replace(old, id="again"))
    new = fact("b", "y", scope="permanent", source="person")
    assert not stands(made.text, old, new, since="2026-01-01")
    assert stands(made.text, old, new), "what was left out for want of room does not come by itself"
    assert stands(made.text, old, fact("c", "z"), since="2026-01-01")
    told = replace(fact("a", "q"), id="d", source="model")
    assert stands(made.text, old, told), "a tool's word against it shows at a condensation"
