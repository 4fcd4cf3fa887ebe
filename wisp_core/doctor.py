"""Examines a home and what wisp finds around it, one sentence a finding; it changes nothing (U15)."""

import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wisp_core import __version__
from wisp_core.audit.files import list_files, session_lives
from wisp_core.audit.verify import verify
from wisp_core.errors import HomeError, NoModelError, SettingsError
from wisp_core.known_secrets import make_redaction, show_setting
from wisp_core.models.catalogue import choose, look_around
from wisp_core.models.keys import with_keys
from wisp_core.models.survey import survey
from wisp_core.records import JsonObject
from wisp_core.settings import Settings, load_settings, trace_settings
from wisp_core.store.health import check_database, open_to_others
from wisp_core.store.sweep import find_stale, measure
from wisp_core.text import byte_size

VALUE_CHARACTERS = 60
SHOWN_PROBLEMS = 5
CLIPBOARDS = ("wl-copy", "xclip", "xsel", "pbcopy")
NOTIFIERS = ("notify-send", "osascript")
PROGRAMS = {
    "git": "without it no branch or change is shown",
    "rg": "without it searches are slower",
    "bwrap": "without it no command can be shut in",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence on a part; `wrong` where something must be mended."""

    part: str
    text: str
    wrong: bool = False


async def examine(home: Path, given: JsonObject | None = None) -> list[Finding]:
    """Return everything that is found, part by part."""
    found = [Finding("wisp", f"wisp {__version__} on Python {platform.python_version()}, {platform.system()}")]
    settings = Settings()
    config = list(_config(home, given))
    if not any(finding.wrong for finding in config):
        settings = load_settings(home, given)
    found += await asyncio.to_thread(_kept, home, settings)
    found += config
    found += await _models(home, settings)
    return [*found, *_tools(), *_terminal(os.environ), Finding("commands", "commands run as you do, not in a sandbox")]


def _kept(home: Path, settings: Settings) -> list[Finding]:
    return [*_home(home), *_database(home), *_audit(home, settings=settings), *_outputs(home, settings=settings)]


def _home(home: Path) -> Iterator[Finding]:
    if not home.exists():
        yield Finding("home", f"{home} is not there yet; the first start makes it")
        return
    if not home.is_dir():
        yield Finding("home", f"{home} is in the way: it must be a folder", wrong=True)
        return
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        yield Finding("home", f"{home} cannot be written", wrong=True)
        return
    others = open_to_others(home)
    if others:
        more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
        yield Finding("home", f"others can use {others[0]}{more}; `chmod -R go= {home}` mends it", wrong=True)
    else:
        yield Finding("home", f"{home} is yours alone")


def _database(home: Path) -> Iterator[Finding]:
    path = home / "wisp.db"
    if not path.exists():
        yield Finding("database", "there is none yet; it is made, or made again from the audit, at the next start")
        return
    try:
        yield Finding("database", check_database(path))
    except HomeError as error:
        yield Finding("database", error.sentence(), wrong=True)
    except OSError as error:
        yield Finding("database", f"{path} cannot be read ({error.strerror})", wrong=True)


def _audit(home: Path, *, settings: Settings) -> Iterator[Finding]:
    if not settings.audit.enabled:
        yield Finding("audit", "off: no audit, no kept outputs, and the database cannot be made again")
    folder = home / "audit"
    try:
        files = list_files(folder)
        wrong = verify(folder)
    except OSError as error:
        yield Finding("audit", f"{error.filename or folder} cannot be read ({error.strerror})", wrong=True)
        return
    for sentence in wrong[:SHOWN_PROBLEMS]:
        yield Finding("audit", sentence, wrong=True)
    if len(wrong) > SHOWN_PROBLEMS:
        yield Finding("audit", f"and {len(wrong) - SHOWN_PROBLEMS:,} more; `wisp audit verify` lists them", wrong=True)
    if not wrong and files:
        size = byte_size(sum(file.size for file in files))
        yield Finding("audit", f"sound: {_count(len(files), 'file')}, {size}")
    elif not files:
        yield Finding("audit", "nothing is recorded yet")


def _outputs(home: Path, *, settings: Settings) -> Iterator[Finding]:
    sessions, size = measure(home / "output")
    kept = f"{byte_size(size)} of {_count(sessions, 'session')}" if sessions else "nothing is kept"
    days = settings.context.output_days
    if not sessions:
        yield Finding("outputs", kept)
        return
    if not days:
        yield Finding("outputs", f"{kept}; nothing is ever removed (context.outputDays is 0)")
        return
    stale = list(find_stale(home / "output", days=days, lives=partial(session_lives, home / "audit")))
    going = stale[: settings.outputs.sweep_sessions]
    if not going:
        yield Finding("outputs", f"{kept}; the next start removes nothing, as none is unused for {days} days")
        return
    amount = byte_size(sum(each.bytes for each in going))
    later = f", {len(stale) - len(going):,} more later" if len(stale) > len(going) else ""
    yield Finding("outputs", f"{kept}; the next start removes {amount} of {_count(len(going), 'session')}{later}")


def _config(home: Path, given: JsonObject | None) -> Iterator[Finding]:
    try:
        settings = load_settings(home, given)
        traced = trace_settings(home, given)
    except SettingsError as error:
        yield Finding("config", error.sentence(), wrong=True)
        return
    path = home / "config.json"
    yield Finding("config", f"{path} is read" if path.exists() else f"there is no {path}; it need not be there")
    if not traced:
        yield Finding("config", "every setting is the default")
    hidden = make_redaction(settings, os.environ)
    for key, (value, origin) in traced.items():
        shown = show_setting(key, repr(value), hidden=hidden, most=VALUE_CHARACTERS)
        yield Finding("config", f"{key} = {shown} ({origin})")
    for sentence in _without_effect(settings, traced):
        yield Finding("config", sentence)


def _without_effect(settings: Settings, traced: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each value that is not used, or is held to another."""
    tools, context, outputs = settings.tools, settings.context, settings.outputs
    if tools.command_timeout > tools.command_timeout_max:
        yield f"tools.command_timeout is held to tools.command_timeout_max, {tools.command_timeout_max:g} s"
    if context.reserve is not None and "context.reserve_share" in traced:
        yield "context.reserve_share is unused, as context.reserve is set"
    if context.target > context.budget:
        yield f"context.target is held to context.budget, {context.budget:g}"
    if outputs.head_bytes + outputs.tail_bytes < outputs.file_bytes:
        yield f"outputs.file_bytes is held to head and tail, {byte_size(outputs.head_bytes + outputs.tail_bytes)}"
    if settings.model and settings.model.split("/")[0] != "embedded" and any(k.startswith("embedded.") for k in traced):
        yield "embedded.* is unused, as another model is named"
    if not settings.audit.enabled and "audit.max_bytes" in traced:
        yield "audit.max_bytes is unused, as the audit is off"


async def _models(home: Path, settings: Settings) -> list[Finding]:
    environ, lost = await with_keys(home, os.environ)
    try:
        choice = choose(settings, await look_around(settings, environ))
    except NoModelError as error:
        return [Finding("model", error.sentence(), wrong=True)]
    found = [Finding("model", f"{choice.model} is used: {choice.why}")]
    found += [Finding("model", sentence, wrong=True) for sentence in lost]
    for seen in await survey(settings, environ):
        chosen = choice.model == seen.name or choice.model.startswith(f"{seen.name}/")
        found.append(Finding("model", f"{seen.name}: {seen.text}", wrong=chosen and not seen.usable))
    return found


def _tools() -> Iterator[Finding]:
    for program, use in PROGRAMS.items():
        yield Finding("tools", _program([program], program, use=use))
    yield Finding("tools", _program(CLIPBOARDS, "clipboard", use="copying is left to the terminal"))
    yield Finding("tools", _program(NOTIFIERS, "notifications", use="the terminal tells when wisp needs you"))


def _program(names: Sequence[str], what: str, *, use: str) -> str:
    place = next((place for name in names if (place := shutil.which(name))), None)
    if place:
        return f"{what}: {place}"
    missing = "not found" if len(names) == 1 else f"none of {', '.join(names)} is found"
    return f"{what}: {missing}; {use}"


def _terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    if not sys.stdout.isatty():
        yield Finding("terminal", "standard output is no terminal")
        return
    size = shutil.get_terminal_size()
    true = environ.get("COLORTERM") in ("truecolor", "24bit")
    colours = "true colour" if true else "256 colours" if "256" in environ.get("TERM", "") else "16 colours"
    if "NO_COLOR" in environ:
        colours = "no colours (NO_COLOR)"
    where = [name for name, key in (("tmux", "TMUX"), ("ssh", "SSH_CONNECTION")) if environ.get(key)]
    through = f", through {' and '.join(where)}" if where else ""
    text = f"{environ.get('TERM', 'unknown')}, {size.columns}×{size.lines}, {colours}, {sys.stdout.encoding}{through}"
    yield Finding("terminal", text)


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
