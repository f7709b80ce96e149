"""How the program looks: one palette and a few rules made from the theme; sizes come from the system's font."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from tileview.qt.theme import Theme

_RULES = """
QToolTip {{ color: {text}; background: {raised}; border: 1px solid {border}; padding: 3px; }}
QMainWindow::separator {{ background: {border}; width: 1px; height: 1px; margin: 2px; }}
QMainWindow::separator:hover {{ background: {accent}; }}
QDockWidget {{ color: {text}; }}
QDockWidget::title {{ background: {raised}; padding: 2px 6px; text-align: left; }}
QLineEdit[plain="true"] {{ background: transparent; border: none; padding: 0; }}
QStatusBar::item {{ border: none; }}
QStatusBar {{ border-top: 1px solid {border}; }}
"""


def style_sheet(theme: Theme) -> str:
    """The rules in the colours of a theme."""
    return _RULES.format(
        text=theme.text, raised=theme.raised, border=theme.border, accent=theme.accent, surface=theme.surface
    )


def apply_theme(theme: Theme) -> None:
    """Give the whole program a theme; nothing happens where it has it already."""
    application = QApplication.instance()
    if not isinstance(application, QApplication) or application.property("theme") == theme.name:
        return
    application.setProperty("theme", theme.name)
    application.setStyle("Fusion")
    application.setPalette(theme.palette())
    application.setStyleSheet(style_sheet(theme))
