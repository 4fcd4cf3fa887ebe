"""C27: a server that drops the front of a prompt without a word is noticed, told and recorded."""

import json

from tests.opened import opened


def script(folder, *counts):
    """Write a model that counts its prompts so, and return its name."""
    replies = [{"text": "ok", "usage": {"prompt": count, "completion": 1, "total": count + 1}} for count in counts]
    (folder / "script.json").write_text(json.dumps({"replies": replies, "window": 32768, "counts": False}))
    return f"scripted:{folder / 'script.json'}"


async def test_a_count_far_below_what_was_sent_is_told_and_recorded(tmp_path):
    async with opened(tmp_path, model=script(tmp_path, 4000, 2000)) as here:
        await here.thread.send("one")
        await here.thread.send("two")
        (told,) = here.notes("cut")
        assert "seems to have cut the prompt" in told
        (error,) = here.events("error")
        assert (error.kind, error.message) == ("prompt cut", told)


async def test_a_first_count_or_one_that_grows_raises_no_alarm(tmp_path):
    async with opened(tmp_path, model=script(tmp_path, 20, 60, 100)) as here:
        for text in ("one", "two", "three"):
            await here.thread.send(text)
        assert here.notes("cut") == []
        assert here.events("error") == []
