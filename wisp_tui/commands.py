"""The command palette: every key's action and every slash command, by words."""

from collections.abc import Callable, Iterator

from textual.command import DiscoveryHit, Hit, Hits, Provider

Choice = tuple[str, str, Callable[[], object]]


class Palette(Provider):
    """Asks the screen for its choices, so that palette, help and keys are one list."""

    def choices(self) -> Iterator[Choice]:
        """Return (name, help, what to do)."""
        offered: Callable[[], Iterator[Choice]] | None = getattr(self.screen, "palette_choices", None)
        return offered() if offered is not None else iter(())

    async def discover(self) -> Hits:
        """List all."""
        for name, text, act in self.choices():
            yield DiscoveryHit(name, act, help=text)

    async def search(self, query: str) -> Hits:
        """List those whose name or help holds the words."""
        matcher = self.matcher(query)
        for name, text, act in self.choices():
            score = matcher.match(f"{name} {text}")
            if score > 0:
                yield Hit(score, matcher.highlight(name), act, help=text)
