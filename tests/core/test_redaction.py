"""A9: no value of a secret is written or sent, whatever it stands in and however it arrives."""

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.known_secrets import make_redaction
from wisp_core.redaction import (
    PLACEHOLDER,
    Redaction,
    address_secrets,
    find_secrets,
    header_secrets,
    without_logins,
)
from wisp_core.settings import Endpoint, Settings

VALUE = "sk-9f8e7d6c5b4a"
REDACTION = Redaction({"HARBOUR_KEY": VALUE, "OTHER_TOKEN": "sk-9f8e7d6c5b4a-longer"})


@pytest.mark.parametrize(
    "name", ["X_KEY", "GH_TOKEN", "A_SECRET", "PASSWORD", "PGPASSWORD", "DB_PASSWORD_2", "api_key"]
)
def test_a_variable_whose_name_looks_secret_is_one(name):
    assert find_secrets({name: VALUE}) == {name: VALUE}


@pytest.mark.parametrize("name", ["KEYBOARD", "TOKENS", "X_KEYS", "SECRETARY", "PATH", "HOME"])
def test_any_other_variable_is_not(name):
    assert find_secrets({name: VALUE}) == {}


def test_a_configured_key_is_a_secret_whatever_its_name():
    assert find_secrets({"MINE": VALUE}, {"MINE": VALUE}) == {"MINE": VALUE}


@pytest.mark.parametrize(
    "value", ["", "short7!", "development", "PASSWORDS", "/etc/ssl/key.pem", "~/.ssh/id_rsa", "/usr/lib"]
)
def test_a_value_that_is_short_a_plain_word_or_a_path_is_none(value):
    assert find_secrets({"X_KEY": value}) == {}


