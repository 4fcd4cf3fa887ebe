"""Knows the options by which a program that looks harmless runs another one, or writes where a redirection would. Pure.

A program that is itself a language (python, awk, sed, make) is what its rule says it is: nothing here looks into it.
"""

from collections.abc import Iterator
from posixpath import basename

from wisp_core.permissions.plain import Words

# fmt: off
_OPTIONS: dict[str, tuple[str, ...]] = {
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
    "tar": (
        "-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--info-script",
        "--new-volume-script", "--rsh-command", "--rmt-command",
    ),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o", "-F"),
    "sftp": ("-S", "-o", "-F"),
    "rg": ("--pre", "--hostname-bin"),
    "ag": ("--pager",),
    "ack": ("--pager",),
    "man": ("-P", "-H", "--pager", "--html"),
    "sort": ("-o", "--output", "--compress-program"),
    "split": ("--filter",),
    "zip": ("-TT", "--unzip-command"),
    "tcpdump": ("-z", "-w"),
    "git": (
        "--exec", "--upload-pack", "--receive-pack", "--open-files-in-pager", "--ext-diff", "--extcmd", "--output",
        "--template", "--config", "--tree-filter", "--index-filter", "--msg-filter",
    ),
}
# fmt: on
_GIT_SHORT = {"rebase": ("-x",), "grep": ("-O",), "clone": ("-c", "-u"), "ls-remote": ("-u",)}
_GIT_HARMLESS = ("--no-pager", "-P", "--paginate", "-p", "--version", "--help", "-h", "--no-optional-locks")
_GIT_RUNS = frozenset(("config", "filter-branch", "difftool", "mergetool", "send-email", "hook", "for-each-repo"))
_GIT_RUNS_WITH = {"bisect": "run", "submodule": "foreach"}


def running_words(words: Words) -> list[int]:
    """Return the places of the words by which a plain command runs another program, or writes a file of its choice."""
    name = basename(words[0]) if words else ""
    options = _OPTIONS.get(name)
    if options is None:
        return []
    found = [place for place in range(1, len(words)) if any(_is_option(words[place], each) for each in options)]
    if name == "tar" and len(words) > 1 and words[1].isalpha() and set("IF") & set(words[1]):
        found.append(1)  # its letters may stand without a dash
    if name == "git":
        found += _git(words)
    return found


def _git(words: Words) -> Iterator[int]:
    start = 1
    while start < len(words) and words[start].startswith("-"):
        if words[start] not in _GIT_HARMLESS:
            # Its value may be the next word; then what seems to be the subcommand is none.
            yield start
        start += 1
    command = words[start] if start < len(words) else ""
    if command in _GIT_RUNS or (command in _GIT_RUNS_WITH and _GIT_RUNS_WITH[command] in words[start:]):
        yield start
    for place in range(start + 1, len(words)):
        if "::" in words[place] or any(_is_option(words[place], each) for each in _GIT_SHORT.get(command, ())):
            yield place


def _is_option(word: str, option: str) -> bool:
    if option.startswith("--"):
        # Long options may be shortened.
        name = word.partition("=")[0]
        return len(name) > 2 and option.startswith(name)
    if len(option) == 2:
        return word.startswith("-") and not word.startswith("--") and option[1] in word
    return word == option
