"""The app: colours, keys, leaving, signals, and what happens when it breaks."""

import asyncio
import importlib
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from textual.app import App
from textual.binding import Binding
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import TextArea

from wisp_core.crash import explain
from wisp_core.text import displayable
from wisp_tui.commands import Palette
from wisp_tui.ending import SIGNAL_STATUS, end_on, hang_up_with
from wisp_tui.escapes import keep_escapes
from wisp_tui.in_order import InOrder
from wisp_tui.messages import Failed, LeaveWanted, Opened, ThemeWanted
from wisp_tui.screens.start import Start, StartScreen
from wisp_tui.widgets.prompt import Prompt

AGAIN_SECONDS = 2.0  # in which a second Ctrl-C leaves
CLOSE_SECONDS = 5.0  # that an orderly end may take
THEMES = (
    Theme(
        "wisp-dark",
        primary="#8ab4c8",
        accent="#8ab4c8",
        secondary="#a9b7a0",
        foreground="#d6d9dc",
        background="#15181b",
        surface="#1b1f23",
        panel="#23282d",
        warning="#d9b36c",
        error="#d98080",
        success="#93b88f",
        dark=True,
        variables={"border": "#343b42", "border-blurred": "#2a3036"},
    ),
    Theme(
        "wisp-light",
        primary="#2f6f8f",
        accent="#2f6f8f",
        secondary="#5a6b50",
        foreground="#2b2f33",
        background="#fbfaf7",
        surface="#f3f1ec",
        panel="#e9e6df",
        warning="#8a6210",
        error="#a33a3a",
        success="#3f7040",
        dark=False,
        variables={"border": "#cfcabf", "border-blurred": "#dcd8ce"},
    ),
)


