"""How long the graph takes: reading, layout, first picture, one frame at several zooms, one step.

Run: ``QT_QPA_PLATFORM=offscreen python tests/benchmarks/bench_graph.py [OPERATIONS …]``; without numbers 50, 500 and
5,000 operations, each as a plain long graph, as one with many long edges, and with its operations in bodies of Repeats.
Aim: 5,000 operations laid out within 3 s.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication

from tests.helpers.graphs import generated, graph, operation, repeat
from tileview.graphlayout import Picture, Structure, find_neighbours, layout_graph, read_structure
from tileview.model.graph import Graph, Operation
from tileview.present.graph_figures import no_figures
from tileview.present.graph_style import ColourMode, graph_style
from tileview.present.graph_words import node_words
from tileview.qt.draw.graph_canvas import GraphCanvas
from tileview.qt.draw.graph_scene import GraphScene
from tileview.qt.theme import load_theme

SCALES = (1.0, 0.5, 0.25, 0.1, 0.03)


def nested(size: int) -> Graph:
    """Repeats of 40 operations each, one after the other, all bodies shown."""
    steps: list[Operation] = []
    value, number = 0, 0
    for _ in range(max(1, size // 40)):
        first = 1_000_000 + number * 10
        body = [operation(number + place, [first + place], [first + place + 1]) for place in range(40)]
        number += 40
        steps.append(repeat(10_000_000 + number, [value], [value + 1], body, [first], [first + 40]))
        value += 1
    return graph(steps, [value])


def timed(work: Callable[[], object]) -> tuple[object, float]:
    started = time.perf_counter()
    result = work()
    return result, 1000 * (time.perf_counter() - started)


def frames(canvas: GraphCanvas, picture: Picture, scale: float) -> tuple[float, float]:
    """First and median milliseconds of a frame while panning, around the middle of the picture."""
    canvas.fit()
    canvas.zoom(scale / canvas.scale)
    middle = picture.rects[len(picture.rects) // 2]
    canvas.pan(*(QPointF(canvas.width() / 2, canvas.height() / 2) - canvas.to_widget(QPointF(*middle[:2]))).toTuple())
    target = QPixmap(canvas.size())
    times = []
    for _ in range(12):
        canvas.pan(9, 6)
        times.append(timed(lambda: canvas.render(target))[1])
    return times[0], median(times)


def measure(name: str, model: Graph) -> None:
    structure, reading = timed(lambda: read_structure(model))
    assert isinstance(structure, Structure)
    _, neighbours = timed(lambda: find_neighbours(structure))
    picture, layout = timed(lambda: layout_graph(structure))
    assert isinstance(picture, Picture)
    words, saying = timed(lambda: node_words(structure, model, {}))
    sizes = np.random.default_rng(1).integers(0, 1 << 16, (2, len(structure.nodes)))
    figures = replace(no_figures(structure), own=sizes[0], read=sizes[1], usage=int(sizes.sum()), step=0, tile=0)
    style, colouring = timed(lambda: graph_style(structure, figures, ColourMode.SHARE))
    theme = load_theme("light")
    scene = GraphScene(structure, picture, words, style, theme, QApplication.font())  # type: ignore[arg-type]
    print(
        f"{name}: {len(picture.nodes):,} boxes, {len(picture.edges):,} edges, {len(picture.points):,} points: "
        f"read {reading:.0f} ms, neighbours {neighbours:.0f} ms, layout {layout:.0f} ms, words {saying:.0f} ms, "
        f"colours of a step {colouring:.1f} ms"
    )
    for note in picture.notes:
        print(f"  {note}")
    canvas = GraphCanvas(theme)
    canvas.resize(1200, 800)
    canvas.set_scene(scene)
    canvas.fit()
    target = QPixmap(canvas.size())
    whole = [timed(lambda: canvas.render(target))[1] for _ in range(5)]
    print(f"  whole graph: first frame {whole[0]:.0f} ms, then {median(whole[1:]):.1f} ms")
    for scale in SCALES:
        first, usual = frames(canvas, picture, scale)
        print(f"  zoom {scale}: first frame {first:.1f} ms, then {usual:.1f} ms")


def main() -> None:
    application = QApplication(sys.argv[:1])
    sizes = [int(word) for word in sys.argv[1:]] or [50, 500, 5_000]
    for size in sizes:
        measure(f"{size} plain", generated(size))
        measure(f"{size} with long edges", generated(size, seed=2, skips=0.5, reach=size // 3 or 1))
        measure(f"{size} in bodies", nested(size))
    application.processEvents()


if __name__ == "__main__":
    main()
