"""The order of an evaluation of very many alternatives, and what is said of its end."""

from __future__ import annotations

import pytest

from tileview.analysis.alternatives import evaluation_order, seconds_left, time_left_text


def test_what_is_shown_comes_first_then_what_holds_the_peak() -> None:
    assert evaluation_order([1, 2, 3, 4, 5], shown=[4], at_fault=[5, 2, 4]) == (4, 5, 2, 1, 3)
    assert evaluation_order([3, 1], shown=[9], at_fault=[8]) == (3, 1)
    assert evaluation_order([]) == ()


def test_time_left_follows_from_the_part_that_is_done() -> None:
    assert seconds_left(100, 1000, 10.0) == pytest.approx(90.0)
    assert seconds_left(15, 1000, 10.0) is None
    assert seconds_left(100, 1000, 1.9) is None
    assert seconds_left(1000, 1000, 10.0) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (4.9, ""),
        (12.0, "about 10 s left"),
        (89.0, "about 90 s left"),
        (90.0, "about 2 min left"),
        (720.0, "about 12 min left"),
        (5400.0, "about 1.5 h left"),
    ],
)
def test_time_left_in_words(seconds: float | None, text: str) -> None:
    assert time_left_text(seconds) == text
