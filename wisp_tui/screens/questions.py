"""The questions that wait for the person, asked one at a time in the order in which they came."""

import asyncio
from collections.abc import Callable

from wisp_core.requests import Answer
from wisp_tui.widgets.asked import Asked


class Questions:
    """`show` is told of the question to show, None where none waits, and how many wait behind it."""

    def __init__(self, show: Callable[[Asked | None, int], None]) -> None:
        self._show = show
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []

    async def ask(self, asked: Asked) -> Answer:
        """Return the person's answer; a question that is cancelled goes from the screen."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        waits = (asked, answer)
        self._waiting.append(waits)
        self._next()
        try:
            return await answer
        finally:
            self._waiting.remove(waits)
            self._next()

    def answer(self, asked: Asked, answer: Answer) -> None:
        """Hand an answer to whoever asked."""
        for each, waits in self._waiting:
            if each is asked and not waits.done():
                waits.set_result(answer)

    def _next(self) -> None:
        self._show(self._waiting[0][0] if self._waiting else None, max(0, len(self._waiting) - 1))
