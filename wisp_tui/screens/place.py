"""Where the conversation is: the folder as people write it."""

from pathlib import Path


def directory_of(cwd: str) -> str:
    """Return the folder with the home as `~`."""
    path, home = Path(cwd), Path.home()
    return f"~/{path.relative_to(home)}" if path != home and path.is_relative_to(home) else cwd
