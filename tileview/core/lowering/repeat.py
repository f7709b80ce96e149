"""Repeats: what they carry, what every iteration reads, and the region of their body."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tileview.core.lowering.ledger import LoweredRegion
from tileview.core.lowering.operations import Lowering
from tileview.core.lowering.valuetypes import RefusedError
from tileview.errors import GraphError, PlanError
from tileview.model.graph import Operation, RepeatKind
from tileview.model.program import Copy, Repeat


class GraphFaultError(RefusedError):
    """A Repeat that cannot be run whatever the plans are; becomes a GraphError that names the operation."""


class RegionLowering:
    """Lowers regions, and the Repeats in them.

    ``members``: sequence id → the lowered values of its members. ``uses_of``: for a list of operations and its
    outputs, how often each value is used.
    """

    def __init__(self, lowering: Lowering, members: Mapping[int, Sequence[int]], uses: RegionUses) -> None:
        self._lowering = lowering
        self._members = members
        self._uses = uses

    def lower(self, region: LoweredRegion, operations: Sequence[Operation]) -> None:
        """Lower operations in graph order into the region."""
        lower_operation = self._lowering.lower_operation
        for operation in operations:
            for value in operation.inputs:
                if value not in region.environment:
                    raise GraphError(f"it reads value {value}, which nothing before it makes", operation.id)
            if isinstance(operation.kind, RepeatKind):
                try:
                    self._lower_repeat(region, operation, operation.kind)
                except GraphFaultError as fault:
                    raise GraphError(str(fault), operation.id) from None
                except RefusedError as refusal:
                    raise PlanError(str(refusal), operation.id) from None
            else:
                lower_operation(region, operation)

    def _lower_repeat(self, region: LoweredRegion, operation: Operation, kind: RepeatKind) -> None:
        """Carried copies, arguments, body, what is settled outside, yields, results, the Repeat's own step."""
        _check_counts(operation, kind)
        ledger, body = self._lowering.ledger, kind.body
        carried = [self._carried(region, operation, value) for value in operation.inputs[: kind.carried_inputs]]
        invariants = [region.environment[value] for value in operation.inputs[kind.carried_inputs :]]
        sequences = [self._sequence(kind, sequence) for sequence in kind.iterated_inputs]
        outside = [*carried, *invariants]
        arguments = self._arguments(kind, outside, [members[0] for members in sequences])
        inner = LoweredRegion(
            dict(zip(body.arguments, arguments, strict=True)),
            body.value_shapes,
            self._uses.of(body.operations, body.yields),
        )
        self.lower(inner, body.operations)
        invariants = [
            self._settle(region, operation, value, argument)
            for value, argument in zip(invariants, arguments[len(carried) : len(outside)], strict=True)
        ]
        iterated = [
            tuple(self._settle(region, operation, member, argument) for member in members[: kind.count])
            for members, argument in zip(sequences, arguments[len(outside) :], strict=True)
        ]
        yields = [
            self._lowering.convert(inner, _yielded(inner, value), ledger.types[argument], operation.id)
            for value, argument in zip(body.yields, arguments, strict=False)
        ]
        results = [
            ledger.add(result, ledger.types[value], ledger.groups[value])
            for result, value in zip(operation.results, carried, strict=True)
        ]
        region.environment.update(zip(operation.results, results, strict=True))
        region.steps.append(
            Repeat(
                operation.id,
                kind.count,
                (*carried, *invariants),
                tuple(results),
                len(carried),
                tuple(iterated),
                tuple(arguments),
                tuple(inner.steps),
                tuple(yields),
            )
        )

    def _arguments(self, kind: RepeatKind, outside: Sequence[int], first_members: Sequence[int]) -> list[int]:
        """The body's arguments: each has type, group and parameter mark of what it stands for.

        One that stands for a parameter whose layout is still open is open too; a home of an iterated one must have room
        for every iteration's member.
        """
        ledger = self._lowering.ledger
        arguments: list[int] = []
        for argument, value in zip(kind.body.arguments, (*outside, *first_members), strict=True):
            number = ledger.add(argument, ledger.types[value], ledger.groups[value], ledger.parameters[value])
            if value in ledger.automatic:
                ledger.automatic[number] = 1 if len(arguments) < len(outside) else kind.count
            arguments.append(number)
        return arguments

    def _carried(self, region: LoweredRegion, operation: Operation, graph_value: int) -> int:
        """A carried input; one that is a parameter or has another use is copied first, as the Repeat overwrites it."""
        ledger = self._lowering.ledger
        value = region.environment[graph_value]
        if not ledger.parameters[value] and region.uses[graph_value] == 1:
            return value
        copy = ledger.add(ledger.origins[value], ledger.types[value])
        region.steps.append(Copy(operation.id, (value,), (copy,)))
        return copy

    def _sequence(self, kind: RepeatKind, sequence: int) -> Sequence[int]:
        """A sequence's members, all moved to the first one's storage group."""
        members = self._members.get(sequence)
        if members is None:
            raise GraphFaultError(f"sequence {sequence} is not in the graph")
        if not members or len(members) < kind.count:
            raise GraphFaultError(f"sequence {sequence} has {len(members)} members for {kind.count} iterations")
        groups = self._lowering.ledger.groups
        for member in members:
            groups[member] = groups[members[0]]
        return members

    def _settle(self, region: LoweredRegion, operation: Operation, value: int, argument: int) -> int:
        """Bring an invariant or a sequence's member, outside, to the format its argument ended with.

        An argument that its body did not use is still automatic; what it stands for is thereby fixed to its flat
        layout.
        """
        ledger = self._lowering.ledger
        ledger.automatic.pop(argument, None)
        return self._lowering.convert(region, value, ledger.types[argument], operation.id)


def _check_counts(operation: Operation, kind: RepeatKind) -> None:
    """Refuse a Repeat whose figures do not agree."""
    body = kind.body
    if kind.count < 1:
        raise GraphFaultError("it repeats its body 0 times")
    for found, declared, what in (
        (len(operation.inputs), kind.carried_inputs + kind.invariant_inputs, "inputs"),
        (len(operation.results), kind.carried_inputs, "results"),
        (len(body.yields), kind.carried_inputs, "yields"),
        (len(body.arguments), len(operation.inputs) + len(kind.iterated_inputs), "arguments of its body"),
    ):
        if found != declared:
            raise GraphFaultError(f"it has {found} {what}, its counts ask for {declared}")


def _yielded(inner: LoweredRegion, graph_value: int) -> int:
    value = inner.environment.get(graph_value)
    if value is None:
        raise GraphFaultError(f"its body yields value {graph_value}, which nothing in it makes")
    return value


class RegionUses:
    """How often each graph value is used in a region, outputs and yields included; counted once for each region."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[Sequence[Operation], Counter[int]]] = {}

    def of(self, operations: Sequence[Operation], outputs: Sequence[int]) -> Counter[int]:
        known = self._counts.get(id(operations))
        if known is None or known[0] is not operations:
            counted = Counter(outputs)
            for operation in operations:
                counted.update(operation.inputs)
            known = self._counts[id(operations)] = (operations, counted)
        return known[1]
