"""The person, asked one thing at a time in the order of the asking, and told what no event says."""

import asyncio
from typing import Protocol

from wisp_core.events import Live, QuestionAnswered, QuestionAsked
from wisp_core.records import ThreadRecord
from wisp_core.requests import Answer, Approval, Question
from wisp_core.turn.protocols import Ask, Journal


class Waits(Protocol):
    """One request while it is open: every wisp of the home sees it, and the first answer counts."""

    async def elsewhere(self) -> None:
        """Return once it was answered at another place than the face that was asked."""

    async def settle(self) -> Answer | None:
        """Take the request away and return the answer that another place gave before, None where none did."""


class Waiting(Protocol):
    """Where what waits for the person lies."""

    async def lay_out(self, thread: str, asked: Approval | Question) -> Waits:
        """Let every wisp of the home see and answer what a thread asks."""


class Person:
    """Whoever sits at the face of one conversation, or at another wisp of the home; `ask` waits without limit."""

    def __init__(self, record: ThreadRecord, journal: Journal, *, ask: Ask, waiting: Waiting) -> None:
        self._record = record
        self._journal = journal
        self._ask = ask
        self._waiting = waiting
        self._turn = asyncio.Lock()

    async def approve(self, approval: Approval) -> Answer:
        """Return the answer to an approval."""
        async with self._turn:
            return await self._ask_everywhere(approval)

    async def answer(self, question: Question) -> str | None:
        """Return the person's own words to a question of the model's, None where nobody could be asked or would say."""
        async with self._turn:
            asked = QuestionAsked(call=question.call, question=question.text, choices=list(question.choices))
            await self._journal.record(self._record, asked)
            answer = await self._ask_everywhere(question)
            if not answer.text:
                return None
            await self._journal.record(self._record, QuestionAnswered(call=question.call, answer=answer.text))
            return answer.text

    def tell(self, text: str) -> None:
        """Show a line, and where the face can a notification of the terminal's own."""
        self._note("notify", text)

    async def _ask_everywhere(self, asked: Approval | Question) -> Answer:
        """Return whichever answer comes first, of the face or of another place; the other is told."""
        waits = await self._waiting.lay_out(self._record.id, asked)
        here = asyncio.ensure_future(self._ask(asked))
        there = asyncio.ensure_future(waits.elsewhere())
        try:
            await asyncio.wait((here, there), return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Also when the turn is interrupted: what is asked goes from every screen.
            answered = here.done()
            here.cancel()
            there.cancel()
            earlier = await asyncio.shield(waits.settle())
            await asyncio.gather(here, there, return_exceptions=True)
        if earlier is None:
            return here.result()
        late = "; the answer given here came later" if answered else ""
        self._note("answered", f"call {asked.call} was answered by the {earlier.by}: {_said(earlier, asked)}{late}")
        return earlier

    def _note(self, kind: str, text: str) -> None:
        data = {"kind": kind, "text": text}
        self._journal.publish(Live("note", self._record.id, self._record.last_turn or None, data))


def _said(answer: Answer, asked: Approval | Question) -> str:
    return answer.text if isinstance(asked, Question) else answer.verdict.value
