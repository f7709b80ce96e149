"""Properties of the formats: printing and parsing undo each other, splicing changes what it should and nothing else."""

from __future__ import annotations

import json
import string
from operator import itemgetter
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tileview.errors import LoadError
from tileview.formats import debugtensors, debugtext, spans, tensorjson
from tileview.formats.debugtext import Call, Char, DebugValue, Map, Set, Struct, Unit
from tileview.formats.files import MemorySource
from tileview.formats.tilearrays import decode_numbers, scan
from tileview.model.tensor import (
    F16,
    F32,
    Axis,
    AxisBase,
    Format,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Tiling,
)

# -- Debug text -----------------------------------------------------------------------------------------------------

names = st.text(string.ascii_letters + "_", min_size=1, max_size=8).filter(
    lambda text: text not in ("true", "false", "inf", "NaN")
)
characters = st.characters(exclude_categories=["Cs"])
leaves = st.one_of(
    st.builds(Unit, names),
    st.builds(Char, characters),
    st.text(characters, max_size=12),
    st.integers(-(2**127), 2**127),
    st.floats(allow_nan=False),
    st.booleans(),
)


def _containers(inner: st.SearchStrategy[DebugValue]) -> st.SearchStrategy[DebugValue]:
    items = st.lists(inner, max_size=4).map(tuple)
    fields = st.lists(st.tuples(names, inner), max_size=4, unique_by=itemgetter(0)).map(tuple)
    return st.one_of(
        items,
        st.builds(Call, st.one_of(st.just(""), names), items),
        st.builds(Struct, names, fields, st.booleans()),
        st.builds(Map, st.lists(st.tuples(inner, inner), max_size=3).map(tuple)),
        st.builds(Set, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    )


debug_values = st.recursive(leaves, _containers, max_leaves=30)


@settings(max_examples=100, deadline=None)
@given(debug_values)
def test_debug_text_round_trip(value: DebugValue) -> None:
    text = debugtext.to_text(value)
    parsed = debugtext.parse(text)
    assert parsed == value
    assert debugtext.to_text(parsed) == text


@settings(max_examples=300, deadline=None)
@given(st.text(string.printable, max_size=60))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        value = debugtext.parse(text)
    except LoadError:
        return
    assert debugtext.parse(debugtext.to_text(value)) == value or "NaN" in text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(names, debug_values), max_size=5, unique_by=itemgetter(0)))
def test_split_agrees_with_parse(fields: list[tuple[str, DebugValue]]) -> None:
    text = debugtext.to_text(Struct("Config", tuple(fields)))
    found = debugtext.split_struct(text, "Config")
    assert [field.name for field in found] == [name for name, _ in fields]
    for field, (_, value) in zip(found, fields, strict=True):
        assert text[field.start : field.end] == debugtext.to_text(value)
        assert debugtext.parse(text, start=field.start, end=field.end) == value


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(names, debug_values), min_size=1, max_size=4, unique_by=itemgetter(0)), st.data())
def test_a_field_that_stands_twice_is_refused(fields: list[tuple[str, DebugValue]], data: st.DataObject) -> None:
    again = data.draw(st.sampled_from(fields))
    text = debugtext.to_text(Struct("Config", (*fields, again)))
    with pytest.raises(LoadError, match="each field once"):
        debugtext.parse(text)
    with pytest.raises(LoadError, match="each field once"):
        debugtext.split_struct(text, "Config")


# -- layouts --------------------------------------------------------------------------------------------------------

counts = st.integers(0, 2**32)
block_kinds = (OrderKind.MATRIX, OrderKind.TRANSPOSED_MATRIX)
plain_kinds = [kind for kind in OrderKind if kind not in (OrderKind.UNKNOWN, *block_kinds)]
orders = st.one_of(
    st.sampled_from(plain_kinds).map(Order),
    st.builds(Order, st.sampled_from(block_kinds), counts, counts),
    st.just(Order(OrderKind.UNKNOWN, text="Spiral { turns: 3 }")),
)
precisions = st.one_of(
    st.sampled_from([F16, F32]),
    st.builds(Precision, st.just(PrecisionKind.F8F143), st.integers(-128, 127)),
    st.just(Precision(PrecisionKind.UNKNOWN, text="F4 { block: 32 }")),
)
references = st.one_of(
    st.tuples(st.sampled_from([AxisBase.START, AxisBase.END]), counts), st.just((AxisBase.LINEAR, 0))
)
axes = st.builds(
    lambda reference, *rest: Axis(*reference, *rest),
    references,
    counts,
    counts,
    counts,
    counts,
    counts,
    st.sampled_from(Padding),
    st.none() | counts,
)
layouts = st.builds(
    Layout,
    orders,
    st.builds(Tiling, counts, counts, st.lists(axes, max_size=3).map(tuple)),
    st.sampled_from(MemoryClass),
)


