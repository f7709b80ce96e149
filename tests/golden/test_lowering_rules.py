"""One case a rule: each is right for the rule as it stands and wrong for a plausible misreading of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.golden_program import read_layout
from tests.helpers.golden_recipes import (
    assert_in_force,
    assert_swap,
    composed_estimate,
    golden_rules,
    rule_recipe,
    swapped,
)
from tileview.core.estimated import Estimate
from tileview.core.lowering.replanner import Replanner
from tileview.core.lowering.tilings import dimension_of
from tileview.model.program import Copy, Program
from tileview.model.tensor import AxisBase, Layout


def test_there_are_205() -> None:
    assert len(golden_rules()) == 205


@pytest.mark.parametrize("name", sorted(golden_rules()))
def test_rule(name: str) -> None:
    expected = golden_rules()[name]["expected"]
    recipe = rule_recipe(name)
    replanner = Replanner()
    result = composed_estimate(recipe, replanner=replanner)
    if expected["in_force"]["ok"]:
        assert_in_force(result, expected["in_force"])
    else:
        assert result.error is not None
    assert_where_it_shows(result, expected)
    for swap in expected["swaps"] or ():
        assert_swap(composed_estimate(swapped(recipe, [(swap["op"], swap["alt"])]), replanner=replanner), swap)
    for pair in expected["pairs"] or ():
        assert_swap(composed_estimate(swapped(recipe, pair["ops"]), replanner=replanner), pair)


def assert_where_it_shows(result: Estimate, expected: dict[str, Any]) -> None:
    """Homes, copies and layouts, where the case gives them."""
    if result.program is None:
        return
    if expected.get("homes"):
        homes = {str(value): home.layout for value, home in result.homes.items()}
        assert homes == {value: read_layout(layout) for value, layout in expected["homes"].items()}
    if expected.get("copies"):
        copies = [{**entry, "offsets": trimmed(entry["offsets"])} for entry in expected["copies"]]
        assert copies_of(result.program) == copies
    if expected.get("layouts"):
        values = result.program.values
        assert {str(value.id) for value in values} == expected["layouts"].keys()
        for value in values:
            layout = read_layout(expected["layouts"][str(value.id)])
            assert named_from_start(value.layout, len(value.shape)) == named_from_start(layout, len(value.shape))


def trimmed(offsets: Any) -> list[int]:
    """Offsets without zeros at the end, where missing ones are 0."""
    found = list(offsets)
    while found and found[-1] == 0:
        found.pop()
    return found


def copies_of(program: Program) -> list[dict[str, Any]]:
    copies = []
    for flat in program.flatten():
        step = flat.step
        if isinstance(step, Copy):
            view = step.mapping.view
            names = ("split_axis", "merge_axis", "factor", "reversed")
            copies.append(
                {
                    "step": flat.index,
                    "source": step.inputs[0],
                    "result": step.results[0],
                    "offsets": trimmed(step.mapping.offsets),
                    "view": None if view is None else {name: getattr(view, name) for name in names},
                    "policy": step.policy,
                }
            )
    return copies


def named_from_start(layout: Layout, rank: int) -> tuple[object, ...]:
    """A layout with its axes in their order, named by dimension."""
    axes = [
        (
            AxisBase.LINEAR if axis.base is AxisBase.LINEAR else dimension_of(axis, rank),
            axis.partitions,
            axis.padding_groups,
            axis.block_size,
            axis.padding_multiple,
            axis.shard_padding_multiple,
            axis.padding,
            axis.tile_stride,
        )
        for axis in layout.tiling.axes
    ]
    return layout.order, layout.memory_class, layout.tiling.tile_count, layout.tiling.replicas, axes
