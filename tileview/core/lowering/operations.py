"""Lowering regions: every operation in order, its operands' homes and conversions, its plan's steps, its boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileview.core.lowering.convert import CAST, conversion, initial_layout
from tileview.core.lowering.homes import HomeLimits, home_type
from tileview.core.lowering.ledger import Ledger, Region
from tileview.core.lowering.plans import PlanForm
from tileview.core.lowering.sheet import Fragment
from tileview.core.lowering.types import RefusedError, TypeTable, ValueType
from tileview.errors import PlanError
from tileview.model.graph import Operation
from tileview.model.program import Copy, Kernel, Opaque

FormOf = Callable[[Operation, Region], PlanForm]


class Lowering:
    """One run over a graph: the ledger that fills, and what every operation needs."""

    def __init__(self, types: TypeTable, form_of: FormOf, open_boundaries: frozenset[int], limits: HomeLimits) -> None:
        self.types = types
        self.form_of = form_of
        self.open_boundaries = open_boundaries
        self.limits = limits
        self.ledger = Ledger()
        self.unknown: list[tuple[int, str]] = []

    def lower_operation(self, region: Region, operation: Operation) -> None:
        """One operation that is no Repeat: homes, conversions, result, temporaries, steps, closing.

        Raises
        ------
        PlanError
            Naming the operation, where its plan cannot be lowered.
        """
        try:
            form = self.form_of(operation, region)
            if self.ledger.automatic:
                self._choose_homes(region, operation, form)
            operands = self._convert_operands(region, operation, form)
            if form.unknown is None:
                self._place(region, operation, form, operands)
            else:
                self._place_unknown(region, operation, form, operands)
        except RefusedError as refusal:
            raise PlanError(str(refusal), operation.id) from None

    def _choose_homes(self, region: Region, operation: Operation, form: PlanForm) -> None:
        """Give every operand that is a still automatic parameter its home, for the order its plan requires there."""
        ledger = self.ledger
        for graph_value, (target, _) in zip(operation.inputs, form.targets, strict=True):
            value = region.environment[graph_value]
            if target is None or value not in ledger.automatic:
                continue
            copies = ledger.automatic.pop(value)
            try:
                ledger.types[value] = home_type(
                    self.types, ledger.types[value], target.layout.order, copies, self.limits
                )
            except RefusedError as refusal:
                raise RefusedError(f"operation {operation.id} has no legal format: {refusal}") from None

    def _convert_operands(self, region: Region, operation: Operation, form: PlanForm) -> list[int]:
        ledger = self.ledger
        operands: list[int] = []
        for graph_value, (target, slices) in zip(operation.inputs, form.targets, strict=True):
            value = region.environment[graph_value]
            if target is not None and ledger.types[value] is not target:
                value = self.convert(region, value, target, operation.id, slices, ledger.parameters[value])
            operands.append(value)
        return operands

    def convert(
        self, region: Region, value: int, target: ValueType, source: int, slices: bool = False, own_group: bool = False
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
        casts = region.casts
        for made, policy in conversion(self.types, ledger.types[value], target, slices):
            if policy is CAST:
                known = casts.get((value, made))
                if known is not None:
                    value = known
                    continue
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

    def _place(self, region: Region, operation: Operation, form: PlanForm, operands: Sequence[int]) -> None:
        ledger = self.ledger
        types = ledger.types
        fragment: Fragment = form.fragment(tuple([types[value] for value in operands]))
        graph_value = operation.results[0]
        result = ledger.add(graph_value, form.results[0], None, form.keeps_parameter and ledger.parameters[operands[0]])
        ids = [result, *ledger.add_temporaries(graph_value, fragment.temporaries), *operands[::-1]]
        fragment.place(operation.id, ids, region.steps)
        for cast, made in fragment.casts:
            region.casts.setdefault((ids[cast], types[ids[made]]), ids[made])
        self._bind(region, operation, form, 0, result)

    def _place_unknown(self, region: Region, operation: Operation, form: PlanForm, operands: Sequence[int]) -> None:
        """An operation that is not modelled: its results in their formats, one step that reads and writes."""
        assert form.unknown is not None
        self.unknown.append((operation.id, form.unknown))
        results = [self.ledger.add(value, own) for value, own in zip(operation.results, form.results, strict=True)]
        region.steps.append(Opaque(operation.id, tuple(operands), tuple(results), form.unknown))
        for index, result in enumerate(results):
            self._bind(region, operation, form, index, result)

    def _bind(self, region: Region, operation: Operation, form: PlanForm, index: int, result: int) -> None:
        """Let consumers use a result: converted to its canonical layout first where its boundary is closed."""
        graph_value = operation.results[index]
        closed = form.closed[index]
        if closed is not form.results[index] and graph_value not in self.open_boundaries:
            result = self.convert(region, result, closed, operation.id)
        region.environment[graph_value] = result
