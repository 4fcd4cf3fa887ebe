"""Turns a model's call into one whose arguments are surely a JSON object's text. Pure."""

from wisp_core.events import CallData
from wisp_core.requests import CallRequested
from wisp_core.text import load_object


def as_call(call: CallRequested, id: str, *, cut: bool = False) -> CallData:
    """Return the call under wisp's own id; arguments that are no JSON object go as `{}` and are kept in `given`.

    A strict server refuses a history with broken arguments for ever, so they never go back. None at all are an empty
    object, but not in an answer that was `cut` off: there they were still to come.
    """
    if not call.arguments.strip() and not cut:
        return CallData(call=id, tool=call.name, arguments="{}")
    if load_object(call.arguments) is not None:
        return CallData(call=id, tool=call.name, arguments=call.arguments)
    return CallData(call=id, tool=call.name, arguments="{}", given=call.arguments)
