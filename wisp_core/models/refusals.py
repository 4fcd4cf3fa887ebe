"""Tells from a refusal which optional part of a request the server does not know. Pure."""

import re
from collections.abc import Container, Mapping

from wisp_core.errors import ModelError

# Not where it names a part of one, as in `tools.0.function.name` or `["tools", 0]`: that is a fault of the tool.
TOOLS = r"(?s)^(?!.*schema).*(?:\btools?\b(?![\"']?\s*[.,\[]\s*[\"']?\d)|tool[_ ]choice|function call)"
"""How a refusal names the tools."""

_UNKNOWN = re.compile(
    r"not (?:supported|permitted|allowed|implemented|available|compatible)|support|unknown|unrecogni[sz]ed|unexpected"
    r"|extra|requires?|deprecated|no longer|unavailable|only for api versions|invalid (?:parameter|argument|field)"
    r"|additional propert",
    re.IGNORECASE,
)


def find_refused(error: ModelError, sent: Container[str], *, features: Mapping[str, str]) -> str | None:
    """Return which of the parts that were `sent` the server says not to know; None where it speaks of something else.

    `features` gives the pattern by which a refusal names each part.
    """
    return find_named(error, sent, features=features) if _UNKNOWN.search(error.detail) else None


def find_named(error: ModelError, sent: Container[str], *, features: Mapping[str, str]) -> str | None:
    """Return which of the parts that were `sent` the refusal names, whatever it says of it; None for none."""
    named = (name for name, pattern in features.items() if re.search(pattern, error.detail, re.IGNORECASE))
    return next((name for name in named if name in sent), None)
