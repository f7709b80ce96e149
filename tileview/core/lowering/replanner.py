"""The re-planner: a recipe becomes a whole-device program, before and after copy composition.

A :class:`Replanner` keeps what one run worked out for the next: types with their conversions, plans with their steps,
rotations, and what copies compose to. Everything kept is a function of its key, so a run with a used re-planner gives
what a run with a new one gives, only faster; after a swap little more is done than to number the values again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from tileview.core.columns import same_at_first
from tileview.core.lowering.compose import Composer
from tileview.core.lowering.homes import HomeLimits, canonical_layout, flat_layout, input_format
from tileview.core.lowering.ledger import Ledger, LoweredRegion, ValueNames, name_of, value_names
from tileview.core.lowering.operations import Lowering
from tileview.core.lowering.plans import PlanForm
from tileview.core.lowering.repeat import RegionLowering, RegionUses
from tileview.core.lowering.rotation import OwnerCopies, group_rotations
from tileview.core.lowering.valuetypes import TypeTable, ValueType
from tileview.errors import GraphError, PlanError, WorkError
from tileview.model.config import PipelineConfig
from tileview.model.graph import Graph, InputKind, Operation, RepeatKind
from tileview.model.owners import DIRECT_OWNERS, Owners
from tileview.model.plan import Plan
from tileview.model.program import Program, ProgramInput, Step, Value
from tileview.model.recipe import Recipe
from tileview.model.tensor import F16

_MOST_KEPT = 1 << 17
"""Types, values and (more heavily) plans after which everything kept is forgotten, so that a long session does not grow
without end.
"""
_FORM_WEIGHT = 8
_MOST_PLACEMENTS = 64
_LARGE_PROGRAM, _LARGE_OPERATION = 1 << 13, 1 << 9
"""A program may have so many values, and so many more for each plan: a tiny file can ask for any number."""
_STRIDE = 32
_MANY_TILES, _MOST_NUMBERS = 1 << 13, 1 << 24
"""On more tiles than this, a program may have so many numbers per tile in all."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """The graph inputs as lowered values, for one set of homes. ``fixed_by``: the mappings that decided them."""

    fixed_by: tuple[object, object, object]
    types: tuple[ValueType, ...]
    automatic: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Placement:
    """Rotations of the storage groups, and the inputs' finished values under them."""

    rotations: dict[int, int]
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Lowered:
    """A program before its copies are composed."""

    ledger: Ledger
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    values: tuple[Value, ...]
    unknown: tuple[tuple[int, str], ...]


class _Mark(NamedTuple):
    """How far a run was before an operation: values, steps and Casts so far; whether a compute step read a
    parameter."""

    values: int
    steps: int
    casts: int
    reads_parameters: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """What the last run made of the graph's operations: the next one begins where the first plan differs.

    ``plans``: of the operations in order. ``marks``: one for every :data:`_STRIDE` of them. Only of runs in which no
    operation changes what was made before it: without Repeats, open layouts of parameters, and unknown operations.
    """

    plans: list[Plan | None]
    open_boundaries: frozenset[int]
    bound: _Bound
    most_values: int
    marks: list[_Mark]
    ledger: Ledger
    region: LoweredRegion


