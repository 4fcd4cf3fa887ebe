"""What llama.cpp's completions say of their text and usage, and what a step of several of them took."""

import pytest

from wisp_core.models.embedded_routing import add_usage, read_completion
from wisp_core.records import Usage


def test_the_usage_of_a_step_is_summed_and_its_prompt_is_the_larger():
    both = add_usage(add_usage(None, Usage(300, 4, 304, 10)), Usage(500, 20, 520, 100))
    assert both == Usage(500, 24, 824, 100)


@pytest.mark.parametrize("value", [None, [], "x", 1, {}, {"content": 3, "prompt_progress": [], "timings": 1}])
def test_a_completions_chunk_of_an_unknown_shape_is_passed_over(value):
    chunk = read_completion(value)
    assert (chunk.text, chunk.progress, chunk.usage, chunk.finish) == ("", None, None, "")


def test_a_completion_tells_its_usage_and_whether_it_was_cut_short():
    end = {"content": "", "stop": True, "tokens_evaluated": 9, "tokens_predicted": 2, "timings": {"cache_n": 4}}
    assert read_completion(end).usage == Usage(9, 2, 11, 4)
    assert read_completion(end).finish == "stop"
    assert read_completion(end | {"stop_type": "limit"}).finish == "length"
