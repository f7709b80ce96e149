"""The lines that edges consist of: all of them, each once, and cut to what is in view."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.graphs import generated, graph, operation
from tileview.graphlayout import (
    GraphPicture,
    Stroke,
    Way,
    bent,
    clip,
    layout_graph,
    make_strokes,
    read_structure,
    snapped_to_grid,
    stubs,
    touching,
)

AREA = (10.0, 20.0, 50.0, 40.0)


def lines(*rows: tuple[float, float, float, float]) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def pieces(picture: GraphPicture) -> list[tuple[Stroke, tuple[float, float, float, float]]]:
    """Every line of every edge, from its upper to its lower end, as often as it occurs."""
    found = []
    for edge, way in enumerate(picture.ways.tolist()):
        points = picture.points[picture.offsets[edge] : picture.offsets[edge + 1]].tolist()
        back = way & (Way.UPWARDS | Way.LOOP | Way.BOTH)
        kind = Stroke.STRAIGHT if way & Way.STRAIGHT else Stroke.BACK if back else Stroke.PLAIN
        for one, other in itertools.pairwise(points):
            (x0, y0), (x1, y1) = sorted((one, other), key=lambda point: (point[1], point[0]))
            found.append((kind, (x0, y0, x1, y1)))
    return found


CASES = {
    "long edges": generated(300, seed=2, skips=0.5, reach=100),
    "one value, many readers": graph([operation(index, [0], [index + 1]) for index in range(80)], []),
    "cycles and loops": graph([operation(0, [3, 1], [1]), operation(1, [1, 2], [2]), operation(2, [2, 1], [3])], [3]),
    "nothing": graph([], [], []),
}


@pytest.mark.parametrize("name", CASES)
def test_every_line_of_every_edge_is_there_and_none_besides(name: str) -> None:
    picture = layout_graph(read_structure(CASES[name]))
    strokes = picture.strokes
    wanted = pieces(picture)
    drawn = list(zip(map(Stroke, strokes.kinds.tolist()), map(tuple, strokes.lines.tolist()), strict=True))
    assert len(drawn) == len(set(drawn))
    upright: dict[tuple[Stroke, float], list[tuple[float, float]]] = {}
    for kind, (x0, y0, x1, y1) in drawn:
        if x0 == x1:
            upright.setdefault((kind, x0), []).append((y0, y1))
    slanted = {entry for entry in drawn if entry[1][0] != entry[1][2]}
    assert {entry for entry in wanted if entry[1][0] != entry[1][2]} == slanted
    for kind, (x0, y0, x1, y1) in wanted:
        if x0 == x1 and y0 != y1:
            assert any(top <= y0 and y1 <= bottom for top, bottom in upright[kind, x0])
    # Joined lines are as long as the parts of the height that one of the edges covers.
    for (kind, x), spans in upright.items():
        covered = sorted((y0, y1) for other, (x0, y0, x1, y1) in wanted if other is kind and x0 == x1 == x)
        length, low = 0.0, -np.inf
        for top, bottom in covered:
            length += max(0.0, bottom - max(top, low))
            low = max(low, bottom)
        assert sum(bottom - top for top, bottom in spans) == pytest.approx(length)


def test_a_way_that_a_hundred_edges_share_is_drawn_once() -> None:
    picture = layout_graph(read_structure(graph([operation(i, [0], [i + 1]) for i in range(1000)], [])))
    assert len(pieces(picture)) > 15_000
    assert len(picture.strokes) < 1_100


def test_lines_end_to_end_are_one_and_others_are_not() -> None:
    points = np.array([[0, 0], [0, 10], [0, 20], [0, 40], [0, 50], [7, 15], [7, 30]], dtype=np.float64)
    offsets, ways = np.array([0, 3, 5, 7]), np.zeros(3, dtype=np.int64)
    strokes = make_strokes(points, offsets, ways)
    assert strokes.lines.tolist() == [[0, 0, 0, 20], [0, 40, 0, 50], [7, 15, 7, 30]]
    assert not strokes.curved.any()


def test_kinds_and_curves() -> None:
    points = np.array([[0, 0], [9, 10], [0, 10], [9, 0], [5, 0], [5, 9], [0, 0], [9, 9]], dtype=np.float64)
    ways = np.array([Way.PLAIN, Way.UPWARDS, Way.LOOP, Way.STRAIGHT], dtype=np.int64)
    strokes = make_strokes(points, np.arange(0, 9, 2), ways)
    rows = zip(strokes.lines.tolist(), strokes.kinds.tolist(), strokes.curved.tolist(), strict=True)
    found = {tuple(line): (kind, curved) for line, kind, curved in rows}
    assert found == {
        (0, 0, 9, 10): (Stroke.PLAIN, True),
        (9, 0, 0, 10): (Stroke.BACK, True),
        (5, 0, 5, 9): (Stroke.BACK, False),
        (0, 0, 9, 9): (Stroke.STRAIGHT, False),
    }


class TestInView:
    def test_cut_at_the_borders(self) -> None:
        given_lines = lines((0, 30, 60, 30), (30, 0, 30, 100), (20, 25, 40, 35), (0, 0, 5, 5), (0, 30, 20, 30))
        assert clip(given_lines, AREA).tolist() == [
            [10, 30, 50, 30],
            [30, 20, 30, 40],
            [20, 25, 40, 35],
            [10, 30, 20, 30],
        ]

    @given(
        st.lists(st.tuples(*[st.integers(0, 60)] * 4), min_size=1, max_size=20),
    )
    @settings(max_examples=100, deadline=None)
    def test_what_is_cut_is_what_lies_inside(self, rows: list[tuple[int, int, int, int]]) -> None:
        left, top, right, bottom = AREA
        for row in rows:
            (y0, x0), (y1, x1) = sorted([row[:2], row[2:]])
            steps = np.linspace(0, 1, 2001)
            x, y = x0 + (x1 - x0) * steps, y0 + (y1 - y0) * steps
            inside = (x > left) & (x < right) & (y > top) & (y < bottom)
            cut = clip(lines((x0, y0, x1, y1)), AREA)
            assert touching(lines((x0, y0, x1, y1)), AREA).any() or not inside.any()
            if not inside.any() or (x0, y0) == (x1, y1):
                continue
            expected = np.array([x[inside][0], y[inside][0], x[inside][-1], y[inside][-1]])
            assert np.abs(cut[0] - expected).max() < 0.1

    def test_dashes_begin_where_they_would_without_the_cut(self) -> None:
        ((x0, y0, x1, _),) = clip(lines((0, 30, 1000, 30)), AREA, period=7.0).tolist()
        assert x0 <= AREA[0] < x0 + 7
        assert x0 % 7 == pytest.approx(0)
        assert (y0, x1) == (30, 50)


def test_ends_of_long_lines() -> None:
    found = stubs(lines((0, 0, 0, 100), (0, 0, 30, 40)), 20.0)
    assert found.tolist() == [[0, 0, 0, 20], [0, 0, 12, 16], [0, 80, 0, 100], [18, 24, 30, 40]]
    assert stubs(lines((0, 0, 30, 40)), 25.0).tolist() == [[0, 0, 30, 40]]


def test_on_a_grid_equal_lines_are_one_and_points_none() -> None:
    found = snapped_to_grid(lines((0.2, 0.1, 9.9, 4.2), (0.3, -0.2, 10.1, 3.8), (1.1, 1.2, 0.9, 0.8)), 1.0)
    assert found.tolist() == [[0, 0, 10, 4]]


def test_an_s_is_the_cubic_that_is_upright_at_both_ends() -> None:
    (points,) = bent(lines((2, 10, 22, 50)), 4).tolist()
    t = np.linspace(0, 1, 5)
    weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]
    x = sum(weight * at for weight, at in zip(weights, (2, 2, 22, 22), strict=True))
    y = sum(weight * at for weight, at in zip(weights, (10, 30, 30, 50), strict=True))
    assert np.allclose(points, np.stack([x, y], axis=1))
