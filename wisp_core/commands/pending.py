"""The commands about what waits for the person and what is remembered, and both as text."""

import json
from collections.abc import Sequence

from wisp_core.commands.here import Here
from wisp_core.commands.results import Result, Said, Show
from wisp_core.errors import UsageError
from wisp_core.fact import Fact
from wisp_core.home_facts import HomeFacts, says
from wisp_core.pending import Open, read_answer
from wisp_core.requests import Approval, Question
from wisp_core.text import one_line, revealed, revealed_line, split_lines

TITLE_CHARACTERS = 60


class Pending:
    """Shows what waits for the person, or answers it."""

    name, usage, help = "pending", "[ID ANSWER]", "show what waits for you in any conversation, or answer it"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return everything that waits, newest first, or what came of an answer."""
        id, *words = argument.split() or [""]
        if not id:
            return Show("pending", list_pending(await here.wisp.pending.list(), by="/pending"), screen="pending")
        found = await here.wisp.pending.find(id)
        return Said("pending", await here.wisp.pending.answer(id, read_answer(found.asked, words)))


class Facts:
    """Shows what is remembered for every conversation, or changes it."""

    name, usage, help = "facts", "[keep ID|drop ID|delete ID]", "show what is remembered, keep, drop or delete it"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the permanent facts and the proposed ones, or what came of a change."""
        facts = here.wisp.facts
        match argument.split():
            case []:
                text = list_facts(await facts.permanent(), await facts.proposed())
                return Show("facts", text, screen="facts")
            case [action, id]:
                return Said("facts", await change_fact(facts, action, id=id))
        raise UsageError("/facts takes an action and the id of a fact", f"/facts {self.usage}")


async def change_fact(facts: HomeFacts, action: str, *, id: str) -> str:
    """Keep, drop or delete a fact, and return what was done as a sentence.

    Raises:
        UsageError: there is no such action or fact, or it cannot be done.
    """
    match action:
        case "keep":
            return await facts.keep(id)
        case "drop":
            return await facts.drop(id)
        case "delete":
            return await facts.delete(id)
    raise UsageError(f"a fact cannot be `{one_line(action, 40)}`", "keep, drop or delete")


def list_pending(found: Sequence[Open], *, by: str) -> str:
    """Return what waits as text, each in full, with how the command `by` answers it."""
    return "\n\n".join("\n".join(_open_lines(one, by)) for one in found) or "nothing waits for you"


def list_facts(permanent: Sequence[Fact], proposed: Sequence[Fact]) -> str:
    """Return the permanent facts and the proposed ones as text, one a line."""
    lines = [f"{fact.id}  {revealed_line(says(fact))}  (from the {_source(fact)})" for fact in permanent]
    lines += [
        f"{fact.id}  {revealed_line(says(fact))}  (the {_words(fact.proposed_by)} proposes it: keep or drop)"
        for fact in proposed
    ]
    return "\n".join(lines) or "nothing is remembered for every conversation, and nothing is proposed"


def asked_lines(asked: Approval | Question) -> list[str]:
    """Return what is asked in full: a call's arguments and preview, or a question with its choices.

    Whatever cannot be seen is shown by its code point, and further lines of a value stand under its name.
    """
    if isinstance(asked, Question):
        return [*split_lines(revealed(asked.text)), *(f"{n} {revealed(c)}" for n, c in enumerate(asked.choices, 1))]
    lines = []
    for key, value in asked.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines += [f"{revealed_line(str(key))}: {line}" for line in split_lines(revealed(text)) or [""]]
    return [*lines, *split_lines(revealed(asked.preview))]


def _open_lines(one: Open, by: str) -> list[str]:
    title = one_line(revealed_line(one.title), TITLE_CHARACTERS)
    lines = [f"{one.id}  {one.kind}  {one.time[:16].replace('T', ' ')}  {title}".rstrip()]
    match one.asked:
        case Approval(tool=tool, cwd=cwd, rule=rule):
            lines.append(f"  {revealed_line(f'{one.who} wants to run {tool} in {cwd} ({one.why})')}:")
            how = "yes|thread|always|no" if rule else "yes|no"
        case Question():
            lines.append(f"  {revealed_line(one.who)} asks:")
            how = "TEXT"
        case Fact():
            lines += [
                f"  {one.who} asks that this is known in every conversation:",
                f"    {revealed_line(says(one.asked))}",
            ]
            how = "yes|no"
    if isinstance(one.asked, Approval | Question):
        lines += [f"    {line}" for line in asked_lines(one.asked)]
    return [*lines, f"  {one.closed}" if one.closed else f"  answer it with: {by} {one.id} {how}"]


def _source(fact: Fact) -> str:
    return f"tool {fact.tool}" if fact.tool else _words(fact.source)


def _words(source: str) -> str:
    return "person's command" if source == "person_command" else revealed_line(one_line(source, 40)) or "model"
