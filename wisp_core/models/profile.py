"""What is known of a model before its server is asked. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """What config and catalogue say of a model: its windows, in tokens.

    `probes` tells that the server may be asked about itself; `output_key` names the limit of the reply.
    `most_output` bounds a reply that nothing else bounds more, in tokens; `sampling` goes with every request. `effort`
    tells that the model takes one, and `thinking` how: by a `budget`, `adaptive`, the same `unasked`, "" for unknown.
    """

    window: int | None = None
    catalogued: int | None = None
    probes: bool = True
    tools: bool = True
    output_key: str = "max_tokens"
    most_output: int | None = None
    sampling: tuple[tuple[str, float], ...] = ()
    effort: bool = False
    thinking: str = ""

    def bound(self, asked: int | None) -> int | None:
        """Return the limit of a reply in tokens: the one `asked` for or the model's own, whichever is less."""
        return min((limit for limit in (asked, self.most_output) if limit is not None), default=None)
