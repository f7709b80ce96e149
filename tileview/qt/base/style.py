"""How the program looks: one palette and a few rules made from the theme; sizes come from the system's font."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from tileview.qt.base.theme import Theme
from tileview.resources import resource

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
