"""C4: how large a request is taken to be, from bytes and what was reported; shares of the window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.composer.measure import measure, share_bytes, share_tokens
from wisp_core.records import Report
from wisp_core.requests import Measurement
from wisp_core.settings import Context

CONTEXT = Context()


def tokens(size: int, report: Report | None = None) -> int:
    return measure(size, report, settings=CONTEXT).tokens


def test_without_a_report_bytes_times_the_rate_are_rounded_up():
    assert [tokens(size) for size in (0, 1, 4, 5, 8192)] == [0, 1, 1, 2, 2048]
    assert measure(100, None, settings=Context(token_rate=0.5)) == Measurement(50, counted=False)


def test_a_report_is_the_anchor_and_the_change_goes_at_the_rate_learnt_from_it():
    report = Report(prompt=2000, bytes=4000)
    assert tokens(4000, report) == 2000
    assert tokens(4001, report) == 2001
    assert tokens(5000, report) == 2500
    assert tokens(3000, report) == 1500


def test_the_learnt_rate_is_held_between_its_bounds():
    assert tokens(1100, Report(prompt=100, bytes=1000)) == 125
    assert tokens(1100, Report(prompt=3000, bytes=1000)) == 3100
    held = Context(token_rate=0.3, token_rate_most=0.4)
    assert measure(1100, Report(prompt=100, bytes=1000), settings=held).tokens == 130
    assert measure(1100, Report(prompt=900, bytes=1000), settings=held).tokens == 940


def test_what_references_save_is_part_of_the_change_in_bytes():
    whole, referenced = 40_000, 12_000
    assert tokens(referenced, Report(prompt=10_000, bytes=whole)) == 3000


def test_a_report_of_which_the_bytes_are_not_known_is_none():
    assert tokens(400, Report(prompt=5000, bytes=0)) == 100


@given(st.integers(0, 10**7), st.integers(1, 10**6), st.integers(1, 10**7))
def test_a_measurement_is_never_negative_and_never_falls_as_the_request_grows(size, prompt, known):
    report = Report(prompt, known)
    assert 0 <= tokens(size, report) <= tokens(size + 1, report)


@pytest.mark.parametrize(
    ("share", "window", "found"), [(0.05, 8192, 409), (0.29, 100, 29), (0.1, 30, 3), (0.6, 8192, 4915), (1.0, 7, 7)]
)
def test_a_share_is_taken_in_tokens_rounded_down_and_then_at_four_bytes_a_token(share, window, found):
    assert share_tokens(share, window) == found
    assert share_bytes(share, window) == 4 * found
