"""Whatever a server answers instead of a reply becomes a typed error of one sentence."""

import email.utils
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.errors import (
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    CutStreamError,
    ModelError,
    NoModelError,
    OverloadedError,
    RateLimitedError,
)
from wisp_core.models.failures import LONGEST_WAIT, failure, find_wait, read_report, report_of

SAMPLES = json.loads(Path(__file__).with_name("overflow-errors.json").read_text("utf-8"))
FIGURES = {
    "Anthropic": (200000, 213462, None),
    "Anthropic+max": (200000, 173298, 32000),
    "OpenAI chat": (4097, 3120, 1000),
    "LiteLLM": (131072, None, None),
    "compat": (262144, 265330, None),
    "OpenRouter": (131072, 7884, 131072),
    "Together": (8192, 9000, None),
    "Gemini": (1048576, 1058724, None),
    "Mistral": (32768, 40000, None),
    "llama.cpp": (8192, 13392, None),
    "LM Studio A": (7866, 10136, None),
    "vLLM a": (2048, 8, 2045),
    "vLLM c": (4096, 25938, None),
    "koboldcpp/letta": (8192, 8465, None),
    # What it names is the limit of the input, not the window.
    "OpenAI input": (None, 289650, None),
    "xAI": (131072, 537812, None),
    "GitHub Copilot": (128000, 135522, None),
    "Kimi": (262144, 291351, None),
    "DashScope": (98304, None, None),
    "Vertex": (32768, 32825, None),
    "Gemini 2.5": (1048576, None, None),
    "Bedrock Titan": (8192, 9279, None),
    "Cohere": (4081, 4292, None),
    "Cohere old": (2048, 6354, None),
    "Cerebras": (8192, 8677, None),
    "Ollama cloud b": (262144, 265392, None),
    "Poolside": (131040, 131393, None),
    "DS4": (256000, 5958968, None),
    "TGI": (4096, 4031, 200),
    "SGLang": (262144, 206772, 131072),
    "vLLM d": (8192, 4097, 4096),
    "vLLM e": (65536, 66501, None),
    "vLLM output": (8192, 900, 8000),
    "LM Studio B": (4096, 8027, None),
    "LM Studio C": (7424, 15028, None),
    "Ollama MLX": (8192, 9000, None),
    "llama-cpp-python": (4096, 5000, None),
}
SHAPES = {
    "openai": lambda message: json.dumps(
        {"error": {"message": message, "type": "invalid_request_error", "code": None}}
    ),
    "text": lambda message: message,
    "bare": lambda message: json.dumps({"message": message}),
    "string": lambda message: json.dumps({"error": message}),
    "detail": lambda message: json.dumps({"detail": message}),
    "list": lambda message: json.dumps([{"error": {"message": message}}]),
}


def error(status, body, *, headers=None):
    return failure("http://host/v1", read_report(status, body), headers=headers)


