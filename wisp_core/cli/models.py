"""`wisp models`: lists what can be run, gets a model, keeps a provider's key."""

import asyncio
import getpass
import json
import sys
from dataclasses import asdict

from wisp_core.errors import UsageError
from wisp_core.settings import home_path, load_settings
from wisp_core.shelf import Pulling, Shelf
from wisp_core.text import count_cells, displayable

MOST_KEY_CHARACTERS = 8192


async def models(action: str, name: str | None, *, as_json: bool) -> int:
    """Do what was asked and return the exit status.

    Raises:
        WispError: it could not be done.
    """
    if action == "list":
        return await _list(as_json=as_json)
    if not name:
        example = {"pull": "granite4.1:8b", "key": "openai"}[action]
        raise UsageError(f"`wisp models {action}` needs a name", f"as in `wisp models {action} {example}`")
    if action == "pull":
        return await _pull(name, as_json=as_json)
    return await _key(name, as_json=as_json)


async def _list(*, as_json: bool) -> int:
    seen = await _shelf().list()
    if as_json:
        print(json.dumps({"models": [asdict(each) | {"text": each.text} for each in seen]}))
        return 0
    rows = [(displayable(each.name), each.sized, each.windowed) for each in seen]
    widths = [max(map(count_cells, column), default=0) for column in zip(*rows, strict=True)]
    for each, (name, size, window) in zip(seen, rows, strict=True):
        cells = f"{_fill(name, widths[0])}  {size:>{widths[1]}}  {_fill(window, widths[2])}"
        print(f"{' ' if each.usable else '!'} {cells}  {displayable(each.about)}".rstrip())
    return 0


def _fill(text: str, cells: int) -> str:
    return text + " " * (cells - count_cells(text))


async def _pull(name: str, *, as_json: bool) -> int:
    shown = _Shown(sys.stderr.isatty())
    try:
        chosen = await _shelf().pull(name, shown.take)
    finally:
        shown.end()
    if as_json:
        print(json.dumps({"model": chosen}))
    else:
        print(f"{displayable(chosen)} is there; choose it with --model {displayable(chosen)} or /model")
    return 0


async def _key(provider: str, *, as_json: bool) -> int:
    shelf = _shelf()
    shelf.key_variable(provider)
    if sys.stdin.isatty():
        key = await asyncio.to_thread(getpass.getpass, f"key for {displayable(provider)} (not shown): ")
    else:
        key = await asyncio.to_thread(sys.stdin.readline, MOST_KEY_CHARACTERS)
    variable = await shelf.keep(provider, key.strip())
    if as_json:
        print(json.dumps({"kept": variable}))
    else:
        print(f"the key is in the keyring, as {variable}; that variable goes before it where it is set")
    return 0


def _shelf() -> Shelf:
    home = home_path()
    return Shelf(home, load_settings(home))


class _Shown:
    """The progress on standard error: one line that changes on a terminal, else a line whenever the words change."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal
        self._last = ""

    def take(self, progress: Pulling) -> None:
        """Show one step."""
        text = displayable(progress.line if self._terminal else progress.text)
        if text and text != self._last:
            self._last = text
            print(f"\r\x1b[K{text}" if self._terminal else text, end="" if self._terminal else "\n", file=sys.stderr)
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._terminal and self._last:
            print(file=sys.stderr)
