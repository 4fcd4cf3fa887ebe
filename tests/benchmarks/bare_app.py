"""The yardstick of a start: a Textual app with one input and nothing else."""

from textual.app import App, ComposeResult
from textual.widgets import Input


class BareApp(App[None]):
    """One input."""

    def compose(self) -> ComposeResult:
        """Yield the input, which has the focus."""
        yield Input()


if __name__ == "__main__":
    BareApp().run()
