"""Decides whether a call runs, is refused, or is asked about. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Literal, TypeAlias, assert_never

from wisp_core.permissions.patterns import Rule, likely_words, matches_command, matches_path, plain_words, read_rule
from wisp_core.records import JsonObject, Mode
from wisp_core.requests import ToolKind
from wisp_core.settings import Permissions

Allowing: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A call that may run: `path` is the real place of the path it names, `protected` why that one is out of bounds."""

    tool: str
    kind: ToolKind
    arguments: JsonObject
    cwd: str
    path: str = ""
    protected: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What is in force: the mode, the person's rules, and what they granted this conversation."""

    mode: Mode
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    grants: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict, why in a clause for the person, and the text of the `rule` that decided, empty for none."""

    verdict: Allowing
    why: str
    rule: str = ""


def read_rules(mode: Mode, permissions: Permissions, *, grants: Iterable[str] = ()) -> Rules:
    """Return the rules in force.

    Raises:
        SettingsError: a text is no rule; the message names it and its key.
    """

    def read(key: str, texts: Iterable[str]) -> tuple[Rule, ...]:
        return tuple(read_rule(text, key) for text in texts)

    return Rules(
        mode,
        read("permissions.allow", permissions.allow),
        read("permissions.ask", permissions.ask),
        read("permissions.deny", permissions.deny),
        read("the conversation's grants", grants),
    )


def decide(proposed: Proposed, rules: Rules) -> Decision:
    """Return what is done with a call; the first of these that answers decides.

    Hard rules, what mode plan refuses, the person's rules (deny, ask, allow), the conversation's grants, what mode auto
    allows, the default of the tool's kind.
    """
    return (
        _hard(proposed)
        or _plan(proposed, rules.mode)
        or _person(proposed, rules)
        or _auto(proposed, rules.mode)
        or _default(proposed.kind)
    )


def rule_for(proposed: Proposed) -> str:
    """Return the narrowest rule that allows this call again, empty where none can (a command that is not plain)."""
    command = proposed.arguments.get("command")
    if proposed.kind is ToolKind.COMMAND:
        allowed = isinstance(command, str) and plain_words(command) is not None and "*" not in command
        return f"{proposed.tool}({command.strip()})" if allowed and isinstance(command, str) else ""
    path = proposed.path or proposed.arguments.get("path")
    if proposed.kind is ToolKind.WRITES and isinstance(path, str):
        return f"{proposed.tool}({path})" if not set("*?()\n") & set(path) else ""
    return proposed.tool


def _hard(proposed: Proposed) -> Decision | None:
    if not proposed.protected:
        return None
    # A command is not seen through, so the person decides; a tool of wisp's own is refused.
    return Decision("ask" if proposed.kind is ToolKind.COMMAND else "deny", proposed.protected)


def _plan(proposed: Proposed, mode: Mode) -> Decision | None:
    if mode is Mode.PLAN and proposed.kind in (ToolKind.WRITES, ToolKind.COMMAND):
        return Decision("deny", f"mode plan only reads; {proposed.tool} is not run in it")
    return None


def _person(proposed: Proposed, rules: Rules) -> Decision | None:
    if rule := _matching(proposed, rules.deny, strict=False):
        return Decision("deny", f"the rule {rule.text} denies it", rule.text)
    if rule := _matching(proposed, rules.ask, strict=False):
        return Decision("ask", f"the rule {rule.text} asks", rule.text)
    if rule := _matching(proposed, rules.allow, strict=True):
        return Decision("allow", f"the rule {rule.text} allows it", rule.text)
    if rule := _matching(proposed, rules.grants, strict=True):
        return Decision("allow", f"{rule.text} was allowed for this conversation", rule.text)
    return None


def _auto(proposed: Proposed, mode: Mode) -> Decision | None:
    if mode is Mode.AUTO and proposed.kind is ToolKind.WRITES and _under(proposed.cwd, proposed.path):
        return Decision("allow", "mode auto allows edits under the working directory")
    return None


def _default(kind: ToolKind) -> Decision:
    match kind:
        case ToolKind.READS | ToolKind.SHOWS | ToolKind.ASKS:
            return Decision("allow", "it only reads or shows")
        case ToolKind.WRITES:
            return Decision("ask", "it changes files")
        case ToolKind.COMMAND:
            return Decision("ask", "it runs a command")
        case _:
            assert_never(kind)


def _matching(proposed: Proposed, rules: Sequence[Rule], *, strict: bool) -> Rule | None:
    """Return the first rule that is about the call; a `strict` one permits, so it must be about all of the call."""
    return next(
        (rule for rule in rules if rule.tool == proposed.tool and _is_about(rule, proposed, strict=strict)), None
    )


def _is_about(rule: Rule, proposed: Proposed, *, strict: bool) -> bool:
    command = proposed.arguments.get("command")
    if isinstance(command, str):
        words = plain_words(command)
        if words is None:
            # What is not plain is never allowed by a rule; one that refuses or asks holds for what can be seen in it.
            return not strict and any(matches_command(rule.pattern, each) for each in likely_words(command))
        return matches_command(rule.pattern, words)
    if rule.pattern is None:
        return True
    named = proposed.arguments.get("path")
    places = [place for place in (named, proposed.path) if isinstance(place, str) and place]
    hits = [matches_path(rule.pattern, place, cwd=proposed.cwd) for place in places]
    # A link has two places: both must be allowed, one of them is enough to refuse.
    return bool(hits) and (all(hits) if strict else any(hits))


def _under(folder: str, path: str) -> bool:
    """Whether a real path lies under a folder."""
    return bool(path) and normpath(join(folder, path)).startswith(normpath(folder).rstrip("/") + "/")
