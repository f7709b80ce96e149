"""Rotations against brute force: every group placed as if by looking at all tiles one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tileview.core.lowering.rotation import group_rotations
from tileview.core.lowering.tilings import from_end, linear
from tileview.core.lowering.valuetypes import TypeTable, ValueType
from tileview.model.tensor import F16, LEFT, ROW_MAJOR, Layout, Padding, Tiling


def loads_of(own: ValueType, tiles: int) -> list[int]:
    resolved = own.resolved
    assert resolved is not None
    found = [int(elements) * 2 for elements in resolved.owner_elements()]
    return found + [0] * (tiles - len(found))


def brute_force(parameters: list[tuple[int, ValueType]], tiles: int) -> dict[int, int]:
    loads: dict[int, list[int]] = {}
    for group, own in parameters:
        before = loads.get(group, [0] * tiles)
        loads[group] = [a + b for a, b in zip(before, loads_of(own, tiles), strict=True)]
    placed = [0] * tiles
    rotations = {}
    for group in sorted(loads, key=lambda each: (-max(loads[each]), each)):
        load = loads[group]
        candidates = [0] if len(set(load)) == 1 else range(0, tiles, -(-tiles // 128))
        outcomes = []
        for offset in candidates:
            after = list(placed)
            for owner, amount in enumerate(load):
                after[(owner + offset) % tiles] += amount
            outcomes.append((max(after), offset, after))
        _, offset, placed = min(outcomes)
        if offset:
            rotations[group] = offset
    return rotations


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[tuple[int, ValueType]], int]:
    tiles = draw(st.sampled_from([1, 2, 5, 8, 130, 300]))
    types = TypeTable(tiles)
    parameters = []
    for _ in range(draw(st.integers(0, 7))):
        owners = draw(st.integers(1, min(tiles, 12)))
        if draw(st.booleans()):
            grains = draw(st.integers(owners, 3 * owners))
            own = types.get((grains * 4,), F16, Layout(ROW_MAJOR, linear(owners, 4)))
        else:
            shape = (draw(st.integers(1, 60)), 16)
            tiling = Tiling(owners, 1, (from_end(2, owners, 4, Padding.ZERO),))
            own = types.get(shape, F16, Layout(LEFT, tiling))
        parameters.append((draw(st.integers(0, 4)), own))
    return parameters, tiles


@settings(max_examples=80, deadline=None)
@given(programs())
def test_rotations(program: tuple[list[tuple[int, ValueType]], int]) -> None:
    parameters, tiles = program
    assert group_rotations(parameters, tiles) == brute_force(parameters, tiles)
