"""`/model` in the TUI: what there is is listed, one is chosen, another pulled with progress, and Esc stops it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER, send
from tests.tui.test_hostile_text import HOSTILE, RAW
from wisp_core.errors import NoModelError
from wisp_tui.app import WispApp
from wisp_tui.screens.models import InUse, ModelsScreen
from wisp_tui.screens.start import Start


@dataclass(frozen=True)
class Model:
    name: str
    text: str = "it is there"
    usable: bool = True
    size: int | None = None
    window: int | None = None


@dataclass(frozen=True)
class Step:
    line: str


@dataclass
class Shelf:
    """Models, and pulls that tell a step and wait until they are let go."""

    models: list[Model]
    asked: list[str] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: bool = False

    async def list(self) -> list[Model]:
        return self.models

    async def pull(self, name: str, tell: Callable[[Step], None]) -> str:
        self.asked.append(name)
        if name == "nobody":
            raise NoModelError("no model is called `nobody`")
        tell(Step("pulling abc 50 %, 1 GiB of 2 GiB"))
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        self.models.append(Model(f"ollama/{name}"))
        return f"ollama/{name}"


MODELS = [
    Model("embedded/smollm2-135m", window=8192),
    Model("ollama/granite:8b", "4 GB, 8.2B", size=4_000_000_000),
    Model("local/off", "http://127.0.0.1:1 cannot be reached", usable=False),
]


class Picking(WispApp):
    """The app over the list of models."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(Start())
        self.shelf = shelf
        self.chosen: Any = "nothing yet"
        self.take_keys()

    def get_default_screen(self) -> Screen[None]:
        return Screen()

    def on_mount(self) -> None:
        screen = ModelsScreen(self.shelf, InUse("ollama/granite:8b", 16_384, "it was named"))
        self.push_screen(screen, lambda chosen: setattr(self, "chosen", chosen))


@asynccontextmanager
async def picking(
    *models: Model, size: tuple[int, int] = (100, 24)
) -> AsyncIterator[tuple[Pilot[None], ModelsScreen, Picking]]:
    app = Picking(Shelf(list(models or MODELS)))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ModelsScreen))
        screen = app.screen
        assert isinstance(screen, ModelsScreen)
        await until(pilot, lambda: screen.rows.count == len(app.shelf.models))
        yield pilot, screen, app


async def test_every_model_has_its_size_its_window_and_whether_it_is_in_use() -> None:
    async with picking() as (pilot, screen, _):
        await until(pilot, lambda: "it was named" in shown(screen))
        told = [" ".join(line.split()) for line in shown(screen).splitlines()]
        assert "Models · 3" in told[0]
        assert "embedded/smollm2-135m – 8,192" in told
        assert "▌ollama/granite:8b 3.8 GiB 16,384 in use" in told
        assert "local/off – – not now" in told


async def test_enter_chooses_and_what_cannot_be_run_is_not_chosen() -> None:
    async with picking() as (pilot, screen, app):
        await pilot.press("end", "enter")
        assert app.chosen == "nothing yet"
        assert "cannot be reached" in shown(screen)
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.chosen == "embedded/smollm2-135m")


async def test_a_named_model_is_pulled_with_its_progress_and_is_in_the_list() -> None:
    async with picking() as (pilot, screen, app):
        await pilot.press("p", *"qwen", "enter")
        await until(pilot, lambda: "50 %" in shown(screen))
        app.shelf.go.set()
        await until(pilot, lambda: screen.rows.count == 4)
        await until(pilot, lambda: "ollama/qwen is there" in shown(screen))
        assert app.shelf.asked == ["qwen"]


async def test_esc_stops_a_pull_and_closes_only_then() -> None:
    async with picking() as (pilot, screen, app):
        await pilot.press("p", *"qwen", "enter")
        await until(pilot, lambda: "50 %" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: "the pull was stopped" in shown(screen))
        assert app.shelf.stopped
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.chosen is None)


async def test_a_pull_that_fails_is_told_and_esc_leaves_the_name_alone() -> None:
    async with picking() as (pilot, screen, app):
        await pilot.press("p", "escape")
        assert not screen.named.display
        await pilot.press("p", *"nobody", "enter")
        await until(pilot, lambda: "no model is called `nobody`" in shown(screen))
        assert app.screen is screen


async def test_what_a_pull_ended_with_stays_though_the_server_took_its_models_along() -> None:
    async with picking() as (pilot, screen, app):
        del app.shelf.models[1]
        await pilot.press("p", *"nobody", "enter")
        await until(pilot, lambda: screen.rows.count == 2)
        await pilot.pause()
        assert "no model is called `nobody`" in shown(screen)
        assert "in use: ollama/granite:8b" in shown(screen)


async def test_slash_leaves_the_models_whose_name_holds_the_words_and_enter_takes_one() -> None:
    many = [Model(f"ollama/m{n}:{n}b") for n in range(200)]
    async with picking(*many) as (pilot, screen, app):
        await pilot.press("slash", *"M19")
        await until(pilot, lambda: "Models · 11 found" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: "Models · 200" in shown(screen))
        await pilot.press("slash", *"m19", "down", "down", "enter")
        await until(pilot, lambda: app.chosen == "ollama/m191:191b")


async def test_names_of_a_server_draw_nothing_of_their_own() -> None:
    async with picking(Model(f"ollama/{HOSTILE}", HOSTILE)) as (_, screen, _app):
        assert not any(raw in shown(screen) for raw in RAW)


async def test_the_command_without_a_name_lists_and_the_chosen_one_goes_on(tmp_path: Any) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "/model")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen))
        picker = pilot.app.screen
        assert isinstance(picker, ModelsScreen)
        await until(pilot, lambda: picker.rows.count)
        await pilot.press("enter")
        await until(pilot, lambda: screen.link.thread.model == "embedded/smollm2-135m")