@pytest.mark.parametrize(
    "value", ["12345678", "correct-horse", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aBcDeFgHiJ", "pässwörd"]
)
def test_other_values_are_secrets(value):
    assert Redaction(find_secrets({"X_KEY": value})).text(f"<{value}>") == "<[secret X_KEY]>"


def test_the_longest_secret_is_replaced():
    assert (
        REDACTION.text("a sk-9f8e7d6c5b4a-longer b sk-9f8e7d6c5b4a c")
        == "a [secret OTHER_TOKEN] b [secret HARBOUR_KEY] c"
    )
    assert PLACEHOLDER.search(REDACTION.text(VALUE))


def test_without_secrets_nothing_is_done():
    none = Redaction()
    assert not none
    text = "x" * 100
    assert none.text(text) is text
    assert none.stream().feed(b"abc") == b"abc"


@given(st.text(st.sampled_from('ab"\\/\té漢🙂'), min_size=8, max_size=20).filter(lambda t: t == t.strip()))
def test_a_value_is_found_in_json_and_in_json_inside_json(value):
    redaction = Redaction(find_secrets({"X_KEY": value}))
    if not redaction:
        return
    for ascii_only in (True, False):
        once = json.dumps({"k": value}, ensure_ascii=ascii_only)
        twice = json.dumps({"k": once}, ensure_ascii=ascii_only)
        assert json.loads(redaction.text(once)) == {"k": "[secret X_KEY]"}
        assert value not in json.loads(json.loads(redaction.text(twice))["k"])["k"]


def test_texts_and_keys_of_a_json_value_are_cleaned_and_the_rest_is_as_it_was():
    value = {"a": [VALUE, 1, None, True], VALUE: {"b": f"-{VALUE}-"}}
    assert REDACTION.value(value) == {
        "a": ["[secret HARBOUR_KEY]", 1, None, True],
        "[secret HARBOUR_KEY]": {"b": "-[secret HARBOUR_KEY]-"},
    }


def test_a_secret_of_many_lines_goes_line_by_line_and_no_line_is_lost():
    pem = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----"
    redaction = Redaction(find_secrets({"TLS_KEY": pem}))
    cleaned = redaction.text(f"a\n  MIIEvQIBADANBg\n{pem}\nb")
    assert cleaned.count("\n") == 6
    assert "MIIE" not in cleaned
    assert "kqhk" not in cleaned
    assert cleaned.count("-----BEGIN KEY-----") == 1


@given(
    st.lists(
        st.sampled_from([VALUE, "sk-9f8e7d6c5b4a-longer", VALUE[:7], "sk-", "s", "\n", "text ", VALUE[3:]]), max_size=8
    ),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_a_secret_split_over_chunks_is_found_as_in_the_whole(pieces, cuts):
    whole = "".join(pieces).encode()
    stream = REDACTION.stream()
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    found = b"".join(stream.feed(whole[a:b]) for a, b in pairwise(places)) + stream.end()
    assert VALUE.encode() not in found
    assert len(PLACEHOLDER.findall(found.decode())) == len(PLACEHOLDER.findall(REDACTION.text(whole.decode())))
    assert PLACEHOLDER.sub("", found.decode()).replace("-longer", "") == PLACEHOLDER.sub(
        "", REDACTION.text(whole.decode())
    ).replace("-longer", "")


def test_only_what_could_become_a_secret_is_held_back():
    stream = REDACTION.stream()
    assert stream.feed(b"Password: ") == b"Password: "
    assert stream.feed(b"text sk-9f") == b"text "
    assert stream.feed(b"x") == b"sk-9fx"
    assert stream.feed(b"sk-") == b""
    assert stream.end() == b"sk-"


def test_a_flood_is_cleaned_about_as_fast_as_it_is_read():
    redaction = Redaction({f"S{n}_KEY": f"{n}secret-value-{n}-abcdef" for n in range(20)})
    stream, chunk = redaction.stream(), b"some line of output, nothing secret in it at all\n" * 1300
    started = time.process_time()
    for _ in range(256):
        stream.feed(chunk)
    assert time.process_time() - started < 4


ADDRESS = "https://wisp-user:p%40ss-word-1@127.0.0.1:8080/v1?x=1"
LOGIN_FORMS = [
    "wisp-user",
    "p%40ss-word-1",
    "p@ss-word-1",
    "wisp-user:p@ss-word-1",
    "d2lzcC11c2VyOnBAc3Mtd29yZC0x",  # as a Basic header has it
]


def hidden(found: str) -> Redaction:
    return Redaction(find_secrets({}, {"NAME": found}))


@pytest.mark.parametrize("form", LOGIN_FORMS)
def test_name_and_password_of_an_address_are_secrets_however_they_are_written(form: str):
    for address in (ADDRESS, ADDRESS.removeprefix("https://")):
        assert hidden(address_secrets(address)).text(f"<{form}>") == "<[secret NAME]>"


def test_a_short_password_is_a_secret_only_where_the_address_tells_it():
    redaction = hidden(address_secrets("http://me:pw@box:9/v1"))
    assert redaction.text("http://me:pw@box:9/v1, pw") == "http://[secret NAME]/v1, pw"
    assert without_logins("http://me:p@w@box:9/v1 and //a@b/") == "http://…@box:9/v1 and //a@b/"


@pytest.mark.parametrize("address", ["", "http://host/v1", "http://host/a@b", "host:11434", "/a@b", "@", "a@"])
def test_an_address_without_a_login_holds_no_secret(address: str):
    assert not hidden(address_secrets(address))


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("X-Gate", "open-sesame-91", "open-sesame-91"),
        ("Authorization", "Bearer tok_51e0c2d4", "tok_51e0c2d4"),
        ("Authorization", "Basic d2lzcC11c2VyOnBAc3Mtd29yZC0x", "p@ss-word-1"),
        ("Cookie", "theme=dark; session=s3ss10n-0f-mine", "s3ss10n-0f-mine"),
        ("X-Words", "one two three 4", "one two three 4"),
    ],
)
def test_a_headers_value_is_a_secret_and_so_are_its_words(name: str, value: str, secret: str):
    assert hidden(header_secrets(name, value)).text(f"<{secret}>") == "<[secret NAME]>"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Accept", "text/plain"),
        ("accept-language", "de-CH,de;q=0.9"),
        ("Content-Type", "application/json"),
        ("User-Agent", "wisp/1.0 (test)"),
        ("HTTP-Referer", "https://example.com"),
        ("anthropic-version", "2023-06-01"),
        ("OpenAI-Beta", "assistants=v2"),
        ("X-Mode", "streaming"),
        ("X-Tier", "gold-2"),
    ],
)
def test_a_header_that_is_plain_by_its_name_or_value_holds_no_secret(name: str, value: str):
    assert not hidden(header_secrets(name, value))


def test_every_secret_of_the_settings_and_of_addresses_in_the_environment_is_known_by_its_place():
    endpoint = Endpoint(url=ADDRESS, key_env="MINE", headers={"X-Gate": "open-sesame-91", "Accept": "text/plain"})
    environ = {
        "MINE": "key-of-mine-1",
        "OLLAMA_HOST": "me:ollama-pass-2@box",
        "https_proxy": "http://me:proxy-pass-3@proxy:3128",
        "OTHER_URL": "http://me:other-pass-4@box",
    }
    redaction = make_redaction(Settings(endpoints={"there": endpoint}), environ)
    told = redaction.text("key-of-mine-1 p@ss-word-1 open-sesame-91 ollama-pass-2 proxy-pass-3 other-pass-4 text/plain")
    names = ("MINE", "there url", "there X-Gate", "OLLAMA_HOST", "https_proxy")
    assert told == " ".join(f"[secret {name}]" for name in names) + " other-pass-4 text/plain"
