"""The rule for the version that a tool tells of itself. Pure."""

import re

from wisp_core.facts.rules.found import Found, flat
from wisp_core.facts.rules.run import Run

_TOOL = re.compile(r"[A-Za-z][\w.+-]{0,59}")
_FLAGS = {"--version", "-V", "-version"}
# Elsewhere `-v` may mean anything, and `version` is a word like any other.
_SHORT = {"node", "npm", "pnpm", "yarn", "ruby", "php", "nginx"}
_WORD = {"go", "terraform", "hugo", "helm"}
_BRACKETS = re.compile(r"(?<=\s)\([^()]*+\)")
_VERSION = re.compile(r"(?<![\w.-])(?:v|go)?\d++(?:\.\d++)+[\w.+~-]*+")
_LETTERS = re.compile(r"[^a-z]+")


def version(run: Run) -> list[Found]:
    """Read `TOOL --version` by its first line: the number after the last `version`, else the first number."""
    if len(run.words) != 2 or run.status != 0 or not _TOOL.fullmatch(run.words[0]):
        return []
    tool, asked = run.words
    if not (asked in _FLAGS or (asked == "-v" and tool in _SHORT) or (asked == "version" and tool in _WORD)):
        return []
    line = next((line for line in run.lines if line), "")
    before, word, after = _BRACKETS.sub("", line).rpartition("version")
    found = _VERSION.search(after)
    if found is None:
        return []
    itself = _LETTERS.sub("", tool.lower()) in _LETTERS.sub("", before.lower() + after.lower())
    if not (word or itself or found.start() == 0):
        return []
    return [Found("version", flat(tool), flat(found.group().rstrip(".-")))]
