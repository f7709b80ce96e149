"""Types of lowered values, one object for each (shape, precision, layout), so that comparing two is comparing
identities.

Re-planning asks the same questions of the same few hundred types over and over: whether one resolves, how a value of
it is brought to a format, whether two hold the same distribution. Answers hang on the type object or are keyed by it,
and a key of such objects hashes without looking into a layout.
"""

from __future__ import annotations

from math import prod
from typing import Final

from tileview.core.geometry.resolve import LayoutError, LayoutErrorKind, resolve, same_distribution
from tileview.core.geometry.resolved import Resolved
from tileview.model.tensor import Layout, Precision, Shape


class RefusedError(Exception):
    """A rule refuses a plan: which value or figure, and why; becomes a PlanError that names the operation."""


_UNRESOLVED: Final = "unresolved"


class ValueType:
    """Shape, precision and layout of a lowered value. Made by :class:`TypeTable` only; equal means identical."""

    __slots__ = ("_problem", "conversions", "layout", "precision", "shape", "tile_count")

    def __init__(self, shape: Shape, precision: Precision, layout: Layout, tile_count: int) -> None:
        self.shape = shape
        self.precision = precision
        self.layout = layout
        self.tile_count = tile_count
        self._problem: str | None = _UNRESOLVED
        self.conversions: dict[tuple[ValueType, bool], tuple[tuple[ValueType, str | None], ...]] = {}

    @property
    def problem(self) -> str | None:
        """Why a value of this type cannot be: its layout is invalid, or has more owners than the program tiles.

        A layout whose element order is not known is let through: its size is unavailable, its program is not refused.
        """
        if self._problem is _UNRESOLVED:
            self._problem = self._find_problem()
        return self._problem

    def _find_problem(self) -> str | None:
        try:
            resolve(self.shape, self.layout)
        except LayoutError as error:
            if error.kind is not LayoutErrorKind.UNKNOWN_ORDER:
                return f"has no valid layout: {error}"
        owners = self.layout.tiling.tile_count
        if owners > self.tile_count:
            return f"needs {owners} tiles, the program has {self.tile_count}"
        return None

    @property
    def resolved(self) -> Resolved | None:
        """The resolved layout, None where it does not resolve."""
        try:
            return resolve(self.shape, self.layout)
        except LayoutError:
            return None

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def __str__(self) -> str:
        """For messages: ``[1, 4, 144] F16``."""
        return f"{list(self.shape)} {self.precision}"


class TypeTable:
    """Every type of the programs of one tile count; ``get`` gives the one object for a shape, precision and layout.

    ``canonical`` holds the canonical types that were asked for, by shape and precision; ``homes`` those chosen for
    parameters, by type, type needed first, copies, and the two limits.
    """

    __slots__ = ("_distributions", "_types", "canonical", "homes", "tile_count")

    def __init__(self, tile_count: int) -> None:
        self.tile_count = tile_count
        self._types: dict[tuple[Shape, Precision, Layout], ValueType] = {}
        self._distributions: dict[tuple[ValueType, ValueType], bool] = {}
        self.canonical: dict[tuple[Shape, Precision], ValueType] = {}
        self.homes: dict[tuple[ValueType, ValueType, int, int, int], ValueType] = {}

    def __len__(self) -> int:
        return len(self._types)

    def get(self, shape: Shape, precision: Precision, layout: Layout) -> ValueType:
        key = (shape, precision, layout)
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = ValueType(shape, precision, layout, self.tile_count)
        return found

    def same_storage(self, a: ValueType, b: ValueType) -> bool:
        """Whether a value of type ``a`` serves where ``b`` is asked for: a copy between them would change nothing.

        Precision, order and class are equal, and the distributions are the same however their axes are named.
        """
        if a is b:
            return True
        known = self._distributions.get((a, b))
        if known is None:
            known = (
                a.precision == b.precision
                and a.layout.order == b.layout.order
                and a.layout.memory_class is b.layout.memory_class
                and same_distribution(a.shape, a.layout, b.shape, b.layout)
            )
            self._distributions[a, b] = known
        return known
