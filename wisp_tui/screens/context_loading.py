"""Fills the views of the context panel: what is known at once first, what has to be read or counted after it."""

from dataclasses import replace

from wisp_core.errors import WispError
from wisp_core.requests import Measurement, PastRequest, Share
from wisp_core.text import displayable, one_line
from wisp_tui.screens.context_source import ContextSource
from wisp_tui.widgets.columns import percent
from wisp_tui.widgets.request_view import EMPTY, Carried, RequestView
from wisp_tui.widgets.turns_view import TurnsView
from wisp_tui.widgets.window_bar import Filling

HASH_CHARACTERS = 8
LINE_CHARACTERS = 200
NO_TURNS = "no turn was taken yet"


async def load_next(view: RequestView, source: ContextSource) -> None:
    """Show what the next request carries at once, and its size when that is known."""
    known = view.carried
    try:
        request = await source.next_request()
        items = request.composition.items
        recalled = tuple((one.entry, one.why) for one in request.recalled)
        view.show(Carried(items, measurement=known.measurement, filling=known.filling, recalled=recalled))
        measurement = await request.measure()
        shares = request.shares(measurement)
    except WispError as error:
        view.show(Carried(known.items, words=words_of(error.sentence()), alarm=True))
        return
    filling = replace(_fill(source, shares=shares, window=source.window), source=source.window_source)
    words = _other_figure(source, measurement)
    view.show(Carried(items, measurement=measurement, filling=filling, words=words, recalled=recalled))


async def load_turn(view: RequestView, source: ContextSource, *, turn: int) -> None:
    """Show the request of a turn, or why there is none."""
    last = source.last_turn
    if not turn:
        view.show(Carried(words=NO_TURNS))
        return
    try:
        past = await source.request_of(turn)
    except WispError as error:
        view.show(Carried(words=words_of(f"turn {turn} of {last}: {error.sentence()}")))
        return
    view.show(_carried(source, past))


async def load_turns(view: TurnsView, source: ContextSource) -> None:
    """Show what each turn changed."""
    try:
        turns = await source.turns()
        words = "" if turns else NO_TURNS
    except WispError as error:
        turns, words = list(view.turns), words_of(error.sentence())
    view.show(turns, target=source.target, budget=source.budget, words=words)


def _other_figure(source: ContextSource, next_one: Measurement) -> str:
    """Return what the status line's figure is of, where it is another than that of the next request."""
    meter = source.meter
    if meter is None or not source.window:
        return ""
    if percent(meter.share) == percent(next_one.tokens / source.window):
        return ""
    shown = percent(meter.share, counted=not meter.estimated)
    return f"status line {shown}: the latest request{'' if meter.estimated else ' and its answer'}"


def words_of(text: str) -> str:
    """Return a sentence from anywhere on one line."""
    return one_line(displayable(text), LINE_CHARACTERS)


def _carried(source: ContextSource, past: PastRequest) -> Carried:
    measurement = past.size
    filling = _fill(source, shares=past.shares, window=past.window) if measurement is not None else EMPTY
    recorded, again = past.sha256[:HASH_CHARACTERS], past.composition.sha256[:HASH_CHARACTERS]
    same = f"the same, {recorded}" if past.same else f"another, {again} for {recorded}"
    return Carried(
        past.composition.items,
        past.answer,
        measurement,
        filling,
        words=words_of(f"turn {past.turn} of {source.last_turn}, request {past.step} · composed again: {same}"),
        alarm=not past.same,
        recalled=past.recalled,
    )


def _fill(source: ContextSource, *, shares: tuple[Share, ...], window: int | None) -> Filling:
    return Filling(shares, window, source.target, source.budget)