class WispApp(InOrder):
    """wisp-tui; `parting` is what to say on the terminal once it is restored."""

    CSS_PATH = Path(__file__).parent / "styles" / "app.tcss"
    TITLE = "wisp"
    COMMANDS = {Palette}
    BINDINGS = [
        Binding("ctrl+c", "break", "Copy, or twice to leave", id="leave", priority=True, show=False),
        Binding("ctrl+q", "quit", "Leave", id="quit", priority=True, show=False),
        Binding("ctrl+p", "command_palette", "Palette", id="palette", show=False),
    ]

    def __init__(self, start: Start) -> None:
        keep_escapes()
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self._start = start
        self._broke_at = float("-inf")
        self._leaving = False
        self._ending: asyncio.Task[None] | None = None
        self.parting = ""

    @property
    def broken(self) -> bool:
        """Whether a fault of wisp's own ended it."""
        return self._exception is not None

    def get_default_screen(self) -> Screen[None]:
        """Return what is painted first."""
        return StartScreen()

    def on_mount(self) -> None:
        """End in order on SIGTERM and SIGHUP, which Textual leaves to kill the process with the terminal as it is."""
        if not self.is_headless:
            end_on((signal.SIGTERM, signal.SIGHUP), self._end_by, within=CLOSE_SECONDS + 1)
            hang_up_with(sys.stdin.fileno())

    def on_input_ready(self) -> None:
        """Take what was typed too early, and what is typed from now on."""
        self.take_keys()

    def on_painted(self) -> None:
        """Load the rest beside the input."""
        self.run_worker(self._go_on(), group="start")

    async def _go_on(self) -> None:
        """Put the conversation in the place of the first screen; no key is lost between the two."""
        loaded = await asyncio.to_thread(importlib.import_module, "wisp_tui.screens.conversation")
        first = self.screen
        if isinstance(first, StartScreen):
            await self.hold_keys()
            # On top of it and not in its place: Textual cannot take the first screen away.
            draft, sent = first.hand_over()
            await self.push_screen(loaded.ConversationScreen(self._start, draft=draft, sent=sent))
            await first.remove_children()

    def on_opened(self, event: Opened) -> None:
        """Use the person's colours and keys; say where one does not exist."""
        if event.theme:
            self.on_theme_wanted(ThemeWanted(event.theme))
        known = {binding.id for binding in bound(self) if binding.id} | event.elsewhere
        for name in sorted(event.keys.keys() - known):
            self.warn(f"keys: there is no key called {name}; F1 lists them")
        for name, key in sorted(event.keys.items()):
            if name in known and (taken := shadowed(self, name, keys=key)):
                self.warn(f"keys: {name} on {taken} does nothing while you type, the input uses it; choose another")
        self.set_keymap({name: key for name, key in event.keys.items() if name in known})

    def on_theme_wanted(self, event: ThemeWanted) -> None:
        """Change the colours."""
        if event.theme in self.available_themes:
            self.theme = event.theme
            return
        self.warn(f"there is no theme {event.theme}; /theme lists them")

    async def on_leave_wanted(self, event: LeaveWanted) -> None:
        """Leave."""
        event.stop()
        await self.leave()

    async def on_failed(self, event: Failed) -> None:
        """Leave with a sentence: wisp cannot go on."""
        self.parting = f"wisp-tui: {event.sentence}"
        await self.leave(event.status)

    async def action_quit(self) -> None:
        """Leave."""
        await self.leave()

    async def action_break(self) -> None:
        """Copy what is selected; else set the draft aside, and the second time leave."""
        chosen = getattr(self.focused, "selected_text", "") or self.screen.get_selected_text() or ""
        if chosen:
            self.copy_to_clipboard(chosen)
            self.screen.clear_selection()
        elif self.typed_at - self._broke_at < AGAIN_SECONDS:
            await self.leave()
        else:
            self._broke_at = self.typed_at
            drafts = getattr(self.screen, "drafts", None)
            if drafts is not None:
                drafts.set_aside()
            self.notify("Ctrl-C again leaves", timeout=AGAIN_SECONDS, markup=False)

    async def leave(self, status: int = 0) -> None:
        """Close the conversation in order, for as long as that may take, and end with `status`."""
        if self._leaving:
            return
        self._leaving = True
        for screen in self.screen_stack:
            leave = getattr(screen, "leave", None)
            if leave is not None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(leave(), CLOSE_SECONDS)
        self.exit(return_code=status)

    def warn(self, sentence: str) -> None:
        """Say what was wrong, for a moment."""
        self.notify(displayable(sentence), severity="warning", markup=False)

    def _end_by(self, number: int) -> None:
        self._ending = asyncio.get_running_loop().create_task(self.leave(SIGNAL_STATUS + number))

    def _handle_exception(self, error: Exception) -> None:
        """Leave with one sentence; Textual would print a traceback with what stands in its variables."""
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
            self.parting = f"wisp-tui: {explain(error)}"
            self._ending = asyncio.get_running_loop().create_task(self._end_broken())

    async def _end_broken(self) -> None:
        """Close the conversation as far as that goes, so that no tool and no model is left running, and end."""
        try:
            await self.leave(1)
        finally:
            self._return_code = 1
            self._close_messages_no_wait()


def bound(app: App[None]) -> Iterator[Binding]:
    """Yield every binding that has a name, of the app and of what is on its screen."""
    for node in (app, app.screen, *app.screen.query("*")):
        for bindings in node._bindings.key_to_bindings.values():
            yield from (binding for binding in bindings if binding.id)


def shadowed(app: App[None], name: str, *, keys: str) -> str:
    """Return those of `keys` that the input takes for itself before what `name` stands for hears of them."""
    around = [*app._bindings.key_to_bindings.values(), *app.screen._bindings.key_to_bindings.values()]
    if not any(binding.id == name and not binding.priority for bindings in around for binding in bindings):
        return ""
    taken = {binding.key for cls in (TextArea, Prompt) for binding in Binding.make_bindings(cls.BINDINGS)}
    wanted = [key.strip() for key in keys.split(",")]
    return ", ".join(key for key in wanted if key in taken or len(key) == 1 or key == "space")
