"""Theme tokens: the only place where the window's colours come from."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

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
