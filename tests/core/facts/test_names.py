"""Names of facts: one thing has one name however it is written (F12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.facts.names import NORMALISERS, fold


@pytest.mark.parametrize(
    ("normaliser", "written", "name"),
    [
        ("text", "The  Release\tCodename", "release codename"),
        ("text", '"the Release codename".', "release codename"),
        ("text", "\u201cmaria's reviews\u201d", "maria's reviews"),
        ("text", "C++", "c++"),
        ("text", "C#", "c#"),
        ("text", "an editor", "editor"),
        ("text", "the", "the"),
        ("text", "...", "..."),
        ("text", "Straße", "strasse"),
        ("text", "Cafe\u0301", "caf\u00e9"),
        ("command", "  swift   test ", "swift test"),
        ("command", "cd /work/app && CI=1 LANG='C x' /usr/bin/swift test", "swift test"),
        ("command", 'cd "my dir" && cd b && ./scripts/check.sh -v', "check.sh -v"),
        ("command", "make test && cd x", "make test && cd x"),
        ("command", "A=1", "A=1"),
        ("path", "src/./a.py", "/work/src/a.py"),
        ("path", "../other/b.py", "/other/b.py"),
        ("path", "/work//src/../c.py", "/work/c.py"),
        ("path", "../../../../etc", "/etc"),
        ("path", "", ""),
        ("port", "port 8080", "8080"),
        ("port", "127.0.0.1:8080", "8080"),
        ("port", "[::1]:08080/tcp", "8080"),
        ("port", "HTTP", "http"),
        ("none", " 12.3 ", "12.3"),
    ],
)
def test_a_name_is_normalised_by_its_kind(normaliser, written, name):
    assert NORMALISERS[normaliser](written, cwd="/work") == name


@given(st.sampled_from(sorted(NORMALISERS)), st.text(st.sampled_from("aA .\"'/:=&c1d\n\u00e9\u0301(x)")))
def test_what_is_normalised_stays_as_it_is(normaliser, written):
    once = NORMALISERS[normaliser](written, cwd="/work")
    assert NORMALISERS[normaliser](once, cwd="/work") == once
    assert "\n" not in once or normaliser == "path"


def test_values_are_compared_without_case_and_white_space():
    assert fold(" BLUE\n Heron") == fold("blue heron")
