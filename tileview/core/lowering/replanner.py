"""The re-planner: a recipe becomes a whole-device program, before and after copy composition."""

from __future__ import annotations

from tileview.core.lowering.compose import Composer
from tileview.core.lowering.homes import HomeLimits
from tileview.core.lowering.inputs import input_format
from tileview.core.lowering.ledger import Region
from tileview.core.lowering.names import ValueNames, name_of, value_names
from tileview.core.lowering.operations import Lowering
from tileview.core.lowering.plans import PlanForm
from tileview.core.lowering.repeat import RegionLowering, RegionUses
from tileview.core.lowering.rotation import OwnerCopies, group_rotations
from tileview.core.lowering.types import TypeTable
from tileview.errors import PlanError
from tileview.model.config import PipelineConfig
from tileview.model.graph import Graph, InputKind, Operation
from tileview.model.program import DIRECT_OWNERS, Owners, Program, ProgramInput, Value
from tileview.model.recipe import Recipe


class Replanner:
    """Lowers recipes; keeps what one run worked out for the next."""

    def __init__(self) -> None:
        self._types = TypeTable(0)
        self._forms: dict[tuple[int, int], PlanForm] = {}
        self._uses = RegionUses()
        self._names: ValueNames = {}
        self._graph: Graph | None = None
        self._composer = Composer()
        self._baseline = False

    def lower(self, recipe: Recipe, config: PipelineConfig | None = None) -> Program:
        """The program after selection: plans lowered, parameters rotated, copies not yet composed.

        Raises
        ------
        PlanError
            Where an input or a plan cannot be lowered.
        """
        config = recipe.config if config is None else config
        self._prepare(recipe.graph, config)
        limits = HomeLimits(config.budget_bytes, config.reserve_bytes)

        def form_of(operation: Operation, region: Region) -> PlanForm:
            return self._form(recipe, config, operation, region)

        lowering = Lowering(self._types, form_of, recipe.open_boundaries, limits)
        graph = recipe.graph
        environment = self._bind_inputs(recipe, config, lowering)
        region = Region(environment, graph.shapes, self._uses.of(graph.operations, graph.outputs))
        members = {
            sequence.id: [environment[value] for value in sequence.values if value in environment]
            for sequence in graph.sequences
        }
        RegionLowering(lowering, members, self._uses).lower(region, graph.operations)
        return self._finish(recipe, lowering, region)

    def replan(self, recipe: Recipe, config: PipelineConfig | None = None) -> Program:
        """The program as it is measured: lowered, copies composed."""
        return self._composer.compose(self.lower(recipe, config))

    def _prepare(self, graph: Graph, config: PipelineConfig) -> None:
        if (
            self._graph is not graph
            or self._types.tile_count != config.tile_count
            or self._baseline != config.capacity_baseline
        ):
            self._types = TypeTable(config.tile_count)
            self._forms = {}
            self._uses = RegionUses()
            self._names = value_names(graph)
            self._graph = graph
            self._baseline = config.capacity_baseline

    def _form(self, recipe: Recipe, config: PipelineConfig, operation: Operation, region: Region) -> PlanForm:
        plan = recipe.plans.get(operation.id)
        if plan is None:
            raise PlanError("the recipe has no plan for it", operation.id)
        key = (id(plan), operation.id)
        form = self._forms.get(key)
        if form is None or form.plan is not plan:
            form = self._forms[key] = PlanForm(self._types, config, operation, plan, region.shapes)
        return form

    def _bind_inputs(self, recipe: Recipe, config: PipelineConfig, lowering: Lowering) -> dict[int, int]:
        """A lowered value for every graph input, in order."""
        environment: dict[int, int] = {}
        ledger = lowering.ledger
        for given in recipe.graph.inputs:
            chosen, automatic = input_format(recipe, config, given)
            own = self._types.get(given.shape, chosen.precision, chosen.layout)
            if own.problem is not None:
                raise PlanError(f"input {given.name} {own} {own.problem}")
            number = ledger.add(given.value, own, None, given.kind is InputKind.PARAMETER)
            if automatic:
                ledger.automatic[number] = 1
            environment[given.value] = number
        return environment

    def _finish(self, recipe: Recipe, lowering: Lowering, region: Region) -> Program:
        """Rotations, owner copies, and the program with its values written out."""
        ledger, graph = lowering.ledger, recipe.graph
        tiles = self._types.tile_count
        parameters = [
            (ledger.groups[number], ledger.types[number])
            for number, given in enumerate(graph.inputs)
            if given.kind is InputKind.PARAMETER
        ]
        owner_copies = OwnerCopies(ledger, group_rotations(parameters, tiles))
        steps = owner_copies.apply(region.steps)
        outputs: list[int] = []
        for value in graph.outputs:
            number = region.environment.get(value)
            if number is None:
                raise PlanError(f"the graph's output {value} is made by nothing")
            outputs.append(number)
        owners: dict[int, Owners] = {0: DIRECT_OWNERS}
        values: list[Value] = []
        for number, (origin, own, group, rotation) in enumerate(
            zip(ledger.origins, ledger.types, ledger.groups, owner_copies.rotations, strict=True)
        ):
            name, counted_under = name_of(self._names, origin)
            if rotation not in owners:
                owners[rotation] = Owners(rotation)
            values.append(
                Value(
                    number, origin, name, counted_under, own.shape, own.precision, own.layout, group, owners[rotation]
                )
            )
        inputs = tuple(ProgramInput(given.name, given.kind, number) for number, given in enumerate(graph.inputs))
        return Program(tiles, inputs, tuple(outputs), tuple(values), steps, tuple(lowering.unknown))
