"""Homes that a graph input could have instead of its own: what an edit can offer, with figures.

The rules are the planner's own: the compact home for the element order that a consumer's plan asks for, the flat
layout, the canonical one, and the very layout that a consumer asks for (then nothing has to be moved, at the price of
its size). The precision stays, because a plan change decides that. What does not resolve is not offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tileview.analysis.fix import repaired_homes
from tileview.analysis.repair import GroupRepair, Repair, RepairGroup, bad_homes, repairs
from tileview.analysis.words import counted, layout_words, order_words
from tileview.core.geometry.resolve import resolve
from tileview.core.lowering.homes import HomeLimits, canonical_layout, flat_layout, home_type
from tileview.core.lowering.valuetypes import RefusedError, TypeTable
from tileview.model.graph import Graph, Operation, RepeatKind
from tileview.model.plan import Requirement
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import UNAVAILABLE, Size, exact_text
from tileview.model.tensor import Format, Layout, OrderKind, Shape


@dataclass(frozen=True, slots=True)
class HomeOffer:
    """A home: ``text`` for a menu, ``tip`` with the layout; ``values`` are all inputs that must take it together."""

    text: str
    tip: str
    format: Format
    shard_bytes: Size
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who reads an input: the operation, and what its plan asks for there. ``copies``: layers that share the home."""

    operation: int
    requirement: Requirement
    copies: int


def values_together(graph: Graph, value: int) -> tuple[int, ...]:
    """The inputs whose homes must be equal: all members of a parameter sequence; a lone input is its own."""
    for sequence in graph.sequences:
        if value in sequence.values:
            return sequence.values
    return (value,)


def consumers(recipe: Recipe, value: int) -> list[Consumer]:
    """The operations that read a graph input, also as an argument of a body, with what their plans ask for."""
    graph = recipe.graph
    sequences = {sequence.id for sequence in graph.sequences if value in sequence.values}
    return list(_consumers(recipe, graph.operations, {value}, sequences, 1))


def _consumers(
    recipe: Recipe, operations: tuple[Operation, ...], names: set[int], sequences: set[int], copies: int
) -> Iterator[Consumer]:
    for operation in operations:
        plan = recipe.plans.get(operation.id)
        if isinstance(operation.kind, RepeatKind):
            kind = operation.kind
            outer = kind.carried_inputs + kind.invariant_inputs
            inside: set[int] = set()
            shared = copies
            for position, argument in enumerate(kind.body.arguments):
                if position < outer:
                    if position < len(operation.inputs) and operation.inputs[position] in names:
                        inside.add(argument)
                elif (
                    position - outer < len(kind.iterated_inputs) and kind.iterated_inputs[position - outer] in sequences
                ):
                    inside.add(argument)
                    shared = copies * kind.count
            if inside:
                yield from _consumers(recipe, kind.body.operations, inside, set(), shared)
            continue
        if plan is None:
            continue
        for operand, requirement in zip(operation.inputs, plan.inputs, strict=False):
            if operand in names:
                yield Consumer(operation.id, requirement, copies)


def home_offers(recipe: Recipe, value: int, current: Format | None) -> tuple[HomeOffer, ...]:
    """The homes of an input, the smallest largest shard first; the current one is among them.

    Parameters
    ----------
    recipe : Recipe
        With the current edits.
    value : int
        Graph value of the input.
    current : Format or None
        Its home now: where None its precision is not known and nothing is offered.
    """
    given = next((entry for entry in recipe.graph.inputs if entry.value == value), None)
    if given is None or current is None:
        return ()
    shape, precision, config = given.shape, current.precision, recipe.config
    together = values_together(recipe.graph, value)
    found: dict[Layout, list[str]] = {}
    readers = consumers(recipe, value)
    limits = HomeLimits(config.budget_bytes, config.reserve_bytes)
    types = TypeTable(config.tile_count)
    for reader in readers:
        order = reader.requirement.format.layout.order
        if order.kind is OrderKind.UNKNOWN:
            continue
        start = types.get(shape, precision, current.layout)
        try:
            home = home_type(types, start, order, reader.copies, limits)
        except RefusedError:
            continue
        found.setdefault(home.layout, []).append(f"compact, {order_words(home.layout.order)}")
    for reader in readers:
        wanted = reader.requirement.format
        if wanted.precision == precision:
            found.setdefault(wanted.layout, []).append(f"as operation {reader.operation} asks for it")
    found.setdefault(flat_layout(shape, precision, config.tile_count), []).append("flat")
    if len(shape) > 1:
        found.setdefault(canonical_layout(shape, precision, config), []).append("by rows (canonical)")
    found.setdefault(current.layout, []).append("as it is now")
    offers = [
        offer
        for layout, names in found.items()
        if (offer := _offer(types, shape, Format(precision, layout), names, together)) is not None
    ]
    return tuple(sorted(offers, key=lambda offer: (_order(offer.shard_bytes), offer.text)))


def _order(size: Size) -> int:
    return size if isinstance(size, int) else -1


def _offer(
    types: TypeTable, shape: Shape, wanted: Format, names: list[str], together: tuple[int, ...]
) -> HomeOffer | None:
    """An offer with its figures; None for an invalid layout or needs too many tiles."""
    if types.get(shape, wanted.precision, wanted.layout).problem is not None:
        return None
    if wanted.layout.order.kind is OrderKind.UNKNOWN:
        return None
    width = wanted.precision.element_bytes
    shard: Size = UNAVAILABLE if width is None else resolve(shape, wanted.layout).maximum_elements * width
    owners = wanted.layout.tiling.tile_count
    name = "; ".join(dict.fromkeys(names[:2]))
    text = f"{name}: {counted(owners, 'owner')}, largest shard {exact_text(shard)}"
    tip = layout_words(wanted.layout)
    if len(together) > 1:
        tip += f"\nFor all {len(together)} members of its sequence"
    return HomeOffer(text, tip, wanted, shard, together)


PLANNER = ("planner",)
"""Key of the offer whose homes the planner chooses when it is taken."""


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
        RepairGroup(kinds[values[0]], texts[values[0]], tuple(values), _group_offers(recipe, values))
        for values in gathered.values()
    )


def _group_offers(recipe: Recipe, values: list[int]) -> tuple[GroupRepair, ...]:
    shapes = {entry.value: entry.shape for entry in recipe.graph.inputs}
    choices: list[dict[tuple[str, ...], Repair]] = []
    for value in values:
        home = recipe.inputs[value]
        offered = repairs(shapes[value], home.precision, home.layout, recipe.config.tile_count)
        choices.append({repair.key: repair for repair in reversed(offered)})
    common = [key for key in reversed(choices[0]) if all(key in choice for choice in choices)]
    made = [
        _group_offer(key, {value: choice[key] for value, choice in zip(values, choices, strict=True)}) for key in common
    ]
    return (GroupRepair(PLANNER, "the planner's own choice", {}, 0, UNAVAILABLE), *made)


def _group_offer(key: tuple[str, ...], chosen: Mapping[int, Repair]) -> GroupRepair:
    """One choice for all: its label is that of the first, with the number of others."""
    first = next(iter(chosen.values()))
    sizes: list[Size] = [repair.shard_bytes for repair in chosen.values()]
    known = [size for size in sizes if isinstance(size, int)]
    label = first.label if len(chosen) == 1 else f"{first.label}; {len(chosen) - 1} more like it"
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
