"""The input with what belongs to it: completion of commands above, earlier prompts behind Up and Down."""

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from wisp_tui.widgets.prompt import Prompt
from wisp_tui.widgets.recall import Draft, Recall
from wisp_tui.widgets.suggestions import Suggestions, matching


class InputBox(Vertical):
    """Holds the draft in `prompt` and says when it is sent.

    `commands` are (name, help), `waiting` counts queued prompts.
    """

    DEFAULT_CSS = "InputBox { height: auto; }"

    class Sent(Message):
        """The person sent a draft; the input is empty already."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class TakeBackWanted(Message):
        """The person went up from an empty input while prompts wait."""

    class Edited(Message):
        """The draft is another one now."""

    def __init__(self, gate: Callable[[events.Key], bool]) -> None:
        super().__init__()
        # Held, not looked for: whoever leaves while the screen is still being put together asks for them as well.
        self.prompt = Prompt(gate)
        self._suggestions = Suggestions()
        self.recall = Recall()
        self.commands: Sequence[tuple[str, str]] = ()
        self.waiting = 0

    def compose(self) -> ComposeResult:
        """Lay out the list over the input."""
        yield self._suggestions
        yield self.prompt

    @property
    def suggesting(self) -> bool:
        """Whether the list of commands is open."""
        return bool(self._suggestions.display)

    def close_suggestions(self) -> None:
        """Close the list."""
        self._suggestions.offer(())

    def clear(self) -> None:
        """Empty the input; Up brings back what stood there."""
        self.recall.add(self.prompt.draft)
        self.prompt.put(Draft())

    def put(self, draft: Draft) -> None:
        """Put a draft into the input, what stands there behind Up, and go there."""
        if self.prompt.text:
            self.clear()
        self.prompt.put(draft)
        self.prompt.focus()

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Complete a command that is half typed, else send."""
        event.stop()
        chosen = self._suggestions.name_chosen
        if self.suggesting and event.draft.text != f"/{chosen}":
            self._complete()
        else:
            self.send()

    def send(self) -> None:
        """Send what stands in the input."""
        draft = self.prompt.draft
        self.recall.add(draft)
        self.prompt.put(Draft())
        self.post_message(self.Sent(draft))

    def on_prompt_reached(self, event: Prompt.Reached) -> None:
        """Move in the list, take a queued prompt back, or go through earlier prompts."""
        event.stop()
        if self.suggesting:
            self._suggestions.move(event.step)
            return
        if event.step < 0 and self.waiting and not self.prompt.text:
            self.post_message(self.TakeBackWanted())
            return
        found = self.recall.earlier(self.prompt.draft) if event.step < 0 else self.recall.later()
        if found is not None:
            self.prompt.put(found)
            self.close_suggestions()
        elif event.step < 0:
            self.prompt.action_cursor_line_start()
        else:
            self.prompt.action_cursor_line_end()

    def on_prompt_completed(self, event: Prompt.Completed) -> None:
        """Complete, or go on to the next place."""
        event.stop()
        if self.suggesting:
            self._complete()
        else:
            self.screen.focus_next()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Offer the commands that the text may mean."""
        event.stop()
        text = event.text_area.text
        offered = text.startswith("/") and not any(c.isspace() for c in text) and not self.prompt.draft.literal
        names = dict(self.commands) if offered else {}
        self._suggestions.offer((name, names[name]) for name in matching(text[1:], names))
        self.post_message(self.Edited())

    def _complete(self) -> None:
        self.prompt.put(Draft(f"/{self._suggestions.name_chosen} "))
