"""The tool `ask`: a question to the person, with choices where there are some."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pydantic import Field, field_validator

from wisp_core.errors import ToolFailure
from wisp_core.requests import Question, ToolKind, ToolResult
from wisp_core.text import one_line
from wisp_core.tools.result import Results
from wisp_core.tools.tool import Arguments, Running, Tool

MOST_CHOICES = 9
CHOICE_CHARACTERS = 200

AskPerson: TypeAlias = Callable[[Question], Awaitable[str | None]]
"""Shows a question with its choices and returns the answer, None where nobody could be asked or nobody answered."""


class AskArguments(Arguments):
    """The question, and what may be chosen."""

    question: str
    choices: list[str] | None = Field(None, max_length=MOST_CHOICES)

    @field_validator("question")
    @classmethod
    def _not_empty(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("a question")
        return question.strip()

    @field_validator("choices")
    @classmethod
    def _short(cls, choices: list[str] | None) -> list[str] | None:
        # One line each: a choice can pretend to be nothing else on a screen.
        return None if choices is None else [line for each in choices if (line := one_line(each, CHOICE_CHARACTERS))]


class AskTool(Tool[AskArguments]):
    """Asks the person through `ask_person`, and waits without limit."""

    name = "ask"
    kind = ToolKind.ASKS
    description = "Ask the person a question and wait for the answer."
    arguments = AskArguments

    def __init__(self, ask_person: AskPerson, results: Results) -> None:
        self._ask_person = ask_person
        self._results = results

    async def run(self, arguments: AskArguments, running: Running) -> ToolResult:
        """Return the person's own words.

        Raises:
            ToolFailure: nobody could be asked.
        """
        question = Question(running.call, arguments.question, tuple(arguments.choices or ()))
        answer = await self._ask_person(question)
        if answer is None:
            raise ToolFailure("nobody could be asked; go on with what is known, or say in the reply what is missing")
        return await self._results.give(f"the person answered: {answer}", running.call)
