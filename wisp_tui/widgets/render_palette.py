"""The styles that blocks are drawn with, taken from the theme through the widget's component classes."""

from dataclasses import dataclass, fields

from rich.style import Style
from textual.widget import Widget

PREFIX = "transcript--"


@dataclass(frozen=True, slots=True)
class Palette:
    """One style a role; `text` carries the widget's own background."""

    text: Style
    muted: Style
    faint: Style
    prompt: Style
    prompt_mark: Style
    cursor: Style
    heading: Style
    inline_code: Style
    code: Style
    code_label: Style
    link: Style
    tool: Style
    ok: Style
    failed: Style
    waiting: Style
    warning: Style
    keyword: Style
    string: Style
    number: Style
    comment: Style
    name: Style
    added: Style
    removed: Style


ROLES = tuple(field.name for field in fields(Palette))
COMPONENTS = {PREFIX + role.replace("_", "-") for role in ROLES}

PALETTE_CSS = """
TranscriptView {
    & > .transcript--text { color: $foreground; }
    & > .transcript--muted { color: $foreground 65%; }
    & > .transcript--faint { color: $foreground 40%; }
    & > .transcript--prompt { color: $foreground; background: $foreground 6%; }
    & > .transcript--prompt-mark { color: $primary; background: $foreground 6%; text-style: bold; }
    & > .transcript--cursor { color: $accent; text-style: bold; }
    & > .transcript--heading { color: $text-primary; text-style: bold; }
    & > .transcript--inline-code { color: $text-accent; }
    & > .transcript--code { color: $foreground 90%; background: $foreground 5%; }
    & > .transcript--code-label { color: $foreground 40%; background: $foreground 5%; }
    & > .transcript--link { color: $text-secondary; text-style: underline; }
    & > .transcript--tool { color: $foreground; text-style: bold; }
    & > .transcript--ok { color: $text-success; }
    & > .transcript--failed { color: $text-error; }
    & > .transcript--waiting { color: $text-warning; }
    & > .transcript--warning { color: $text-warning; }
    & > .transcript--keyword { color: $text-primary; background: $foreground 5%; text-style: bold; }
    & > .transcript--string { color: $text-success; background: $foreground 5%; }
    & > .transcript--number { color: $text-warning; background: $foreground 5%; }
    & > .transcript--comment { color: $foreground 50%; background: $foreground 5%; text-style: italic; }
    & > .transcript--name { color: $text-secondary; background: $foreground 5%; }
    & > .transcript--added { color: $text-success; }
    & > .transcript--removed { color: $text-error; }
    &:ansi > .transcript--muted, &:ansi > .transcript--faint { text-style: dim; }
    &:ansi > .transcript--comment, &:ansi > .transcript--code-label { text-style: dim; }
}
"""


def palette_of(widget: Widget) -> Palette:
    """Return the styles of the widget's theme as it stands now."""
    styles = {role: widget.get_component_rich_style(PREFIX + role.replace("_", "-")) for role in ROLES}
    return Palette(**styles)
