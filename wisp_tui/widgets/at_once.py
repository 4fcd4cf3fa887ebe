"""Does what a key of a line means before the next key is read; Textual runs a binding too late for that."""

from textual import events
from textual.binding import ActiveBinding
from textual.widget import Widget


def own_binding(widget: Widget, event: events.Key) -> ActiveBinding | None:
    """Return what the key does in `widget` itself, None where it is somebody else's now."""
    active = widget.screen.active_bindings.get(event.key)
    return active if active is not None and active.node is widget and active.enabled else None


async def act_at_once(widget: Widget, event: events.Key) -> None:
    """Do what the key does in `widget`; of keys that come at once the later ones would be in the text already."""
    active = own_binding(widget, event)
    if active is not None:
        event.stop()
        event.prevent_default()
        await widget.run_action(active.binding.action)
