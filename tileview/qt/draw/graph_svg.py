"""The graph as an SVG file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMarginsF, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator

from tileview.qt.draw.graph_scene import GraphScene, Highlight
from tileview.qt.draw.legend_strip import LegendStrip


def write_svg(path: Path, scene: GraphScene, marks: Highlight, legend: LegendStrip) -> bool:
    """Write the whole graph at full detail, whatever part of it is in view, with its legend below.

    False where the file cannot be written.
    """
    bounds = scene.bounds.marginsAdded(QMarginsF(16, 16, 16, 16))
    width = max(round(bounds.width()), 420)
    height = round(bounds.height() + legend.height_for(width))
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(width, height))
    generator.setViewBox(QRect(0, 0, width, height))
    generator.setTitle("Operator graph")
    generator.setDescription(legend.text())
    painter = QPainter()
    if not painter.begin(generator):
        return False
    painter.fillRect(QRect(0, 0, width, height), scene.theme.color("background"))
    painter.save()
    painter.translate(-bounds.topLeft())
    scene.paint(painter, bounds, 1.0, Highlight(marks.selected, marks.holder))
    painter.restore()
    painter.translate(0, bounds.height())
    legend.paint_on(painter, width)
    return painter.end()
