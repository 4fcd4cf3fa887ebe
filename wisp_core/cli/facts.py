"""`wisp facts`: what is remembered for every conversation and what is proposed, seen and changed from a shell."""

import json
from dataclasses import asdict

from wisp_core.commands.pending import change_fact, list_facts
from wisp_core.errors import UsageError
from wisp_core.text import displayable
from wisp_core.wisp import Wisp


async def facts(action: str, id: str | None, *, as_json: bool) -> int:
    """List the facts, or keep, drop or delete one, and print what was done.

    Raises:
        WispError: there is no such fact, or that cannot be done to it.
    """
    if (action == "list") != (id is None):
        raise UsageError("`wisp facts list` takes no id" if id else f"`wisp facts {action}` needs the id of a fact")
    wisp = await Wisp.open(face="wisp facts")
    try:
        if id is not None:
            text = await change_fact(wisp.facts, action, id=id)
            printed = json.dumps({"id": id, "text": text}) if as_json else text
        else:
            permanent, proposed = await wisp.facts.permanent(), await wisp.facts.proposed()
            found = {"permanent": [asdict(f) for f in permanent], "proposed": [asdict(f) for f in proposed]}
            printed = json.dumps(found) if as_json else list_facts(permanent, proposed)
    finally:
        await wisp.close()
    print(displayable(printed))
    return 0
