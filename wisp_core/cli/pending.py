"""`wisp pending` and `wisp answer`: what waits in any wisp of the home, seen and answered from a shell."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from wisp_core.commands.pending import list_pending
from wisp_core.pending import Open, read_answer
from wisp_core.records import JsonObject
from wisp_core.text import displayable
from wisp_core.wisp import Wisp


async def pending(*, as_json: bool) -> int:
    """Print everything that waits, newest first.

    Raises:
        WispError: the home cannot be opened.
    """
    wisp = await Wisp.open(face="wisp pending")
    try:
        found = await wisp.pending.list()
    finally:
        await wisp.close()
    objects = {"pending": [as_object(one) for one in found]}
    print(json.dumps(objects) if as_json else displayable(list_pending(found, by="wisp answer")))
    return 0


async def answer(id: str, words: Sequence[str], *, as_json: bool) -> int:
    """Answer what waits under an id, and print what came of it.

    Raises:
        WispError: nothing waits there, it was answered already, or the words are no answer to it.
    """
    wisp = await Wisp.open(face="wisp answer")
    try:
        found = await wisp.pending.find(id)
        said = await wisp.pending.answer(id, read_answer(found.asked, words))
    finally:
        await wisp.close()
    print(json.dumps({"id": id, "text": said}) if as_json else displayable(said))
    return 0


def as_object(one: Open) -> JsonObject:
    """Return a request as a JSON object; `asked` is the whole of what is asked, `answerable` whether it waits."""
    return {**asdict(one), "answerable": not one.closed}
