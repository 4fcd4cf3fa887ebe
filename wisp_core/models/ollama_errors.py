"""Says what an Ollama's refusals mean, and what to do about them. Pure."""

import re

from wisp_core.errors import BadRequestError, ModelError, NoModelError, OverloadedError
from wisp_core.models.failures import quote

_NO_MODEL = re.compile(r"model\b.{0,300}\bnot found|not found, try pulling", re.IGNORECASE | re.DOTALL)
_MEMORY = re.compile(r"requires more (?:system )?memory|out of memory|unable to allocate", re.IGNORECASE)


def explain(error: ModelError, model: str, *, endpoint: str) -> ModelError:
    """Return a refusal with what the person can do about it: pull the model, choose a smaller one."""
    detail = error.detail
    if isinstance(error, NoModelError) and _NO_MODEL.search(detail):
        shown = quote(model)
        return NoModelError(
            f"{endpoint} has no model `{shown}`",
            f"get it with `wisp models pull {shown}`",
            endpoint=endpoint,
            detail=detail,
        )
    if isinstance(error, OverloadedError | BadRequestError) and _MEMORY.search(detail):
        # Trying again would not help: it is not busy, it is too small.
        return BadRequestError(
            f"{endpoint} has too little memory for `{quote(model)}`",
            "choose a smaller model or a smaller window",
            endpoint=endpoint,
            detail=detail,
        )
    return error
