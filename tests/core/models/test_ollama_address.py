"""M2: `OLLAMA_HOST` is read as Ollama reads it, and its key is for its own service alone."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wisp_core.errors import SettingsError
from wisp_core.models.ollama_address import ollama_key, ollama_url


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        (" localhost ", "http://localhost:11434"),
        ('"10.0.0.7:11500"', "http://10.0.0.7:11500"),
        (":11500", "http://127.0.0.1:11500"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:7", "http://127.0.0.1:7"),
        ("http://host", "http://host:80"),
        ("https://host", "https://host:443"),
        ("https://host:1/ollama/", "https://host:1/ollama"),
        ("host:99999", "http://host:11434"),
        ("host:x", "http://host:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:7", "http://[::1]:7"),
        ("[::]", "http://[::1]:11434"),
        ("ollama.com", "https://ollama.com:443"),
        ("http://ollama.com", "http://ollama.com:80"),
        ("me:p%40ss:word@host", "http://me:p%40ss:word@host:11434"),
        ("https://me:pw@[::1]:7/a@b", "https://me:pw@[::1]:7/a@b"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(given, url):
    assert ollama_url({"OLLAMA_HOST": given}) == url


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40))
@example("http://\ud800")
@example("a\r\nX-Evil: 1")
def test_any_ollama_host_gives_a_sound_address_or_an_error_of_wisps_own(given):
    try:
        url = ollama_url({"OLLAMA_HOST": given})
    except SettingsError:
        return
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://ollama.com:443", True),
        ("https://OLLAMA.com", True),
        ("http://ollama.com:80", False),
        ("https://ollama.com.evil.net:443", False),
        ("https://evil.net/ollama.com", False),
        ("https://ollama.com@evil.net", False),
        ("https://me:pw@ollama.com", False),
        ("https://api.ollama.com", False),
        ("http://127.0.0.1:11434", False),
    ],
)
def test_ollamas_key_is_for_its_own_service_over_tls_alone(url, sent):
    assert ollama_key(url, {"OLLAMA_API_KEY": " k1 "}) == ("k1" if sent else "")
    assert ollama_key(url, {"OLLAMA_API_KEY": "a\nb"}) == ollama_key(url, {}) == ""
