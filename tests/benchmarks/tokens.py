"""Prints what the instructions and each tool cost in tokens of the embedded model: `make tokens`.

The cost of a part is the difference that it makes to a prompt that the model's own server counts: one message with it,
less the same message with a full stop alone, which is one token.
"""

import asyncio
import importlib
import os
import pkgutil
import sys
from typing import Any

import wisp_core.tools
from wisp_core.composer.estimate import schema_text
from wisp_core.composer.instructions import stack
from wisp_core.errors import NoModelError, WispError
from wisp_core.models.catalogue import open_backend
from wisp_core.records import Mode
from wisp_core.requests import Message, Role, ToolSchema
from wisp_core.settings import Settings
from wisp_core.tools.arguments import parameters
from wisp_core.tools.tool import Tool

MODEL = "embedded/smollm2-135m"
# R2: the core policy; boundary, mode line and memory rule together; all schemas; one schema.
CEILINGS = {"core": 120, "rest": 80, "schemas": 950, "schema": 125, "all": 1200}


async def count_parts(segments: dict[str, str], schemas: dict[str, str]) -> dict[str, int]:
    """Return the tokens of each text by its name, as the embedded model's tokenizer cuts it."""
    backend = open_backend(MODEL, Settings(), environ=os.environ)
    try:
        stop = await backend.count([Message(Role.USER, ".")], ())
        found: dict[str, int] = {}
        for name, text in (segments | schemas).items():
            whole = await backend.count([Message(Role.USER, text)], ())
            if whole is None or stop is None:
                raise NoModelError(f"{MODEL} cannot count here", "make setup installs it")
            found[name] = whole - stop + 1
        return found
    finally:
        await backend.close()


def segments_of(mode: Mode) -> dict[str, str]:
    """Return the instruction stack by segment."""
    return {segment.name: segment.text for segment in stack(mode)}


def schemas_of(tools: tuple[ToolSchema, ...]) -> dict[str, str]:
    """Return each tool's schema by its name, as it is sent: JSON without spaces."""
    return {tool.name: schema_text(tool) for tool in tools}


def built_in() -> tuple[ToolSchema, ...]:
    """Return the schemas of the built-in tools: every file of the room has one."""
    for module in pkgutil.iter_modules(wisp_core.tools.__path__):
        importlib.import_module(f"wisp_core.tools.{module.name}")
    kinds = sorted((kind for kind in Tool.__subclasses__() if kind.__module__.startswith("wisp_core.")), key=name_of)
    return tuple(ToolSchema(kind.name, kind.description, parameters(kind.arguments)) for kind in kinds)


def name_of(kind: type[Tool[Any]]) -> str:
    """Return a tool's name."""
    return kind.name


def main() -> int:
    """Print the table and what is over its ceiling."""
    try:
        segments, schemas = segments_of(Mode.ASK), schemas_of(built_in())
        counted = asyncio.run(count_parts(segments, schemas))
    except WispError as error:
        print(f"make tokens: {error.sentence()}")
        return 1
    for name in segments:
        print(f"{counted[name]:>6}  {name}")
    for name in schemas:
        print(f"{counted[name]:>6}  {name}()")
    over = excess(counted, segments, schemas=schemas)
    print(f"{sum(counted.values()):>6}  in all (at most {CEILINGS['all']})")
    for line in over:
        print(line)
    return 1 if over else 0


def excess(counted: dict[str, int], segments: dict[str, str], *, schemas: dict[str, str]) -> list[str]:
    """Return a sentence for each part that is over its ceiling."""
    costs = {
        "core": counted["core"],
        "rest": sum(counted[name] for name in segments if name not in ("core", "operator")),
        "schemas": sum(counted[name] for name in schemas),
        "all": sum(counted.values()),
    }
    over = [f"{name}: {cost} tokens, over {CEILINGS[name]}" for name, cost in costs.items() if cost > CEILINGS[name]]
    single = CEILINGS["schema"]
    return over + [f"{name}(): {counted[name]} tokens, over {single}" for name in schemas if counted[name] > single]


if __name__ == "__main__":
    sys.exit(main())
