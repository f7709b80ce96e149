"""Pictures of views that leave the window: parts below one another, as the bytes of an SVG or a PNG file.

A file is drawn from what the view draws, not from a copy of the screen, so that it is sharp at any size. Not every
program that shows SVG honours clipping, so a part paints nothing outside itself, or says that it does (``spills``):
such a part is drawn first, and what lies around it is covered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPicture
from PySide6.QtSvg import QSvgGenerator

from tileview.errors import SaveError
from tileview.qt.base.painting import painting

MOST_PIXELS: Final = 80_000_000
"""Of a PNG file: 320 MB while it is made."""
MOST_SIDE: Final = 32_000
"""Pixels of a side: Qt paints on no longer ones."""
BAND_PIXELS: Final = 1_000_000
"""A recording is painted so many pixels at a time: Qt lets no other thread of Python run meanwhile."""
_CSS_DPI: Final = 96
_INCH_MM: Final = 25.4

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no XML file may hold, escaped or not."""
_SIZE = re.compile(r'<svg width="[0-9.]+mm" height="[0-9.]+mm"')
_EMPTY_PATH = re.compile(r'<path\b[^>]*\sd=""[^>]*/>')
_FAMILY = re.compile(r'font-family="([^",]*)"')


class Part(Protocol):
    """Something that draws itself with its corner at the origin, and nothing outside its size."""

    def width(self) -> int: ...

    def height(self) -> int: ...

    def draw(self, painter: QPainter) -> None: ...


def spills(part: Part) -> bool:
    """Whether a part may paint outside itself all the same, where nothing clips it."""
    return bool(getattr(part, "spills", False))


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn: ``title`` and ``description`` for those who hear it, parts from top to bottom, and the ground."""

    title: str
    description: str
    parts: Sequence[Part]
    ground: QColor
    margin: int = 8
    gap: int = 4

    def size(self) -> QSize:
        """In pixels of a screen without scaling."""
        width = max((part.width() for part in self.parts), default=0)
        height = sum(part.height() for part in self.parts) + self.gap * max(len(self.parts) - 1, 0)
        return QSize(max(width, 1) + 2 * self.margin, max(height, 1) + 2 * self.margin)

    def paint(self, painter: QPainter) -> None:
        """Draw all of it with its corner at the origin."""
        size, y = self.size(), self.margin
        painter.fillRect(QRect(0, 0, size.width(), size.height()), self.ground)
        places = []
        for part in self.parts:
            places.append((part, y))
            y += part.height() + self.gap
        for part, y in places:
            if spills(part):
                self._draw(painter, part, y, True)
                for cover in self._around(QRect(self.margin, y, part.width(), part.height()), size):
                    painter.fillRect(cover, self.ground)
        for part, y in places:
            if not spills(part):
                self._draw(painter, part, y, False)

    def _draw(self, painter: QPainter, part: Part, y: int, clipped: bool) -> None:
        painter.save()
        painter.translate(self.margin, y)
        if clipped:
            painter.setClipRect(QRect(0, 0, part.width(), part.height()))
        part.draw(painter)
        painter.restore()

    def _around(self, inner: QRect, size: QSize) -> list[QRect]:
        """What lies around a part: painted over, for viewers that do not clip."""
        width, height = size.width(), size.height()
        return [
            QRect(0, 0, width, inner.top()),
            QRect(0, inner.bottom() + 1, width, height - inner.bottom() - 1),
            QRect(0, inner.top(), inner.left(), inner.height()),
            QRect(inner.right() + 1, inner.top(), width - inner.right() - 1, inner.height()),
        ]


class Paintable(Protocol):
    """Something of a size that paints itself: a picture, or a recording of one."""

    def size(self) -> QSize: ...

    def paint(self, painter: QPainter) -> None: ...


class Recording:
    """What a picture painted, to be painted again on any thread; the picture itself needs its widgets, and theirs.

    Painting millions of pixels takes long, noting down what is to be painted does not.
    """

    def __init__(self, picture: Picture) -> None:
        self._size = picture.size()
        self._strokes = QPicture()
        with painting(self._strokes) as painter:
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            picture.paint(painter)

    def size(self) -> QSize:
        return self._size

    def paint(self, painter: QPainter) -> None:
        self._strokes.play(painter)


def svg_bytes(picture: Picture) -> bytes:
    """The picture as SVG 1.1; texts stay texts.

    Raises
    ------
    SaveError
        Where it cannot be painted.
    """
    buffer, size = QBuffer(), picture.size()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setResolution(_screen_dpi())
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(_ILLEGAL.sub("\ufffd", picture.title))
    generator.setDescription(_ILLEGAL.sub("\ufffd", picture.description))
    painter = QPainter()
    if not painter.begin(generator):
        raise SaveError("The view could not be painted as SVG.")
    try:
        picture.paint(painter)
    finally:
        painter.end()
    buffer.close()
    return _tidy(bytes(buffer.data().data()), size)


def _screen_dpi() -> int:
    """What the fonts of widgets are measured with: texts must be as wide in the file as where they were laid out."""
    image = QImage(1, 1, QImage.Format.Format_RGB32)
    return image.logicalDpiX()


def _tidy(raw: bytes, size: QSize) -> bytes:
    """Qt's file in pixels, without what XML forbids and paths of nothing, with a font for every machine."""
    text = _ILLEGAL.sub("\ufffd", raw.decode("utf-8", errors="replace"))
    text = _SIZE.sub(f'<svg width="{size.width()}" height="{size.height()}"', text, count=1)
    text = _EMPTY_PATH.sub("", text)
    return _FAMILY.sub(r'font-family="\1, sans-serif"', text).encode("utf-8")


