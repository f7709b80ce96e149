"""Damaged timeline files: whatever a file claims, it is either refused with a LoadError or shown without a failure."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.small_programs import F8, kernel, program, value
from tileview.analysis.repair import repair_groups
from tileview.core.memory.check_file import check_arrays
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.measurement import measure
from tileview.core.memory.study import study_parts
from tileview.core.memory.whatif import with_layouts
from tileview.errors import LoadError
from tileview.formats.timeline import timeline_from_bytes
from tileview.formats.timeline_writer import dump_timeline
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import Product, Sum
from tileview.model.tensor import F16, ROW_MAJOR, Axis, AxisBase, Layout, MemoryClass, Tiling

NUMBERS = st.one_of(
    st.integers(-2, 70),
    st.sampled_from([2**31, 2**32, 2**48, 2**62, 2**63, 2**64 - 2, 2**64 - 1, 2**64, -1, 10**25]),
)
LEAVES = st.one_of(NUMBERS, st.none(), st.booleans(), st.floats(), st.text(max_size=8), st.just([]), st.just({}))


@cache
def documents() -> tuple[Any, ...]:
    """A small timeline with a product, a sum and an invalid layout, as versions 3 and 1."""
    rows = Layout(ROW_MAJOR, Tiling(3, 1, (Axis(AxisBase.START, 0, 3),)), MemoryClass.INTERLEAVED)
    broken = Layout(ROW_MAJOR, Tiling(4, 1, (Axis(AxisBase.LINEAR, 0, 4, block_size=4, padding_multiple=4),)))
    values = [
        value(0, (5, 4), rows),
        value(1, (8,), broken),
        value(2, (5, 4), rows, F8),
        value(3, (5, 4), rows),
        value(4, (4,)),
        value(5, (4,)),
    ]
    steps = [
        kernel(0, 1, to=2),
        Product(3, (2, 0), (3,), F8, F16),
        Sum(3, (3,), (4,), 0, Staging(StagingKind.STREAMED)),
        kernel(4, to=5, aliases=((0, 0),)),
    ]
    timeline = measure(program(values, steps, outputs=(5,), host=(0,), parameters=(1,)), 586_960, 49_152)
    third = json.loads(dump_timeline(timeline))
    first = copy.deepcopy(third)
    first["version"] = 1
    for entry in first["timeline"]["values"]:
        for field in ("layout_error", "tile_shards", "tile_bytes"):
            entry.pop(field)
    for entry in first["timeline"]["steps"]:
        entry["usage"] = entry.pop("coarse_usage")
        del entry["tile_usage"], entry["tile_scratch"]
    return third, first


def leaves(item: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything inside a document, containers included."""
    found = [path] if path else []
    if isinstance(item, dict):
        for key, inner in item.items():
            found += leaves(inner, (*path, key))
    elif isinstance(item, list):
        for index, inner in enumerate(item):
            found += leaves(inner, (*path, index))
    return found


def damage(data: st.DataObject, document: Any) -> Any:
    damaged = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(leaves(damaged)))
        holder = damaged
        for key in path[:-1]:
            holder = holder[key]
        if isinstance(holder, dict) and data.draw(st.integers(0, 4)) == 0:
            del holder[path[-1]]
        else:
            holder[path[-1]] = data.draw(LEAVES)
    return damaged


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_are_refused_or_shown(data: st.DataObject) -> None:
    document = damage(data, data.draw(st.sampled_from(documents())))
    try:
        file = timeline_from_bytes(json.dumps(document).encode())
    except LoadError:
        return
    timeline = timeline_from_file(file)
    assert timeline.verdict.text
    timeline.tiles.worst()
    for index in range(len(timeline.steps)):
        assert timeline.tiles.usage(index).shape == (timeline.tile_count, 2)
        assert timeline.tiles.scratch(index).shape == (timeline.tile_count, 2)
    for index in range(len(timeline.values)):
        assert timeline.tiles.value_bytes(index).shape == (timeline.tile_count,)
    if timeline.tile_count:
        assert timeline.tiles.tile_curve(0).shape == (len(timeline.steps), 2)
    list(check_arrays(file, timeline))
    *_, problems = study_parts(file)
    assert isinstance(problems, tuple)
    with_layouts(timeline, {}, budget_bytes=5)
    for group in repair_groups(timeline):
        for repair in group.repairs[:1]:
            changed = with_layouts(timeline, repair.layouts)
            assert changed.verdict.text
            assert changed.tiles.worst().shape == (len(timeline.steps), 4)
