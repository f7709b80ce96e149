"""Icons from ``resources/icons``: one set of outlines, drawn in the colours of the theme."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtSvg import QSvgRenderer

from tileview.qt.base.painting import painting
from tileview.qt.base.theme import Theme
from tileview.resources import resource

_SIZES = (16, 32, 64)


@lru_cache(maxsize=64)
def _drawing(name: str) -> str:
    return resource("icons", f"{name}.svg").read_text(encoding="utf-8")


@lru_cache(maxsize=512)
def _pixmap(name: str, color: str, size: int) -> QPixmap:
    text = _drawing(name).replace("currentColor", color)
    renderer = QSvgRenderer(QByteArray(text.encode("utf-8")))
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    with painting(pixmap) as painter:
        renderer.render(painter, QRectF(0, 0, size, size))
    return pixmap


def icon(name: str, theme: Theme, token: str = "text") -> QIcon:
    """An icon in the colour of a theme token; its disabled state in the muted colour.

    Drawn in several sizes, up to 64 pixels, so that it stays sharp on screens with a high pixel ratio.
    """
    result = QIcon()
    for size in _SIZES:
        result.addPixmap(_pixmap(name, getattr(theme, token), size), QIcon.Mode.Normal)
        result.addPixmap(_pixmap(name, theme.border, size), QIcon.Mode.Disabled)
    return result


def program_icon() -> QIcon:
    """The icon of the program itself, in its own colours."""
    result = QIcon()
    for size in (*_SIZES, 128, 256):
        result.addPixmap(_pixmap("tileview", "", size))
    return result


def drop_pixmaps() -> None:
    """Let go of drawn pixmaps, before the application object ends."""
    _pixmap.cache_clear()
