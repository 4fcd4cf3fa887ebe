"""Makes the entries of a turn that ran something."""

import json

from wisp_core.facts.extract import extract
from wisp_core.records import CallContent, CommandContent, Entry, EntryKind, OutputContent

CWD = "/srv/harbour"


def called(tool, arguments, *, text, status=None, ok=True, entry=1, turn=3):
    """The two entries of a call; the output's id is `entry` + 1."""
    call = f"call{entry}"
    return [
        Entry(
            entry, call, EntryKind.TOOL_CALL, turn, "", CallContent(call, tool, json.dumps(arguments)), sources=("r",)
        ),
        Entry(
            entry + 1,
            call,
            EntryKind.TOOL_OUTPUT,
            turn,
            "",
            OutputContent(call, tool, text, ok, status),
            sources=(f"result{entry}",),
        ),
    ]


def ran(command, text, *, status, **given):
    """The entries of a `run_command` call."""
    return called("run_command", {"command": command}, text=text, status=status, ok=status == 0, **given)


def printed(out, status=0, *, err=""):
    """An output in run_command's frame."""
    streams = (f"stdout:\n{out}\n" if out else "") + (f"stderr:\n{err}\n" if err else "")
    return f"exit status: {status}\n{streams or '[no output]'}".rstrip("\n")


def person_ran(command, text, *, status, entry=1, turn=3):
    """The entry of the person's own command."""
    content = CommandContent(command, text, status, "call")
    return [Entry(entry, "e", EntryKind.COMMAND, turn, "", content, sources=("command1",))]


def facts(entries):
    """What is extracted, as (subject, name, value)."""
    return [(each.subject, each.name, each.value) for each in extract(entries, cwd=CWD)]
