"""Homes of a recipe's inputs that do not resolve: their rows among the problems, and the homes that would.

Inputs that fail alike are repaired together, as layouts of a timeline are (:mod:`tileview.analysis.repair`). First on
offer is what the planner chooses by itself once the homes that fail are taken away: that fits the plans that read them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileview.analysis.bad_layouts import bad_homes
from tileview.analysis.fix import repaired_homes
from tileview.analysis.repair import GroupRepair, Repair, RepairGroup, repairs
from tileview.model.graph import Graph
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import UNAVAILABLE, Size
from tileview.model.tensor import Format, Layout
from tileview.present.offers import values_together
from tileview.present.problem_rows import INVALID_HOME, ProblemRow

PLANNER = ("planner",)
"""Key of the offer whose homes the planner chooses when it is taken."""


def home_problems(recipe: Recipe | None) -> list[ProblemRow]:
    """One row for each input whose home does not resolve."""
    found = () if recipe is None else bad_homes(recipe)
    return [
        ProblemRow("error", INVALID_HOME, bad.name, bad.text, bad.remedy, home=bad.value, repairable=True)
        for bad in found
    ]


def home_groups(recipe: Recipe | None) -> tuple[RepairGroup, ...]:
    """Inputs that fail alike, with what repairs all of them; ``values`` and ``layouts`` are by graph value."""
    if recipe is None:
        return ()
    gathered: dict[object, list[int]] = {}
    texts: dict[int, str] = {}
    kinds = {}
    for bad in bad_homes(recipe):
        layout = recipe.inputs[bad.value].layout
        axes = tuple((axis.base, axis.index) for axis in layout.tiling.axes)
        alike = (bad.kind, layout.order.kind, layout.tiling.is_linear, axes)
        gathered.setdefault(alike, []).append(bad.value)
        texts[bad.value] = f"{bad.name}: {bad.text}"
        kinds[bad.value] = bad.kind
    return tuple(
        RepairGroup(kinds[values[0]], texts[values[0]], tuple(values), _offers(recipe, values))
        for values in gathered.values()
    )


def _offers(recipe: Recipe, values: list[int]) -> tuple[GroupRepair, ...]:
    shapes = {entry.value: entry.shape for entry in recipe.graph.inputs}
    choices: list[dict[tuple[str, ...], Repair]] = []
    for value in values:
        home = recipe.inputs[value]
        offered = repairs(shapes[value], home.precision, home.layout, recipe.config.tile_count)
        choices.append({repair.key: repair for repair in reversed(offered)})
    common = [key for key in reversed(choices[0]) if all(key in choice for choice in choices)]
    made = [_offer(key, {value: choice[key] for value, choice in zip(values, choices, strict=True)}) for key in common]
    return (GroupRepair(PLANNER, "what the planner chooses itself", {}, 0, UNAVAILABLE), *made)


def _offer(key: tuple[str, ...], chosen: Mapping[int, Repair]) -> GroupRepair:
    """One choice for all: its label is that of the first, with the number of others."""
    first = next(iter(chosen.values()))
    sizes: list[Size] = [repair.shard_bytes for repair in chosen.values()]
    known = [size for size in sizes if isinstance(size, int)]
    label = first.label if len(chosen) == 1 else f"{first.label}; {len(chosen) - 1} more alike"
    layouts = {value: repair.layout for value, repair in chosen.items()}
    most = max(repair.owners for repair in chosen.values())
    return GroupRepair(key, label, layouts, most, max(known) if len(known) == len(sizes) else UNAVAILABLE)


def homes_of_offer(
    recipe: Recipe, offer: GroupRepair, values: tuple[int, ...], overrides: Overrides
) -> dict[int, Format]:
    """The homes that an offer gives to some inputs, members of their sequences included.

    Empty where the planner finds none: then something else stands in the way of lowering.
    """
    if offer.key == PLANNER:
        found = repaired_homes(recipe, overrides)
        return {value: found[value] for value in _all_members(recipe.graph, values) if value in found}
    homes = {}
    for value in values:
        for member in values_together(recipe.graph, value):
            layout: Layout = offer.layouts.get(member, offer.layouts[value])
            homes[member] = Format(recipe.inputs.get(member, recipe.inputs[value]).precision, layout)
    return homes


def _all_members(graph: Graph, values: tuple[int, ...]) -> list[int]:
    return list(dict.fromkeys(member for value in values for member in values_together(graph, value)))
