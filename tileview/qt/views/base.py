"""What all views have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QMenu, QTextBrowser, QWidget

from tileview.qt.jobs.pacing import takes_turns
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.widgets.docked import FocusHolder, is_in_sight
from tileview.session.session import Session


class Cover(QLabel):
    """Lies over a view that has nothing to show, and says why in one sentence."""

    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self._view = view
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setMargin(12)
        self.setAutoFillBackground(True)
        self.setAccessibleName("Why the view is empty")
        view.installEventFilter(self)

    def say(self, why: str) -> None:
        """Cover the view with a sentence; an empty one uncovers it."""
        self.setText(why)
        self.setVisible(bool(why))
        self.raise_()
        self.setGeometry(self._view.rect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._view:
            self.setGeometry(self._view.rect())
        return False


class View(FocusHolder):
    """A pane of the main window: a function of the session, with no truth of its own.

    Subclasses override the ``on_…`` slots they need; each is called after the session changed. ``title`` is the
    dock's title, ``name`` its stable object name (used to save the layout, and by ``screenshot --view``).
    """

    title = ""
    name = ""
    needs_program = True
    """Whether the view is empty, and says so, while a file is open that holds no program."""
    _may_take_turns = False
    """Whether what makes the view does so in several turns of the event loop."""
    may_be_late = False
    """Whether the view is right for a while after an edit too, with what it knows of the state before."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bridge = bridge
        self.setObjectName(self.name)
        self.setAccessibleName(self.title)
        self._cover: Cover | None = None
        self._waits = False
        self._first_look: Callable[[], object] | None = None
        self._making: Iterator[None] | None = None
        self._is_behind = False
        self._export_actions: tuple[QAction, ...] = ()
        bridge.document_changed.connect(self._take_document)
        bridge.state_changed.connect(self._take_state)
        bridge.estimate_changed.connect(self._take_estimate)
        bridge.selection_changed.connect(self._take_selection)
        bridge.alternatives_changed.connect(self._take_alternatives)
        bridge.overflows_changed.connect(self._take_overflows)
        bridge.pins_changed.connect(self._take_pins)
        bridge.theme_changed.connect(self._take_theme)

    @property
    def session(self) -> Session:
        return self.bridge.session

    # -- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def begun(cls, bridge: SessionSignals) -> Self:
        """A view of which parts may still have to be made (:meth:`make_more`), and shown (:meth:`begin`)."""
        view = cls.__new__(cls)
        view._may_take_turns = True
        cls.__init__(view, bridge)
        return view

    def make_in_parts(self, making: Iterator[None]) -> None:
        """Make the widgets with a call that yields between two parts, where those together take longer than the window
        may stand still."""
        self._making = making
        if not self._may_take_turns:
            self.finish()

    def make_more(self) -> bool:
        """Make the next part; True when all are made."""
        if self._making is not None and next(self._making, self) is self:
            self._making = None
        return self._making is None

    def finish(self) -> None:
        """Make all parts that are not there yet."""
        while not self.make_more():
            pass

    def look_first(self, look: Callable[[], object]) -> None:
        """Show what is open, at the end of making: what a large file holds in a turn of its own."""
        if self._may_take_turns and takes_turns(self.session.timeline, may_wait=True):
            self._waits, self._first_look = True, look
        else:
            look()

    def begin(self) -> None:
        """Take in what a view does not look at when it is made: called once where it is made while a file is open."""
        self._show_cover()
        if self._waits:
            self.bridge.turns.add(self.catch_up, is_for_later=self._is_behind)
        else:
            self.on_selection()

    # The estimate of a large file is shown by one view at a time; whatever comes before a view's turn makes it take it.

    def _put_off(self) -> None:
        if not self._waits:
            self._waits = True
            self.bridge.turns.add(self.catch_up, is_for_later=self._is_behind)

    def _show_now(self) -> None:
        look, self._first_look = self._first_look or self.on_estimate, None
        self._waits = False
        look()

    @Slot()
    def _take_document(self) -> None:
        self.finish()
        self._waits, self._first_look = False, None
        self.on_document()
        self._show_cover()

    def _show_cover(self) -> None:
        document = self.session.document
        why = "" if document is None or not self.needs_program else document.no_program
        if self._cover is None and why:
            self._cover = Cover(self)
        if self._cover is not None:
            self._cover.say(why)

    @Slot()
    def _take_estimate(self) -> None:
        self.finish()
        may_wait = self.bridge.is_first_estimate or self.may_be_late or self._is_behind
        if takes_turns(self.session.timeline, may_wait):
            self._put_off()
        else:
            self._show_now()

    @Slot(bool)
    def set_in_front(self, is_in_front: bool) -> None:
        """Whether the view can be seen; one behind a tab cannot, though Qt calls it visible: it lies outside its
        window."""
        was_behind, self._is_behind = self._is_behind, not is_in_front
        if was_behind and is_in_front:
            self.catch_up()

    @property
    def is_in_sight(self) -> bool:
        """Whether some of the view can be seen, itself or what covers it."""
        return is_in_sight(self)

    def catch_up(self) -> None:
        """Show the current estimate, where that has been put off."""
        self.finish()
        if self._waits:
            self._show_now()
            self.on_selection()

    def show_all(self) -> None:
        """Show now whatever would have its turn later: for who takes the view as it is seen."""
        self.catch_up()

    @Slot()
    def _take_selection(self) -> None:
        self.finish()
        if not self._waits:
            self.on_selection()

    @Slot()
    def _take_state(self) -> None:
        self.catch_up()
        self.on_state()

    @Slot()
    def _take_alternatives(self) -> None:
        if type(self).on_alternatives is not View.on_alternatives:
            self.catch_up()
            self.on_alternatives()

    @Slot()
    def _take_overflows(self) -> None:
        self.finish()
        if not self._waits:
            self.bridge.turns.add(self.on_overflows, is_for_later=self._is_behind)

    @Slot()
    def _take_pins(self) -> None:
        self.catch_up()
        self.on_pins()

    @Slot()
    def _take_theme(self) -> None:
        self.catch_up()
        self.on_theme()

    def on_document(self) -> None:
        """Another file is open, or none: show its state from scratch."""

    def on_state(self) -> None:
        """Edits changed; the estimate of the new state may follow."""

    def on_estimate(self) -> None:
        """There is a new estimate: update what changed, keep scroll positions and selection."""

    def on_selection(self) -> None:
        """The selection changed."""

    def on_alternatives(self) -> None:
        """Results of single alternatives came in or were dropped."""

    def on_overflows(self) -> None:
        """What is over came to be known after the estimate."""

    def on_pins(self) -> None:
        """Baseline, pinned states or the linked file changed."""

    def on_theme(self) -> None:
        """Colours changed."""

    def view_actions(self) -> list[QAction]:
        """Actions for the View menu and the command palette that belong to this view."""
        return []

    def table_maker(self) -> Callable[[], str] | None:
        """What makes the table of the view, as it is now, into CSV, on any thread; None where it is no table."""
        return None

    def table_csv(self) -> str | None:
        """The table of the view as CSV, None where it has none."""
        make = self.table_maker()
        return None if make is None else make()

    def has_table(self) -> bool:
        """Whether the view can have a table."""
        return type(self).table_maker is not View.table_maker

    def table_filter(self) -> str:
        """What the rows of the table are filtered by; empty where they are all there are."""
        box = getattr(self, "filter_box", None)
        return str(box.text()).strip() if box is not None else ""

    @property
    def whole_name(self) -> str:
        """What a picture can show beyond the part in view, such as ``graph``; empty where there is no more."""
        return ""

    def picture_words(self) -> str:
        """The sentence under the title of a picture of the view."""
        return ""

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        """What a picture of the view is made of, as it is seen now; with ``whole``, all there is (:attr:`whole_name`).

        Parts of the whole must be fit to be drawn on another thread. Empty where there is nothing to draw.
        """
        return ()

    def why_empty(self) -> str:
        """Why there is nothing to draw, as a sentence; empty where there is something, or no reason is known."""
        return "" if self._cover is None else self._cover.text()

    def export_actions(self) -> list[QAction]:
        """What the context menus of the view offer besides its own: to copy and to export it."""
        if not self._export_actions:
            self._export_actions = (
                action_of(self, "Copy &picture", self._request_copy),
                action_of(self, "&Export this view…", self._request_picture),
                action_of(self, "Export its &table as CSV…", self._request_table),
            )
        return list(self._export_actions if self.has_table() else self._export_actions[:2])

    def _request_copy(self) -> None:
        self.bridge.requested.emit("copy_picture", self.name)

    def _request_picture(self) -> None:
        self.bridge.requested.emit("export_view", self.name)

    def _request_table(self) -> None:
        self.bridge.requested.emit("export_table", self.name)

    def menu_actions(self) -> list[QAction]:
        """What the context menu offers where nothing in the view has one of its own."""
        return [*self.view_actions(), *self.export_actions()]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What the table under the pointer can do, then what the view can."""
        own: list[QAction] = []
        around = self.childAt(event.pos())
        while around is not None and around is not self:
            own += around.actions() if isinstance(around, QAbstractItemView) else []
            around = around.parentWidget()
        show_menu(self, [*own, *self.menu_actions()], event.globalPos())

    def shut_down(self) -> None:
        """End timers, threads and scenes before the window closes."""


def allow(control: QWidget | QAction, tip: str, reason: str = "") -> None:
    """Switch a control on, or off with the reason in its tooltip."""
    control.setEnabled(not reason)
    control.setToolTip(reason or tip)


def action_of(view: View, text: str, slot: Callable[[], object]) -> QAction:
    """An action of a view for menu and palette."""
    action = QAction(text, view)
    action.triggered.connect(lambda _=False: slot())
    return action


def show_text_menu(view: View, browser: QTextBrowser, at: QPoint) -> None:
    """The context menu of a text in a view: what texts can do, then the export of the view."""
    menu = browser.createStandardContextMenu()
    menu.addSeparator()
    menu.addActions(view.menu_actions())
    menu.exec(browser.viewport().mapToGlobal(at))
    menu.deleteLater()


def show_menu(parent: QWidget, actions: Sequence[QAction], at: QPoint) -> None:
    """Show a context menu until the user has chosen."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    menu.addActions(list(actions))
    menu.exec(at)
    menu.deleteLater()


def go_where_live(session: Session, root: int) -> None:
    """Turn to a step where an allocation is live, unless it is at the selected one."""
    timeline, step = session.timeline, session.selection.step
    if timeline is None or (step is not None and root in timeline.steps[step].live):
        return
    for entry in timeline.steps:
        if root in entry.live:
            session.select_step(entry.index)
            return
