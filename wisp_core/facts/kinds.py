"""The kinds of facts: data of `resources/subject-kinds.json`, added to and changed by the settings (F11). Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from wisp_core.errors import SettingsError, UsageError
from wisp_core.fact import SAID, TASK
from wisp_core.settings import Kind as KindSetting

KINDS = "subject-kinds.json"
_SUBJECT = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class Kind:
    """What holds of every fact under `subject`; `description` is what the distiller is shown where it may use it."""

    subject: str
    temporal_class: str
    normaliser: str
    distil: bool
    description: str


def kinds_of(shipped: str, changes: Mapping[str, KindSetting]) -> dict[str, Kind]:
    """Return the kinds by subject: those of the text of `KINDS`, with the `facts.kinds` of the settings over them.

    Raises:
        SettingsError: a change has no fit subject, lacks what a new kind needs, or bends a kind that wisp relies on.
    """
    kinds = {raw["subject"]: _shipped(raw) for raw in json.loads(shipped)}
    for subject, change in changes.items():
        kinds[subject] = _changed(subject, kinds.get(subject), change=change)
    return kinds


def kind_of(kinds: Mapping[str, Kind], subject: str) -> Kind:
    """Return the kind of a subject.

    Raises:
        UsageError: there is none; the hint lists the subjects (F23).
    """
    kind = kinds.get(subject)
    if kind is None:
        raise UsageError(f"`{subject[:60]}` is no subject of facts", f"subjects are {', '.join(kinds)}")
    return kind


def distilled(kinds: Mapping[str, Kind]) -> list[Kind]:
    """Return the kinds that the distiller and the model's notes may use, in order."""
    return [kind for kind in kinds.values() if kind.distil]


def _shipped(raw: Mapping[str, str | bool]) -> Kind:
    subject, temporal, normaliser = str(raw["subject"]), str(raw["class"]), str(raw["normaliser"])
    return Kind(subject, temporal, normaliser, bool(raw["distil"]), str(raw["description"]))


def _changed(subject: str, known: Kind | None, *, change: KindSetting) -> Kind:
    key = f"facts.kinds.{subject}"
    if known is None:
        if not _SUBJECT.fullmatch(subject):
            raise SettingsError(f"`{key}` cannot be a subject", "one word of lowercase letters, digits, - and _")
        if change.temporal_class is None or change.description is None:
            raise SettingsError(f"`{key}` is a new kind and needs `class` and `description`")
        known = Kind(subject, change.temporal_class, "text", True, change.description)
    elif subject in (TASK, SAID) and (change.temporal_class or change.normaliser or change.distil):
        raise SettingsError(f"`{key}` keeps its class, its normaliser and its distil", "change its description alone")
    return replace(
        known,
        temporal_class=change.temporal_class or known.temporal_class,
        normaliser=change.normaliser or known.normaliser,
        distil=known.distil if change.distil is None else change.distil,
        description=change.description or known.description,
    )
