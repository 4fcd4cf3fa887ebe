"""Says what an Ollama's refusals mean, and what to do about them. Pure."""

import re

from wisp_core.errors import AuthenticationError, BadRequestError, ModelError, NoModelError, OverloadedError
from wisp_core.models.failures import quote
from wisp_core.models.ollama_address import OLLAMA_HOSTED

_NO_MODEL = re.compile(r"model\b.{0,300}\bnot found|not found, try pulling", re.IGNORECASE | re.DOTALL)
_MEMORY = re.compile(r"requires more (?:system )?memory|out of memory|unable to allocate", re.IGNORECASE)

_SIGNED_OUT = re.compile(r"signin_url")
_CLOUD_OFF = re.compile(r"cloud is disabled", re.IGNORECASE)
_CLOUD = f"//{OLLAMA_HOSTED}"
"""The cloud itself is asked with a key; only an Ollama that passes requests on to it can be signed in."""


def explain(error: ModelError, model: str, *, endpoint: str) -> ModelError:
    """Return a refusal with what the person can do about it: pull the model, choose a smaller one, sign in."""
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
    if isinstance(error, AuthenticationError) and _CLOUD not in endpoint:
        return _explain_cloud(error, model, endpoint=endpoint)
    return error


def _explain_cloud(error: AuthenticationError, model: str, *, endpoint: str) -> ModelError:
    detail, shown = error.detail, quote(model)
    if _CLOUD_OFF.search(detail):
        return BadRequestError(
            f"{endpoint} has Ollama's cloud turned off, where `{shown}` runs",
            "turn it on in its settings, or choose a model that runs on its own machine",
            endpoint=endpoint,
            detail=detail,
        )
    if _SIGNED_OUT.search(detail):
        return AuthenticationError(
            f"{endpoint} is not signed in to Ollama's cloud, where `{shown}` runs",
            "run `ollama signin` on its machine",
            endpoint=endpoint,
            detail=detail,
        )
    return error
