"""Knows every secret of the settings and of the environment, so that none is written, sent or shown (A9)."""

import re
from collections.abc import Mapping

from wisp_core.redaction import Redaction, address_secrets, find_secrets, header_secrets, without_logins
from wisp_core.settings import Settings
from wisp_core.text import one_line

_ADDRESS = re.compile(r"OLLAMA_HOST|(HTTP|HTTPS|ALL)_PROXY", re.IGNORECASE)
"""A variable that holds an address, which may hold a name and a password."""


def make_redaction(settings: Settings, environ: Mapping[str, str]) -> Redaction:
    """Return what takes out every secret that is known from the settings and the environment (A9).

    These are the keys that endpoints name, names and passwords in their urls, in `OLLAMA_HOST` and in the variables of
    proxies, the endpoints' headers but for those that are plain by their names, and the variables that look secret.
    """
    found: dict[str, str] = {}
    for place, endpoint in settings.endpoints.items():
        if endpoint.key_env and endpoint.key_env in environ:
            found[endpoint.key_env] = environ[endpoint.key_env]
        found[f"{place} url"] = address_secrets(endpoint.url)
        for header, value in endpoint.headers.items():
            found[f"{place} {header}"] = header_secrets(header, value)
    found |= {name: address_secrets(value) for name, value in environ.items() if _ADDRESS.fullmatch(name)}
    return Redaction(find_secrets(environ, found))


def show_setting(key: str, value: str, *, hidden: Redaction, most: int) -> str:
    """Return the value of a setting as it may be shown, in at most `most` characters: no header, login or secret."""
    if ".headers." in key:
        return "…"
    # Cut last: the half of a secret is no longer one to be found.
    return one_line(hidden.text(without_logins(value)), most)
