"""Rotations: parameters are placed so that the fullest tile stays as empty as possible, and uses follow where they
must.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tileview.core.lowering.ledger import Ledger
from tileview.core.lowering.valuetypes import ValueType
from tileview.errors import PlanError
from tileview.model.program import Copy, Kernel, Product, Repeat, Step

Loads = npt.NDArray[np.int64]

_OFFSETS = 128
"""Rotations that are tried for a group, at most."""
_ABSURD_BYTES = 1 << 50
"""A group that puts more on a tile counts nothing: wherever it is put it fits no chip, and sums stay within 64 bits."""


def group_rotations(parameters: Sequence[tuple[int, ValueType]], tiles: int) -> dict[int, int]:
    """The rotation of every storage group of parameters; groups at 0 are left out.

    Groups are placed by falling largest load of a tile, ties by lower number. One that loads all tiles alike stays at
    0; any other takes, of every ⌈tiles / 128⌉-th rotation, the one after which the fullest tile holds least, ties by
    lower rotation.

    Parameters
    ----------
    parameters : sequence of (storage group, type)
        One entry for every Parameter input.
    tiles : int
        The program's tile count.
    """
    loads = _group_loads(parameters)
    placed = np.zeros(2 * tiles, dtype=np.int64)  # the tiles twice over, so that a rotated group is one piece
    step = -(-tiles // _OFFSETS)
    rotations: dict[int, int] = {}
    for group, load in _by_load(loads):
        owners = len(load)
        if owners == tiles and int(load.min()) == int(load.max()):
            placed += load[0]
            continue
        # a tile of the group counts for more than it did before, so the fullest tile is one of those or as it was
        under = np.ndarray((-(-tiles // step), owners), np.int64, placed, 0, (step * placed.itemsize, placed.itemsize))
        fullest = np.maximum((under + load).max(axis=1), placed.max())
        offset = int(fullest.argmin()) * step
        if offset:
            rotations[group] = offset
        placed[offset : offset + owners] += load
        beyond = max(offset + owners - tiles, 0)
        placed[:beyond] += load[owners - beyond :]
        placed[tiles:] = placed[:tiles]
    return rotations


def _by_load(loads: dict[int, Loads]) -> list[tuple[int, Loads]]:
    return sorted(loads.items(), key=lambda entry: (-int(entry[1].max()), entry[0]))


def _group_loads(parameters: Sequence[tuple[int, ValueType]]) -> dict[int, Loads]:
    """Bytes on every owner of each group, all members together; parameters of unknown or absurd size count nothing."""
    loads: dict[int, Loads] = {}
    for (group, own), members in Counter(parameters).items():
        resolved, size = own.resolved, own.precision.element_bytes
        if resolved is None or size is None or resolved.maximum_elements * size * members > _ABSURD_BYTES:
            continue
        load = resolved.owner_elements() * (size * members)
        before = loads.get(group)
        if before is not None:
            longer, shorter = (load, before) if len(load) >= len(before) else (before, load)
            load = longer.copy()
            load[: len(shorter)] += shorter
        loads[group] = load
    return loads


class OwnerCopies:
    """Copies operands to where their step runs, wherever a rotated parameter is used in its home layout.

    Values have the rotation of their storage group. The values added are numbered after all others in order of the
    steps.
    """

    def __init__(self, ledger: Ledger, rotations: dict[int, int]) -> None:
        self._ledger = ledger
        self.rotations = [rotations.get(group, 0) for group in ledger.groups] if rotations else [0] * len(ledger)
        self._rotated = {value for value, rotation in enumerate(self.rotations) if rotation} if rotations else set()
        """The values that are rotated; grows with those that are copied and the arguments of Repeats."""
        self._moved = bool(rotations)
        self._follows = True

    def apply(self, steps: Sequence[Step], *, follow: bool = True) -> tuple[Step, ...]:
        """The steps of a region with the copies in place.

        Parameters
        ----------
        follow : bool
            False where no compute step reads a parameter itself: then only Repeats are looked at.

        Raises
        ------
        PlanError
            Where members of a sequence, or a Repeat's result and its carried input, have different rotations.
        """
        self._follows = follow and self._moved
        return tuple(self._region(steps)) if self._moved else tuple(steps)

    def _region(self, steps: Sequence[Step]) -> Sequence[Step]:
        into: list[Step] = []
        follows, is_at_home = self._follows, self._rotated.isdisjoint
        for step in steps:
            kind = type(step)
            if kind is Repeat:
                into.append(self._repeat(step))  # type: ignore[arg-type]
            elif (
                follows
                and (kind is Kernel or kind is Product)
                and not (is_at_home(step.inputs) and is_at_home(step.results))
            ):
                self._follow(step, into)  # type: ignore[arg-type]
            else:
                into.append(step)
        return into

    def _follow(self, step: Kernel | Product, into: list[Step]) -> None:
        rotations = self.rotations
        wanted = rotations[step.results[0]]
        inputs = list(step.inputs)
        donors = {donor: step.results[result] for result, donor in step.aliases}
        changed = False
        for index, value in enumerate(inputs):
            followed = rotations[donors[index]] if index in donors else wanted
            if rotations[value] != followed:
                inputs[index] = self._copy(value, followed, step.source, into)
                changed = True
        if not changed:
            into.append(step)
        elif isinstance(step, Kernel):
            into.append(Kernel(step.source, step.kernel, tuple(inputs), step.results, step.aliases, step.part))
        else:
            figures = (step.multiply, step.accumulate, step.aliases, step.blocks)
            into.append(Product(step.source, tuple(inputs), step.results, *figures))

    def _copy(self, value: int, rotation: int, source: int | None, into: list[Step]) -> int:
        ledger = self._ledger
        copy = ledger.add(ledger.origins[value], ledger.types[value])
        self.rotations.append(rotation)
        if rotation:
            self._rotated.add(copy)
        into.append(Copy(source, (value,), (copy,)))
        return copy

    def _repeat(self, step: Repeat) -> Repeat:
        """Arguments take owner map and group of what they stand for; yields are copied to where the carried inputs
        lie.
        """
        rotations, groups = self.rotations, self._ledger.groups
        for members in step.iterated:
            if any(rotations[member] != rotations[members[0]] for member in members):
                raise PlanError("the members of a sequence lie on different tiles", step.source)
        stood_for = (*step.inputs, *(members[0] for members in step.iterated))
        for argument, value in zip(step.arguments, stood_for, strict=True):
            rotations[argument] = rotations[value]
            if rotations[value]:
                self._rotated.add(argument)
            groups[argument] = groups[value]
        for result, value in zip(step.results, step.inputs, strict=False):
            if rotations[result] != rotations[value]:
                raise PlanError("a result and the input it is carried from lie on different tiles", step.source)
        body = list(self._region(step.body))
        yields = [
            value
            if rotations[value] == rotations[carried]
            else self._copy(value, rotations[carried], step.source, body)
            for value, carried in zip(step.yields, step.inputs, strict=False)
        ]
        return replace(step, body=tuple(body), yields=tuple(yields))
