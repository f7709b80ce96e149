"""The look of the program: theme tokens, the only place of colours; icons and the palette made from them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from tileview.qt.base.painting import painting
from tileview.resources import resource

TEXT_TOKENS = (
    "text",
    "muted",
    "accent",
    "ok",
    "over",
    "warning",
    "unavailable",
    "unknown",
    "standard",
    "interleaved",
    "total",
    "budget",
    "mark",
)
"""Tokens that texts are written in."""
GROUND_TOKENS = ("background", "surface", "raised", "hover", "selection")
"""Tokens that texts are written on; besides there are ``accent_text`` on ``accent``, ``selection_text`` on
``selection``."""

_STYLE_DARKENS = 140
"""By how much the Fusion style darkens a window's colour for the frames in it, in per cent."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Named colours as ``#rrggbb``; ``categories`` are eight distinguishable ones (Okabe–Ito, adapted to the
    background).

    :data:`TEXT_TOKENS` have a contrast of at least 4.5:1 on each of :data:`GROUND_TOKENS`; lines and marks
    (``baseline``, ``scratch``) one of at least 3:1 on ``background``, the frames of fields (``field``) one of at least
    3:1 on ``surface`` too.
    """

    name: str
    background: str
    surface: str
    raised: str
    text: str
    muted: str
    border: str
    field: str
    grid: str
    accent: str
    accent_text: str
    selection: str
    selection_text: str
    hover: str
    ok: str
    over: str
    warning: str
    unavailable: str
    unknown: str
    standard: str
    interleaved: str
    total: str
    scratch: str
    budget: str
    baseline: str
    mark: str
    categories: tuple[str, ...]

    def color(self, token: str, alpha: int = 255) -> QColor:
        """A token as a QColor, with an alpha of 0 … 255."""
        color = QColor(getattr(self, token))
        color.setAlpha(alpha)
        return color

    def palette(self) -> QPalette:
        """The application palette of this theme."""
        palette = QPalette()
        roles = {
            QPalette.ColorRole.Window: self.surface,
            QPalette.ColorRole.WindowText: self.text,
            QPalette.ColorRole.Base: self.background,
            QPalette.ColorRole.AlternateBase: self.surface,
            QPalette.ColorRole.Text: self.text,
            QPalette.ColorRole.PlaceholderText: self.muted,
            QPalette.ColorRole.Button: self.raised,
            QPalette.ColorRole.ButtonText: self.text,
            QPalette.ColorRole.BrightText: self.over,
            QPalette.ColorRole.Link: self.accent,
            QPalette.ColorRole.Highlight: self.selection,
            QPalette.ColorRole.HighlightedText: self.selection_text,
            QPalette.ColorRole.ToolTipBase: self.raised,
            QPalette.ColorRole.ToolTipText: self.text,
            QPalette.ColorRole.Light: self.raised,
            QPalette.ColorRole.Mid: self.border,
            QPalette.ColorRole.Dark: self.border,
        }
        for role, color in roles.items():
            palette.setColor(role, QColor(color))
        disabled = QPalette.ColorGroup.Disabled
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
            palette.setColor(disabled, role, QColor(self.muted))
        return palette

    def focus_palette(self) -> QPalette:
        """The palette of what can have the focus without being a list: the style marks it by the highlight colour."""
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Highlight, QColor(self.accent))
        palette.setColor(QPalette.ColorRole.HighlightedText, QColor(self.accent_text))
        return palette

    def field_palette(self) -> QPalette:
        """That of what is typed into, pressed or drawn along: its frame is seen against the ground.

        The style draws the frame of a widget in its window colour, darker by :data:`_STYLE_DARKENS` per cent: it is the
        theme's only if it is given that way.
        """
        palette = self.focus_palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(self.field).lighter(_STYLE_DARKENS))
        return palette


def load_theme(name: str) -> Theme:
    """``light`` or ``dark``, from ``resources/themes``."""
    raw = json.loads(resource("themes", f"{name}.json").read_text(encoding="utf-8"))
    values = {field.name: raw[field.name] for field in fields(Theme)}
    values["categories"] = tuple(values["categories"])
    return Theme(**values)


def system_theme_name() -> str:
    """What the desktop asks for: ``dark`` or ``light``."""
    hints = QGuiApplication.styleHints()
    return "dark" if hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark else "light"


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


_RULES = """
QToolTip {{ color: {text}; background: {raised}; border: 1px solid {border}; padding: 3px; }}
QMainWindow::separator {{ background: {border}; width: 1px; height: 1px; margin: 2px; }}
QMainWindow::separator:hover {{ background: {accent}; }}
QDockWidget {{ color: {text}; }}
QDockWidget::title {{ background: {raised}; padding: 2px 6px; text-align: left; }}
QLineEdit[plain="true"] {{ background: transparent; border: none; padding: 0; }}
QCheckBox::indicator, QRadioButton::indicator {{ width: 14px; height: 14px; border: 1px solid {muted};
    background: {background}; }}
QCheckBox::indicator {{ border-radius: 3px; }}
QRadioButton::indicator {{ border-radius: 8px; }}
QCheckBox::indicator:checked {{ background: {accent}; border-color: {accent}; image: url("{check}"); }}
QRadioButton::indicator:checked {{ background: qradialgradient(cx:0.5, cy:0.5, radius:0.5, fx:0.5, fy:0.5,
    stop:0 {accent}, stop:0.55 {accent}, stop:0.65 {background}, stop:1 {background}); border-color: {accent}; }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ width: 12px; height: 12px; border: 2px solid {text}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {border}; background: {surface}; }}
QAbstractItemView {{ border: 1px solid {border}; }}
QAbstractItemView:focus {{ border: 1px solid {accent}; }}
QStatusBar::item {{ border: none; }}
QStatusBar {{ border-top: 1px solid {border}; }}
"""

_FIELDS = ("QLineEdit", "QAbstractSpinBox", "QComboBox", "QPushButton", "QToolButton", "QSlider")
"""What has the palette of fields."""
_OTHERS = ("QTabBar", "QCheckBox", "QRadioButton")
"""What else is marked when it has the focus, without a frame of its own."""


def style_sheet(theme: Theme) -> str:
    """The rules in the colours of a theme."""
    return _RULES.format(
        text=theme.text, raised=theme.raised, border=theme.border, accent=theme.accent, surface=theme.surface,
        muted=theme.muted, background=theme.background, check=resource("icons", f"check-{theme.name}.svg").as_posix(),
    )  # fmt: skip


def apply_theme(theme: Theme) -> None:
    """Give the whole program a theme; nothing happens where it has it already."""
    application = QApplication.instance()
    if not isinstance(application, QApplication) or application.property("theme") == theme.name:
        return
    application.setProperty("theme", theme.name)
    application.setStyle("Fusion")
    application.setPalette(theme.palette())
    for name in _FIELDS:
        application.setPalette(theme.field_palette(), name)  # type: ignore[arg-type]
    for name in _OTHERS:
        application.setPalette(theme.focus_palette(), name)  # type: ignore[arg-type]
    application.setStyleSheet(style_sheet(theme))
