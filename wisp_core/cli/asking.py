"""What the model's turn waits for the person to answer at `wisp chat`: approvals and questions, in order."""

import asyncio

from wisp_core.cli.lines import Approve, Reply
from wisp_core.cli.printing import Printer
from wisp_core.events import ApprovalRequested, Event, QuestionAsked, TurnEnd
from wisp_core.requests import Answer, Approval, Question, Verdict

ANSWERS = {"y": Verdict.ONCE, "a": Verdict.THREAD, "always": Verdict.ALWAYS, "n": Verdict.NO}
LASTING = (Verdict.THREAD, Verdict.ALWAYS)
NOBODY = Answer(Verdict.NO, "no terminal to ask on; allow it with --allow", by="none")


class Asking:
    """Holds an open answer a call from when its question is printed: a program may answer before the turn waits."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._open: dict[str, asyncio.Future[Answer]] = {}
        self._questions: set[str] = set()  # of the open, those that are answered in words
        self._shown: dict[str, Approval | Question] = {}
        self.possible = True  # whether anybody can answer

    @property
    def waiting(self) -> bool:
        """Whether a question is on the screen."""
        return bool(self._shown)

    def hear(self, event: Event) -> None:
        """Open an answer for a question that is being printed; a turn's end closes all."""
        if isinstance(event.data, ApprovalRequested | QuestionAsked):
            self._answer_of(event.data.call)
            if isinstance(event.data, QuestionAsked):
                self._questions.add(event.data.call)
        elif isinstance(event.data, TurnEnd):
            self._open.clear()
            self._questions.clear()

    async def ask(self, asked: Approval | Question) -> Answer:
        """Print what is asked and wait for the answer; where none can come it is no."""
        answer = self._answer_of(asked.call)
        if not answer.done() and not self.possible:
            return NOBODY
        self._shown[asked.call] = asked
        self._printer.ask(asked)
        try:
            return await answer
        finally:
            self._shown.pop(asked.call, None)
            self._open.pop(asked.call, None)

    def take(self, line: str) -> None:
        """Take a typed line as the answer to what is on the screen."""
        asked = next(iter(self._shown.values()))
        if isinstance(asked, Question):
            self._take_words(asked, line.strip())
            return
        word, _, reason = line.strip().partition(" ")
        verdict = ANSWERS.get(word.lower())
        if verdict is None or (reason and verdict is not Verdict.NO):
            self._printer.error("answer y (once), a (for this conversation), always, n, or n and a reason")
            return
        if verdict in LASTING and not asked.rule:
            self._printer.error("no rule could allow this again; answer y (once), n, or n and a reason")
            return
        self.settle(Approve(asked.call, verdict, reason))

    def settle(self, found: Approve | Reply) -> None:
        """Give the answer to the call that it names."""
        answer = self._open.get(found.call)
        if answer is None or answer.done():
            self._printer.error(f"no call `{found.call}` waits for an answer")
        elif isinstance(found, Reply) != (found.call in self._questions):
            # Words, whatever they say, permit nothing.
            right = "an answer and a text" if found.call in self._questions else "approve and a decision"
            self._printer.error(f"call `{found.call}` waits for {right}")
        elif isinstance(found, Reply):
            answer.set_result(Answer(Verdict.ONCE, text=found.text))
        else:
            answer.set_result(Answer(found.verdict, found.reason))

    def end(self) -> None:
        """Answer no to what is open: nobody types any more."""
        self.possible = False
        for answer in self._open.values():
            if not answer.done():
                answer.set_result(Answer(Verdict.NO, "standard input has ended", by="none"))

    def _take_words(self, question: Question, words: str) -> None:
        if words.isdecimal() and 0 < int(words) <= len(question.choices):
            words = question.choices[int(words) - 1]
        self.settle(Reply(question.call, words))

    def _answer_of(self, call: str) -> "asyncio.Future[Answer]":
        return self._open.setdefault(call, asyncio.get_running_loop().create_future())
