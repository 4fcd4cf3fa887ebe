"""What is asked of the person as it is shown: a call, a question or a fact in full, and the keys that answer."""

import json
from typing import TypeAlias, assert_never

from textual.content import Content

from wisp_core.fact import TASK, Fact
from wisp_core.requests import Answer, Approval, Question, Verdict
from wisp_core.text import displayable, revealed, revealed_line, split_lines

Asked: TypeAlias = Approval | Question | Fact

QUIET = "$foreground 60%"
DIFF_COLOURS = {"+": "$success", "-": "$error", "@": "$accent"}
REASON = "why not? Enter sends it to the model, Esc goes back"
WORDS = "your answer; Enter sends it to the model, Esc goes back"


def title(asked: Asked, waiting: int) -> Content:
    """Return the panel's title; `waiting` more stand behind it."""
    more = f" · {waiting} more after this" if waiting else ""
    match asked:
        case Question():
            return Content(f"The model asks{more}")
        case Approval(tool=tool):
            return Content(displayable(f"May {tool} run?{more}"))
        case Fact():
            return Content(f"Keep this for every conversation?{more}")
    assert_never(asked)


def body(asked: Asked) -> Content:
    """Return what is asked in full and with nothing hidden: what runs, or is written, is what stands here."""
    match asked:
        case Question():
            return _question(asked)
        case Approval():
            return _approval(asked)
        case Fact():
            return _fact(asked)
    assert_never(asked)


def keys(asked: Asked, *, whole: bool, denies: bool = True) -> str:
    """Return the keys that answer; before the `whole` was on screen nothing can be permitted.

    Where Esc `denies`, it answers a question too: with nothing.
    """
    match asked:
        case Question(choices=choices):
            chosen = f"1-{len(choices)} choose · " if choices else ""
            return f"{chosen}r your own words{' · Esc no answer' if denies else ''}"
        case Fact():
            return f"{'k keep' if whole else 'PageDown shows the rest, then k keeps'} · d drop"
        case Approval():
            return _approval_keys(asked, whole=whole)
    assert_never(asked)


def _approval_keys(asked: Approval, *, whole: bool) -> str:
    rule = revealed_line(asked.rule)
    lasting = f" · a for this conversation, w always: {rule}" if rule else ""
    yes = f"y once{lasting}" if whole else f"PageDown shows the rest, then y{', a or w' if rule else ''}"
    return f"{yes} · n no · r no, with a reason"


def letters(asked: Asked) -> frozenset[str]:
    """Return the letters that answer, or begin to."""
    if isinstance(asked, Question):
        return frozenset({"r", *(str(n) for n in range(1, len(asked.choices) + 1))})
    if isinstance(asked, Fact):
        return frozenset({"k", "d"})
    return frozenset({"y", "n", "r"} | ({"a", "w"} if asked.rule else set()))


def answer_by(asked: Asked, letter: str, *, whole: bool) -> Answer | None:
    """Return the answer that a letter gives, None where it gives none yet."""
    if isinstance(asked, Question):
        return Answer(Verdict.ONCE, text=asked.choices[int(letter) - 1]) if letter.isdecimal() else None
    if letter in ("n", "d"):
        return Answer(Verdict.NO)
    verdicts = {"y": Verdict.ONCE, "k": Verdict.ONCE, "a": Verdict.THREAD, "w": Verdict.ALWAYS}
    return Answer(verdicts[letter]) if whole and letter in verdicts else None


def answer_in_words(asked: Asked, words: str) -> Answer:
    """Return the answer that a typed line gives: a question's own, or no with a reason."""
    return Answer(Verdict.ONCE, text=words) if isinstance(asked, Question) else Answer(Verdict.NO, reason=words)


def _question(question: Question) -> Content:
    lines = [Content.styled(revealed(question.text), "bold")]
    for number, choice in enumerate(question.choices, 1):
        lines.append(Content.assemble((f"{number} ", "$accent"), revealed(choice)))
    return Content("\n").join(lines)


def _approval(approval: Approval) -> Content:
    arguments = dict(approval.arguments)
    parts: list[Content] = []
    command = arguments.pop("command", None)
    if isinstance(command, str):
        parts.append(Content.assemble(("$ ", "$accent"), (_under("$ ", command), "bold")))
    elif command is not None:
        arguments["command"] = command
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lead = f"{revealed_line(str(name))}: "
        parts.append(Content.assemble((lead, QUIET), _under(lead, text)))
    parts += [
        Content.styled(revealed(line), DIFF_COLOURS.get(line[:1], QUIET)) for line in split_lines(approval.preview)
    ]
    parts.append(Content.assemble(("in   ", QUIET), revealed_line(approval.cwd)))
    if approval.why:
        parts.append(Content.assemble(("why  ", QUIET), revealed_line(approval.why)))
    return Content("\n").join(parts)


def _fact(fact: Fact) -> Content:
    """Return a fact in full; what it says is what every conversation will be told."""
    head = f"{revealed_line(fact.subject)} {'' if fact.subject == TASK else revealed_line(fact.name)}".rstrip()
    return Content.assemble((f"{head}: ", QUIET), (_under("  ", fact.value), "bold"))


def _under(lead: str, text: str) -> str:
    """Return a value with its further lines under its first, so that none can pass for a row of the question."""
    return revealed(text).replace("\n", "\n" + " " * len(lead))
