"""CSV and clipboard text: what a spreadsheet reads back is what the table held, and nothing runs as a formula."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileview.model.sizes import UNAVAILABLE
from tileview.present.tables import csv_text, field_text, guarded, tsv_text


@pytest.mark.parametrize("start", ["=", "+", "-", "−", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_text_that_starts_like_a_formula_is_guarded(start: str) -> None:
    assert guarded(f"{start}1+1") == f"'{start}1+1"
    assert guarded(f"  {start}1+1") == f"'  {start}1+1"


@pytest.mark.parametrize("text", ["vit.embedding.weight", "", "a=b", "1-2", "layer@3", "'quoted"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert guarded(text) == text


def test_numbers_are_numbers_whatever_their_sign() -> None:
    assert field_text(-1024) == "-1024"
    assert field_text(2**64 - 2) == "18446744073709551614"
    assert field_text(0.5) == "0.5"


def test_states_that_are_no_numbers() -> None:
    assert field_text(None) == ""
    assert field_text(UNAVAILABLE) == "unavailable"


def test_csv_quotes_and_ends_lines_as_rfc_4180_says() -> None:
    text = csv_text(["name", "bytes"], [['a "b", c', 1], ["line\nbreak", -2]])
    assert text == 'name,bytes\r\n"a ""b"", c",1\r\n"line\nbreak",-2\r\n'


def test_tsv_is_one_line_a_row() -> None:
    assert tsv_text([["a\tb\nc", 3], ["=x", UNAVAILABLE]], ["n", "v"]) == "n\tv\na b c\t3\n'=x\tunavailable"


@given(st.lists(st.lists(st.text() | st.integers(), min_size=2, max_size=2), max_size=5))
def test_a_csv_reader_gets_the_fields_back(rows: list[list[str | int]]) -> None:
    text = csv_text(["first", "second"], rows)
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["first", "second"], *([field_text(field) for field in row] for row in rows)]


@given(st.text())
def test_no_field_starts_with_a_formula_character(text: str) -> None:
    assert not field_text(text).lstrip(" ").startswith(("=", "+", "-", "@", "\t"))
