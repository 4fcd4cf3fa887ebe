"""One conversation: takes prompts in order, runs their turns, and shows what the next request carries."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from wisp_core.composer.instructions import stack
from wisp_core.errors import ToolFailure, UsageError
from wisp_core.events import (
    CommandRun,
    EventData,
    ModeChanged,
    ModelChanged,
    Prompt,
    RequestRetried,
    SegmentData,
    ThreadStart,
    TurnEnd,
)
from wisp_core.facts.kinds import Kind
from wisp_core.furnish import Tools
from wisp_core.journal import Journal
from wisp_core.knowledge import Knowledge
from wisp_core.models.backend import ModelBackend
from wisp_core.models.catalogue import fit_settings, open_backend
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.preview import Preview, preview
from wisp_core.project.branch import branch_of
from wisp_core.reader import Reader
from wisp_core.records import Mode, Outcome, ThreadRecord
from wisp_core.requests import Composition, Measurement, Window
from wisp_core.settings import Effort, Settings
from wisp_core.store.contexts import Circumstances, write_context
from wisp_core.store.outputs import Outputs
from wisp_core.text import sound
from wisp_core.turn.command import run_command
from wisp_core.turn.loop import run_turn
from wisp_core.turn.participants import Participants
from wisp_core.turn.person import Person

CONTEXTS = "context"
NO_REPLY = frozenset({Outcome.FAILED, Outcome.INTERRUPTED, Outcome.ABANDONED})


@dataclass(frozen=True, slots=True)
class Furniture:
    """What a thread stands on: the one writer, settings, tools, their outputs, what is out of bounds, kinds of facts.

    `release` gives the thread's lock and listener back when it is closed; `remember` writes a rule that always allows.
    """

    journal: Journal
    settings: Settings
    tools: Tools
    outputs: Outputs
    protection: ProtectedPaths
    environ: Mapping[str, str]
    kinds: Mapping[str, Kind]
    release: Callable[[], Awaitable[None]]
    remember: Callable[[str], None]


class Thread:
    """A conversation that this process may write; made by `Wisp` alone."""

    def __init__(self, record: ThreadRecord, furniture: Furniture, *, person: Person, model: str | None = None) -> None:
        self.record = record
        self.window: Window | None = None
        self.effort = furniture.settings.effort
        self._furniture = furniture
        self._person = person
        self._order = asyncio.Lock()
        self._running: asyncio.Task[Outcome] | asyncio.Task[None] | None = None
        self._unwanted = False  # whether the turn that is about to run was interrupted already
        self._backend = _open(furniture, model or record.model)
        self.knowledge = Knowledge(record, furniture.journal, furniture.settings, furniture.kinds, self._start)
        self.reader = Reader(record, furniture.journal.database, outputs=furniture.outputs)

    @property
    def model(self) -> str:
        """The model's full name."""
        return self.record.model

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or waits to."""
        return self._order.locked()

    async def send(self, text: str) -> Outcome:
        """Record the prompt, answer it, and return how its turn ended; prompts are taken in order.

        Raises:
            UsageError: the prompt is empty.
            StorageError: the home cannot be written.
        """
        if not text.strip():
            raise UsageError("an empty prompt is not sent")
        async with self._order:
            self._unwanted = False
            await self._prepare()
            turn = self.record.last_turn + 1
            await self._write(Prompt(text=sound(text)), turn)
            return await self._run(turn)

    async def retry(self) -> Outcome:
        """Answer the last turn again without a copy of its prompt; nothing that ran is run again.

        Raises:
            UsageError: the last turn ended well, or there is none.
        """
        async with self._order:
            self._unwanted = False
            await self._prepare()
            turn = self.record.turns.get(self.record.last_turn)
            if turn is None or turn.outcome not in NO_REPLY:
                raise UsageError("there is nothing to retry", "the last turn ended well" if turn else "none was sent")
            await self._write(RequestRetried(reason="person"), turn.number)
            return await self._run(turn.number)

    async def run_command(self, command: str) -> None:
        """Run the person's own `!command`; it goes to the model with the next prompt, as far as it came.

        Raises:
            UsageError: it could not be run.
        """
        async with self._order:
            self._unwanted = False
            await self._prepare()
            running = run_command(self._parts(self.record.last_turn + 1), command)
            self._running = asyncio.create_task(running, name="the person's command")
            if self._unwanted:
                self._running.cancel()
            try:
                await self._running
            except asyncio.CancelledError:
                return
            except ToolFailure as failure:
                raise UsageError(str(failure)) from failure
            finally:
                self._running = None

    async def undo(self, path: str) -> str:
        """Undo the latest edit of a file, or of any where `path` is empty; the model hears of it with the next prompt.

        Raises:
            UsageError: there is none, or the file has changed since.
        """
        async with self._order:
            try:
                said = await self._furniture.tools.undo(path)
            except ToolFailure as failure:
                raise UsageError(str(failure)) from failure
            await self._prepare()
            await self._write(CommandRun(command=f"/undo {path}".rstrip(), output=said), self.record.last_turn + 1)
        return said

    def cancel(self) -> bool:
        """Interrupt the turn that runs or is about to, or the person's command; tell whether there was one."""
        if self._running is None and self.busy:
            self._unwanted = True
            return True
        if self._running is None or self._running.done() or self._running.cancelling():
            return False
        return self._running.cancel()

    async def change(self, *, model: str | None = None, mode: Mode | None = None, effort: Effort | None = None) -> None:
        """Go on over the same record with another model, mode or effort; also ends a turn that a crash left open.

        Raises:
            NoModelError: there is no such model.
        """
        if model is not None and model != self._backend.name:
            async with self._order:
                old, self._backend = self._backend, _open(self._furniture, model)
                await old.close()
        if effort is not None:
            self.effort = effort
        await self._start()
        if model is not None and model != self.record.model:
            await self._write(ModelChanged(model=model))
        if mode is not None and mode is not self.record.mode:
            await self._write(ModeChanged(mode=mode.value))

    async def warm(self) -> None:
        """Learn the window and let a local model load, ahead of the first request."""
        await self._backend.warm()
        self._learn(await self._backend.window())

    async def preview(self, prompt: str = "") -> Preview:
        """Return the next request as it would go out now, with `prompt` as if it were sent."""
        furniture, window = self._furniture, self.window
        found = preview(
            self.record,
            _fit(furniture, self._backend.name, effort=self.effort),
            toolbox=furniture.tools.registry,
            backend=self._backend,
            prompt=prompt,
            blocks=await self.knowledge.blocks(prompt, window=window.tokens if window else None),
        )
        return replace(found, window=window)

    async def save_context(self, prompt: str = "") -> Path:
        """Write the exact next request under `context/`, as Markdown and beside it as JSON; return the Markdown file.

        Raises:
            UsageError: the audit is off, so nothing of a conversation is written down.
            StorageError: it cannot be written.
        """
        seen = await self.preview(prompt)
        path = await self._keep_context(seen.composition, await seen.measure(), title="the next request")
        if path is None:
            raise UsageError("the audit is off, so no context is saved", "set audit.enabled to save contexts")
        return path

    async def close(self) -> None:
        """Interrupt what runs, wait for its end to be recorded, and let the model go."""
        self.cancel()
        async with self._order:
            await self._backend.close()
            await self._furniture.tools.registry.close()
            await self._furniture.release()

    async def _start(self) -> None:
        # A turn that is open while one is being taken is that one, and no crash's.
        await self._prepare(mend=not self.busy)

    async def _prepare(self, *, mend: bool = True) -> None:
        """Record the thread's start before its first event and, to `mend`, the end of a turn that a crash left open."""
        if not self.record.created:
            segments = [
                SegmentData(name=s.name, text=s.text)
                for s in stack(self.record.mode, self._furniture.settings.instructions)
            ]
            await self._write(
                ThreadStart(
                    cwd=self.record.cwd, model=self.record.model, mode=self.record.mode.value, instructions=segments
                )
            )
            await self.knowledge.begin(branch_of(self.record.cwd))
        open_turn = self.record.open_turn()
        if mend and open_turn is not None:
            abandoned = TurnEnd(outcome=Outcome.ABANDONED.value, error="wisp ended here")
            await self.knowledge.end_turn(open_turn.number, abandoned)

    async def _run(self, turn: int) -> Outcome:
        running = asyncio.create_task(run_turn(self._parts(turn)), name=f"turn {turn}")
        self._running = running
        if self._unwanted:
            running.cancel()
        try:
            return await running
        except asyncio.CancelledError:
            # Cancelled before its first step, or a second time while its end was written: the turn must not stay open.
            if self.record.open_turn() is not None:
                await self.knowledge.end_turn(turn, TurnEnd(outcome=Outcome.INTERRUPTED.value))
            return Outcome.INTERRUPTED
        finally:
            self._running = None

    def _learn(self, window: Window | None) -> None:
        """Take the window, which the tools' budget follows."""
        self.window = window
        self._furniture.tools.budget.set_window(window.tokens if window else None)

    def _parts(self, turn: int) -> Participants:
        return Participants(
            record=self.record,
            journal=self._furniture.journal,
            backend=self._backend,
            toolbox=self._furniture.tools.registry,
            person=self._person,
            settings=_fit(self._furniture, self._backend.name, effort=self.effort),
            turn=turn,
            protection=self._furniture.protection,
            learn=self._learn,
            remember=self._furniture.remember,
            keep_context=self._keep_context,
            knowledge=self.knowledge,
        )

    async def _keep_context(self, composition: Composition, size: Measurement, *, title: str) -> Path | None:
        settings = self._furniture.settings
        if not settings.audit.enabled:
            return None
        about = Circumstances(
            title=title,
            model=self._backend.name,
            measurement=size,
            window=self.window,
            settings=settings.context.model_dump(),
            schemas=self._furniture.tools.registry.schemas() if self._backend.capabilities.tools else (),
        )
        folder = self._furniture.journal.home / CONTEXTS
        page, _ = await asyncio.to_thread(write_context, folder, composition, about=about)
        return page

    async def _write(self, data: EventData, turn: int | None = None) -> None:
        await self._furniture.journal.record(self.record, data, turn=turn)


def _open(furniture: Furniture, model: str) -> ModelBackend:
    return open_backend(model, furniture.settings, environ=furniture.environ)


def _fit(furniture: Furniture, model: str, *, effort: Effort) -> Settings:
    """Return the settings of one turn: as they are for the model, with the effort that was asked for."""
    return fit_settings(model, furniture.settings).model_copy(update={"effort": effort})
