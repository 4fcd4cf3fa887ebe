"""Sizes the window that an Ollama is asked for, from the model's own and from the memory of the machine.

The rule: half of the memory that is free beside the model goes to the window, at least 4,096 tokens and at most 32,768,
in whole thousands (of 1,024), and never more than the model was trained for. Where the memory is not known, because the
server is elsewhere or the model does not say what a token takes, 8,192. Whoever wants more says so in the config.
"""

import psutil

from wisp_core.models.ollama_wire import About
from wisp_core.requests import Window

MEMORY_SHARE = 0.5
"""The share of the free memory beside the model that the window may take."""
LEAST_TOKENS = 4096
MOST_TOKENS = 32_768
UNKNOWN_TOKENS = 8192
"""The window in tokens where the memory is not known."""
STEP_TOKENS = 1024


def size_window(about: About, *, model_bytes: int = 0, free_bytes: int | None = None) -> Window:
    """Return the window for a model of `model_bytes` that is not loaded yet, by the rule above.

    Its source is `server` where it is the model's own, `memory` where that set it, else `assumed`.
    """
    if about.context is not None and about.remote:
        return Window(about.context, "server")
    if free_bytes is None or about.token_bytes is None or not model_bytes:
        sized, source = UNKNOWN_TOKENS, "assumed"
    else:
        fits = int(max(0, free_bytes - model_bytes) * MEMORY_SHARE) // about.token_bytes
        sized, source = max(LEAST_TOKENS, min(MOST_TOKENS, fits // STEP_TOKENS * STEP_TOKENS)), "memory"
    if about.context is None:
        return Window(min(sized, LEAST_TOKENS), "assumed")
    return Window(about.context, "server") if about.context <= sized else Window(sized, source)


def free_memory() -> int | None:
    """Return the bytes of memory that could be had now, None where the system does not tell."""
    try:
        return int(psutil.virtual_memory().available)
    except (psutil.Error, OSError, NotImplementedError):
        return None