@settings(max_examples=100, deadline=None)
@given(layouts, precisions)
def test_layouts_round_trip_in_both_notations(layout: Layout, precision: Precision) -> None:
    assert debugtensors.layout_from_text(str(layout)) == layout
    assert debugtensors.precision_from_text(str(precision)) == precision
    written = json.loads(json.dumps(tensorjson.format_to_json(Format(precision, layout))))
    assert tensorjson.layout_from_json(written["layout"]) == layout
    assert tensorjson.precision_from_json(written["precision"]) == precision


# -- JSON spans -----------------------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(characters, max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(characters, max_size=6), inner, max_size=4),
    max_leaves=20,
)
indents = st.sampled_from([None, 0, 2, "\t"])


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(characters, max_size=6), json_values, max_size=5), indents, st.booleans())
def test_spans_find_every_member(document: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    raw = b" " + json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    found = list(spans.members(raw, spans.root(raw)))
    assert [member.key for member in found] == list(document)
    for member in found:
        value = document[member.key]
        assert json.loads(raw[member.start : member.end]) == value
        if isinstance(value, list):
            parts = [json.loads(raw[start:end]) for start, end in spans.elements(raw, member.start)]
            assert parts == value
    plain = orjson.dumps(document)
    assert list(spans.members(plain, 0)) == list(spans.members(plain, 0, document))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_splice_replaces_one_member(data: st.DataObject) -> None:
    document = data.draw(st.dictionaries(st.text(characters, max_size=6), json_values, min_size=1, max_size=5))
    raw = json.dumps(document, indent=data.draw(indents)).encode()
    member = data.draw(st.sampled_from(list(spans.members(raw, 0))))
    new = data.draw(json_values)
    result = spans.splice(raw, [(member.start, member.end, json.dumps(new).encode())])
    assert json.loads(result) == {**document, member.key: new}


# -- numbers per tile -----------------------------------------------------------------------------------------------

numbers = st.one_of(st.integers(0, 2**63 - 1), st.just(2**64 - 1), st.integers(0, 9))


@settings(max_examples=80, deadline=None)
@given(st.lists(numbers, max_size=20), st.sampled_from([",", ", ", " ,\n"]))
def test_numbers_decode_exactly(items: list[int], separator: str) -> None:
    decoded = decode_numbers(("[" + separator.join(map(str, items)) + "]").encode())
    assert decoded is not None
    assert decoded.tolist() == items


@settings(max_examples=200, deadline=None)
@given(st.text('0123456789,[]- .e"t', max_size=20))
@example("[00]")
@example("[1,07]")
@example("[0,10,0]")
def test_numbers_decode_as_the_json_parser_does(text: str) -> None:
    raw = text.encode()
    decoded = decode_numbers(raw)
    if decoded is None:
        return
    assert decoded.tolist() == json.loads(raw)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=4),
    st.lists(st.lists(st.lists(st.integers(0, 99), min_size=2, max_size=2), max_size=3), max_size=4),
    indents,
)
def test_scan_cuts_arrays_and_nothing_else(live: list[list[int]], usage: list[list[list[int]]], indent: Any) -> None:
    steps: list[dict[str, Any]] = [{"name": 'x"tile_usage":[1]', "live": item, "n": 1} for item in live]
    steps += [{"tile_usage": item} for item in usage]
    raw = json.dumps({"version": 3, "steps": steps}, indent=indent).encode()
    cut = scan(MemorySource(raw), lambda fraction, text: None, 1.0)
    rest = json.loads(cut.rest)
    for step, original in zip(rest["steps"], steps, strict=True):
        for key in ("live", "tile_usage"):
            if key in original:
                span = cut.span_of(step[key], key)
                assert span is not None
                assert json.loads(raw[span.start : span.end]) == original[key]
                flat = [n for entry in original[key] for n in (entry if isinstance(entry, list) else [entry])]
                if all(original[key]):
                    assert span.numbers == len(flat) or 0 in flat
        assert step.get("name") == original.get("name")
        assert step.get("n") == original.get("n")


@pytest.mark.parametrize("chunk", [7, 64, 4096])
def test_scan_does_not_depend_on_where_pieces_end(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [{"index": i, "live": list(range(i % 40)), "tile_usage": [[i, 0]] * (i % 30)} for i in range(60)]
    raw = json.dumps({"version": 3, "timeline": {"steps": steps}}, separators=(",", ":")).encode()
    whole = scan(MemorySource(raw), lambda fraction, text: None, 1.0)
    monkeypatch.setattr("tileview.formats.tilearrays.CHUNK", chunk)
    pieces = scan(MemorySource(raw), lambda fraction, text: None, 1.0)
    assert pieces.rest.replace(pieces.mark.encode(), whole.mark.encode()) == whole.rest
    assert pieces.spans == whole.spans
    at = pieces.rest.index(b'"index":59')
    assert raw[pieces.file_offset(at) :].startswith(b'"index":59')
