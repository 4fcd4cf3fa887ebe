"""Replaces the values of secrets by `[secret NAME]` in whatever wisp writes or sends (A9)."""

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

LEAST_CHARACTERS = 8
_SECRET_NAME = re.compile(r".*(?:_KEY|_TOKEN|_SECRET)|.*PASSWORD.*", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]+|[A-Z]+")
# Short names between slashes; a key in base64 has slashes too, but hardly two short stretches and nothing else.
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@-]{1,24}){2,}/?")
_ARMOUR = re.compile(r"-+(?:BEGIN|END) [^-]*-+")
PLACEHOLDER = re.compile(r"\[secret [^\]\n]{1,200}\]")
_PLAIN_HEADER = re.compile(
    r"accept(-.+)?|content-.+|user-agent|cache-control|connection|host|origin|(http-)?referer|x-title"
    r"|anthropic-version|.+-beta",
    re.IGNORECASE,
)
"""The headers that say what is wanted or who asks; the values of all others are taken for secrets."""
# In an address that may lack its scheme, and anywhere in a text.
_LOGIN = re.compile(r"(?:(?<=://)|^)([^/?#\s]+)@(?=[^/?#\s@])")
_SHOWN_LOGIN = re.compile(r"(?<=://)[^/\s]*@")


def find_secrets(environ: Mapping[str, str], configured: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the secrets by name: those that are `configured`, and the environment's whose names look secret."""
    found = {name: value.strip() for name, value in (configured or {}).items()}
    for name in sorted(environ):
        if _SECRET_NAME.fullmatch(name):
            found.setdefault(name, environ[name].strip())
    return {name: value for name, value in found.items() if any(map(_is_secret, value.splitlines()))}


def address_secrets(address: str) -> str:
    """Return what is secret in an address, a line each: its name and password, alone and together, as they are sent."""
    found = _LOGIN.search(address.strip())
    if found is None:
        return ""
    # With the place behind it even a short one can be told from other words.
    place = re.split(r"[/?#\s]", address.strip()[found.end() :], maxsplit=1)[0]
    return "\n".join([f"{found.group(1)}@{place}", *_login_forms(found.group(1))])


def header_secrets(name: str, value: str) -> str:
    """Return what is secret in a header's value, a line each: itself, its words, what a cookie or login among them is.

    Empty for a header that says what is wanted or who asks.
    """
    if _PLAIN_HEADER.fullmatch(name.strip()):
        return ""
    words = re.split(r"[\s;,]+", value)
    found = [value, *words, *(word.partition("=")[2] for word in words)]
    if words[0].lower() == "basic" and len(words) > 1:
        with suppress(binascii.Error, UnicodeDecodeError):
            found += _login_forms(base64.b64decode(words[1]).decode())
    return "\n".join(found)


def without_logins(text: str) -> str:
    """Return the text with `…` for the name and password of every address in it, however short they are."""
    return _SHOWN_LOGIN.sub("…@", text)


def _login_forms(login: str) -> list[str]:
    """Return `name:password` and its parts as they stand in an address, as they are read, and as a header has them."""
    name, _, password = login.partition(":")
    read = f"{unquote(name)}:{unquote(password)}"
    return [login, read, name, password, unquote(name), unquote(password), base64.b64encode(read.encode()).decode()]


def _is_secret(value: str) -> bool:
    """Tell whether a value is long enough to be one, and neither a plain word nor a path."""
    if len(value) < LEAST_CHARACTERS or _PLAIN_WORD.fullmatch(value) or _ARMOUR.fullmatch(value):
        return False
    return not (_PATH.fullmatch(value) or (value[0] in "/~" and os.path.exists(os.path.expanduser(value))))


class Redaction:
    """Knows secrets by name and takes them out of texts, JSON and streams of bytes; false where there are none.

    A secret of several lines is taken out line by line, so no line is lost or added.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {}
        for name, value in (secrets or {}).items():
            for line in value.splitlines():
                if _is_secret(line):
                    for form in _forms(line):
                        self._names.setdefault(form, f"[secret {name}]")
        ordered = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
        self._bytes = {_encode(form): _encode(name) for form, name in self._names.items()}
        self._bytes_pattern = re.compile(b"|".join(re.escape(_encode(form)) for form in ordered) or rb"(?!)")

    def __bool__(self) -> bool:
        return bool(self._names)

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        if not any(form in text for form in self._names):
            return text
        return self._pattern.sub(lambda match: self._names[match.group()], text)

    def value(self, value: Any) -> Any:
        """Return a JSON value without secrets in its texts and keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(each) for key, each in value.items()}
        return value

    def blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield a text that comes in blocks without secrets, no further ahead than it is asked for."""
        stream = self.stream()
        for block in blocks:
            yield stream.feed(block)
        yield stream.end()

    def stream(self) -> "RedactedStream":
        """Return what takes secrets out of one stream of bytes."""
        return RedactedStream(self._bytes, self._bytes_pattern)


class RedactedStream:
    """One stream: what could be the start of a secret is held back until it is known."""

    def __init__(self, names: Mapping[bytes, bytes], pattern: re.Pattern[bytes]) -> None:
        self._names = names
        self._pattern = pattern
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes and return those that are certain."""
        if not self._names:
            return data
        data = self._held + data
        end = min((_open_start(data, form) for form in self._names), default=len(data))
        shown = data[:end]
        if any(form in data for form in self._names):
            # One that is there whole goes, though its end may look like the start of another.
            spans = [match.span() for match in self._pattern.finditer(data)]
            end = max([end, *(after for before, after in spans if before < end)])
            shown = self._pattern.sub(lambda match: self._names[match.group()], data[:end])
        self._held = data[end:]
        return shown

    def end(self) -> bytes:
        """Return what was held back; the stream has ended."""
        held, self._held = self._held, b""
        return self._pattern.sub(lambda match: self._names[match.group()], held)


NO_SECRETS = Redaction()


def _open_start(data: bytes, form: bytes) -> int:
    """Return where in `data` an unfinished `form` begins at its end, else its length."""
    at = data.find(form[:1], max(0, len(data) - len(form) + 1))
    while at >= 0 and not form.startswith(data[at:]):
        at = data.find(form[:1], at + 1)
    return len(data) if at < 0 else at


def _forms(value: str) -> Iterable[str]:
    """Yield a value as it may stand in a text: itself, inside JSON, and inside JSON that is inside JSON."""
    yield value
    for ascii_only in (False, True):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=ascii_only)[1:-1])


def _encode(text: str) -> bytes:
    # The environment holds bytes that are no text as half surrogates.
    return text.encode("utf-8", "surrogateescape" if any("\udc80" <= c <= "\udcff" for c in text) else "replace")
