"""Tells which paths are protected whatever the rules, by where a file really is and by its device and inode."""

import math
import os
import pwd
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from wisp_core.errors import SettingsError
from wisp_core.permissions.patterns import holds_path
from wisp_core.permissions.words import doubtful_path, glob_names, named_paths, searched_folders
from wisp_core.text import revealed, shorten

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
# In a project: what tells a later wisp, or an allowed git, what to do. Names in any case.
GUARDED_FOLDERS = frozenset((".wisp", ".claude", ".git"))
INSTRUCTION_FILES = ("AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")

LONGEST_PATH = 4096  # characters; no system opens a longer one
MOST_WORDS = 2000
PLACES_SECONDS = 1.0  # for which what is found of the protected places is taken for true: a search asks for each file
MOST_FILES = 200_000  # looked at for another name of a file that has several
SHOWN_CHARACTERS = 100

_Identity: TypeAlias = tuple[int, int]


class ProtectedPaths:
    """The protected paths: secrets of the person's home, wisp's own home `wisp_home`, files that match `patterns`.

    The person's home is `user_home`, left out: what `HOME` names, and their account's own too, which is ssh's.

    A pattern is a path with `*`, `?` and `**`, absolute or from `~`; a relative one holds in every folder. What lies
    in a folder that matches is protected with it. `cwd` is where another name of such a file is looked for.

    Raises:
        SettingsError: a pattern is empty or no path.
    """

    def __init__(
        self,
        wisp_home: Path,
        *,
        user_home: Path | None = None,
        patterns: Iterable[str] = (),
        cwd: Path | None = None,
    ) -> None:
        self._user = user_home or Path.home()
        homes = [self._user] if user_home else _homes()
        self._home = wisp_home
        self._cwd = cwd
        texts = [_pattern(text, self._user) for text in patterns]
        exact = [Path(text) for text in texts if not set("*?") & set(text)]
        self._roots = [*(home / secret for home in homes for secret in SECRETS), *exact]
        self._patterns = [text.casefold() for text in texts if set("*?") & set(text)]
        self._looked, self._known = -math.inf, _Places([])
        # By name alone: were it resolved, a link in its place would open what it leads to.
        self._readable = {Path(os.path.normpath(wisp_home)), Path(os.path.realpath(wisp_home))}

    def refuse_path(self, path: Path, *, writing: bool = False) -> str:
        """Return why a path may not be read, or written, empty where it may; symlinks are resolved."""
        if why := _no_path(path):
            return why
        return self._sentence(path) if self._is_protected(path, self._places(), writing=writing) else ""

    def refuse_opened(self, fd: int, path: Path, *, writing: bool = False) -> str:
        """Return why an open file may not be read, or written, empty where it may.

        Its real place counts, and its device and inode: a hard link to a protected file is that file.
        """
        place = _place(fd, path)
        if place is None or self._inside(place, self._places(), writing=writing):
            return self._sentence(path)
        found = os.fstat(fd)
        if found.st_nlink == 1:
            return ""
        others = self._protected_files(found.st_dev, writing=writing)
        return self._sentence(path) if (found.st_dev, found.st_ino) in set(others) else ""

    def ask_before_edit(self, path: Path) -> str:
        """Return why a path is never edited without asking, empty where it may be."""
        if _no_path(path):
            return ""
        others = (folder / name for folder in _forms(path)[0].parents for name in INSTRUCTION_FILES)
        if self._is_guarded(path) or _is_hard_link(path, others):
            return f"{path} tells wisp or its tools what to do, so a change to it is always asked about"
        return ""

    def ask_about(self, command: str, cwd: Path) -> str:
        """Return why a command has to be asked about, empty where no word of it names a protected path or could.

        Also where it goes over a folder that holds one, or names what is not edited without asking: a command is not
        seen through.
        """
        words = list(islice(named_paths(command, home=self._user, cwd=cwd), MOST_WORDS + 1))
        if len(words) > MOST_WORDS:
            return "it has too many words to look for protected paths in it"
        places = self._places()
        for word in words:
            if doubtful_path(word):
                return f"it names {_shown(word)}, which leads to wherever a process happens to be"
            path = cwd / word
            if _no_path(path):
                continue
            if self._is_protected(path, places, writing=False) or glob_names(str(path), places.names):
                return f"it names {_shown(word)}, which is protected: secrets or wisp's own records"
            if self._is_guarded(path):
                return f"it names {_shown(word)}, which tells wisp or its tools what to do"
        for folder in searched_folders(command, home=self._user, cwd=cwd):
            if not _no_path(folder) and places.any_below(Path(os.path.realpath(folder))):
                return f"it may go over all of {_shown(str(folder))}, which holds secrets or wisp's own records"
        return ""

    def _places(self) -> "_Places":
        now = time.monotonic()
        if now >= self._looked + PLACES_SECONDS:
            self._looked, self._known = now, _Places([*self._roots, self._home])
        return self._known

    def _is_guarded(self, path: Path) -> bool:
        """Whether a path outside of wisp's home, which has its own protection, is never edited without asking."""
        return any(_is_guarded(form) for form in _forms(path) if self._readable.isdisjoint(form.parents))

    def _is_protected(self, path: Path, places: "_Places", *, writing: bool) -> bool:
        return any(self._inside(form, places, writing=writing) for form in _forms(path))

    def _inside(self, path: Path, places: "_Places", *, writing: bool) -> bool:
        """Whether a path is or lies in a protected one that may not be read, or written."""
        folders = [path, *path.parents]
        if any(holds_path(pattern, str(path).casefold()) for pattern in self._patterns):
            return True
        if not writing and any(home / READABLE_IN_HOME in folders for home in self._readable):
            return _Places(self._roots).hold(folders)
        return places.hold(folders)

    def _protected_files(self, device: int, *, writing: bool) -> Iterator[_Identity]:
        """Yield the files in the protected folders on one device, and those that match a pattern under `cwd`."""
        for root in [*self._roots, self._home]:
            if root.is_file():
                yield from _identities([root])
            for folder, folders, names in os.walk(root):
                if root == self._home and folder == str(root) and READABLE_IN_HOME in folders and not writing:
                    folders.remove(READABLE_IN_HOME)
                yield from (each for each in _identities(Path(folder, name) for name in names) if each[0] == device)
        if self._patterns and self._cwd is not None:
            files = (Path(folder, name) for folder, _, names in os.walk(self._cwd) for name in names)
            for path in islice(files, MOST_FILES):
                if any(holds_path(pattern, str(path).casefold()) for pattern in self._patterns):
                    yield from _identities([path])

    def _sentence(self, path: Path) -> str:
        return f"{path} is protected and is never read or edited: it holds secrets or wisp's own records"


