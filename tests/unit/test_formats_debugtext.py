"""The Rust Debug text: what each form parses to, what is refused and where."""

from __future__ import annotations

import math

import pytest

from tileview.errors import LoadError
from tileview.formats.debugtext import (
    MAX_DEPTH,
    Call,
    Char,
    DebugValue,
    Map,
    Set,
    Struct,
    Unit,
    first_word,
    parse,
    split_struct,
    to_text,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Add", Unit("Add")),
        ("core::Kind::Add", Unit("core::Kind::Add")),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-4", -4),
        ("18446744073709551615", 2**64 - 1),
        ("1.0", 1.0),
        ("-0.5", -0.5),
        ("1e-5", 1e-5),
        ("1e16", 1e16),
        ("2.5e-7", 2.5e-7),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ('""', ""),
        ('"a, b: { [ ("', "a, b: { [ ("),
        (r'"\"\\\n\r\t\0\'"', "\"\\\n\r\t\0'"),
        (r'"\u{1f600}\u{7f}\u{a0}"', "\U0001f600\x7f\xa0"),
        ('"gr\u00f6\u00dfe"', "gr\u00f6\u00dfe"),
        ("'x'", Char("x")),
        (r"'\''", Char("'")),
        ("'\"'", Char('"')),
        (r"'\u{0}'", Char("\0")),
        ("[]", ()),
        ("[1, 2]", (1, 2)),
        ("[\n    1,\n    2,\n]", (1, 2)),
        ("()", Call("", ())),
        ("(1, true)", Call("", (1, True))),
        ("ValueId(7)", Call("ValueId", (7,))),
        ("Some(None)", Call("Some", (Unit("None"),))),
        ("{}", Map(())),
        ("{ValueId(0): F16}", Map(((Call("ValueId", (0,)), Unit("F16")),))),
        ("{[1]: {2: 3}}", Map((((1,), Map(((2, 3),))),))),
        ("{1, 2}", Set((1, 2))),
        ("A { b: 1, c: D(2) }", Struct("A", (("b", 1), ("c", Call("D", (2,)))))),
        ("A { b: 1, .. }", Struct("A", (("b", 1),), partial=True)),
        ("A { .. }", Struct("A", (), partial=True)),
    ],
)
def test_every_form(text: str, value: DebugValue) -> None:
    parsed = parse(text)
    assert parsed == value
    assert type(parsed) is type(value)
    assert parse(to_text(parsed)) == value


def test_not_a_number() -> None:
    value = parse("[NaN]")
    assert isinstance(value, tuple)
    assert math.isnan(value[0])
    assert to_text(value) == "[NaN]"


@pytest.mark.parametrize(
    "text",
    [
        "GemmOptions { transpose_left: false, transpose_right: false }",
        "{ValueId(0): F16, ValueId(1): F8F143 { scale_exponent: -4 }}",
        r'GraphInput { name: "tab\there \"quoted\" \\ \u{7} \u{a0}", kind: Host }',
        "Convert([1.0, 1e-5, 1e16, inf], ('x', 3))",
    ],
)
def test_prints_as_rust_does(text: str) -> None:
    assert to_text(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", "line 1, column 1", "a value"),
        ("   ", "line 1, column 4", "a value"),
        ("[1 2]", "line 1, column 4", "',' or ']'"),
        ("[1,\n 2,\n  x y]", "line 3, column 5", "',' or ']'"),
        ("A { b 1 }", "line 1, column 7", "':'"),
        ("A { 1: 2 }", "line 1, column 5", "a field name"),
        ("A { b: 1 ]", "line 1, column 10", "',' or '}'"),
        ("A B", "line 1, column 3", "the end of the text"),
        ('"abc', "line 1, column 1", "a value"),
        (r'"\q"', "line 1, column 2", "an escape"),
        (r'"\u{d800}"', "line 1, column 2", "the number of a character"),
        (r'"\u{110000}"', "line 1, column 2", "the number of a character"),
        ("{1: 2, 3}", "line 1, column 9", "':'"),
        ("{1, 2: 3}", "line 1, column 6", "',' or '}'"),
        ("--1", "line 1, column 1", "a value"),
        ("1.", "line 1, column 2", "the end of the text"),
        ("9" * 5000, "line 1, column 1", "a number of at most"),
        ("[" * 100_000, f"line 1, column {MAX_DEPTH + 1}", "nesting of at most"),
        ("(" * 100_000 + ")" * 100_000, f"line 1, column {MAX_DEPTH + 1}", "nesting of at most"),
        ("A { a: " * 100_000, f"line 1, column {7 * MAX_DEPTH + 3}", "nesting of at most"),
        ("{" * 100_000, f"line 1, column {MAX_DEPTH + 1}", "nesting of at most"),
    ],
)
def test_errors_say_where(text: str, place: str, expected: str) -> None:
    with pytest.raises(LoadError) as caught:
        parse(text)
    assert caught.value.place == place
    assert expected in caught.value.expected


def test_an_error_shows_the_text_around_it() -> None:
    with pytest.raises(LoadError) as caught:
        parse("Operation { id: OperationId(3), inputs: [ValueId(1) ValueId(2)] }", line=2)
    assert caught.value.place == "line 2, column 53"
    assert "ValueId(1) \u27e8here\u27e9ValueId(2)" in caught.value.found


def test_deepest_nesting_that_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert to_text(parse(text)) == text


def test_a_part_is_parsed_with_places_of_the_whole() -> None:
    text = "A { b: [1 2] }"
    with pytest.raises(LoadError) as caught:
        parse(text, start=7, end=12)
    assert caught.value.place == "line 1, column 11"


def test_split_finds_fields_without_parsing_them() -> None:
    text = r'Config { a: 1, b: [(2, "}]\"{"), {3: 4}], c: None, d: \'"\', e: Some(@@@) }'.replace("\\'", "'")
    fields = split_struct(text, "Config")
    assert [(field.name, text[field.start : field.end]) for field in fields] == [
        ("a", "1"),
        ("b", r'[(2, "}]\"{"), {3: 4}]'),
        ("c", "None"),
        ("d", "'\"'"),
        ("e", "Some(@@@)"),
    ]


@pytest.mark.parametrize(
    "text", ["", "Other { a: 1 }", "Config { a: 1", "Config { a: (1] }", "Config { a: 1 } b", "Config { a }", "Config"]
)
def test_split_refuses(text: str) -> None:
    with pytest.raises(LoadError):
        split_struct(text, "Config")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Convert LocalKernel", "Convert"),
        ("Sum { axis: 0, staging: Complete }", "Sum"),
        ("Gemm(GemmOptions { })", "Gemm"),
        ("", ""),
        ("  Add ", "Add"),
        ("{", "{"),
    ],
)
def test_first_word(text: str, word: str) -> None:
    assert first_word(text) == word
