"""Keeps what is typed and not sent, and what was sent, from one start to the next."""

import asyncio
from typing import TYPE_CHECKING

from wisp_tui.widgets.input_box import InputBox
from wisp_tui.widgets.recall import Draft

if TYPE_CHECKING:
    from wisp_core.wisp import Wisp

HISTORY = 500  # prompts of earlier sessions behind Up


class Drafts:
    """The input's memory; it has a store from `open` to `close`."""

    def __init__(self, box: InputBox) -> None:
        self._box = box
        self._wisp: Wisp | None = None
        self._opening = asyncio.Lock()
        self._key = ""
        self._aside = Draft()
        self._early: list[Draft] = []  # sent before there was a store

    async def open(self, wisp: "Wisp", key: str) -> None:
        """Fill the input and what is behind it from the store, once; what was typed meanwhile stays."""
        async with self._opening:
            if self._wisp is None:
                await self._fill(wisp, key)
                self._wisp, self._key = wisp, key
                for draft in self._early:
                    await wisp.desk.history_add(draft.written())

    async def _fill(self, wisp: "Wisp", key: str) -> None:
        self._box.recall.fill(await wisp.desk.history(HISTORY))
        kept = await wisp.desk.draft_get(key)
        if not kept:
            return
        if self._box.prompt.text:
            self._box.recall.add(Draft.read(kept))
        else:
            self._box.prompt.put(Draft.read(kept))

    def set_aside(self) -> None:
        """Empty the input as Ctrl-C does; what stood there is still the unsent text."""
        if self._box.prompt.text:
            self._aside = self._box.prompt.draft
            self._box.clear()

    async def save(self) -> None:
        """Keep what is unsent."""
        if self._wisp is not None:
            draft = self._box.prompt.draft if self._box.prompt.text else self._aside
            await self._wisp.desk.draft_set(self._key, draft.written())

    async def close(self) -> None:
        """Keep what is unsent for the last time: the store is closed next, whatever is typed meanwhile."""
        try:
            await self.save()
        finally:
            self._wisp = None

    async def sent(self, draft: Draft) -> None:
        """Remember what was sent."""
        self._aside = Draft()
        if self._wisp is None:
            self._early.append(draft)
        else:
            await self._wisp.desk.history_add(draft.written())
            await self.save()