def scale_within(size: QSize, scale: float) -> float:
    """The scale asked for, or the largest that :data:`MOST_PIXELS` and :data:`MOST_SIDE` allow."""
    width, height = max(size.width(), 1), max(size.height(), 1)
    return min(scale, MOST_SIDE / width, MOST_SIDE / height, math.sqrt(MOST_PIXELS / (width * height)))


def png_image(picture: Paintable, scale: float = 1.0) -> QImage:
    """The picture as pixels, so many of them for one on a screen without scaling.

    Raises
    ------
    SaveError
        Where there is no memory for it.
    """
    size = picture.size()
    scale = scale_within(size, scale)
    pixels = QSize(max(int(size.width() * scale), 1), max(int(size.height() * scale), 1))
    image = QImage(pixels, QImage.Format.Format_RGB32)
    if image.isNull():
        raise SaveError(f"There is no memory for a picture of {pixels.width():,} × {pixels.height():,} pixels.")
    rows = max(BAND_PIXELS // pixels.width(), 1) if isinstance(picture, Recording) else pixels.height()
    for top in range(0, pixels.height(), rows):
        _paint_rows(picture, image, top, min(rows, pixels.height() - top), scale)
    image.setDevicePixelRatio(scale)
    per_metre = round(_CSS_DPI / _INCH_MM * 1000 * scale)
    image.setDotsPerMeterX(per_metre)
    image.setDotsPerMeterY(per_metre)
    return image


def _paint_rows(picture: Paintable, image: QImage, top: int, rows: int, scale: float) -> None:
    """Paint some rows of an image: the memory of those rows is an image of its own."""
    line = image.bytesPerLine()
    memory = image.bits()[top * line : (top + rows) * line]
    band = QImage(memory, image.width(), rows, line, image.format())
    band.setDevicePixelRatio(scale)
    painter = QPainter()
    if not painter.begin(band):
        raise SaveError("The view could not be painted.")
    try:
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.translate(0, -top / scale)
        picture.paint(painter)
    finally:
        painter.end()


def image_to_png(image: QImage) -> bytes:
    """Pixels as a PNG file; may run on any thread.

    Raises
    ------
    SaveError
        Where Qt cannot make it.
    """
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    written = image.save(buffer, "PNG")  # type: ignore[call-overload]
    buffer.close()
    if not written:
        raise SaveError("The picture could not be made into a PNG file.")
    return bytes(buffer.data().data())
