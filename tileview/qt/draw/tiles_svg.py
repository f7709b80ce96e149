"""Widgets that can draw themselves, as an SVG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator


class Drawable(Protocol):
    def width(self) -> int: ...

    def height(self) -> int: ...

    def draw(self, painter: QPainter) -> None: ...


def write_svg(path: Path, title: str, parts: Sequence[Drawable]) -> bool:
    """Write parts below one another; False where the file cannot be written."""
    width, height = max(part.width() for part in parts), sum(part.height() for part in parts)
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(width, height))
    generator.setViewBox(QRect(0, 0, width, height))
    generator.setTitle(title)
    painter = QPainter()
    if not painter.begin(generator):
        return False
    try:
        for part in parts:
            part.draw(painter)
            painter.setClipping(False)
            painter.translate(0, part.height())
    finally:
        painter.end()
    return True
