"""A single view on a session, shown offscreen, and what it asks of the window."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest

from tests.helpers.opened import estimate, opened
from tileview.qt.base.theme import load_theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import View
from tileview.session.session import Session


@dataclass
class Stage:
    """A session, its bridge and one view; ``requests`` are the commands that the view asked for."""

    session: Session
    bridge: SessionSignals
    view: View
    requests: list[tuple[str, object]] = field(default_factory=list)
    testers: list[QObject] = field(default_factory=list)

    def estimate(self) -> None:
        estimate(self.session)

    def texts(self, column: int | str = 0) -> list[str]:
        """A column of the view's table (by place or title), rows in the order shown, children after their parent."""
        model = self.view.model
        column = model.spec.place(column) if isinstance(column, str) else column
        return [model.data(index.siblingAtColumn(column)) for index in model.indexes()]

    def click(self, index: QModelIndex, *, double: bool = False) -> None:
        """Click a row as a user does."""
        tree = self.view.tree
        tree.scrollTo(index)
        spot = tree.visualRect(index).center()
        QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot)
        if double:
            QTest.mouseDClick(tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot)


def stage(
    kind: type[View], qtbot, name: str | None = None, size: tuple[int, int] = (900, 500), *, tester: bool = True
) -> Stage:
    """Show a view on a sample (None: nothing open), its model under Qt's tester unless that would take too long."""
    session = Session()
    bridge = SessionSignals(session, load_theme("light"))
    view = kind(bridge)
    made = Stage(session, bridge, view)
    bridge.requested.connect(lambda command, argument: made.requests.append((command, argument)))
    qtbot.addWidget(view)
    view.resize(*size)
    view.show()
    if tester and hasattr(view, "model"):
        made.testers.append(
            QAbstractItemModelTester(view.model, QAbstractItemModelTester.FailureReportingMode.Fatal, view)
        )
    if name is not None:
        opened(name, session)
    return made
