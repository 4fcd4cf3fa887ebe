"""The person, asked one thing at a time in the order of the asking, and told what no event says."""

import asyncio

from wisp_core.events import Live, QuestionAnswered, QuestionAsked
from wisp_core.records import ThreadRecord
from wisp_core.requests import Answer, Approval, Question
from wisp_core.turn.protocols import Ask, Journal


class Person:
    """Whoever sits at the face of one conversation; `ask` waits without limit."""

    def __init__(self, record: ThreadRecord, journal: Journal, *, ask: Ask) -> None:
        self._record = record
        self._journal = journal
        self._ask = ask
        self._turn = asyncio.Lock()

    async def approve(self, approval: Approval) -> Answer:
        """Return the answer to an approval."""
        async with self._turn:
            return await self._ask(approval)

    async def answer(self, question: Question) -> str | None:
        """Return the person's own words to a question of the model's, None where nobody could be asked or would say."""
        async with self._turn:
            asked = QuestionAsked(call=question.call, question=question.text, choices=list(question.choices))
            await self._journal.record(self._record, asked)
            answer = await self._ask(question)
            if not answer.text:
                return None
            await self._journal.record(self._record, QuestionAnswered(call=question.call, answer=answer.text))
            return answer.text

    def tell(self, text: str) -> None:
        """Show a line, and where the face can a notification of the terminal's own."""
        data = {"kind": "notify", "text": text}
        self._journal.publish(Live("note", self._record.id, self._record.last_turn or None, data))
