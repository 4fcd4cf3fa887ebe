"""`/model`: every model that can be run, with its size and window; one is chosen, another pulled."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import Worker

from wisp_core.errors import WispError
from wisp_core.text import displayable, one_line
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.model_rows import ModelLine, model_heads, model_row
from wisp_tui.widgets.pick_list import PickList

SAID_CHARACTERS = 300
NAME_CHARACTERS = 36  # of the model in use, in the title
LOOKING = "looking for models"


class ModelOf(Protocol):
    """A model as the core lists it: `text` says more of it, or why it is not `usable`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def usable(self) -> bool: ...  # noqa: D102
    @property
    def size(self) -> int | None: ...  # noqa: D102
    @property
    def window(self) -> int | None: ...  # noqa: D102


class Progress(Protocol):
    """How far a pull is."""

    @property
    def line(self) -> str: ...  # noqa: D102


class ModelShelf(Protocol):
    """What the screen needs of the core."""

    def list(self) -> Awaitable[Sequence[ModelOf]]:
        """Return every model there is."""

    def pull(self, name: str, tell: Callable[[Progress], None]) -> Awaitable[str]:
        """Get a model, telling how far it is, and return its name."""


@dataclass(frozen=True, slots=True)
class InUse:
    """The conversation's model: its window in tokens, and why the start chose the one it did."""

    name: str
    window: int | None
    why: str


