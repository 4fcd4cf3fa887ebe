"""The git branch of a folder, read without git."""

from pathlib import Path

HEAD_BYTES = 1024  # bytes read of a HEAD file; a real one has far fewer
HASH_SHOWN = 8  # digits of a commit where no branch is checked out


def branch_of(cwd: str) -> str:
    """Return the branch that is checked out around `cwd`, the start of the commit where none is, empty without git."""
    for folder in (Path(cwd), *Path(cwd).parents):
        found = folder / ".git"
        if found.exists():
            return _branch(_read(found).removeprefix("gitdir:").strip(), folder) if found.is_file() else _head(found)
    return ""


def _branch(named: str, folder: Path) -> str:
    return _head(folder / named) if named else ""


def _head(git: Path) -> str:
    head = _read(git / "HEAD").strip()
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:HASH_SHOWN]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
