"""Waits for a llama.cpp server that refuses every request while it loads its model.

That is the wait for a first token, which loading delays (M15), and no overload: trying again a few times (M14) would be
over long before a large model is there.
"""

import asyncio
import re

from wisp_core.errors import ModelError, ModelTimeoutError, OverloadedError, UnreachableError
from wisp_core.models.transport import Transport

POLL_SECONDS = 0.5
"""How long the server is left alone between two questions whether its model is there."""

_LOADING = re.compile(r"\bloading\b.{0,40}\bmodel\b|\bmodel\b.{0,200}\bloading\b", re.IGNORECASE | re.DOTALL)


async def is_loading(transport: Transport, refusal: OverloadedError) -> bool:
    """Tell whether a refusal is one for loading, and the server can be asked when that is over.

    Raises:
        UnreachableError: the server went away.
    """
    return bool(_LOADING.search(refusal.detail)) and await _still_loads(transport)


async def wait_until_loaded(transport: Transport) -> None:
    """Wait for the model, as long as for a first token.

    Raises:
        ModelTimeoutError: it takes longer.
        UnreachableError: the server went away.
    """
    seconds, shown = transport.server.timeouts.first_token, transport.server.shown
    try:
        async with asyncio.timeout(seconds):
            while True:
                await asyncio.sleep(POLL_SECONDS)
                if not await _still_loads(transport):
                    return
    except TimeoutError as error:
        raise ModelTimeoutError(
            f"{shown} is still loading its model after {seconds:g} s",
            "send the prompt again when it has, or allow more in `timeouts`",
            endpoint=shown,
        ) from error


async def _still_loads(transport: Transport) -> bool:
    try:
        await transport.ask("GET", f"{transport.server.root}/health")
    except (OverloadedError, ModelTimeoutError):
        return True
    except UnreachableError:
        raise
    except ModelError:
        return False  # it does not know the question
    return False
