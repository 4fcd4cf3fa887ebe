"""Tells which paths are protected whatever the rules, by where a file really is and by its device and inode."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from wisp_core.text import shorten

# Under the person's home: keys, passwords, keyrings, browser profiles.
SECRETS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".netrc",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    "Library/Keychains",
    ".mozilla",
    ".librewolf",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    "snap/firefox",
    "snap/chromium",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/BraveSoftware",
    "Library/Safari",
)
READABLE_IN_HOME = "skills"

MOST_WORDS = 1000
SHOWN_CHARACTERS = 100
_WORD_ENDS = re.compile(r"[\s'\"=@:,;&|()<>`$]+")

_Identity = tuple[int, int]


class ProtectedPaths:
    """The protected paths: the secrets of the person's home, wisp's own home `wisp_home`, and `extra` ones."""

    def __init__(self, wisp_home: Path, *, user_home: Path | None = None, extra: Iterable[Path] = ()) -> None:
        user = user_home or Path.home()
        self._secrets = [*(user / secret for secret in SECRETS), *extra]
        self._home = wisp_home
        # By name alone: were it resolved, a link in its place would open what it leads to.
        self._readable = {Path(os.path.normpath(wisp_home)), Path(os.path.realpath(wisp_home))}

    def refuse_path(self, path: Path) -> str:
        """Return why a path may not be read, empty where it may; symlinks are resolved."""
        real = Path(os.path.realpath(path))
        lexical = Path(os.path.normpath(path))
        return self._sentence(path) if self._inside(real) or self._inside(lexical) else ""

    def refuse_opened(self, fd: int, path: Path) -> str:
        """Return why an open file may not be read, empty where it may.

        Its real place counts, and its device and inode: a hard link to a protected file is that file.
        """
        place = _place(fd, path)
        if place is None or self._inside(place):
            return self._sentence(path)
        found = os.fstat(fd)
        if found.st_nlink > 1 and (found.st_dev, found.st_ino) in set(self._protected_files(found.st_dev)):
            return self._sentence(path)
        return ""

    def ask_about(self, command: str, cwd: Path) -> str:
        """Return why a command has to be asked about, empty where no word of it names a protected path.

        What could expand to one (a glob, a variable) is no plain command and so is asked about by its rule.
        """
        words = dict.fromkeys(word for word in _WORD_ENDS.split(command) if word)
        if len(words) > MOST_WORDS:
            return "it has too many words to look for protected paths in it"
        for word in words:
            # A path may follow an option's letter at once.
            starts = {0, word.find("/"), word.find("~"), 2 if word.startswith("-") else 0} - {-1}
            if any(self._names_protected(word[start:], cwd) for start in starts if word[start:]):
                return f"it names {shorten(word, SHOWN_CHARACTERS)}, which is protected: secrets or wisp's own records"
        return ""

    def _names_protected(self, word: str, cwd: Path) -> bool:
        try:
            return bool(self.refuse_path(cwd / os.path.expanduser(word)))
        except (OSError, ValueError):
            return False

    def _inside(self, path: Path) -> bool:
        """Whether a path, whose symlinks are resolved, is or lies in a protected one that may not be read."""
        folders = [path, *path.parents]
        if _is_any(folders, self._secrets):
            return True
        readable = any(home / READABLE_IN_HOME in folders for home in self._readable)
        return not readable and _is_any(folders, [self._home])

    def _protected_files(self, device: int) -> Iterator[_Identity]:
        """Yield the files in the protected folders on one device."""
        for root in [*self._secrets, self._home]:
            if root.is_file():
                yield from _identities([root])
            for folder, folders, names in os.walk(root):
                if root == self._home and folder == str(root) and READABLE_IN_HOME in folders:
                    folders.remove(READABLE_IN_HOME)
                yield from (each for each in _identities(Path(folder, name) for name in names) if each[0] == device)

    def _sentence(self, path: Path) -> str:
        return f"{path} is protected and is never read: it holds secrets or wisp's own records"


def _is_any(folders: list[Path], roots: list[Path]) -> bool:
    names = {os.path.normpath(root) for root in roots} | {os.path.realpath(root) for root in roots}
    if any(str(folder) in names for folder in folders):
        return True
    # By identity too: a bind mount, or a file system that takes `.SSH` for `.ssh`.
    identities = set(_identities(roots))
    return bool(identities) and any(identity in identities for identity in _identities(folders))


def _place(fd: int, path: Path) -> Path | None:
    """Return where an open file really is, None where that cannot be told for certain."""
    link = f"/proc/self/fd/{fd}"
    if os.path.islink(link):
        real = os.readlink(link)
        # A file that was deleted meanwhile is at no place; it was judged by its path.
        return Path(os.path.realpath(path)) if real.endswith(" (deleted)") else Path(real)
    real = os.path.realpath(path)
    return Path(real) if os.path.samestat(os.stat(real), os.fstat(fd)) else None


def _identities(paths: Iterable[Path]) -> Iterator[_Identity]:
    for path in paths:
        try:
            found = os.stat(path)
        except OSError:
            continue
        yield (found.st_dev, found.st_ino)
