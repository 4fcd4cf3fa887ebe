"""The rule for what the person answered. Pure."""

from wisp_core.facts.rules.calls import Called
from wisp_core.facts.rules.found import Found, flat

QUESTION_CHARACTERS = 80
_ANSWERED = "the person answered: "


def ask(called: Called) -> list[Found]:
    """Read the answer to a question of the model's."""
    question = called.arguments.get("question")
    if not isinstance(question, str) or not called.text.startswith(_ANSWERED):
        return []
    name, answer = flat(question, QUESTION_CHARACTERS), flat(called.text[len(_ANSWERED) :])
    return [Found("answer", name, answer)] if name and answer else []
