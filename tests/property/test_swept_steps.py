"""Steps that hold on every tile what a step before held take its figures; those are what a plain sum gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileview.core.memory import usage
from tileview.core.memory.usage import PlacedTiles
from tileview.model.timeline import ByteArray


class Drawn:
    """Allocations of some kinds of rows, each live for one stretch of steps, and scratch at some steps."""

    def __init__(self, draw: st.DrawFn, rows: list[ByteArray]) -> None:
        self.rows = rows
        self.steps = draw(st.integers(0, 200))
        places = st.integers(0, self.steps)
        kinds = st.integers(0, len(rows) - 1)
        self.live = draw(st.lists(st.tuples(kinds, places, places, st.booleans()), max_size=25))
        scratch = st.dictionaries(st.integers(0, self.steps - 1), kinds, max_size=5) if self.steps else st.just({})
        self.scratch = [draw(scratch), draw(scratch)]

    def placed(self) -> PlacedTiles:
        spans = [(root, min(a, b), max(a, b)) for root, (_, a, b, _) in enumerate(self.live)]
        live = [[root for root, first, last in spans if first <= step < last] for step in range(self.steps)]
        rows = [{step: self.rows[kind] for step, kind in one.items()} for one in self.scratch]
        return PlacedTiles(
            len(self.rows[0]),
            live,
            {root: (root,) for root in range(len(self.live))},
            lambda root: self.live[root][3],
            lambda root: self.rows[self.live[root][0]],
            lambda root: self.rows[self.live[root][0]],
            frozenset(),
            *rows,
            spans=spans,
        )

    def plain(self) -> list[list[int]]:
        """Per step: largest standard, interleaved, total; the last tile of that, and its two classes."""
        found = []
        for step in range(self.steps):
            sums = np.zeros((2, len(self.rows[0])), dtype=np.int64)
            for kind, a, b, interleaved in self.live:
                if min(a, b) <= step < max(a, b):
                    sums[int(interleaved)] += self.rows[kind]
            for column, one in enumerate(self.scratch):
                if step in one:
                    sums[column] += self.rows[one[step]]
            total = sums[0] + sums[1]
            tile = max(tile for tile in range(len(total)) if total[tile] == total.max())
            found.append([*map(int, (sums[0].max(), sums[1].max(), total.max())), tile, *map(int, sums[:, tile])])
        return found


@st.composite
def programs(draw: st.DrawFn) -> list[Drawn]:
    tiles = draw(st.integers(1, 12))
    sizes = st.sampled_from([0, 8, 16, 24, 4096, 2**48])
    rows = [np.array(draw(st.lists(sizes, min_size=tiles, max_size=tiles)), dtype=np.int64) for _ in range(4)]
    return [Drawn(draw, rows) for _ in range(draw(st.integers(1, 3)))]


@settings(max_examples=120, deadline=None)
@given(programs())
def test_the_figures_are_those_of_a_plain_sum(drawn: list[Drawn]) -> None:
    usage.clear_cache()
    for program in drawn:
        assert program.placed().worst_of_all().columns.tolist() == program.plain()
        assert program.placed().worst_of_all().columns.tolist() == program.plain()


def test_few_steps_are_kept_and_the_figures_stay_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST_SWEPT", 10)
    monkeypatch.setattr(usage, "MOST_SUMS", 2)

    @settings(max_examples=40, deadline=None)
    @given(programs())
    def check(drawn: list[Drawn]) -> None:
        for program in drawn:
            assert program.placed().worst_of_all().columns.tolist() == program.plain()

    check()
