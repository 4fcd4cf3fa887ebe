"""Decides whether a call runs, is refused, or is asked about. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from posixpath import join, normpath
from typing import Literal, TypeAlias, assert_never

from wisp_core.errors import SettingsError
from wisp_core.permissions.grammar import every_command, seen_commands
from wisp_core.permissions.patterns import SHELL_TOOL, Rule, matches_path, permits, read_rule, refuses
from wisp_core.permissions.plain import Words, plain_words
from wisp_core.records import JsonObject, Mode
from wisp_core.requests import ToolKind
from wisp_core.settings import Permissions

Allowing: TypeAlias = Literal["allow", "ask", "deny"]

LONGEST_RULE = 1000  # characters; a rule is shown in full before it is written


@dataclass(frozen=True, slots=True)
class Proposed:
    """A call that may run: `path` is the real place of the path that it names.

    `protected` says why a path is out of bounds: wisp's own tools are refused, a command, which is not seen through, is
    asked about. `guarded` says why it is never done without asking.
    """

    tool: str
    kind: ToolKind
    arguments: JsonObject
    cwd: str
    path: str = ""
    protected: str = ""
    guarded: str = ""


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
        SettingsError: a text of the settings is no rule; the message names it and its key.
    """
    return Rules(
        mode,
        tuple(read_rule(text, "permissions.allow") for text in permissions.allow),
        tuple(read_rule(text, "permissions.ask", allows=False) for text in permissions.ask),
        tuple(read_rule(text, "permissions.deny", allows=False) for text in permissions.deny),
        tuple(_read_grants(grants)),
    )


def decide(proposed: Proposed, rules: Rules) -> Decision:
    """Return what is done with a call; the first of these that answers decides.

    What is out of bounds, what mode plan refuses, what the person denies, what is never done without asking, the
    person's other rules (ask, allow), the conversation's grants, what mode auto allows, the default of the tool's kind.
    So that no command escapes a denial by naming a protected path, what must be asked about is asked after it.
    """
    return (
        _out_of_bounds(proposed)
        or _plan(proposed, rules.mode)
        or _refused(proposed, rules)
        or _permitted(proposed, rules)
        or _auto(proposed, rules.mode)
        or _default(proposed.kind)
    )


def rule_for(proposed: Proposed, rules: Rules) -> str:
    """Return the narrowest rule that would allow this call under these rules, empty where none can."""
    text = _narrowest(proposed)
    if not text or len(text) > LONGEST_RULE:
        return ""
    granted = replace(rules, grants=(*rules.grants, *_read_grants([text])))
    return text if decide(proposed, granted).verdict == "allow" else ""


def _narrowest(proposed: Proposed) -> str:
    command = _command(proposed)
    if command is not None:
        return f"{proposed.tool}({command.strip()})" if plain_words(command) and "*" not in command else ""
    path = proposed.path or proposed.arguments.get("path")
    if proposed.kind is ToolKind.WRITES and isinstance(path, str):
        return f"{proposed.tool}({path})" if not set("*?()\n") & set(path) else ""
    return proposed.tool


def _read_grants(texts: Iterable[str]) -> Iterator[Rule]:
    """Yield the grants; one that an older wisp wrote and this one cannot read allows nothing, and is asked about."""
    for text in texts:
        try:
            yield read_rule(text)
        except SettingsError:
            continue


def _out_of_bounds(proposed: Proposed) -> Decision | None:
    if proposed.protected and proposed.kind is not ToolKind.COMMAND:
        return Decision("deny", proposed.protected)
    return None


def _plan(proposed: Proposed, mode: Mode) -> Decision | None:
    if mode is Mode.PLAN and proposed.kind in (ToolKind.WRITES, ToolKind.COMMAND):
        return Decision("deny", f"mode plan only reads; {proposed.tool} is not run in it")
    return None


def _refused(proposed: Proposed, rules: Rules) -> Decision | None:
    """Return what denies a call or has it asked about."""
    command = _command(proposed)
    seen = list(seen_commands(command)) if command is not None and (rules.deny or rules.ask) else []
    if rule := _refusing(proposed, rules.deny, seen=seen):
        return Decision("deny", f"the rule {rule.text} denies it", rule.text)
    if why := proposed.guarded or proposed.protected:
        return Decision("ask", why)
    if rule := _refusing(proposed, rules.ask, seen=seen):
        return Decision("ask", f"the rule {rule.text} asks", rule.text)
    return None


def _permitted(proposed: Proposed, rules: Rules) -> Decision | None:
    """Return what allows a call: of a command, each of its commands must be allowed."""
    command = _command(proposed)
    granted = {id(rule) for rule in rules.grants}
    every = [rule for rule in (*rules.allow, *rules.grants) if rule.tool == proposed.tool]
    if command is None:
        found = [_allowing(proposed, every)]
    else:
        found = [_allowing_command(words, every) for words in every_command(command) or [[]]]
    used = [rule for rule in found if rule is not None]
    if not used or len(used) < len(found):
        return None
    names = ", ".join(dict.fromkeys(rule.text for rule in used))
    if any(id(rule) in granted for rule in used):
        return Decision("allow", f"{names} was allowed for this conversation", names)
    return Decision("allow", f"the rule {names} allows it", names)


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


def _command(proposed: Proposed) -> str | None:
    """Return the shell text of a call, None where it is none: a server's tool may name something else so."""
    command = proposed.arguments.get("command")
    return command if proposed.tool == SHELL_TOOL and isinstance(command, str) else None


def _refusing(proposed: Proposed, rules: Sequence[Rule], *, seen: Sequence[Words]) -> Rule | None:
    """Return the first rule that is about any of the call: a command seen in it, one of a link's two places."""
    for rule in rules:
        if rule.tool != proposed.tool:
            continue
        if rule.pattern is None or any(refuses(rule.pattern, words) for words in seen):
            return rule
        if _command(proposed) is None and any(_places_matched(rule.pattern, proposed)):
            return rule
    return None


def _allowing(proposed: Proposed, rules: Sequence[Rule]) -> Rule | None:
    """Return the first of its tool's rules that is about all of the call."""
    for rule in rules:
        if rule.pattern is None:
            return rule
        places = _places_matched(rule.pattern, proposed)
        if places and all(places):
            return rule
    return None


def _allowing_command(words: Words, rules: Sequence[Rule]) -> Rule | None:
    if not words:
        return None
    return next((rule for rule in rules if permits(rule.pattern, words)), None)


def _places_matched(pattern: str, proposed: Proposed) -> list[bool]:
    """Return for the path that is named, and for where it really is, whether a pattern is about it."""
    named = proposed.arguments.get("path")
    places = [place for place in (named, proposed.path) if isinstance(place, str) and place]
    return [matches_path(pattern, place, cwd=proposed.cwd) for place in places]


def _under(folder: str, path: str) -> bool:
    """Whether a real path lies under a folder."""
    return bool(path) and normpath(join(folder, path)).startswith(normpath(folder).rstrip("/") + "/")
