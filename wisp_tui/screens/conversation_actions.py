"""What the keys of the conversation do; each action is in the palette and in the help as well."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

from textual import work
from textual.binding import Binding

from wisp_core.errors import WispError
from wisp_core.records import Mode
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.context_beside import ContextBeside
from wisp_tui.screens.context_panel import ContextPanel
from wisp_tui.screens.context_views import ContextViews
from wisp_tui.screens.drafts import Drafts
from wisp_tui.screens.editor import edit_text
from wisp_tui.screens.facts import FactsScreen
from wisp_tui.screens.help import HelpScreen
from wisp_tui.screens.history import HistoryScreen
from wisp_tui.screens.outputs import read_output
from wisp_tui.screens.pager import PagerScreen
from wisp_tui.screens.pending import PendingScreen
from wisp_tui.screens.reading import ReadingScreen
from wisp_tui.screens.threads import ThreadsScreen
from wisp_tui.widgets.approval import ApprovalPanel
from wisp_tui.widgets.live_output import LiveOutputs
from wisp_tui.widgets.pages import read_text
from wisp_tui.widgets.pick_list import PickList
from wisp_tui.widgets.prompt import Prompt
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.row_list import RowList
from wisp_tui.widgets.transcript import Transcript


class ConversationActions(ContextBeside):
    """The keys of the conversation and their actions."""

    BINDINGS = [
        Binding("escape", "close_list", "Close", id="esc.close"),
        Binding("escape", "deny", "Say no", id="esc.deny"),
        Binding("escape", "interrupt", "Interrupt", id="esc.interrupt"),
        Binding("escape", "to_input", "Input", id="esc.input"),
        Binding("escape", "clear", "Clear", id="esc.clear"),
        Binding("escape", "earlier", "Twice: edit earlier", id="esc.earlier"),
        Binding("f1", "help", "Help", id="help"),
        Binding("ctrl+t", "context", "Context", id="context"),
        Binding("ctrl+o", "output", "Output", id="output"),
        Binding("ctrl+l", "threads", "Threads", id="threads"),
        Binding("ctrl+r", "history", "History", id="history"),
        Binding("shift+tab", "next_mode", "Mode", id="mode"),
        Binding("f4", "editor", "Editor", id="editor", show=False),
        Binding("f8", "drop_queue", "Drop what waits", id="queue.drop", show=False),
        Binding("pageup", "page(-1)", "A page up", id="page.up", show=False),
        Binding("pagedown", "page(1)", "A page down", id="page.down", show=False),
        Binding("ctrl+home", "edge(-1)", "To the first turn", id="page.first", show=False),
        Binding("ctrl+end", "edge(1)", "To the newest turn", id="page.last", show=False),
    ]

    live: LiveOutputs
    drafts: Drafts

    @property
    def panel(self) -> ApprovalPanel:
        """The question's panel."""
        return self.query_one(ApprovalPanel)

    @property
    def transcript(self) -> Transcript:
        """The conversation shown."""
        return self.query_one(Transcript)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible now; of those on Esc the first possible one is what Esc does."""
        match action:
            case "close_list":
                return self.box.suggesting
            case "deny":
                return self.panel.open
            case "interrupt":
                return self.link.busy
            case "to_input":
                return self.focused is not self.box.prompt
            case "clear":
                return bool(self.box.prompt.text)
            case "earlier":
                return self.link.opened and self.link.thread.record.last_turn > 0
            case "drop_queue":
                return bool(self.link.queue)
            case _:
                return True

    def action_close_list(self) -> None:
        """Close the list of commands."""
        self.box.close_suggestions()
        self.refresh_bindings()

    def action_deny(self) -> None:
        """Refuse the call that is asked about."""
        self.panel.press("escape")

    def action_interrupt(self) -> None:
        """Interrupt the turn."""
        self.link.interrupt()

    async def action_next_mode(self) -> None:
        """Go on to the next mode, of plan, ask and auto, or say why not."""
        if not self.link.opened:
            return
        modes = list(Mode)
        following = modes[(modes.index(self.link.thread.record.mode) + 1) % len(modes)]
        try:
            await self.link.thread.change(mode=following)
        except WispError as error:
            self.transcript.note(error.sentence(), "error")

    def action_to_input(self) -> None:
        """Go back to the input."""
        self.box.prompt.focus()

    def action_clear(self) -> None:
        """Empty the input; Up brings it back."""
        self.box.clear()

    def action_page(self, step: int) -> None:
        """Scroll the question, else the conversation, by a page."""
        if self.panel.open:
            self.panel.scroll_body("pagedown" if step > 0 else "pageup")
        elif step > 0:
            self.transcript.scroll_page_down(animate=False)
        else:
            self.transcript.scroll_page_up(animate=False)

    def action_edge(self, step: int) -> None:
        """Scroll to the first turn or the newest."""
        if step > 0:
            self.transcript.scroll_end(animate=False)
        else:
            self.transcript.scroll_home(animate=False)

    def action_help(self) -> None:
        """Show the keys and the commands."""
        rows: dict[str, tuple[str, str, str]] = {}
        for key, what, name, _ in self._bound():
            before = f"{rows[name][0]}  " if name in rows else ""
            rows[name] = (before + key, what, name)
        self.app.push_screen(HelpScreen(list(rows.values()), self.link.commands))

    @work(group="line")
    async def action_output(self) -> None:
        """Page the output of the chosen block, else of what runs, else the latest."""
        chosen = self.transcript.chosen if self.focused is self.transcript else None
        if chosen is not None and chosen.call:
            self.transcript.action_open()
        elif running := self.live.newest():
            self.show_page(running, title=f"output {running}", text="")
        elif self.link.opened:
            try:
                page = await self.link.command("/last")
            except WispError as error:
                self.app.notify(error.sentence(), markup=False)
            else:
                self.show_page(page.call, title=page.title, text=page.text)

    @work(group="history")
    async def action_history(self) -> None:
        """Look through earlier prompts."""
        found = [(written, written) for written in self.box.recall.past]
        chosen = await self.app.push_screen_wait(HistoryScreen(found, title="Earlier prompts", enter="takes"))
        if chosen is not None:
            self.box.put(Draft.read(chosen))

    @work(group="editor")
    async def action_editor(self) -> None:
        """Go on with the draft in the person's editor."""
        draft = self.box.prompt.draft
        text = await edit_text(self.app, draft.text)
        if text is not None:
            self.box.prompt.put(Draft(text, draft.literal))

    def on_prompt_editor_wanted(self, event: Prompt.EditorWanted) -> None:
        """Open the editor."""
        event.stop()
        self.action_editor()

    async def action_drop_queue(self) -> None:
        """Drop the prompts that wait."""
        await self.link.drop()

    def palette_choices(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        """Yield what the palette offers: the actions that have a key, then the slash commands."""
        seen: set[str] = set()
        for key, what, name, act in self._bound():
            if name not in seen:
                seen.add(name)
                yield what, f"{key} · {name}", act
        for name, usage, text in self.link.commands:
            yield f"/{name}", text, partial(self._offer, name, bool(usage))

    def show_page(self, call: str, *, title: str, text: str) -> None:
        """Page an output: while its call runs what has come of it, then the whole where it is kept."""
        reader = self.link.thread.reader
        read = read_output(reader, call, text=text)
        self.app.push_screen(PagerScreen(title, read, live=self.live.get(call), folder=Path(reader.record.cwd)))

    def show_text(self, title: str, text: str) -> None:
        """Page a text."""
        self.app.push_screen(PagerScreen(title, read_text(text), folder=Path(self.link.thread.record.cwd)))

    def _offer(self, name: str, takes_words: bool) -> None:
        self.box.put(Draft(f"/{name} " if takes_words else f"/{name}"))
        if not takes_words:
            self.box.send()

    def _bound(self) -> Iterator[tuple[str, str, str, Callable[[], Awaitable[bool]]]]:
        """Yield (key, what it does, its name in `keys`, the action) of every key with a name."""
        for node in (self, self.box.prompt, self.transcript, self.app):
            bindings = node._bindings.copy()
            bindings.apply_keymap(self.app._keymap)
            for _key, binding in bindings:
                if binding.id:
                    shown = self.app.get_key_display(binding)
                    yield shown, binding.description, binding.id, partial(self.app.run_action, binding.action, node)


def other_keys() -> frozenset[str]:
    """Return the names of the keys of the screens that come over the conversation."""
    context = (ContextScreen, ContextPanel, ContextViews, RowList)
    places = (*context, PagerScreen, HelpScreen, HistoryScreen, ThreadsScreen, ReadingScreen, ChoiceScreen)
    known = (FactsScreen, PendingScreen, PickList)
    bound = (binding for place in (*places, *known) for binding in Binding.make_bindings(place.BINDINGS))
    return frozenset(binding.id for binding in bound if binding.id)
