"""The home folder (A1): made with modes that only its owner can use, whatever the umask."""

from pathlib import Path

from wisp_core.errors import HomeError

FOLDERS = ("audit", "output", "transcripts", "context", "models", "skills", "commands")


def prepare_home(home: Path) -> None:
    """Make the home and its folders where they are missing, 0700.

    Raises:
        HomeError: it is no folder, or cannot be made.
    """
    hint = "set WISP_HOME to a folder that you can write"
    try:
        for folder in (home, *(home / name for name in FOLDERS)):
            make_folder(folder)
    except (FileExistsError, NotADirectoryError) as error:
        hint = hint if str(error.filename) == str(home) else "move it away"
        raise HomeError(f"{error.filename} is in the way: there must be a folder", hint) from error
    except OSError as error:
        raise HomeError(f"{home} cannot be used as wisp's home ({error.strerror})", hint) from error


def make_folder(folder: Path) -> None:
    """Make a folder, 0700 whatever the umask; one that is there stays as it is."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
