"""The values of a program being lowered, as columns, and the regions their steps stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileview.core.lowering.valuetypes import ValueType
from tileview.model.program import Step, Value
from tileview.model.tensor import Shape


class Ledger:
    """Lowered values by number: graph origin, type, storage group, whether one counts as a parameter.

    ``automatic`` holds the parameters whose layout is still open, with the number of copies a home must have room for.
    Columns, not objects: types and groups of inputs and arguments change until the whole program is lowered. ``made``
    holds the finished value where nothing can change it any more, else None.
    """

    __slots__ = ("automatic", "groups", "made", "origins", "parameters", "types")

    def __init__(self) -> None:
        self.origins: list[int] = []
        self.types: list[ValueType] = []
        self.groups: list[int] = []
        self.parameters: list[bool] = []
        self.made: list[Value | None] = []
        self.automatic: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.types)

    def add(self, origin: int, value_type: ValueType, group: int | None = None, parameter: bool = False) -> int:
        """A new value; without a group it is a storage group of its own."""
        number = len(self.types)
        self.origins.append(origin)
        self.types.append(value_type)
        self.groups.append(number if group is None else group)
        self.parameters.append(parameter)
        self.made.append(None)
        return number

    def add_temporaries(self, origin: int, types: Sequence[ValueType]) -> range:
        """A plan's temporaries: groups of their own, no parameters."""
        start = len(self.types)
        numbers = range(start, start + len(types))
        self.origins.extend([origin] * len(types))
        self.types.extend(types)
        self.groups.extend(numbers)
        self.parameters.extend([False] * len(types))
        self.made.extend([None] * len(types))
        return numbers


class Region:
    """A list of operations being lowered: the graph, or the body of a Repeat.

    ``environment``: graph value → the lowered value its consumers use. ``uses``: how often each graph value is used
    here, outputs or yields included. ``casts``: (value, type) → the result of the first Cast of that value to that
    type here.
    """

    __slots__ = ("casts", "environment", "shapes", "steps", "uses")

    def __init__(self, environment: dict[int, int], shapes: Mapping[int, Shape], uses: Mapping[int, int]) -> None:
        self.environment = environment
        self.shapes = shapes
        self.uses = uses
        self.steps: list[Step] = []
        self.casts: dict[tuple[int, ValueType], int] = {}
