"""Numbers of bytes as they are typed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileview.model.sizes import bytes_from_text, exact_text, kib_text, size_text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("586960", 586_960),
        ("586,960 B", 586_960),
        ("586_960", 586_960),
        ("586 960", 586_960),
        ("48KiB", 49_152),
        ("48.5 kib", 49_664),
        ("573.2 KiB", 586_957),
        ("573.2 KiB (586,960 B)", 586_960),
        ("1,234.5 KiB", 1_264_128),
        ("1 MiB", 1_048_576),
    ],
)
def test_what_is_understood(text: str, number: int) -> None:
    assert bytes_from_text(text) == number


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("48,5KiB", "use a point"),
        ("488,6KiB", "use a point"),
        ("12,34,567", "groups of three"),
        ("1,234_567", "groups of three"),
        ("48.5", "bytes are whole"),
        ("-5", "not a number of bytes"),
        ("", "not a number of bytes"),
        ("5 GiB", "not a number of bytes"),
        (str(2**62 + 1), "2^62"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        bytes_from_text(text)


@given(st.integers(0, 2**62))
def test_everything_that_is_printed_is_taken(number: int) -> None:
    assert bytes_from_text(exact_text(number)) == number
    assert bytes_from_text(size_text(number)) == number
    assert abs(bytes_from_text(kib_text(number)) - number) <= 52 or number > 2**62 - 52
