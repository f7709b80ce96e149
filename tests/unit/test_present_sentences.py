"""Sentences on how bytes arise: every figure is read back from the words and calculated again, for all samples."""

from __future__ import annotations

import re
from math import ceil, prod

import pytest

from tests.helpers.opened import opened
from tileview.analysis.lifetimes import Lives
from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.sizes import Unavailable, size_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures, allocation_row
from tileview.present.detail_sections import allocation_details, owners_sentence, tile_sentence, value_sentence

SAMPLES = (
    "so400m-over.recipe.json",
    "so400m.recipe.json",
    "vit3-64tiles.recipe.json",
    "pair-8tiles.recipe.json",
    "rejected-op0.timeline.json",
    "vit3-64tiles.v3.timeline.json",
    "pair-8tiles.v2.timeline.json",
    "pair-8tiles.v3.timeline.json",
)

_SHAPE = re.compile(r"^\[([\d,]*)\] (\w+): ")
_SHARD = re.compile(r"([\d, ×]+) elements × (\d+) B = ([\d,]+) B")
_TAIL = re.compile(r", \+ ([\d,]+) B access tail")
_ROUNDED = re.compile(r", rounded up to ([\d,]+) memory elements? of ([\d,]+) B = ([\d,]+) B")
_SUM = re.compile(r"access tail = ([\d,]+) B")
_COPIES = re.compile(r", × ([\d,]+) cop(?:y|ies) = ([\d,]+) B")
_CUT = re.compile(r"([\d,]+)(?: padded to ([\d,]+))? in ([\d,]+) parts of ([\d,]+)(?: or ([\d,]+))?")
_GRAINS = re.compile(r"([\d,]+) elements make ([\d,]+) grains of (\d+), ([\d,]+)(?: or ([\d,]+))? for each of ([\d,]+)")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def timeline_of(name: str) -> Timeline:
    timeline = opened(name).timeline
    assert timeline is not None
    return timeline


@pytest.mark.parametrize("name", SAMPLES)
def test_the_figures_of_every_value_multiply_and_add_up_to_its_bytes(name: str) -> None:
    timeline = timeline_of(name)
    told = 0
    for index, value in enumerate(timeline.values):
        sentence = value_sentence(timeline, index)
        shape = _SHAPE.match(sentence)
        assert shape is not None
        assert tuple(number(part) for part in shape[1].split(",")) == value.shape
        if isinstance(value.bytes, Unavailable):
            assert "no valid layout: " in sentence
            assert not _SHARD.search(sentence)
            continue
        assert "the file says" not in sentence, sentence
        told += 1
        check_cuts(sentence, value.shape)
        check_bytes(sentence, timeline, index)
    assert told


