"""Lowering regions: every operation in order, its operands' homes and conversions, its plan's steps, its boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileview.core.lowering.convert import CAST, conversion, initial_layout
from tileview.core.lowering.homes import HomeLimits, home_type
from tileview.core.lowering.ledger import Ledger, LoweredRegion, ValueNames
from tileview.core.lowering.plans import PlanForm
from tileview.core.lowering.templates import Template
from tileview.core.lowering.valuetypes import RefusedError, TypeTable, ValueType
from tileview.errors import PlanError, WorkError
from tileview.model.graph import Operation
from tileview.model.program import Copy, Kernel, Opaque

FormOf = Callable[[Operation, LoweredRegion], PlanForm]


class Lowering:
    """One run over a graph: the ledger that fills, and what every operation needs."""

    def __init__(
        self,
        types: TypeTable,
        form_of: FormOf,
        open_boundaries: frozenset[int],
        limits: HomeLimits,
        names: ValueNames,
        most_values: int,
    ) -> None:
        self.types = types
        self.form_of = form_of
        self.open_boundaries = open_boundaries
        self.limits = limits
        self.names = names
        self.ledger = Ledger()
        self.most_values = most_values
        self.unknown: list[tuple[int, str]] = []
        self.reads_parameters = False
        """A compute step reads a parameter in its home layout, where it may be rotated away from the step's result."""
        self._new_casts: list[tuple[int, ValueType]] = []
        self._used_again = False

    def lower_operation(self, region: LoweredRegion, operation: Operation) -> None:
        """One operation that is no Repeat: homes, conversions, result, temporaries, steps, closing.

        Raises
        ------
        PlanError
            Naming the operation, where its plan cannot be lowered; a :class:`WorkError` where the program grows larger
            than TileView works out.
        """
        if len(self.ledger) > self.most_values:
            raise WorkError(
                f"the plans before it make {len(self.ledger):,} values, more than the {self.most_values:,} that "
                "TileView works out for a program of so many operations",
                operation.id,
            )
        try:
            form = self.form_of(operation, region)
            environment = region.environment
            operands = [environment[value] for value in operation.inputs]
            if self.ledger.automatic:
                self._choose_homes(operation, form, operands)
            if form.unknown is not None:
                self._place_unknown(region, operation, form, operands)
                return
            types, parameters = self.ledger.types, self.ledger.parameters
            is_open = operation.results[0] in self.open_boundaries
            key = (is_open, *[types[value] for value in operands], *[parameters[value] for value in operands])
            template = form.templates.get(key)
            if template is None or not template.fits(region, operands):
                template = self._lower_anew(region, operation, form, operands, key if template is None else None)
            else:
                result = operation.results[0]
                environment[result] = template.place(self.ledger, region, operation.id, operands, self.names)
            if not self.reads_parameters and (template is None or template.direct):
                self.reads_parameters = any(map(parameters.__getitem__, operands))
        except RefusedError as refusal:
            raise PlanError(str(refusal), operation.id) from None
        except WorkError as refusal:
            raise WorkError(refusal.reason, operation.id) from None

    def _lower_anew(
        self,
        region: LoweredRegion,
        operation: Operation,
        form: PlanForm,
        operands: list[int],
        key: tuple[object, ...] | None,
    ) -> Template | None:
        """Lower an operation step by step, and keep a template of it unless it used a Cast that was there already."""
        base, first_step = len(self.ledger), len(region.steps)
        self._new_casts.clear()
        self._used_again = False
        converted = self._convert_operands(region, operation, form, operands)
        bound = self._place(region, operation, form, converted)
        if key is None or self._used_again:
            return None
        template = Template(self.ledger, region, base, first_step, operands, bound, self._new_casts, self.names)
        form.templates[key] = template
        return template

    def _choose_homes(self, operation: Operation, form: PlanForm, operands: Sequence[int]) -> None:
        """Give every operand that is a still automatic parameter its home, for the order its plan requires there."""
        ledger, limits, homes = self.ledger, self.limits, self.types.homes
        for value, (target, _) in zip(operands, form.targets, strict=True):
            if target is None or value not in ledger.automatic:
                continue
            copies, current = ledger.automatic.pop(value), ledger.types[value]
            key = (current, target, copies, limits.limit_bytes, limits.reserve_bytes)
            home = homes.get(key)
            if home is None:
                try:
                    home = homes[key] = home_type(self.types, current, target.layout.order, copies, limits)
                except RefusedError as refusal:
                    raise RefusedError(f"has no legal format: {refusal}") from None
            ledger.types[value] = home

    def _convert_operands(
        self, region: LoweredRegion, operation: Operation, form: PlanForm, operands: Sequence[int]
    ) -> list[int]:
        """Every operand in the format its plan requires; one whose requirement is not known as it is."""
        ledger = self.ledger
        return [
            value
            if target is None
            else self.convert(region, value, target, operation.id, slices, ledger.parameters[value])
            for value, (target, slices) in zip(operands, form.targets, strict=True)
        ]

    def convert(
        self,
        region: LoweredRegion,
        value: int,
        target: ValueType,
        source: int,
        slices: bool = False,
        own_group: bool = False,
    ) -> int:
        """Bring a value to a type; the values made keep origin, parameter mark and (unless ``own_group``) storage
        group.

        A parameter whose layout is still open takes the first layout of the conversion instead of being copied. A Cast
        that the region has already made of the same value to the same type is used again.

        Raises
        ------
        RefusedError
            Where a value on the way cannot be.
        """
        ledger = self.ledger
        if value in ledger.automatic:
            del ledger.automatic[value]
            own = ledger.types[value]
            ledger.types[value] = self.types.get(own.shape, own.precision, initial_layout(own.precision, target))
            if own.precision == target.precision:
                return value
        elif ledger.types[value] is target:
            return value
        casts = region.casts
        for made, policy in conversion(self.types, ledger.types[value], target, slices):
            if policy is CAST:
                known = casts.get((value, made))
                if known is not None:
                    value = known
                    self._used_again = True
                    continue
                self._new_casts.append((value, made))
            if made.problem is not None:
                raise RefusedError(f"a converted operand {made} {made.problem}")
            group = None if own_group else ledger.groups[value]
            result = ledger.add(ledger.origins[value], made, group, ledger.parameters[value])
            if policy is CAST:
                region.steps.append(Kernel(source, "Cast", (value,), (result,)))
                casts[value, made] = result
            else:
                region.steps.append(Copy(source, (value,), (result,), policy=policy))
            value = result
        return value

    def _place(self, region: LoweredRegion, operation: Operation, form: PlanForm, operands: Sequence[int]) -> int:
        """Result, temporaries, steps, closing; returns the value that consumers use."""
        ledger = self.ledger
        types = ledger.types
        fragment = form.fragment(tuple([types[value] for value in operands]))
        graph_value = operation.results[0]
        result = ledger.add(graph_value, form.results[0], None, form.keeps_parameter and ledger.parameters[operands[0]])
        ids = [result, *ledger.add_temporaries(graph_value, fragment.temporaries), *operands[::-1]]
        fragment.place(operation.id, ids, region.steps)
        for cast, made in fragment.casts:
            region.casts.setdefault((ids[cast], types[ids[made]]), ids[made])
        return self._bind(region, operation, form, 0, result)

    def _place_unknown(
        self, region: LoweredRegion, operation: Operation, form: PlanForm, operands: Sequence[int]
    ) -> None:
        """An operation that is not modelled: its results in their formats, one step that reads and writes."""
        assert form.unknown is not None
        operands = self._convert_operands(region, operation, form, operands)
        self.unknown.append((operation.id, form.unknown))
        results = [self.ledger.add(value, own) for value, own in zip(operation.results, form.results, strict=True)]
        region.steps.append(Opaque(operation.id, tuple(operands), tuple(results), form.unknown))
        for index, result in enumerate(results):
            self._bind(region, operation, form, index, result)

    def _bind(self, region: LoweredRegion, operation: Operation, form: PlanForm, index: int, result: int) -> int:
        """Let consumers use a result: converted to its canonical layout first where its boundary is closed."""
        graph_value = operation.results[index]
        closed = form.closed[index]
        if closed is not form.results[index] and graph_value not in self.open_boundaries:
            result = self.convert(region, result, closed, operation.id)
        region.environment[graph_value] = result
        return result
