"""What every request pays before the conversation begins stays under its ceilings (R2)."""

import pytest

from tests.benchmarks.tokens import built_in, count_parts, excess, schemas_of, segments_of
from wisp_core.records import Mode


@pytest.mark.embedded
async def test_instructions_and_tools_cost_no_more_tokens_than_they_may() -> None:
    schemas = schemas_of(built_in())
    assert schemas
    counted = await count_parts({f"{mode}": segments_of(mode)["mode"] for mode in Mode}, schemas)
    dearest = max(Mode, key=lambda mode: counted[str(mode)])
    segments = segments_of(dearest)
    counted |= await count_parts(segments, {})
    parts = {name: cost for name, cost in counted.items() if name in segments or name in schemas}
    assert not excess(parts, segments, schemas=schemas)
