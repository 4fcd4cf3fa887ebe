"""Kinds are data: a file and the settings, and a bad one is one clear sentence (F11)."""

import json

import pytest

from tests.core.facts.ledgers import KINDS
from wisp_core.errors import SettingsError, UsageError
from wisp_core.facts.kinds import distilled, kind_of, kinds_of
from wisp_core.facts.names import NORMALISERS
from wisp_core.resources import read
from wisp_core.settings import Settings, load_settings

SHIPPED = read("subject-kinds.json")


def kinds(changes: dict[str, object]) -> dict[str, object]:
    settings = Settings.model_validate({"facts": {"kinds": changes}})
    return kinds_of(SHIPPED, settings.facts.kinds)


def test_the_shipped_kinds_are_those_of_the_table():
    by_class = {kind.subject: (kind.temporal_class, kind.normaliser, kind.distil) for kind in KINDS.values()}
    text = ("preference", "person", "project", "entity", "decision", "constraint", "finding", "date")
    assert [kind.subject for kind in distilled(KINDS)] == list(text)
    assert all(by_class[s] == ("permanent" if s in text[:3] else "dynamic", "text", True) for s in text)
    assert by_class["task"] == ("ephemeral", "none", False)
    assert by_class["said"] == ("dynamic", "none", False)
    assert {s for s, (_, n, _) in by_class.items() if n == "command"} == {"tests", "build", "lint"}
    assert by_class["service"] == ("ephemeral", "port", False)
    assert by_class["file"] == ("dynamic", "path", False)
    assert {kind.normaliser for kind in KINDS.values()} == set(NORMALISERS)
    assert len(KINDS) == 21


def test_the_settings_add_a_kind_and_change_one():
    found = kinds(
        {
            "ticket": {"class": "dynamic", "description": "a ticket"},
            "date": {"class": "permanent", "distil": False},
        }
    )
    assert found["ticket"].normaliser == "text"
    assert found["ticket"].distil
    assert (found["date"].temporal_class, found["date"].distil) == ("permanent", False)
    assert found["date"].description == KINDS["date"].description


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Two words": {"class": "dynamic", "description": "x"}}, "facts.kinds.Two words"),
        ({"ticket": {"class": "dynamic"}}, "needs `class` and `description`"),
        ({"task": {"class": "permanent"}}, "keeps its class"),
        ({"said": {"distil": True}}, "keeps its class"),
    ],
)
def test_a_bad_kind_is_one_clear_sentence_with_its_key(changes, said):
    with pytest.raises(SettingsError, match=said) as raised:
        kinds(changes)
    assert "facts.kinds." in raised.value.sentence()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ({"class": "eternal"}, r"facts.kinds.ticket.class.*'permanent', 'dynamic' or 'ephemeral'"),
        ({"normaliser": "fuzzy"}, r"facts.kinds.ticket.normaliser"),
        ({"colour": "blue"}, r"unknown setting `facts.kinds.ticket.colour`"),
    ],
)
def test_a_kind_of_the_wrong_shape_in_the_file_names_file_and_key(tmp_path, kind, said):
    (tmp_path / "config.json").write_text(json.dumps({"facts": {"kinds": {"ticket": kind}}}))
    with pytest.raises(SettingsError, match=said):
        load_settings(tmp_path)


def test_an_unknown_subject_lists_the_subjects():
    with pytest.raises(UsageError) as raised:
        kind_of(KINDS, "colour")
    assert "preference, person, project" in raised.value.sentence()
