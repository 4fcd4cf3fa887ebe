"""The command `wisp-tui`: reads its arguments and starts the app on a terminal."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from wisp_core import __version__

NO_TERMINAL = "wisp-tui needs a terminal; for scripts and pipes there is `wisp chat`"
USAGE_STATUS = 2
INTERRUPTED_STATUS = 130
MOST_LISTED = 10_000


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command line."""
    found = argparse.ArgumentParser(prog="wisp-tui", description="Talk to language models that have a small window.")
    found.add_argument("prompt", nargs="?", default="", metavar="PROMPT", help="what to send first")
    which = found.add_mutually_exclusive_group()
    which.add_argument("--continue", dest="newest", action="store_true", help="go on with this folder's newest thread")
    which.add_argument(
        "--resume",
        metavar="NAME",
        help="go on with a saved transcript, or the thread of this id, start of an id, or title",
    )
    found.add_argument("--model", metavar="M", help="the model, as provider/name")
    found.add_argument("--mode", choices=("plan", "ask", "auto"), help="what runs without asking")
    found.add_argument("--cwd", metavar="DIR", type=Path, help="the folder to work in")
    found.add_argument(
        "--list", action="store_true", help="list the threads and saved transcripts of this home and end"
    )
    found.add_argument("--version", action="version", version=f"wisp {__version__}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Start wisp-tui; return the exit status: 0, 1 a crash, 2 usage, 64 cannot resume, 128 + a signal."""
    try:
        return start(arguments)
    except KeyboardInterrupt:  # before there is a screen Ctrl-C is no key yet
        return INTERRUPTED_STATUS


def start(arguments: Sequence[str] | None) -> int:
    """Do what the arguments say and return the exit status."""
    given = parser().parse_args(arguments)
    if given.list:
        return list_threads()
    if given.cwd is not None and not given.cwd.is_dir():
        return refuse(f"--cwd: {given.cwd} is no folder")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM", "dumb") == "dumb":
        return refuse(NO_TERMINAL)
    # After the arguments: a wrong one, or --list, need not wait for Textual.
    from wisp_tui.app import WispApp  # keeps Textual off the path of --list and of a wrong argument
    from wisp_tui.screens.start import Start  # likewise

    how = Start(given.prompt, given.resume, given.newest, given.model, given.mode, given.cwd)
    app = WispApp(how)
    app.run()
    if app.parting:
        print(app.parting, file=sys.stderr, flush=True)
    if app.broken:
        os._exit(1)  # a thread of what could not be closed would keep the process for ever
    return app.return_code or 0


def refuse(sentence: str) -> int:
    """Say what is wrong and return the exit status for it."""
    print(f"wisp-tui: {sentence}", file=sys.stderr)
    return USAGE_STATUS


def list_threads() -> int:
    """Print the threads of this home, newest first, then its saved transcripts, one a line."""
    import asyncio  # heavy, and only --list needs it before the app

    from wisp_core.errors import WispError  # heavy, and only --list needs it before the app
    from wisp_core.text import byte_size, displayable, one_line  # heavy, and only --list needs it before the app
    from wisp_core.wisp import Wisp  # heavy, and only --list needs it before the app

    def line(name: str, time: str, *, size: int, words: str) -> str:
        return f"{name}  {time[:16].replace('T', ' ')}  {byte_size(size):>9}  {words}"

    async def lines() -> list[str]:
        wisp = await Wisp.open(face="tui")
        try:
            found = []
            for row in await wisp.library.threads(MOST_LISTED):
                where = f", open in process {row.open_by}" if row.open_by else ""
                words = f"{row.turns:>4} turns{where}  {one_line(displayable(row.title), 80)}"
                found.append(line(row.id, row.updated, size=row.bytes, words=words))
            saved = await asyncio.to_thread(wisp.library.transcripts)
            return found + [line(row.name, row.time, size=row.bytes, words="saved transcript") for row in saved]
        finally:
            await wisp.close()

    try:
        for found in asyncio.run(lines()):
            print(found)
    except WispError as error:
        return refuse(error.sentence())
    return 0
