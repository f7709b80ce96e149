"""What an operation came to, kept: the same plan on operands of the same types gives the same steps under other
numbers.

A :class:`Template` is recorded from the values and steps that lowering an operation just added. Placing it again skips
everything but the numbering; and where even the numbers are the same as in an earlier run, the very same step and
value objects are used again, so that what later parts remember about them holds too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tileview.core.lowering.ledger import Ledger, LoweredRegion, ValueNames, name_of
from tileview.core.lowering.sheet import Draft, numbered
from tileview.core.lowering.valuetypes import ValueType
from tileview.model.program import Copy, Kernel, Product, Step, Sum, Value

_ENTRIES: Final = 24
"""Numberings kept for a template; swaps before an operation move its numbers by a few different amounts only."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A template under certain numbers: its steps, its values (rotation 0) and their storage groups."""

    steps: tuple[Step, ...]
    values: tuple[Value, ...]
    groups: tuple[int, ...]


class Template:
    """The values and steps of one operation for one plan, boundary, and operand types.

    References stand in place of numbers: −1, −2, … are the operands' values, 0, 1, … the values added. Steps are
    brought to them when the template is first needed under other numbers.
    """

    __slots__ = (
        "_bound",
        "_casts",
        "_checks",
        "_drafts",
        "_groups",
        "_origins",
        "_owns",
        "_parameters",
        "_placed",
        "_recorded",
        "_types",
        "direct",
    )

    def __init__(
        self,
        ledger: Ledger,
        region: LoweredRegion,
        base: int,
        first_step: int,
        operands: Sequence[int],
        bound: int,
        checks: Sequence[tuple[int, ValueType]],
        names: ValueNames,
    ) -> None:
        """Record what was added from value ``base`` and step ``first_step`` on.

        Two operands are the same value only where the operation reads one graph value twice, so always or never.

        Parameters
        ----------
        bound : int
            The value that consumers of the result use.
        checks : sequence of (value, type)
            The Casts that conversions made because the region had none to use again.
        """
        recorded = _Recorded(base, tuple(operands), tuple(region.steps[first_step:]))
        self._recorded = recorded
        self._drafts: tuple[Draft, ...] | None = None
        self._origins = ledger.origins[base:]
        self._types = ledger.types[base:]
        self._parameters = ledger.parameters[base:]
        groups = ledger.groups[base:]
        self._owns = all(group >= base for group in groups)
        self._groups = recorded.group_references(groups)
        self._bound = bound - base
        self._casts = [
            (recorded.reference(step.inputs[0]), self._types[step.results[0] - base], step.results[0] - base)
            for step in recorded.steps
            if type(step) is Kernel and step.kernel == "Cast" and not step.aliases
        ]
        self._checks = [(recorded.reference(value), made) for value, made in checks if value < base]
        values = _finished(range(base, len(ledger)), self._origins, self._types, groups, names)
        ledger.made[base:] = values
        key = self._key(base, operands, ledger.groups)
        self._placed: dict[tuple[int, ...], _Placed] = {key: _Placed(recorded.steps, tuple(values), tuple(groups))}
        self.direct = any(
            value < base for step in recorded.steps if type(step) in (Kernel, Product) for value in step.inputs
        )
        """A compute step reads an operand's value itself, so a rotated operand would have to be copied first."""

    def fits(self, region: LoweredRegion, operands: Sequence[int]) -> bool:
        """Whether lowering anew would make the same Casts: none of them is there to be used again."""
        checks, casts = self._checks, region.casts
        return not checks or not any((operands[-1 - reference], made) in casts for reference, made in checks)

    def place(
        self, ledger: Ledger, region: LoweredRegion, source: int, operands: Sequence[int], names: ValueNames
    ) -> int:
        """Add values and steps; returns the value that consumers of the result use."""
        base = len(ledger.types)
        groups = ledger.groups
        key = self._key(base, operands, groups)
        placed = self._placed.get(key)
        if placed is None:
            if len(self._placed) >= _ENTRIES:
                self._placed.clear()
            placed = self._placed[key] = self._number(base, operands, source, names, groups)
        ledger.origins.extend(self._origins)
        ledger.types.extend(self._types)
        ledger.parameters.extend(self._parameters)
        groups.extend(placed.groups)
        ledger.made.extend(placed.values)
        region.steps.extend(placed.steps)
        for read, made, written in self._casts:
            value = base + read if read >= 0 else operands[-1 - read]
            region.casts.setdefault((value, made), base + written)
        return base + self._bound

    def _key(self, base: int, operands: Sequence[int], groups: Sequence[int]) -> tuple[int, ...]:
        """All numbers that enter steps and values."""
        return (base, *operands) if self._owns else (base, *operands, *[groups[value] for value in operands])

    def _number(
        self, base: int, operands: Sequence[int], source: int, names: ValueNames, groups: Sequence[int]
    ) -> _Placed:
        if self._drafts is None:
            self._drafts = self._recorded.drafts()
        ids = [*range(base, base + len(self._types)), *operands[::-1]]  # a negative reference counts from the end
        steps = [
            numbered(step, source, [ids[r] for r in step.inputs], [ids[r] for r in step.results])
            for step in self._drafts
        ]
        own_groups = [ids[group] if group >= 0 else groups[ids[group]] for group in self._groups]
        values = _finished(ids, self._origins, self._types, own_groups, names)
        return _Placed(tuple(steps), tuple(values), tuple(own_groups))


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Steps as they were first added, above value ``base``, reading the operands."""

    base: int
    operands: tuple[int, ...]
    steps: tuple[Step, ...]

    def reference(self, value: int) -> int:
        return value - self.base if value >= self.base else -1 - self.operands.index(value)

    def drafts(self) -> tuple[Draft, ...]:
        """The steps with references."""
        return tuple(
            numbered(step, None, [self.reference(v) for v in step.inputs], [self.reference(v) for v in step.results])
            for step in self.steps
            if isinstance(step, Copy | Kernel | Product | Sum)
        )

    def group_references(self, groups: Sequence[int]) -> list[int]:
        """Where each value has its storage group from: a value added here, or the operand it was converted from."""
        base = self.base
        made_from: dict[int, int] = {}
        found: list[int] = []
        for number, group in enumerate(groups, base):
            if group >= base:
                found.append(group - base)
                continue
            made_from = made_from or {step.results[0]: step.inputs[0] for step in self.steps}
            value = made_from[number]
            while value >= base:
                value = made_from[value]
            found.append(self.reference(value))
        return found


def _finished(
    numbers: Iterable[int],
    origins: Sequence[int],
    types: Sequence[ValueType],
    groups: Sequence[int],
    names: ValueNames,
) -> list[Value]:
    """The values written out, unrotated."""
    values: list[Value] = []
    for number, origin, own, group in zip(numbers, origins, types, groups, strict=False):
        name, counted_under = name_of(names, origin)
        values.append(Value(number, origin, name, counted_under, own.shape, own.precision, own.layout, group))
    return values
