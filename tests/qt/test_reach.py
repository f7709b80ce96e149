"""Every control of graph, tiles and timeline has a name for screen readers and is reached by keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGraphicsView,
    QLineEdit,
    QMenu,
    QToolButton,
    QWidget,
)

from tests.helpers.opened import opened
from tileview.present.rasters import ScaleMode
from tileview.qt.views.graph.view import GraphView
from tileview.qt.views.tiles.view import TilesView
from tileview.qt.views.timeline.view import TimelineView

VIEWS = [GraphView, TilesView, TimelineView]
FILES = ["so400m-over.recipe.json", "rejected-op0.timeline.json"]


@pytest.fixture
def make(show_view):
    def build(kind, name: str):
        return show_view(kind, opened(name), size=(1000, 700))

    return build


def controls(view: QWidget) -> list[QWidget]:
    """Everything in a view that takes input, the inner parts of Qt's own widgets left out."""
    kinds = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QAbstractItemView)
    whole = (QComboBox, QLineEdit, QAbstractSpinBox, QAbstractItemView, QGraphicsView, QMenu)
    found = []
    for widget in view.findChildren(QWidget):
        inner, around = False, widget.parentWidget()
        while around is not None and around is not view:
            inner = inner or isinstance(around, whole)
            around = around.parentWidget()
        takes_input = isinstance(widget, kinds) or widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        if takes_input and not inner and not isinstance(widget, QMenu):
            found.append(widget)
    return found


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", VIEWS)
def test_every_control_has_a_name(make, kind, name: str) -> None:
    view = make(kind, name)
    found = controls(view)
    assert len(found) >= 6
    nameless = [widget for widget in found if not widget.accessibleName()]
    assert nameless == []
    assert view.accessibleName()
    shown = [widget.accessibleName() for widget in found if widget.isVisible()]
    assert len(set(shown)) == len(shown), "names tell controls apart"


@pytest.mark.parametrize("kind", VIEWS)
def test_tab_reaches_every_control_that_is_seen(make, kind) -> None:
    view = make(kind, FILES[0])
    if isinstance(view, TilesView):
        view.set_scale(ScaleMode.CUSTOM)
        QApplication.processEvents()
    chain, widget = set(), view.nextInFocusChain()
    while widget is not view:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            chain.add(widget)
        widget = widget.nextInFocusChain()
    seen = [widget for widget in controls(view) if widget.isVisible() and widget.isEnabled()]
    missing = [type(widget).__name__ for widget in seen if widget not in chain]
    assert missing == []


@pytest.mark.parametrize("kind", VIEWS)
def test_what_menus_offer_has_words(make, kind) -> None:
    view = make(kind, FILES[0])
    menus = [button.menu() for button in view.findChildren(QToolButton) if button.menu() is not None]
    for menu in menus:
        menu.aboutToShow.emit()
        assert all(action.text() or action.isSeparator() for action in menu.actions())
    assert all(action.text() for action in view.view_actions())
    texts = [action.text() for action in view.view_actions()]
    assert len(set(texts)) == len(texts)


def test_pictures_describe_what_they_show(make) -> None:
    tiles, timeline, graph = (make(kind, FILES[0]) for kind in (TilesView, TimelineView, GraphView))
    assert "1,246 tiles over budget" in tiles.map.accessibleDescription()
    assert "30,504 B over" in timeline.plot.accessibleDescription()
    graph.session.select_operation(21)
    assert "240,896 B" in graph.canvas.accessibleDescription()
    assert "identical tiles" in tiles.groups.accessibleDescription()
    assert "budget" in tiles.legend.accessibleDescription()
    assert "total, fullest tile 174 555.0 KiB" in timeline.legend.accessibleDescription()
    assert "on tile 174, step 69: 568,312 B" in graph.legend.accessibleDescription()
