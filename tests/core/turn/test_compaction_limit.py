"""M11: a model whose provider tells an overflow badly is condensed over its own limit, whatever its window."""

import json

from tests.opened import opened


async def test_over_the_limit_of_its_model_a_conversation_is_condensed_in_any_window(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"replies": [{"text": "word " * 300}] * 4, "window": 100_000, "counts": False}))
    model = f"scripted:{path}"
    given = {"context": {"policy": "keep-turns", "keep_turns": 1}, "facts": {"enabled": False, "summary": False}}
    async with opened(tmp_path, model=model, models={model: {"compaction_limit": 1500}}, **given) as here:
        for text in ("one", "two", "three", "four"):
            await here.thread.send(text)
        condensed = here.events("context.condensation")
        assert condensed
        assert {event.goal for event in condensed} == {1500}