class ModelsScreen(Screen[str | None]):
    """Ends with the name of the model to go on with, None for the one in use."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop_pull", "Stop the pull", id="models.stop"),
        Binding("escape", "to_rows", "To the list", id="models.list"),
        Binding("escape", "forget", "All models", id="models.all"),
        Binding("escape", "dismiss", "Close", id="models.close"),
        Binding("enter", "choose", "Choose", id="models.choose"),
        Binding("slash", "search", "Search", key_display="/", id="models.search"),
        Binding("p", "pull", "Pull", id="models.pull"),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
    ]
    DEFAULT_CSS = """
    ModelsScreen {
        #title, #heads { height: 1; }
        #heads { padding: 0 1; }
        #words, #named { padding: 0 1; display: none; }
        #state { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    }
    """

    def __init__(self, shelf: ModelShelf, used: InUse) -> None:
        super().__init__()
        self._shelf = shelf
        self._used = used
        self._known: Sequence[ModelOf] = ()
        self._models: Sequence[ModelOf] = ()  # those of them whose name holds the words
        self._pulling: Worker[None] | None = None
        self._told = ""  # the name of the model that more was said of

    def compose(self) -> ComposeResult:
        """Lay out the models, what there is to say of one, the name of one to pull, and the keys."""
        yield Static(Content("Models"), id="title", markup=False)
        yield Static(id="heads", markup=False)
        yield PickList()
        yield LineInput("only models whose name holds this; Esc shows all", id="words")
        yield LineInput("a model's name, as granite4.1:8b; Enter pulls it", id="named")
        yield Static(Content(LOOKING), id="state", markup=False)
        yield Keys()

    def on_mount(self) -> None:
        """Look for models."""
        self.rows.focus()
        self._load()

    def on_resize(self, event: events.Resize) -> None:
        """Name the columns anew."""
        self.query_one("#heads", Static).update(model_heads(event.size.width - 3))

    @property
    def rows(self) -> PickList:
        """The list."""
        return self.query_one(PickList)

    @property
    def named(self) -> LineInput:
        """Where the person types which model to pull."""
        return self.query_one("#named", LineInput)

    @property
    def words(self) -> LineInput:
        """Where the person types what a name holds."""
        return self.query_one("#words", LineInput)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible: letters are text while a line is typed."""
        typing = bool(self.named.display) or self.focused is self.words
        match action:
            case "stop_pull":
                return self._pulling is not None
            case "to_rows":
                return bool(self.named.display)
            case "forget":
                return bool(self.words.display)
            case "move":
                return self.focused is self.words
            case "search":
                return not typing
            case "choose":
                model = self._model()
                return not self.named.display and model is not None and model.usable
            case "pull":
                return not typing and self._pulling is None
            case _:
                return True

    def action_choose(self) -> None:
        """Go on with the model at the cursor."""
        model = self._model()
        if model is not None and model.usable:
            if self._pulling is not None:
                self.app.notify("the pull was stopped; the next one goes on from there", markup=False)
            self.dismiss(model.name)

    def action_search(self) -> None:
        """Go to the words."""
        self.words.display = True
        self.words.focus()

    def action_forget(self) -> None:
        """Show every model again."""
        self.words.value = ""
        self.words.display = False
        self.rows.focus()

    def action_move(self, step: int) -> None:
        """Go to the row above or below while words are typed."""
        self.rows.action_move(step)

    def action_pull(self) -> None:
        """Ask which model to pull."""
        self.named.value = ""
        self.named.display = True
        self.named.focus()
        self.refresh_bindings()

    def action_to_rows(self) -> None:
        """Pull nothing."""
        self.named.display = False
        self.rows.focus()
        self.refresh_bindings()

    def action_stop_pull(self) -> None:
        """Stop the pull; what came already is there for the next one."""
        if self._pulling is not None:
            self._pulling.cancel()

    def on_row_list_chosen(self) -> None:
        """Go on with the model that was clicked."""
        self.action_choose()

    def on_row_list_moved(self) -> None:
        """Say more of the model at the cursor."""
        model = self._model()
        at = model.name if model is not None else ""
        # Rows that come anew leave the cursor where it is, and what was said of a pull in its place.
        if self._pulling is None and at != self._told:
            self._say(self._about())
        self._told = at
        self.refresh_bindings()

    @on(Input.Submitted, "#named")
    def _take_name(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_to_rows()
        if event.value.strip():
            self._pulling = self._pull(event.value.strip())
            self.refresh_bindings()

    @on(Input.Changed, "#words")
    def _look(self, event: Input.Changed) -> None:
        event.stop()
        self._show(start=0)

    @on(Input.Submitted, "#words")
    def _take_found(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_choose()

    def on_descendant_focus(self) -> None:
        """Show the keys that work now."""
        self.refresh_bindings()

    @work(group="pull", exclusive=True)
    async def _pull(self, name: str) -> None:
        try:
            got = await self._shelf.pull(name, lambda progress: self._say(f"{name}: {progress.line}"))
            said = f"{got} is there"
        except WispError as error:
            said = error.sentence()
        finally:
            self._pulling = None
            if self.is_attached:
                self._say("the pull was stopped")
                self.refresh_bindings()
        await self._gather()
        model = self._model()
        self._told = model.name if model is not None else ""  # what came of the pull stays until the person moves
        self._say(said)

    @work(group="load", exclusive=True)
    async def _load(self) -> None:
        await self._gather()
        if self.query(PickList) and self._pulling is None:
            self._say(self._about())

    async def _gather(self) -> None:
        try:
            self._known = await self._shelf.list()
        except WispError as error:
            self.app.notify(displayable(error.sentence()), severity="error", markup=False)
        if not self.query(PickList):
            return  # it was closed meanwhile
        self._show(start=next((at for at, model in enumerate(self._known) if self._in_use(model)), 0))

    def _show(self, *, start: int) -> None:
        wanted = self.words.value.strip().casefold()
        self._models = [model for model in self._known if wanted in model.name.casefold()]
        title = f"Models · {len(self._models):,}{' found' if wanted else ''}"
        if not any(self._in_use(model) for model in self._known):
            title += f" · in use: {one_line(displayable(self._used.name), NAME_CHARACTERS)}"
        self.query_one("#title", Static).update(Content(title))
        self.rows.show([model.name for model in self._models], self._draw, start=start)
        self.refresh_bindings()

    def _in_use(self, model: ModelOf) -> bool:
        return self._used.name == model.name or self._used.name.startswith(f"{model.name}/")

    def _model(self) -> ModelOf | None:
        at = self.rows.cursor
        return self._models[at] if 0 <= at < len(self._models) else None

    def _about(self) -> str:
        model = self._model()
        if model is None:
            return f"{self._used.name} is in use; {self._used.why}"
        return f"{model.text}; {self._used.why}" if self._in_use(model) else model.text

    def _draw(self, index: int, cells: int) -> Content:
        model = self._models[index]
        used = self._in_use(model)
        window = self._used.window if used and self._used.window else model.window
        return model_row(ModelLine(model.name, model.size, window, model.usable, used), cells)

    def _say(self, sentence: str) -> None:
        for state in self.query("#state").results(Static):
            state.update(Content(one_line(displayable(sentence), SAID_CHARACTERS)))
