"""The conversation: the transcript, questions, what waits, the input, the status line and the keys."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from textual import events, work
from textual.app import ComposeResult
from textual.timer import Timer

from wisp_core.commands.results import Begin, Leave, Open, Page, Restyle, Said, Show
from wisp_core.errors import ResumeError, SettingsError, ThreadLockedError, UsageError, WispError
from wisp_tui.messages import Failed, InputReady, LeaveWanted, Opened, ThemeWanted
from wisp_tui.screens.conversation_actions import other_keys
from wisp_tui.screens.conversation_known import ConversationKnown
from wisp_tui.screens.drafts import Drafts
from wisp_tui.screens.hearing import IDLE, LOADING, Hearing
from wisp_tui.screens.link import Link
from wisp_tui.screens.outputs import call_of
from wisp_tui.screens.place import directory_of
from wisp_tui.screens.questions import Questions
from wisp_tui.screens.retelling import Retelling
from wisp_tui.screens.start import Start
from wisp_tui.widgets.approval import ApprovalPanel
from wisp_tui.widgets.asked import Asked
from wisp_tui.widgets.input_box import InputBox
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.live_output import LiveOutputs
from wisp_tui.widgets.queue import Queue
from wisp_tui.widgets.recall import MARKS, Draft
from wisp_tui.widgets.status import Status
from wisp_tui.widgets.transcript import Transcript

SAVE_AFTER = 1.0  # seconds without a key after which the draft is kept
STATUS = {
    ResumeError: 64,
    SettingsError: 2,
    UsageError: 2,
    ThreadLockedError: 2,
}  # the exit status of what stops a start; else 1
WELCOME = ("wisp", "Enter sends, / lists the commands, F1 the keys. Esc interrupts, Ctrl-C twice leaves.")
NOTHING = Draft()


class ConversationScreen(ConversationKnown):
    """One thread's place to work in."""

    def __init__(self, start: Start, *, draft: Draft = NOTHING, sent: Sequence[Draft] = ()) -> None:
        super().__init__()
        self._start = start
        self._typed = (draft, sent)
        self._hearing: Hearing | None = None
        self._stands = asyncio.Event()  # the thread that is open is shown, and what is done in it can be told
        self._saving: Timer | None = None
        self._notes_told = False  # what the home had to say at the start
        self._questions = Questions(self._show_question)
        # Held from the first moment: the person may leave before this screen stands.
        self.box = InputBox(self._gate)
        self.drafts = Drafts(self.box)
        self.live = LiveOutputs()
        self.link = Link(start, hear=self._hear, ask=self._questions.ask, changed=self._changed, tell=self._note)

    def compose(self) -> ComposeResult:
        """Lay out from top to bottom."""
        yield Transcript()
        yield ApprovalPanel()
        yield Queue()
        yield self.box
        yield Status()
        yield Keys()

    def on_mount(self) -> None:
        """Take input at once; everything else comes after the first paint."""
        draft, sent = self._typed
        for one in sent:
            self.box.recall.add(one)
            self.post_message(InputBox.Sent(one))
        self.box.put(draft)
        self.call_after_refresh(self._begin)

    def on_descendant_focus(self) -> None:
        """Tell that keys reach the input now."""
        self.post_message(InputReady())

    @work(group="core")
    async def _begin(self) -> None:
        """Open the core beside the input, then send prompts for as long as the screen lives."""
        try:
            await self.link.load()
            self.box.commands = [(name, f"{usage}  {text}".strip()) for name, usage, text in self.link.commands]
            wanted = await self.link.open()
            settings = self.link.wisp.settings
            self.post_message(Opened(settings.theme, settings.keys, elsewhere=other_keys()))
            if not await self.reach(wanted, self.link.enter, leave="leaves"):
                self.post_message(LeaveWanted())
                return
            self.count_pending()
            self.tell_rest(await self.show_thread())
            await self.drafts.open(self.link.wisp, self.link.thread.record.cwd)
            if self._start.prompt:
                await self.link.send(self._start.prompt)
        except WispError as error:
            self.post_message(Failed(error.sentence(), STATUS.get(type(error), 1)))
        else:
            await self.link.serve()

    async def show_thread(self) -> Retelling:
        """Show the newest part of the thread that the link has opened, and return what tells the rest."""
        self._hearing = None
        self._stands.clear()
        self.workers.cancel_group(self, "retelling")
        thread, wisp = self.link.thread, self.link.wisp
        record, status = thread.record, self.query_one(Status)
        telling = Retelling(self.transcript, thread.reader)
        await telling.begin()
        # What came while the store was read is heard of with the next event.
        self._hearing = Hearing(record, transcript=self.transcript, status=status, live=self.live, shown=telling.last)
        status.tell(
            doing=IDLE,
            since=None,
            model=thread.model,
            mode=record.mode.value,
            share=None,
            tokens=record.totals.total,
            target=wisp.settings.context.target,
            budget=wisp.settings.context.budget,
            directory=directory_of(record.cwd),
            branch=wisp.branch_of(record.cwd),
        )
        self._stands.set()
        lines, self._notes_told = [] if self._notes_told else list(wisp.notes), True
        if record.entries:
            if thread.model != wisp.model:
                lines.insert(0, f"{thread.model}: as this conversation had it")
        else:
            self.transcript.show_welcome(WELCOME)
            lines = [*wisp.introduction, *lines]
        for line in [*lines, self.link.left_behind]:
            if line:
                self._note(line, "info")
        await self.tell_copy()
        await self.tell_disagreement()
        self._warm()
        return telling

    @work(group="warm", exclusive=True)
    async def _warm(self) -> None:
        """Let the model load while the person types; what fails is told quietly, the first prompt tries again."""
        assert self._hearing is not None
        hearing, thread = self._hearing, self.link.thread
        try:
            with hearing.doing(LOADING):
                await thread.warm()
            hearing.know_window(thread.window.tokens if thread.window else None)
        except WispError as error:
            self._note(error.sentence(), "info")

    def _hear(self, published: Any) -> None:
        if self._hearing is not None:
            self._hearing.hear(published)
        self.tell_context(published.name, published.data)
        self.tell_facts(published.name)
        if published.name in ("prompt", "turn.end"):
            self._changed()

    def _changed(self) -> None:
        """Show anew what waits and what Esc does."""
        if self.is_attached:
            waiting = self.link.queue
            self.query_one(Queue).hold([one.text for one in waiting], held=self.link.held)
            self.query_one(Status).tell(queued=len(waiting), held=self.link.held)
            self.box.waiting = len(waiting)
            self.refresh_bindings()

    def _note(self, text: str, kind: str) -> None:
        self.transcript.note(text, kind)

    def _show_question(self, asked: Asked | None, waiting: int) -> None:
        if self.is_attached:
            self.panel.ask(asked, waiting)
            self.refresh_bindings()
        if asked is not None and self.app.screen is not self:
            self.app.notify("the model waits for your answer, in the conversation", severity="warning", markup=False)

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        """Hand the answer to whoever asked."""
        event.stop()
        self._questions.answer(event.asked, event.answer)
        self.box.prompt.focus()

    def _gate(self, event: events.Key) -> bool:
        """Take a key that is meant for the question; what was pressed before it was seen goes on to the draft."""
        panel = self.panel
        if not panel.open:
            return False
        if panel.holding and (event.is_printable or event.key == "enter"):
            if event.key == "enter":
                return True
            self.box.prompt.insert(panel.withdraw())
            return False
        if panel.takes(event.time, self.box.prompt.typed_at):
            return panel.press(event.key)
        return event.key == "escape" or (event.key == "enter" and not panel.was_visible(event.time))

    def on_key(self, event: events.Key) -> None:
        """Give the question its keys while the transcript has the focus; what means nothing there is typed."""
        if self.focused is not self.transcript:
            return
        if self._gate(event):
            event.stop()
            event.prevent_default()
        elif event.is_printable and event.key not in self.active_bindings:
            event.stop()
            self.set_focus(self.box.prompt)
            self.box.prompt.take(event)

    def on_screen_resume(self) -> None:
        """Count anew how long a question has been visible: another screen covered it."""
        if self.panel.open:
            self.panel.appear()

    async def on_input_box_sent(self, event: InputBox.Sent) -> None:
        """Send a prompt, run a command, or let go what is held."""
        event.stop()
        draft = event.draft
        if not draft.text.strip():
            self.link.release()
            return
        self.transcript.follow()
        self.run_worker(self.drafts.sent(draft), group="drafts")
        if not draft.literal and draft.text[0] in "/!":
            self._run_line(draft)
        else:
            await self.link.send(draft.text if draft.literal else Draft.read(draft.text).text)

    def on_transcript_follow_changed(self, event: Transcript.FollowChanged) -> None:
        """Tell when something was added below what is in view."""
        self.query_one(Status).tell(unseen=event.unseen)

    async def on_input_box_take_back_wanted(self, event: InputBox.TakeBackWanted) -> None:
        """Put the last queued prompt back into the input."""
        event.stop()
        text = await self.link.take_back()
        self.box.put(Draft(text, literal=text[:1] in MARKS))

    def on_input_box_edited(self, event: InputBox.Edited) -> None:
        """Keep the draft once the fingers rest, and tell what Esc does now."""
        event.stop()
        self.refresh_bindings()
        if self._saving is not None:
            self._saving.stop()
        self._saving = self.set_timer(SAVE_AFTER, self.drafts.save)

    @work(group="line")
    async def _run_line(self, draft: Draft) -> None:
        """Run a slash command or the person's own command; one that has to wait goes back into the input."""
        own = draft.text[0] == "!"
        if draft.text.strip() == "/threads":
            self.action_threads()
            return
        if not self.link.opened or (own and self.link.busy):
            self._note("that waits until what runs has ended; it is in the input again", "warning")
            self.box.put(draft)
            return
        await self._stands.wait()
        try:
            if own and self._hearing is not None:
                with self._hearing.doing(draft.text):
                    self.call_later(self._changed)
                    await self.link.shell(draft.text[1:].strip())
            else:
                await self._follow(await self.link.command(draft.text))
        except WispError as error:
            self._note(error.sentence(), "error")
        finally:
            if own:
                self.live.end_all()
                self._changed()

    async def choose_model(self, model: str) -> None:
        """Go on with another model, as the command does."""
        await self._follow(await self.link.command(f"/model {model}"))

    async def _follow(self, result: Any) -> None:
        match result:
            case Show(screen=screen) if screen:
                self.show_screen(screen)
            case Said(title, text):
                if text:
                    self.transcript.view(title, text)
            case Begin():
                await self.switch(None)
            case Open(thread, ""):
                await self.switch(thread)
            case Open(copy, source):
                await self.switch_to_copy(copy, source)
            case Restyle(""):
                names = sorted(self.app.available_themes)
                marked = [f"{name}  (in use)" if name == self.app.theme else name for name in names]
                self.transcript.view("themes, chosen with /theme NAME", "\n".join(marked))
            case Restyle(theme):
                self.post_message(ThemeWanted(theme))
            case Page(call, title, text):
                self.show_page(call, title=title, text=text)
            case Leave():
                self.post_message(LeaveWanted())

    def on_transcript_copy_requested(self, event: Transcript.CopyRequested) -> None:
        """Copy through the terminal, and say so: whether it took it cannot be known."""
        self.app.copy_to_clipboard(event.text)
        self.app.notify(f"sent {event.what} to the terminal's clipboard", markup=False)

    @work(group="line")
    async def on_transcript_open_requested(self, event: Transcript.OpenRequested) -> None:
        """Page a block."""
        if not self.link.opened:
            return
        title = f"entry {event.entry}" if event.entry is not None else "note"
        call = event.call or await call_of(self.link.thread.reader, event.entry)
        if call:
            self.show_page(call, title=f"{title}, output {call}", text=event.text)
        else:
            self.show_text(title, event.text)

    async def leave(self) -> None:
        """Keep what is unsent and close the conversation."""
        if self._saving is not None:
            self._saving.stop()
        with suppress(WispError):
            if self.link.opened:  # who leaves at once has typed all the same
                await self.drafts.open(self.link.wisp, self.link.thread.record.cwd)
            await self.drafts.close()
        self.end_counting()
        await self.link.close()
        self.live.end_all()