def check_cuts(sentence: str, shape: tuple[int, ...]) -> None:
    """Parts cover their dimension, and the largest part is the factor of the product."""
    shard = _SHARD.search(sentence)
    assert shard is not None
    factors = [number(part) for part in shard[1].split(" × ")]
    for extent, padded, parts, wide, narrow in _CUT.findall(sentence):
        assert number(extent) in shape
        whole = number(padded or extent)
        assert whole >= number(extent)
        assert number(parts) * number(wide) >= whole
        assert not narrow or number(narrow) < number(wide)
        widened = re.search(rf" of {wide}(?: or {narrow})? widened to ([\d,]+)", sentence)
        assert number(wide if widened is None else widened[1]) in factors
    grains = _GRAINS.search(sentence)
    if grains is not None:
        elements, count, grain, most, least, owners = (number(part or "0") for part in grains.groups())
        assert elements == prod(shape)
        assert count == ceil(elements / grain)
        assert most == ceil(count / owners)
        assert least == (count // owners if count % owners else 0)
        assert factors == [most, grain]


def check_bytes(sentence: str, timeline: Timeline, index: int) -> None:
    value = timeline.values[index]
    shard = _SHARD.search(sentence)
    assert shard is not None
    assert int(shard[2]) == value.precision.element_bytes
    size = prod(number(part) for part in shard[1].split(" × ")) * int(shard[2])
    assert size == number(shard[3]) == value.shard_bytes
    tail = _TAIL.search(sentence)
    assert (number(tail[1]) if tail else 0) == timeline.tails.get(value.root, 0)
    size += number(tail[1]) if tail else 0
    rounded = _ROUNDED.search(sentence)
    assert (rounded is not None) == (value.root in timeline.aligned_roots)
    if rounded is not None:
        unit = STANDARD_ELEMENT_BYTES if value.memory_class is MemoryClass.STANDARD else INTERLEAVED_ELEMENT_BYTES
        assert number(rounded[2]) == unit
        assert number(rounded[1]) == ceil(size / unit)
        size = number(rounded[1]) * unit
        assert size == number(rounded[3])
    elif tail is not None:
        found = _SUM.search(sentence)
        assert found is not None
        assert number(found[1]) == size
    copies = _COPIES.search(sentence)
    assert (number(copies[1]) if copies else 1) == value.copies
    if copies is not None:
        size *= number(copies[1])
        assert number(copies[2]) == size
    assert size == value.bytes


_PARTS = re.compile(r"([\d,]+) B (payload|access tail|alignment)")


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_said_of_a_tile_is_what_the_table_shows_there(name: str) -> None:
    timeline = timeline_of(name)
    figures = AllocationFigures(timeline)
    places = {
        (step.index, int(timeline.tiles.worst()[step.index, 3]))
        for step in timeline.steps[:: max(1, len(timeline.steps) // 12)]
    }
    places |= {(step, tile) for step in (0, len(timeline.steps) - 1) for tile in (0, timeline.tile_count - 1)}
    for step, tile in sorted(places):
        table = figures.table(step, tile)
        usage = timeline.tiles.usage(step)[tile].tolist()
        assert [table.totals.standard, table.totals.interleaved] == usage
        for row in table.rows:
            if row.root is None or isinstance(row.bytes, Unavailable):
                continue
            sentence = tile_sentence(timeline, row.root, tile)
            parts = {what: number(size) for size, what in _PARTS.findall(sentence)}
            assert parts.get("payload") == row.payload
            assert parts.get("access tail", 0) == row.tail
            assert parts.get("alignment", 0) == row.align
            assert row.copies is not None
            assert sum(parts.values()) * row.copies == row.bytes
            assert row.bytes == int(timeline.tiles.allocation(row.root)[tile])
            if len(parts) > 1 or row.copies != 1:
                assert sentence.endswith(f"= {row.bytes:,} B.")


_HELD = re.compile(r"On (all|([\d,]+) of ([\d,]+)) tiles, ([\d,]+) B (?:to ([\d,]+) B )?each, .* \(([\d,]+) B\) in all")


@pytest.mark.parametrize("name", SAMPLES)
def test_the_tiles_that_hold_an_allocation_are_counted_right(name: str) -> None:
    timeline = timeline_of(name)
    for root in timeline.aliases:
        sentence = owners_sentence(timeline, root)
        if root in timeline.unavailable_roots:
            assert "not known" in sentence
            continue
        sizes = [int(size) for size in timeline.tiles.allocation(root) if size]
        if not sizes:
            continue
        if len(sizes) == 1:
            tile = int(timeline.tiles.allocation(root).argmax())
            assert sentence == f"On tile {tile} only: {size_text(sizes[0])}."
            continue
        found = _HELD.match(sentence)
        assert found is not None, sentence
        assert (timeline.tile_count if found[1] == "all" else number(found[2])) == len(sizes)
        assert number(found[4]) == min(sizes)
        assert number(found[5] or found[4]) == max(sizes)
        assert number(found[6]) == sum(sizes)


@pytest.mark.parametrize("name", ["so400m-over.recipe.json", "vit3-64tiles.v3.timeline.json"])
def test_the_details_lead_with_the_value_that_decides_the_size(name: str) -> None:
    session = opened(name)
    timeline, estimate = session.timeline, session.estimate
    assert timeline is not None
    assert estimate is not None
    lives = Lives(timeline, estimate.program)
    for root, members in timeline.aliases.items():
        lines = allocation_details(timeline, root, None, lives, estimate.program)[0].lines
        largest = max(size for i in members if isinstance(size := timeline.values[i].bytes, int))
        assert re.findall(r"([\d,]+) B(?= |$|\.|,|;)", lines[0])[-1] == f"{largest:,}"
        row = allocation_row(timeline, root, None)
        assert row is None or row.bytes == largest
