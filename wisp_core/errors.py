"""The errors that reach a person, each one sentence and, where it helps, a hint.

    WispError
    ├── UsageError            the command line or a slash command is wrong (exit 2)
    ├── SettingsError         the configuration is wrong (exit 2)
    ├── ResumeError           a conversation cannot be gone on with (exit 64)
    ├── HomeError             the home cannot be used
    │   ├── NewerHomeError    it was written by a newer wisp
    │   └── StorageError      a write failed: disk full, read-only
    ├── ThreadLockedError     another wisp writes this thread
    └── ModelError            the model's server, by endpoint
        ├── PassingError              it may be over soon
        │   └── UnreachableError (UntrustedError is not)  RateLimitedError  OverloadedError
        └── NoModelError  AuthenticationError  ContextOverflowError  BadRequestError  CutStreamError  ModelTimeoutError

`ToolFailure` is of another kind: it is told to the model, as the tool's result.
"""

from dataclasses import dataclass


class WispError(Exception):
    """Something a person must hear of, as `message` with an optional `hint` on what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def sentence(self) -> str:
        """Return the message with its hint, as it is shown."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(WispError):
    """The command line or a slash command was used wrongly."""


class SettingsError(WispError):
    """A setting is unknown or of the wrong type; the message names key, file and what was expected."""


class ResumeError(WispError):
    """A conversation that was named cannot be gone on with."""


class HomeError(WispError):
    """The home folder cannot be used."""


class NewerHomeError(HomeError):
    """The home was written by a newer wisp; nothing in it was touched."""


class StorageError(HomeError):
    """A write to the home failed; what was acknowledged before is kept."""


class ThreadLockedError(WispError):
    """Another living wisp process writes this thread."""


class ModelError(WispError):
    """The model's server failed; `endpoint` names it and `detail` is for the audit."""

    retryable = False

    def __init__(self, message: str, hint: str = "", *, endpoint: str = "", detail: str = "") -> None:
        super().__init__(message, hint)
        self.endpoint = endpoint
        self.detail = detail


class NoModelError(ModelError):
    """No such model, or none at all, can be run."""


class PassingError(ModelError):
    """What may be over soon; `wait` is the server's own wait in seconds, where it states one."""

    retryable = True

    def __init__(
        self, message: str, hint: str = "", *, wait: float | None = None, endpoint: str = "", detail: str = ""
    ) -> None:
        super().__init__(message, hint, endpoint=endpoint, detail=detail)
        self.wait = wait


class UnreachableError(PassingError):
    """No connection could be made."""


class UntrustedError(UnreachableError):
    """TLS does not prove who the server is: nothing was sent, and trying again would not help."""

    retryable = False


class AuthenticationError(ModelError):
    """The key is missing or was refused."""


class RateLimitedError(PassingError):
    """Too many requests."""


class OverloadedError(PassingError):
    """The server is there but cannot answer now."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What an overflow states in tokens: the window's `limit`, the input's `count`, the `output` asked for."""

    limit: int | None = None
    count: int | None = None
    output: int | None = None


class ContextOverflowError(ModelError):
    """The input does not fit the window; the sizes as far as they are stated.

    An `output` beside a `count` under the `limit` tells that only both together are too much (C26a).
    """

    def __init__(
        self, message: str, hint: str = "", *, sizes: Sizes = Sizes(), endpoint: str = "", detail: str = ""
    ) -> None:
        super().__init__(message, hint, endpoint=endpoint, detail=detail)
        self.limit, self.count, self.output = sizes.limit, sizes.count, sizes.output


class BadRequestError(ModelError):
    """The server refused the request for another reason."""


class CutStreamError(ModelError):
    """The stream ended, or reported an error, before the answer was complete; a `broken` connection may hold again."""

    def __init__(
        self, message: str, hint: str = "", *, broken: bool = False, endpoint: str = "", detail: str = ""
    ) -> None:
        super().__init__(message, hint, endpoint=endpoint, detail=detail)
        self.retryable = broken


class ModelTimeoutError(ModelError):
    """No answer, or no further part of it, came in time."""


class ToolFailure(Exception):
    """A tool could not do what was asked; its text is one line for the model."""