class _Places:
    """Folders and files by name, in any case, and by device and inode, as they are at this moment."""

    def __init__(self, roots: Iterable[Path]) -> None:
        roots = list(roots)
        self._roots = roots
        self.names = {os.path.normpath(root).casefold() for root in roots}
        self.names |= {os.path.realpath(root).casefold() for root in roots}
        # A bind mount, or a file system that takes `.SSH` for `.ssh`.
        self._identities = set(_identities(roots))

    def hold(self, folders: list[Path]) -> bool:
        """Whether one of a path's folders, or itself, is one of the places."""
        if any(str(folder).casefold() in self.names for folder in folders):
            return True
        return bool(self._identities) and any(each in self._identities for each in _identities(folders))

    def any_below(self, folder: Path) -> bool:
        """Whether one of the places that exist is under a folder."""
        here = set(_identities([folder]))
        above = (Path(os.path.realpath(root)).parents for root in self._roots if root.exists())
        return any(here & set(_identities(parents)) for parents in above)


_INSTRUCTION_NAMES = frozenset(name.casefold() for name in INSTRUCTION_FILES)


def _forms(path: Path) -> list[Path]:
    """Return a path by where it leads, as it is written, and as the system takes it."""
    return [Path(os.path.realpath(path)), Path(os.path.normpath(path)), path]


def _no_path(path: Path) -> str:
    """Return why a text is no path at all, empty where it may be one."""
    text = str(path)
    if len(text) > LONGEST_PATH:
        return f"a path of {len(text):,} characters is none; the longest has {LONGEST_PATH:,}"
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        return f"{revealed(shorten(text, SHOWN_CHARACTERS))} is no path: it holds what no name can"
    return ""


def _homes() -> list[Path]:
    found = [Path.home()]
    try:
        found.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    except KeyError:
        return found  # an account that only a container knows
    return list(dict.fromkeys(found))


def _pattern(text: str, user: Path) -> str:
    """Return one of `protectedPaths` as an absolute pattern."""
    cleaned = text.strip().rstrip("/")
    if not cleaned or len(cleaned) > LONGEST_PATH or "\0" in cleaned:
        raise SettingsError(
            f"`protectedPaths`: {revealed(text)[:SHOWN_CHARACTERS]!r} is no path or pattern",
            "write one such as `~/secrets` or `*.pem`",
        )
    if cleaned == "~" or cleaned.startswith("~/"):
        cleaned = str(user) + cleaned[1:]
    return os.path.normpath(cleaned if cleaned.startswith("/") else f"/**/{cleaned}")


def _is_guarded(path: Path) -> bool:
    names = [part.casefold() for part in path.parts]
    return bool(names) and (names[-1] in _INSTRUCTION_NAMES or not GUARDED_FOLDERS.isdisjoint(names))


def _is_hard_link(path: Path, others: Iterable[Path]) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_nlink > 1 and (found.st_dev, found.st_ino) in set(_identities(others))


def _shown(word: str) -> str:
    return shorten(revealed(word), SHOWN_CHARACTERS)


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
        except (OSError, ValueError):
            continue
        yield (found.st_dev, found.st_ino)
