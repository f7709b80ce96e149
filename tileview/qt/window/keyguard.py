"""Lets a widget keep the keys that it needs itself, though the window has a shortcut on them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QTabBar,
    QTextEdit,
    QTreeView,
    QWidget,
)

from tileview.qt.base.command import Actions

_CLAIMING = (QAbstractItemView, QAbstractSlider, QTextEdit, QComboBox, QTabBar)
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
_ENDS = frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})
_SIDEWAYS = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right})


def claims(widget: QWidget, event: QKeyEvent) -> bool:
    """Whether a widget keeps a key that it does not ask for itself.

    A tree folds with ← and → where there is something to fold at its current row; in a flat table they stay with the
    window, since there is nothing sideways to go to in a row. Lists jump with Home and End, sliders, texts and tabs
    move, a choice takes letters.
    """
    key = Qt.Key(event.key())
    plain_modifiers = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    if event.modifiers() & ~plain_modifiers:
        return False
    if isinstance(widget, QTreeView):
        return key in _ENDS or (key in _SIDEWAYS and _folds(widget))
    if isinstance(widget, QAbstractItemView):
        by_cell = widget.selectionBehavior() is QAbstractItemView.SelectionBehavior.SelectItems
        return key in _ENDS or (key in _SIDEWAYS and by_cell)
    if isinstance(widget, QAbstractSlider | QTextEdit):
        return key in _ENDS or key in _SIDEWAYS
    if isinstance(widget, QComboBox):
        return bool(event.text().strip())
    return isinstance(widget, QTabBar) and key in _SIDEWAYS


def _folds(tree: QTreeView) -> bool:
    """Whether the current row has rows below it or is itself below another."""
    index = tree.currentIndex()
    model = tree.model()
    return index.isValid() and (index.parent().isValid() or (model is not None and model.hasChildren(index)))


def keys_taken(widget: QWidget | None) -> list[QKeySequence]:
    """The key sequences that a widget and those around it have actions or shortcuts of their own on."""
    taken: list[QKeySequence] = []
    around = widget
    while around is not None and not around.isWindow():
        own = [(one.shortcutContext(), one.shortcuts()) for one in around.actions() if one.isEnabled()]
        for child in around.findChildren(QShortcut, options=_DIRECT):
            assert isinstance(child, QShortcut)
            if child.isEnabled():
                own.append((child.context(), child.keys()))
        for context, keys in own:
            inside = context is Qt.ShortcutContext.WidgetWithChildrenShortcut
            if inside or (context is Qt.ShortcutContext.WidgetShortcut and around is widget):
                taken += keys
        around = around.parentWidget()
    return taken


class KeyGuard(QObject):
    """Watches the one widget that has the focus.

    Keys on which it (or a widget around it) has an action of its own are taken off the window's commands meanwhile.

    Before a shortcut runs, Qt asks the focused widget whether it wants the key (a ShortcutOverride event); most item
    views do not answer, so the guard answers for them. Only the focused widget is watched: a filter on the whole
    application would run for every event.
    """

    def __init__(self, commands: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._commands = commands
        self._watched: QWidget | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        self.release()
        self._commands.give_way(keys_taken(new))
        if isinstance(new, _CLAIMING):
            self._watched = new
            new.installEventFilter(self)
            new.destroyed.connect(self._on_destroyed)

    @Slot()
    def _on_destroyed(self) -> None:
        self._watched = None

    def release(self) -> None:
        """Stop watching."""
        watched, self._watched = self._watched, None
        if watched is not None:
            watched.removeEventFilter(self)
            watched.destroyed.disconnect(self._on_destroyed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and isinstance(watched, QWidget)
            and claims(watched, event)
        ):
            event.accept()
            return True
        return False
