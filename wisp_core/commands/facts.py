"""The commands about what is known: facts and the task."""

from wisp_core.commands.here import Here
from wisp_core.commands.results import Result, Said
from wisp_core.errors import UsageError
from wisp_core.fact import TASK, Fact, FactScope

USAGE = "/fact SUBJECT [NAME] = VALUE, /fact ID permanent|thread|session, or /fact delete ID"


class FactCommand:
    """States, moves or deletes a fact."""

    name, usage, help = "fact", "SUBJECT [NAME] = VALUE | ID SCOPE | delete ID", "state, move or delete a fact"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Record what the person says, and return what stands then."""
        head, equals, value = argument.partition("=")
        if equals:
            subject, _, name = head.strip().partition(" ")
            recorded = await here.thread.knowledge.state(subject, name.strip(), value=value.strip())
            return Said("fact", _said(recorded) or "that is known already")
        match argument.split():
            case ["delete", id]:
                return Said("fact", await here.wisp.facts.delete(id))
            case [id, scope] if scope in list(FactScope):
                return Said("fact", _said(await here.thread.knowledge.move(id, FactScope(scope))))
        raise UsageError("this is no fact", USAGE)


class Task:
    """Shows or sets the task."""

    name, usage, help = "task", "[TEXT]", "show what this conversation works on, or set it"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Record the task where one is given, and return it."""
        if argument:
            await here.thread.knowledge.state(TASK, "", value=argument)
        task = await here.thread.knowledge.task()
        return Said("task", f"task: {task.value}" if task else "no task is set; /task TEXT sets one")


def _said(facts: list[Fact]) -> str:
    return "\n".join(f"{f.id}  {f.subject} {f.name}".rstrip() + f": {f.value}  ({f.scope})" for f in facts)
