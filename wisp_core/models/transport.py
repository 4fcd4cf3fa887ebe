"""Speaks HTTP with one endpoint: one client, kept alive, with every failure typed."""

import asyncio
import ipaddress
import json
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx

from wisp_core.errors import (
    BadRequestError,
    CutStreamError,
    ModelError,
    ModelTimeoutError,
    UnreachableError,
    UntrustedError,
)
from wisp_core.models.backend import Server
from wisp_core.models.failures import failure, quote, read_report
from wisp_core.records import JsonObject
from wisp_core.text import decode, sound

PROBE_SECONDS = 5.0
"""How long a question about the server itself may take."""
MAX_REPLY_BYTES = 64 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024


def is_loopback(url: str) -> bool:
    """Tell whether the url's host is this machine by its name or address."""
    host = httpx.URL(url).host
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Deadline:
    """When the next part of an answer is due, in the loop's seconds; every part moves it."""

    def __init__(self, seconds: float) -> None:
        self.move(seconds)

    def move(self, seconds: float) -> None:
        """Set it `seconds` from now."""
        self.seconds = seconds
        self.at = asyncio.get_running_loop().time() + seconds


class Transport:
    """The connections to one endpoint; the client is made at the first request."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._client: httpx.AsyncClient | None = None

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def ask(self, method: str, url: str, *, body: JsonObject | None = None) -> Any:
        """Return the JSON that a short question gets.

        Raises:
            ModelError: there is no such answer, or it is no JSON.
        """
        deadline = Deadline(PROBE_SECONDS)
        async with self._respond(method, url, body=body, deadline=deadline) as response:
            text = decode(await self._body(response, deadline, limit=MAX_REPLY_BYTES))
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadRequestError(f"{self.server.shown} answers with something that is no JSON", detail=url) from error

    @asynccontextmanager
    async def post(self, url: str, body: JsonObject, *, deadline: Deadline) -> AsyncIterator[httpx.Response]:
        """Give the response of a request whose answer is streamed; leaving closes the connection.

        Raises:
            ModelError: no connection, no answer in time, or a refusal.
        """
        async with self._respond("POST", url, body=body, deadline=deadline) as response:
            yield response

    async def chunks(self, response: httpx.Response, deadline: Deadline) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a response as they come.

        Raises:
            ModelTimeoutError: none came before the deadline.
            CutStreamError: the connection broke, or the answer is larger than any reply.
        """
        size = 0
        async with aclosing(_iterate(response)) as parts:
            while True:
                try:
                    async with asyncio.timeout_at(deadline.at):
                        part = await anext(parts, None)
                except TimeoutError as error:
                    raise self._late(deadline.seconds) from error
                except (httpx.HTTPError, httpx.StreamError) as error:
                    raise CutStreamError(
                        f"{self.server.shown} broke its answer off",
                        "send the prompt again",
                        broken=True,
                        endpoint=self.server.shown,
                        detail=_name(error),
                    ) from error
                if part is None:
                    return
                size += len(part)
                if size > MAX_REPLY_BYTES:
                    raise CutStreamError(
                        f"{self.server.shown} sent over {MAX_REPLY_BYTES} bytes in one answer",
                        endpoint=self.server.shown,
                    )
                yield part

    @asynccontextmanager
    async def _respond(
        self, method: str, url: str, *, body: JsonObject | None, deadline: Deadline
    ) -> AsyncIterator[httpx.Response]:
        data = None if body is None else sound(json.dumps(body, ensure_ascii=False, allow_nan=False)).encode()
        headers = {"content-type": "application/json"} if data else {}
        try:
            async with asyncio.timeout_at(deadline.at):
                response = await self._send(method, url, data=data, headers=headers)
        except TimeoutError as error:
            raise self._late(deadline.seconds) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error
        try:
            if response.status_code != 200:
                raise await self._refusal(response)
            yield response
        finally:
            await response.aclose()

    async def _send(self, method: str, url: str, *, data: bytes | None, headers: dict[str, str]) -> httpx.Response:
        kept = self._client is not None
        client = self._open()
        try:
            return await client.send(client.build_request(method, url, content=data, headers=headers), stream=True)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if not kept:
                raise
            # A server may close a kept connection just as it is used again (llama.cpp's often does).
            return await client.send(client.build_request(method, url, content=data, headers=headers), stream=True)

    async def _refusal(self, response: httpx.Response) -> ModelError:
        try:
            data = await self._body(response, Deadline(PROBE_SECONDS), limit=MAX_ERROR_BYTES)
        except ModelError:
            data = b""
        return failure(self.server.shown, read_report(response.status_code, decode(data)), headers=response.headers)

    async def _body(self, response: httpx.Response, deadline: Deadline, *, limit: int) -> bytes:
        data = bytearray()
        async with aclosing(self.chunks(response, deadline)) as parts:
            async for part in parts:
                data += part
                if len(data) > limit:
                    break
        return bytes(data[:limit])

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            server = self.server
            plain = server.url.startswith("http://") and is_loopback(server.url)
            headers = {"accept-encoding": "identity", "user-agent": "wisp"}
            if server.key:
                headers["authorization"] = f"Bearer {server.key}"
            # Reading has its own deadlines, which differ between the first part and the rest. Plain HTTP is given an
            # empty TLS context, which trusts nobody: loading the certificates stops the loop for 0.1 s.
            self._client = httpx.AsyncClient(
                headers=headers | dict(server.headers),
                timeout=httpx.Timeout(None, connect=server.timeouts.connect),
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context(),
                trust_env=not is_loopback(server.url),
                follow_redirects=False,
            )
        return self._client

    def _late(self, seconds: float) -> ModelTimeoutError:
        return ModelTimeoutError(
            f"{self.server.shown} sent nothing for {seconds:g} s",
            "send the prompt again, or allow more in `timeouts`",
            endpoint=self.server.shown,
        )

    def _unreachable(self, error: Exception) -> UnreachableError:
        distrust = self._distrust(error)
        if distrust is not None:
            return distrust
        reason = _reason(error)
        if isinstance(error, httpx.ConnectTimeout):
            reason = f"no connection within {self.server.timeouts.connect:g} s"
        return UnreachableError(
            f"{self.server.shown} cannot be reached ({reason})",
            "is the server running?",
            endpoint=self.server.shown,
            detail=sound(repr(error)),
        )

    def _distrust(self, error: BaseException) -> UntrustedError | None:
        """Return what TLS failed at, which no second attempt would mend; None where it was something else."""
        shown, inner = self.server.shown, _find_tls(error)
        detail = sound(repr(inner))
        if isinstance(inner, ssl.SSLCertVerificationError):
            what = f"{shown} cannot be trusted ({quote(inner.verify_message)})"
            return UntrustedError(
                what, "correct its url, or name its certificate in SSL_CERT_FILE", endpoint=shown, detail=detail
            )
        if inner is None or isinstance(inner, ssl.SSLEOFError):
            return None
        what = f"{shown} does not speak TLS ({quote((inner.reason or str(inner)).lower().replace('_', ' '))})"
        return UntrustedError(what, "correct its url: http in place of https?", endpoint=shown, detail=detail)


def _find_tls(error: BaseException) -> ssl.SSLError | None:
    inner: BaseException | None = error
    while inner is not None and not isinstance(inner, ssl.SSLError):
        inner = inner.__cause__ or inner.__context__
    return inner


async def _iterate(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    async for part in response.aiter_bytes():
        yield part


def _reason(error: BaseException) -> str:
    """Return what the system said, which lies under the words of three libraries, else the outermost words."""
    inner: BaseException | None = error
    said = str(error) or type(error).__name__
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            # asyncio's own words name the call and not what went wrong.
            refused = isinstance(inner, ConnectionError) and inner.errno
            said = os.strerror(refused) if refused else inner.strerror
        inner = inner.__cause__ or inner.__context__
    return quote(said)


def _name(error: Exception) -> str:
    return sound(f"{type(error).__name__}: {error}".strip(": "))[:500]