class Replanner:
    """Lowers recipes of one graph at a time, successive ones fast. Not to be used by two threads at once."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._setting: tuple[int, bool] = (0, False)
        self.size = 0
        """How many values the last program had."""
        self.composed_first = False
        """Whether to measure the composed program before the fused one: the last fused one did not fit."""
        self._forget()

    def lower(self, recipe: Recipe, config: PipelineConfig | None = None) -> Program:
        """The program after selection: plans lowered, parameters rotated, copies not yet composed.

        Parameters
        ----------
        recipe : Recipe
            What to lower.
        config : PipelineConfig, optional
            In place of the recipe's own (what-if budget and reserve).

        Raises
        ------
        PlanError
            Where an input or a plan cannot be lowered.
        """
        lowered = self._lower(recipe, recipe.config if config is None else config)
        return self._program(lowered, lowered.steps)

    def replan(self, recipe: Recipe, config: PipelineConfig | None = None) -> Program:
        """The program as it is measured: lowered, copies composed, on the chip's tiles. Raises as :meth:`lower`."""
        lowered = self._lower(recipe, recipe.config if config is None else config)
        steps = self._composer.compose(lowered.steps, lowered.outputs, lowered.ledger.types)
        return self._program(lowered, steps, recipe.chip_tiles)

    def _program(self, lowered: _Lowered, steps: tuple[Step, ...], chip_tiles: tuple[int, ...] = ()) -> Program:
        values = lowered.values
        if chip_tiles:
            values = tuple(replace(value, owners=_on_chip(value.owners, chip_tiles)) for value in values)
        return Program(self._types.tile_count, self._program_inputs, lowered.outputs, values, steps, lowered.unknown)

    # -- what is kept -----------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._types = TypeTable(self._setting[0])
        self._forms: dict[tuple[int, int], PlanForm] = {}
        self._uses = RegionUses()
        self._composer = Composer()
        self._bound: _Bound | None = None
        self._last: _Run | None = None
        self._repeats = False
        self._placements: dict[tuple[object, ...], _Placement] = {}
        self._values: dict[tuple[int, int, ValueType, int, int], Value] = {}
        self._names: ValueNames = {}
        self._program_inputs: tuple[ProgramInput, ...] = ()
        self._parameter_inputs: tuple[bool, ...] = ()

    def _prepare(self, graph: Graph, config: PipelineConfig) -> None:
        """Forget what is kept where it is of another graph or setting, or has grown too large."""
        setting = (config.tile_count, config.capacity_baseline)
        kept = len(self._types) + len(self._values) + _FORM_WEIGHT * len(self._forms)
        if self._graph is graph and self._setting == setting and kept <= _MOST_KEPT:
            return
        _refuse_doubles(graph)
        self._graph, self._setting = graph, setting
        self._forget()
        self._names = value_names(graph)
        self._program_inputs = tuple(
            ProgramInput(given.name, given.kind, number) for number, given in enumerate(graph.inputs)
        )
        self._repeats = any(isinstance(operation.kind, RepeatKind) for operation in graph.operations)
        self._parameter_inputs = tuple(given.kind is InputKind.PARAMETER for given in graph.inputs)

    # -- one run ----------------------------------------------------------------------------------------------------

    def _lower(self, recipe: Recipe, config: PipelineConfig) -> _Lowered:
        graph = recipe.graph
        self._prepare(graph, config)
        plans, forms = recipe.plans, self._forms

        def form_of(operation: Operation, region: LoweredRegion) -> PlanForm:
            plan = plans.get(operation.id)
            if plan is None:
                return self._unplanned(operation, region, recipe, config, lowering.ledger)
            form = forms.get((id(plan), id(operation)))
            return self._new_form(plan, config, operation, region) if form is None else form

        limits = HomeLimits(config.budget_bytes, config.reserve_bytes)
        most_values = _LARGE_PROGRAM + _LARGE_OPERATION * len(recipe.plans)
        lowering = Lowering(self._types, form_of, recipe.open_boundaries, limits, self._names, most_values)
        environment = self._bind_inputs(recipe, config, lowering.ledger)
        region = LoweredRegion(environment, graph.shapes, self._uses.of(graph.operations, graph.outputs))
        members = {
            sequence.id: [environment[value] for value in sequence.values if value in environment]
            for sequence in graph.sequences
        }
        self._lower_operations(recipe, lowering, region, RegionLowering(lowering, members, self._uses))
        ledger = lowering.ledger
        self.size = len(ledger)
        if config.tile_count > _MANY_TILES and len(ledger) * config.tile_count > _MOST_NUMBERS:
            raise WorkError(
                f"{len(ledger):,} values on {config.tile_count:,} tiles are more numbers than TileView works out "
                f"({_MOST_NUMBERS:,}; any program on up to {_MANY_TILES:,} tiles is)"
            )
        placement = self._place_inputs(ledger)
        owner_copies = OwnerCopies(ledger, placement.rotations)
        steps = owner_copies.apply(region.steps, follow=lowering.reads_parameters)
        return _Lowered(
            ledger,
            steps,
            _outputs(graph, region),
            self._finish_values(ledger, placement, owner_copies.rotations),
            tuple(lowering.unknown),
        )

    def _lower_operations(
        self, recipe: Recipe, lowering: Lowering, region: LoweredRegion, regions: RegionLowering
    ) -> None:
        """Lower the graph's operations, those before the first other plan than last time as they were then."""
        operations, ledger, bound = recipe.graph.operations, lowering.ledger, self._bound
        if self._repeats or ledger.automatic or bound is None:
            regions.lower(region, operations)
            return
        plans = [recipe.plans.get(operation.id) for operation in operations]
        last, self._last = self._last, None
        marks: list[_Mark] = []
        if (
            last is not None
            and last.marks
            and last.bound is bound
            and last.most_values == lowering.most_values
            and last.open_boundaries == recipe.open_boundaries
        ):
            same = same_at_first(last.plans, plans)
            begun = min(same // _STRIDE, len(last.marks) - 1)
            marks, mark = last.marks[:begun], last.marks[begun]
            ledger.begin_with(last.ledger, mark.values)
            region.environment, region.steps = last.region.environment, last.region.steps[: mark.steps]
            region.casts = dict(islice(last.region.casts.items(), mark.casts))
            lowering.reads_parameters = mark.reads_parameters
        for start in range(len(marks) * _STRIDE, len(operations), _STRIDE):
            marks.append(_Mark(len(ledger), len(region.steps), len(region.casts), lowering.reads_parameters))
            regions.lower(region, operations[start : start + _STRIDE])
        if not lowering.unknown:
            self._last = _Run(plans, recipe.open_boundaries, bound, lowering.most_values, marks, ledger, region)

    def _unplanned(
        self, operation: Operation, region: LoweredRegion, recipe: Recipe, config: PipelineConfig, ledger: Ledger
    ) -> PlanForm:
        """The form of an operation without a plan: its results have the precision of its first operand, canonical
        layouts at closed boundaries, and are spread as thin as can be at open ones."""
        first = next((ledger.types[region.environment[value]].precision for value in operation.inputs), F16)
        results = {}
        for value in operation.results:
            shape = region.shapes.get(value)
            if shape is None:
                raise PlanError(f"value {value} has no shape in the graph", operation.id)
            is_open = value in recipe.open_boundaries
            layout = flat_layout(shape, first, config.tile_count) if is_open else canonical_layout(shape, first, config)
            results[value] = self._types.get(shape, first, layout)
        return PlanForm.without_plan(self._types, config, operation, results)

    def _new_form(self, plan: Plan, config: PipelineConfig, operation: Operation, region: LoweredRegion) -> PlanForm:
        """A plan's form, kept under the identities of plan and operation: it holds both, so their ids stay theirs."""
        form = self._forms[id(plan), id(operation)] = PlanForm(self._types, config, operation, plan, region.shapes)
        return form

    def _bind_inputs(self, recipe: Recipe, config: PipelineConfig, ledger: Ledger) -> dict[int, int]:
        """A lowered value for every graph input, in order; kept while the same mappings decide their formats."""
        fixed_by = (recipe.inputs, config.inputs, config.automatic_inputs)
        bound = self._bound
        if bound is None or any(a is not b for a, b in zip(bound.fixed_by, fixed_by, strict=True)):
            bound = self._bound = self._choose_inputs(recipe, config, fixed_by)
        inputs = recipe.graph.inputs
        count = len(inputs)
        ledger.origins.extend([given.value for given in inputs])
        ledger.types.extend(bound.types)
        ledger.groups.extend(range(count))
        ledger.parameters.extend(self._parameter_inputs)
        ledger.made.extend([None] * count)
        ledger.automatic.update(dict.fromkeys(bound.automatic, 1))
        return dict(zip(ledger.origins, range(count), strict=True))

    def _choose_inputs(self, recipe: Recipe, config: PipelineConfig, fixed_by: tuple[object, object, object]) -> _Bound:
        types: list[ValueType] = []
        automatic: list[int] = []
        for number, given in enumerate(recipe.graph.inputs):
            chosen, is_automatic = input_format(recipe, config, given)
            own = self._types.get(given.shape, chosen.precision, chosen.layout)
            if own.problem is not None:
                raise PlanError(f"input {given.name} {own} {own.problem}")
            types.append(own)
            if is_automatic:
                automatic.append(number)
        return _Bound(fixed_by, tuple(types), tuple(automatic))

    def _place_inputs(self, ledger: Ledger) -> _Placement:
        """The rotations of the inputs' groups, and the inputs' values under them."""
        count = len(self._parameter_inputs)
        types, groups = ledger.types[:count], ledger.groups[:count]
        key = (*types, *groups)
        placement = self._placements.get(key)
        if placement is None:
            parameters = [
                (group, own)
                for group, own, is_parameter in zip(groups, types, self._parameter_inputs, strict=True)
                if is_parameter
            ]
            rotations = group_rotations(parameters, self._types.tile_count)
            if len(self._placements) >= _MOST_PLACEMENTS:
                self._placements.clear()
            values = [self._value(ledger, number, rotations.get(groups[number], 0)) for number in range(count)]
            placement = self._placements[key] = _Placement(rotations, tuple(values))
        return placement

    def _finish_values(self, ledger: Ledger, placement: _Placement, rotations: Sequence[int]) -> tuple[Value, ...]:
        """Every value written out; those that operations have finished already as they are."""
        moved, count = placement.rotations, len(placement.values)
        values: list[Value | None] = [*placement.values, *ledger.made[count:]]
        open_ones = {number for number, value in enumerate(values) if value is None}
        if moved:
            groups = ledger.groups
            open_ones.update([number for number in range(count, len(groups)) if groups[number] in moved])
        for number in open_ones:
            values[number] = self._value(ledger, number, rotations[number])
        return tuple(values)  # type: ignore[arg-type]

    def _value(self, ledger: Ledger, number: int, rotation: int) -> Value:
        key = (number, ledger.origins[number], ledger.types[number], ledger.groups[number], rotation)
        value = self._values.get(key)
        if value is None:
            _, origin, own, group, _ = key
            name, counted_under = name_of(self._names, origin)
            owners = Owners(rotation) if rotation else DIRECT_OWNERS
            value = self._values[key] = Value(
                number, origin, name, counted_under, own.shape, own.precision, own.layout, group, owners
            )
        return value


@lru_cache(maxsize=1 << 12)
def _on_chip(owners: Owners, chip_tiles: tuple[int, ...]) -> Owners:
    """An owner map sent through the mapping from the program's tiles to the chip's: its rotation stays."""
    if owners.embedding is None:
        return Owners(owners.rotation, chip_tiles)
    return Owners(owners.rotation, tuple(chip_tiles[tile] for tile in owners.embedding))


def _refuse_doubles(graph: Graph) -> None:
    """Raise :class:`GraphError` where an id names two operations or a value is made twice: which of them a plan or a
    read means is not to be guessed."""
    known: set[int] = set()

    def look_through(operations: Sequence[Operation], given: Iterable[int]) -> None:
        made: set[int] = set()
        for value in given:
            if value in made:
                raise GraphError(f"value {value} is made twice")
            made.add(value)
        for operation in operations:
            if operation.id in known:
                raise GraphError("two operations have this id", operation.id)
            known.add(operation.id)
            if isinstance(operation.kind, RepeatKind):
                look_through(operation.kind.body.operations, operation.kind.body.arguments)
            for value in operation.results:
                if value in made:
                    raise GraphError(f"value {value} is made twice", operation.id)
                made.add(value)

    look_through(graph.operations, [given.value for given in graph.inputs])


def _outputs(graph: Graph, region: LoweredRegion) -> tuple[int, ...]:
    outputs: list[int] = []
    for value in graph.outputs:
        number = region.environment.get(value)
        if number is None:
            raise GraphError(f"the graph's output {value} is made by nothing")
        outputs.append(number)
    return tuple(outputs)
