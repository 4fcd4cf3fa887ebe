"""A conversation as one HTML file: no script, nothing loaded, what was said escaped or as safe Markdown. Pure."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from typing import assert_never

from wisp_core.records import CommandContent, PromptContent, ReplyContent, ThreadRecord
from wisp_core.store.markup import as_markup, as_text
from wisp_core.store.told import Called, Lost, Part, TurnTold, command_status
from wisp_core.text import displayable

STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf7; --text: #22252b; --muted: #666b75; --line: #dcdad3;
  --code: #f0eee8; --accent: #2f6f6a; --bad: #a8322c; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181c; --text: #dfe1e5; --muted: #9298a3; --line: #343941;
  --code: #20242a; --accent: #7cc4bb; --bad: #f0857d; } }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } .reply h1, .reply h2 { font-size: 1.15rem; } .reply h3 { font-size: 1rem; }
section > h2 { font-size: 0.85rem; font-weight: normal; color: var(--muted); border-top: 1px solid var(--line);
  padding-top: 0.8rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--muted); font-size: 0.85rem; }
dd { margin: 0; }
pre, code { font: 0.85rem/1.45 ui-monospace, monospace; background: var(--code); border-radius: 0.25rem; }
pre { padding: 0.6rem 0.8rem; white-space: pre-wrap; max-height: 30rem; overflow: auto; }
pre code { padding: 0; background: none; } code { padding: 0.1em 0.3em; }
.prompt { border-left: 3px solid var(--accent); padding-left: 0.8rem; white-space: pre-wrap; margin: 1rem 0; }
.reply { margin: 1rem 0; } details { margin: 0.6rem 0; } summary { color: var(--muted); cursor: pointer; }
.failed, .ending { color: var(--bad); } a { color: var(--accent); }
blockquote { margin-left: 0; padding-left: 0.8rem; border-left: 3px solid var(--line); color: var(--muted); }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: 0.2rem 0.6rem; }
.left { text-align: left; } .center { text-align: center; } .right { text-align: right; }
"""
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'"
)


def as_html(turns: Sequence[TurnTold], record: ThreadRecord) -> str:
    """Return the document."""
    title = _text(record.title or "Conversation")
    head = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        f'<h1 dir="auto">{title}</h1>',
        f"<dl><dt>conversation</dt><dd>{_text(record.id)}</dd><dt>folder</dt><dd>{_text(record.cwd)}</dd>",
        f"<dt>model</dt><dd>{_text(record.model)}</dd><dt>begun</dt><dd>{_text(record.created)}</dd></dl>",
    ]
    return "\n".join([*head, *(line for turn in turns for line in _turn(turn)), "</body>\n</html>\n"])


def _turn(turn: TurnTold) -> Iterator[str]:
    yield f"<section>\n<h2>Turn {turn.number} · {_text(turn.time)}</h2>"
    for part in turn.parts:
        yield from _part(part)
    if turn.ending:
        yield f'<p class="ending">The turn ended here: {_text(turn.ending)}</p>'
    yield "</section>"


def _part(part: Part) -> Iterator[str]:
    match part:
        case PromptContent():
            yield f'<div class="prompt" dir="auto">{_text(part.text)}</div>'
        case ReplyContent():
            if part.reasoning:
                yield f"<details><summary>Reasoning</summary>\n{as_text(part.reasoning)}</details>"
            said = as_markup(part.text) if part.text else "<p>(empty)</p>"
            yield f'<div class="reply" dir="auto">\n{said}</div>'
            if part.finish == "length":
                yield '<p class="ending">cut at the limit of the output</p>'
        case CommandContent():
            yield f"<details open><summary><code>! {_text(part.command)}</code> {command_status(part)}</summary>"
            yield f"{as_text(part.output)}</details>"
        case Called():
            yield from _called(part)
        case Lost():
            yield f"<p>({part.kind}: its content is not kept)</p>"
        case _:
            assert_never(part)


def _called(part: Called) -> Iterator[str]:
    failed = part.output is None or not part.output.ok
    status = f'<span class="failed">{part.status}</span>' if failed else part.status
    yield f"<details><summary><code>{_text(part.tool)}</code> {status}</summary>"
    if part.arguments:
        yield as_text(part.arguments)
    if part.output is not None:
        yield as_text(part.output.text)
    yield "</details>"


def _text(text: str) -> str:
    return escape(displayable(text))
