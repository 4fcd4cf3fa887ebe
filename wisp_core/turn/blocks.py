"""The two blocks of a turn's requests, found once at its start and again where it is condensed."""

from collections.abc import Collection

from wisp_core.events import ContextRecollection
from wisp_core.requests import Blocks
from wisp_core.turn.participants import Participants


async def find_blocks(parts: Participants, *, without: Collection[int] = frozenset()) -> Blocks:
    """Return the blocks of the turn's next request, as they will be once the entries `without` have left."""
    window = await parts.backend.window()
    return await parts.knowledge.blocks(window=window.tokens if window else None, without=without)


async def record_recollection(parts: Participants, blocks: Blocks) -> None:
    """Record which passages were recollected for the turn, where any were (O25)."""
    if blocks.recalled:
        await parts.write(
            ContextRecollection(
                query=" ".join(blocks.query),
                entries=[recalled.entry for recalled in blocks.recalled],
                scores=[round(recalled.score, 4) for recalled in blocks.recalled],
                why=[recalled.why for recalled in blocks.recalled],
            )
        )
