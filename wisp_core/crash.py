"""What is said, and written down, when a fault of wisp's own ends it."""

import os
import platform
import time
import traceback
from pathlib import Path

from wisp_core import __version__
from wisp_core.errors import WispError


def explain(error: BaseException) -> str:
    """Return what to tell the person; the details of a fault of wisp's own go to a file first."""
    cause = getattr(error, "error", error)  # a worker's failure carries what failed in it
    if isinstance(cause, WispError):
        return cause.sentence()
    try:
        return f"a fault of wisp's own ended it; the conversation is whole, and a report is in {write_report(cause)}"
    except OSError:
        return f"a fault of wisp's own ended it ({type(cause).__name__}); the conversation is whole"


def write_report(error: BaseException) -> Path:
    """Write where it failed, with no word of what was said or shown, and return the file.

    Raises:
        OSError: the home cannot be written.
    """
    from wisp_core.settings import home_path  # settings bring pydantic, which a start does not wait for

    folder = home_path() / "crash"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    lines = [f"wisp {__version__}, Python {platform.python_version()}, {platform.platform()}, {os.environ.get('TERM')}"]
    at: BaseException | None = error
    while at is not None:
        lines.append(type(at).__name__)
        frames = traceback.extract_tb(at.__traceback__)
        lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        at = at.__cause__ or at.__context__
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path
