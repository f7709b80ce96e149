"""How long the graph takes: reading, layout, first picture, frames while one pans and zooms, one step.

Run: ``QT_QPA_PLATFORM=offscreen python tests/benchmarks/bench_graph.py [OPERATIONS …]``; without numbers 50, 500 and
5,000 operations, in several shapes: long and plain, with many long edges, with two operands taken from anywhere, as a
chain, as readers of one value, and in bodies of Repeats.
Aims: 5,000 operations ready within 3 s on a busy machine; a frame within 16 ms as a rule, 33 ms at worst.
"""

from __future__ import annotations

import gc
import os
import random
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
from tileview.graphlayout import GraphPicture, Structure, find_neighbours, layout_graph, read_structure
from tileview.model.graph import Graph, Operation
from tileview.present.graph_boxes import ColourMode, graph_style, no_figures, no_marks, node_words
from tileview.present.scales import parse_rgb
from tileview.qt.base.theme import load_theme
from tileview.qt.views.graph.canvas import GraphCanvas
from tileview.qt.views.graph.scene import GraphScene

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


def scattered(size: int) -> Graph:
    """Each operation reads two of all values before it: nothing is close to what it reads."""
    chance = random.Random(3)
    return graph(
        [operation(at, [chance.randint(0, at), chance.randint(0, at)], [at + 1]) for at in range(size)], [size]
    )


def chain(size: int) -> Graph:
    return graph([operation(at, [at], [at + 1]) for at in range(size)], [size])


def readers(size: int) -> Graph:
    """All operations read one value."""
    return graph([operation(at, [0], [at + 1]) for at in range(size)], [])


def timed(work: Callable[[], object]) -> tuple[object, float]:
    started = time.perf_counter()
    result = work()
    return result, 1000 * (time.perf_counter() - started)


def frames(canvas: GraphCanvas, picture: GraphPicture, scale: float) -> tuple[float, list[float], list[float]]:
    """Milliseconds of a frame around the middle of the picture: the first, those while panning, and those while
    zooming in and out.
    """
    canvas.fit()
    canvas.zoom(scale / canvas.scale)
    middle = picture.rects[len(picture.rects) // 2]
    canvas.pan(*(QPointF(canvas.width() / 2, canvas.height() / 2) - canvas.to_widget(QPointF(*middle[:2]))).toTuple())
    target = QPixmap(canvas.size())

    def frame() -> float:
        return timed(lambda: canvas.render(target))[1]

    first, panned, zoomed = frame(), [], []
    for _ in range(12):
        canvas.pan(9, 6)
        panned.append(frame())
    for factor in (1.02, 1 / 1.02) * 3:
        canvas.zoom(factor)
        zoomed.append(frame())
    return first, panned, zoomed


def measure(name: str, model: Graph) -> None:
    gc.collect()
    gc.disable()  # as while the program lays out
    structure, reading = timed(lambda: read_structure(model))
    assert isinstance(structure, Structure)
    _, neighbours = timed(lambda: find_neighbours(structure))
    picture, layout = timed(lambda: layout_graph(structure))
    gc.enable()
    assert isinstance(picture, GraphPicture)
    words, saying = timed(lambda: node_words(structure, model, {}))
    sizes = np.random.default_rng(1).integers(0, 1 << 16, (2, len(structure.nodes)))
    figures = replace(no_figures(structure), own=sizes[0], read=sizes[1], usage=int(sizes.sum()), step=0, tile=0)
    theme = load_theme("light")
    colours = [parse_rgb(text) for text in theme.categories]
    marks = no_marks(structure)
    style, colouring = timed(lambda: graph_style(structure, figures, marks, ColourMode.SHARE, colours))
    scene = GraphScene(structure, picture, words, style, theme, QApplication.font())  # type: ignore[arg-type]
    print(
        f"{name}: {len(picture.nodes):,} boxes, {len(picture.edges):,} edges, {len(picture.strokes):,} lines: "
        f"read {reading:.0f} ms, neighbours {neighbours:.0f} ms, layout {layout:.0f} ms, words {saying:.0f} ms, "
        f"colours of a step {colouring:.1f} ms"
    )
    for note in picture.notes:
        print(f"  {note}")
    canvas = GraphCanvas(theme)
    canvas.resize(1200, 800)
    canvas.set_scene(scene)
    canvas.fit()
    for scale in (canvas.scale, *(scale for scale in SCALES if scale > canvas.scale)):
        first, panned, zoomed = frames(canvas, picture, scale)
        print(
            f"  zoom {scale:.3g}: first frame {first:.1f} ms; panning {median(panned):.1f} (worst {max(panned):.1f}), "
            f"zooming {median(zoomed):.1f} (worst {max(zoomed):.1f})"
        )


def main() -> None:
    application = QApplication(sys.argv[:1])
    sizes = [int(word) for word in sys.argv[1:]] or [50, 500, 5_000]
    for size in sizes:
        measure(f"{size} plain", generated(size))
        measure(f"{size} with long edges", generated(size, seed=2, skips=0.5, reach=size // 3 or 1))
        measure(f"{size} scattered", scattered(size))
        measure(f"{size} in a chain", chain(size))
        measure(f"{size} readers", readers(size))
        measure(f"{size} in bodies", nested(size))
    application.processEvents()


if __name__ == "__main__":
    main()
