"""What a terminal sends for Alt, or for Esc at once, with a key: Textual keeps it for letters, wisp for the rest."""

from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver

INTRODUCERS = frozenset("[]_^\\OPX")  # with Esc these begin what a terminal answers: nothing that a person typed


class Parser(XTermParser):
    """Textual's parser; Alt is kept on Enter and on every character that is typed."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        for event in super()._sequence_to_key_events(sequence, alt):
            typed = sequence == "\r" or (sequence.isprintable() and sequence not in INTRODUCERS)
            if alt and typed and not event.key.startswith("alt+"):
                yield events.Key(f"alt+{event.key}", event.character if event.is_printable else None)
            else:
                yield event


def keep_escapes() -> None:
    """Let the terminal be read by this parser; Textual's driver has no other place to say so."""
    setattr(linux_driver, "XTermParser", Parser)  # noqa: B010  a plain assignment is one to a type