@pytest.mark.parametrize("sample", SAMPLES["overflow"], ids=lambda sample: sample["provider"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_sample_of_an_overflow_is_recognised_with_its_figures(sample, shape):
    found = error(sample["status"], SHAPES[shape](sample["message"]))
    assert isinstance(found, ContextOverflowError)
    assert (found.limit, found.count, found.output) == FIGURES.get(sample["provider"], (None, None, None))


@pytest.mark.parametrize("sample", SAMPLES["overflow"], ids=lambda sample: sample["provider"])
def test_an_overflow_reported_inside_a_stream_is_recognised_too(sample):
    assert isinstance(failure("e", report_of(200, {"error": {"message": sample["message"]}})), ContextOverflowError)


@pytest.mark.parametrize("sample", SAMPLES["not_overflow"], ids=lambda sample: sample["message"][:20])
@pytest.mark.parametrize("status", [400, 429, 500])
def test_what_only_sounds_like_an_overflow_is_none(sample, status):
    assert not isinstance(error(status, SHAPES["openai"](sample["message"])), ContextOverflowError)


def test_structured_fields_come_before_the_text():
    fields = {"code": 400, "message": "no", "type": "exceed_context_size_error", "n_prompt_tokens": 9031, "n_ctx": 8192}
    found = error(400, json.dumps({"error": fields}))
    assert isinstance(found, ContextOverflowError)
    assert (found.limit, found.count) == (8192, 9031)
    assert "9031 tokens, the window is 8192" in found.message


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, BadRequestError, False),
        (401, AuthenticationError, False),
        (403, AuthenticationError, False),
        (404, NoModelError, False),
        (413, ContextOverflowError, False),
        (422, BadRequestError, False),
        (429, RateLimitedError, True),
        (500, OverloadedError, True),
        (502, OverloadedError, True),
        (503, OverloadedError, True),
        (529, OverloadedError, True),
        (302, BadRequestError, False),
    ],
)
def test_a_status_gives_its_type_and_whether_it_is_tried_again(status, kind, retryable):
    found = error(status, "<html>no</html>")
    assert type(found) is kind
    assert found.retryable is retryable
    assert found.endpoint == "http://host/v1"
    assert "http://host/v1" in found.message


ROUTED = [
    "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs",
    'No endpoints found that support tool use. Try disabling "question". To learn more about it, visit: https://x',
    "No endpoints found that support the provided 'tool_choice' value.",
    "No endpoints found that can handle the requested parameters.",
]


@pytest.mark.parametrize("said", ROUTED)
def test_a_router_that_finds_no_server_for_a_part_of_the_request_refuses_the_request_and_not_the_model(said):
    assert type(error(404, json.dumps({"error": {"message": said, "code": 404}}))) is BadRequestError
    assert type(error(404, json.dumps({"error": {"message": "No endpoints found for x/y."}}))) is NoModelError


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, RateLimitedError),
        ({"error": {"type": "overloaded_error", "message": "busy"}}, OverloadedError),
        ({"error": {"code": "invalid_api_key", "message": "no"}}, AuthenticationError),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, BadRequestError),
        ({"error": "the model crashed"}, CutStreamError),
        ({"error": {}}, CutStreamError),
    ],
)
def test_an_error_inside_a_stream_gives_its_type(report, kind):
    assert type(failure("e", report_of(200, report))) is kind


def test_the_wait_is_taken_from_seconds_a_date_or_the_message():
    assert find_wait({"retry-after": "7"}, "") == 7
    assert find_wait({"retry-after": "1.5"}, "") == 1.5
    assert find_wait({"retry-after-ms": "250"}, "") == 0.25
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert 25 < find_wait({"retry-after": date}, "") <= 30
    assert find_wait({"retry-after": email.utils.formatdate(0)}, "") == 0
    assert find_wait({}, "Please try again in 1.5s.") == 1.5
    assert find_wait({}, "Please try again in 20ms.") == 0.02
    assert find_wait({"retry-after": "soon"}, "") is None
    assert find_wait({"retry-after": "999999999"}, "") == LONGEST_WAIT
    found = error(429, "{}", headers={"retry-after": "3"})
    assert isinstance(found, RateLimitedError)
    assert found.wait == 3


def test_a_hostile_text_is_shown_bounded_on_one_line_without_controls():
    found = error(500, json.dumps({"error": {"message": "\x1b[31mred\nnext\u202e\ud800" + "x" * 100_000}}))
    assert len(found.message) < 400
    assert not set(found.message) & set("\x1b\n\u202e\ud800")
    assert len(found.detail) < 5000
    found.detail.encode()


@given(st.integers(200, 599), st.text(max_size=60) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_any_body_gives_a_typed_error(status, body):
    found = error(status, body)
    assert isinstance(found, ModelError)
    assert "\n" not in found.sentence()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "message", "code", "type", "n_ctx", "detail"]), inner, max_size=4
            )
        ),
        max_leaves=10,
    )
)
def test_any_json_gives_a_typed_error(value):
    assert isinstance(error(400, json.dumps(value)), ModelError)
