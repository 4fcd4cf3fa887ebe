"""What policies cost, and the policies that are made from another's requests."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.evals.planted import block, literal, port_run, request
from wisp_core.evals.cost import cost
from wisp_core.evals.intervals import interval
from wisp_core.evals.run import Sent
from wisp_core.evals.selections import cut_to_half, drop_oldest, first_turn, keep_last, select

SYSTEM = literal(1, "s" * 400, turn=0, kind="instructions")


def conversation(sizes: list[int]) -> list[Sent]:
    """One request a turn, each with everything before it; sizes in tokens."""
    items = [literal(n + 1, "x" * 4 * size, turn=n) for n, size in enumerate(sizes, 1)]
    return [request(SYSTEM, *items[:n], turn=n, extra=50) for n in range(1, len(items) + 1)]


def test_a_request_that_begins_like_the_one_before_processes_what_is_new() -> None:
    found = cost(port_run(), conversation([100, 100, 100]), condensed=())
    assert (found.requests, found.prompt) == (3, 250 + 350 + 450)
    assert found.processed == 250 + 100 + 100  # the first whole, with the schemas


def test_what_changes_at_the_front_is_processed_with_all_that_follows() -> None:
    first = request(SYSTEM, literal(2, "a" * 400, turn=1), literal(3, "b" * 400, turn=2), turn=2)
    second = request(SYSTEM, literal(3, "b" * 400, turn=2), literal(4, "c" * 400, turn=3), turn=3)
    assert cost(port_run(), [first, second], condensed=()).processed == 300 + 200


def test_added_is_what_the_turns_brought_whole() -> None:
    found = cost(port_run(), [], condensed=(3, 7, 8))
    assert found.added == (24 + 6) // 4 + (17 + 20 + 27 + 26) // 4 + (30 + 6) // 4 + 11 // 4
    assert found.gaps == (4, 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(500, 2000))
def test_dropping_the_oldest_keeps_what_fits_and_the_newest_always(sizes: list[int], room: int) -> None:
    for whole, kept in zip(conversation(sizes), drop_oldest(conversation(sizes), room=room), strict=True):
        assert kept.items[0] is SYSTEM or kept.items[0] == SYSTEM
        assert kept.items[1:] == whole.items[len(whole.items) - len(kept.items) + 1 :]
        assert kept.tokens <= room or first_turn(kept) == kept.turn
        more = first_turn(kept) - 1
        assert not more or kept.tokens + sizes[more - 1] + len(sizes) + 1 > room


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_cutting_to_half_moves_its_first_turn_only_when_the_room_is_used_up(sizes: list[int]) -> None:
    before = 0
    for kept in cut_to_half(conversation(sizes), room=1700, window=2000):
        assert first_turn(kept) >= before
        moved = first_turn(kept) > max(before, 1)
        assert not moved or kept.tokens <= 1000 or first_turn(kept) == kept.turn
        assert kept.tokens <= 1700
        before = first_turn(kept)


def test_the_last_turns_are_the_last_turns() -> None:
    assert [first_turn(kept) for kept in keep_last(conversation([10] * 8))] == [1, 1, 1, 1, 1, 2, 3, 4]


def test_a_selection_takes_the_room_of_the_blocks_and_names_its_sources() -> None:
    line = "- said: our staging port is 5433 — from the person, turn 1, entry 2"
    asked = literal(10, "which port?", turn=4)
    run = port_run(request(SYSTEM, block(line), block("now now", "now"), asked))
    for how in ("recent", "random", "oracle"):
        (chosen,) = select(run, how).values()
        assert [item.kind for item in chosen.items] == ["instructions", "earlier", "prompt"]
        assert len(chosen.items[1].text) <= len(line) + len("now now")
    assert "moved to 6021 — the person, turn 3, entry 8" in select(run, "recent")[4].items[1].text


def test_an_interval_holds_its_mean_and_draws_whole_conversations() -> None:
    mean, low, high = interval([[1.0] * 10, [0.0] * 10, [1.0] * 10, [0.0] * 10])
    assert low <= mean == 0.5 <= high
    assert (low, high) == (0.0, 1.0)  # four conversations say little, however many questions they have
    assert interval([[1.0], [1.0]]) == (1.0, 1.0, 1.0)
    assert interval([]) == (0.0, 0.0, 0.0)
