"""The address map: where the allocations of a tile lie, over the events of the run, and where an order ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QBrush, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from tileview.analysis.address_map import FINISHED, ORDER_TITLES, SEARCH, STATED, AddressMap, Attempt, by_search
from tileview.core.placement.orders import PlacementOrder
from tileview.present.address_map import Colouring, address_csv, colouring, columns_of, entry_lines
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.base import Zoom
from tileview.qt.plot.legend import Legend
from tileview.qt.plot.legend import LegendLine as LegendEntry
from tileview.qt.plot.picture import Part
from tileview.qt.views.address_map.plot import AddressPlot, bounds_of, group_brush
from tileview.qt.views.address_map.work import MadeMap, Maker, MapChoice, Wanted, memories_to_show, wanted_of
from tileview.qt.views.base import View, action_of
from tileview.qt.widgets.docked import FlowLayout, LineLabel, combo

TITLES = (STATED, FINISHED, *ORDER_TITLES.values(), SEARCH)
_TOGETHER = "Side by side"
_MOST_BESIDE = 4
_NOTHING = "A timeline lists bytes, not addresses: open the recipe, or a tile dump or placement profile, beside it."


class AddressMapView(View):
    """One tile's addresses against events, by every order. See the module."""

    title = "Address map"
    name = "address_map"
    needs_program = False

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._is_seen = True
        self._is_due = False
        self._choice: MapChoice | None = None
        self._made: MadeMap | None = None
        self._searched: tuple[AddressMap, Attempt] | None = None
        self._colouring: Colouring | None = None
        self._title = ORDER_TITLES[PlacementOrder.FIRST_USE]
        self._together = False
        self._beside = bridge.session.address_document
        self._listed: tuple[tuple[int, int], ...] = ()
        self._column: int | None = None
        self._selected: int | None = None
        self._maker = Maker()
        self._runner = Runner(self, keep=False)
        self._runner.ended.connect(self._on_ended)
        self.zoom = Zoom(self, smallest=2.0)
        self._build()
        bridge.hovered.connect(self._hovered_elsewhere)
        bridge.placement_changed.connect(self.on_placement)
        self.on_document()

    # -- widgets --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.tile_box = combo(self, "Tile, with how many are identical", [])
        self.memory_box = combo(self, "Memory open to tensors", [])
        self.tile_box.currentIndexChanged.connect(self._tile_chosen)
        self.memory_box.currentIndexChanged.connect(self._memory_chosen)
        top = QWidget(self)
        flow = FlowLayout(top, spacing=4)
        flow.addWidget(self.tile_box)
        flow.addWidget(self.memory_box)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for title in (*TITLES, _TOGETHER):
            button = QToolButton(top)
            button.setText(title)
            button.setCheckable(True)
            button.setAccessibleName(title)
            button.clicked.connect(partial(self._title_chosen, title))
            self._group.addButton(button)
            self.buttons[title] = button
            flow.addWidget(button)
        self.line = LineLabel(top)
        flow.addWidget(self.line)
        self.legend = Legend(self)
        self.legend.setAccessibleName("Legend of the address map")
        self.legend.set_most_lines(2)
        self._row = row = QHBoxLayout()
        row.setSpacing(4)
        self.plots: list[AddressPlot] = []
        self._make_plots(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        layout.addWidget(top)
        layout.addWidget(self.legend)
        layout.addLayout(row, 1)
        self.lead_focus(self.plots[0])

    def _plot(self, number: int) -> AddressPlot:
        name = "Address map" if number == 0 else f"Address map, placement {number + 1}"
        plot = AddressPlot(self.bridge.theme, name, self.zoom, self._key, self.tip, self)
        plot.entry_pointed.connect(self._pointed)
        plot.entry_picked.connect(self.select_entry)
        plot.column_chosen.connect(self.go_to)
        plot.moved.connect(self._move)
        plot.lifted.connect(self._lift)
        return plot

    def _make_plots(self, count: int) -> None:
        """Make the plots that are missing to show ``count`` placements beside each other."""
        while len(self.plots) < count:
            plot = self._plot(len(self.plots))
            self._row.addWidget(plot, 1)
            self.plots.append(plot)

    # -- what is shown --------------------------------------------------------------------------------------------

    @property
    def map(self) -> AddressMap | None:
        return None if self._made is None else self._made.map

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """All that was tried, the search where it has been run."""
        tile = self.map
        if tile is None:
            return ()
        more = self._searched is not None and self._searched[0] is tile
        return (*tile.attempts, self._searched[1]) if more and self._searched is not None else tile.attempts

    @property
    def attempt(self) -> Attempt | None:
        """The one that is shown, the first of those side by side."""
        return self.plots[0].attempt

    @property
    def column(self) -> int | None:
        """The column of the cursor: an event, or one more than the last for the end of the run."""
        return self._column

    @property
    def selected(self) -> int | None:
        """The entry that is selected, by its index in the map."""
        return self._selected

    @property
    def is_working(self) -> bool:
        return self._runner.is_busy

    # -- the session ----------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._made, self._choice, self._column, self._selected = None, None, None, None
        self._searched, self._beside = None, self.session.address_document
        self._refresh_choices()
        self._show()
        self._ask()

    def on_estimate(self) -> None:
        self._refresh_choices()
        self._ask()

    def on_pins(self) -> None:
        beside = self.session.address_document
        if beside is not self._beside:
            self._beside, self._choice = beside, None
            self._refresh_choices()
            self._ask()

    @Slot()
    def on_placement(self) -> None:
        """The memory that the program is placed in changed, or what came of it."""
        before = self._choice
        self._refresh_choices()
        if self._choice != before or self._made is None:
            self._ask()

    def on_selection(self) -> None:
        tile, made = self.session.selection.tile, self._made
        if made is None or (tile is not None and tile != made.map.tile):
            self._ask()
        self._follow_selection()

    def on_theme(self) -> None:
        for plot in self.plots:
            plot.set_theme(self.bridge.theme)
        self._show_legend()

    def set_in_front(self, is_in_front: bool) -> None:
        super().set_in_front(is_in_front)
        self._is_seen = is_in_front
        if is_in_front and self._is_due:
            self._ask()

    def _refresh_choices(self) -> None:
        found = memories_to_show(self.session)
        self._choice = self._current(found)
        self.memory_box.blockSignals(True)
        self.memory_box.clear()
        for place, one in enumerate(found):
            self.memory_box.addItem(one.title, place)
            self.memory_box.setItemData(place, one.origin, Qt.ItemDataRole.ToolTipRole)
        if self._choice is not None:
            self.memory_box.setCurrentIndex(found.index(self._choice))
        self.memory_box.blockSignals(False)

    def _current(self, found: Sequence[MapChoice]) -> MapChoice | None:
        """A finished placement where there is one and no other was chosen, else the memory that the session places
        in."""
        own = next((one for one in found if one.preset is None), None)
        if own is not None and (self._choice is None or self._choice.preset is None or len(found) == 1):
            return own
        ranges = self.session.ranges.ranges
        return next((one for one in found if one.preset is not None and one.preset.ranges == ranges), own)

    def _ask(self) -> None:
        """Have the map made that is wanted now, once the view can be seen."""
        session = self.session
        self._is_due = not self._is_seen
        if self._is_due or session.document is None:
            return
        if self._choice is None:
            self._made = None
            self._show(_NOTHING)
            return
        wanted = wanted_of(session, self._choice, session.selection.tile)
        if wanted is None:
            self._made = None
            self._show("The file lists no tiles.")
            return
        self._runner.submit(Job(partial(self._maker.make, wanted), about=wanted, place="map"))

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if outcome == "done" and isinstance(payload, MadeMap):
            self._take(payload)
        elif outcome == "done" and isinstance(payload, Attempt):
            if job.about is self.map and self.map is not None:
                self._searched = (self.map, payload)
                self._show()
        elif outcome != "cancelled":
            text, details = failure_of(outcome, payload)
            if isinstance(job.about, Wanted):
                self._made = None
            self._show(text)
            if details:
                self.bridge.fault.emit(f"The address map could not be made: {text}", details)

    def _take(self, made: MadeMap) -> None:
        before, self._made = self.map, made
        tile = made.map
        self._selected = None
        titles = [one.title for one in tile.attempts]
        if self._title not in titles and self._title != SEARCH:
            self._title = titles[0]
        if before is None or {one.title for one in before.attempts} != set(titles):
            self._title = self._telling(tile)
        self._colouring = colouring(tile, self.bridge.colours())
        self.zoom.set_bounds(bounds_of(tile), keep=before is not None and before.events == tile.events)
        self._fill_tiles(made)
        self._follow_selection()
        self._show()

    @staticmethod
    def _telling(tile: AddressMap) -> str:
        """The placement that says most at first: a finished one, the first order that places all, else order 2."""
        for attempt in tile.attempts:
            if attempt.title != STATED and attempt.failed is None:
                return attempt.title
        return ORDER_TITLES[PlacementOrder.SIZE]

    def _fill_tiles(self, made: MadeMap) -> None:
        box, current = self.tile_box, made.map.tile
        listed = made.tiles
        if all(tile != current for tile, _ in listed):
            listed = ((current, made.map.alike), *listed)
        box.blockSignals(True)
        if listed != self._listed:
            self._listed = listed
            box.clear()
            for tile, alike in listed:
                box.addItem(f"Tile {tile}" + (f", {alike:,} identical" if alike > 1 else ""), tile)
        box.setCurrentIndex(next(place for place, (tile, _) in enumerate(listed) if tile == current))
        box.blockSignals(False)

    # -- showing --------------------------------------------------------------------------------------------------

    def _show(self, message: str = "") -> None:
        tile, found = self.map, {one.title: one for one in self.attempts}
        can_search = tile is not None and tile.requests is not None
        for title, button in self.buttons.items():
            if title == _TOGETHER:
                button.setVisible(len(found) > 1)
            else:
                button.setVisible(title in found or (title == SEARCH and can_search))
            button.setChecked(title == (_TOGETHER if self._together else self._title))
        if tile is None:
            default = "" if self.session.document is None else "The requests of the tile are being placed."
            for plot in self.plots:
                plot.show_attempt(None, None, None, message or default)
                plot.setVisible(plot is self.plots[0])
            self.line.show_text(message.split("\n")[0])
            self.legend.set_entries(())
            return
        shown = self._shown(found, together=self._together and len(found) > 1)
        self._make_plots(len(shown))
        for number, plot in enumerate(self.plots):
            attempt = shown[number] if number < len(shown) else None
            plot.set_narrow(len(shown) > 1)
            waits = "The search is running." if number == 0 and not shown else ""
            plot.show_attempt(tile if attempt is not None else None, attempt, self._colouring, waits)
            plot.setVisible(number < max(len(shown), 1))
            plot.set_selected(self._selected)
            plot.set_description("" if attempt is None else f"{attempt.title}: {attempt.text}")
        self.line.show_text(message or self._words(tile, shown))
        self._show_cursor()
        self._show_legend()

    def _shown(self, found: dict[str, Attempt], *, together: bool) -> list[Attempt]:
        if together:
            orders = [found[title] for title in TITLES if title in found and title != STATED]
            return orders[:_MOST_BESIDE]
        return [found[self._title]] if self._title in found else []

    def _words(self, tile: AddressMap, shown: Sequence[Attempt]) -> str:
        if len(shown) != 1:
            return f"{len(tile.entries):,} requests" if shown else "the search is running"
        return shown[0].text

    def _show_legend(self) -> None:
        tile, shown = self.map, self._colouring
        if tile is None or shown is None:
            return
        theme, used = self.bridge.theme, set(shown.of.tolist())
        pen = QPen(theme.color("field"), 1)
        entries = [
            LegendEntry(group.name, pen, group_brush(theme, group))
            for place, group in enumerate(shown.groups)
            if place in used
        ]
        entries.append(LegendEntry("closed memory", pen, QBrush(theme.color("raised"))))
        if any(plot.attempt is not None and plot.attempt.hole is not None for plot in self.plots):
            frame, fill = QPen(theme.color("warning"), 2), QBrush(theme.color("warning", 40))
            entries.append(LegendEntry("largest hole", frame, fill))
        self.legend.set_entries(tuple(entries))

    def _show_cursor(self) -> None:
        tile = self.map
        if tile is None or self._column is None:
            columns, text = None, ""
        else:
            events = self._events_of_column(tile)
            columns, text = (events[0], events[-1] + 1), self._cursor_words(tile)
        for plot in self.plots:
            plot.set_cursor(columns, text)

    def _events_of_column(self, tile: AddressMap) -> tuple[int, ...]:
        assert self._column is not None
        step = tile.step_of(self._column)
        events = () if step is None else tile.events_of(step)
        return events if events and events[-1] - events[0] + 1 == len(events) else (self._column,)

    def _cursor_words(self, tile: AddressMap) -> str:
        assert self._column is not None
        if self._column == 0:
            return "before the run"
        if self._column > tile.events:
            return "END"
        step, timeline = tile.step_of(self._column), self.session.timeline
        if step is None or timeline is None or step >= len(timeline.steps):
            return f"event {self._column:,}"
        entry = timeline.steps[step]
        maker = "" if entry.source is None else f"op {entry.source} "
        return f"event {self._column:,}: step {step:,}, {maker}{entry.kind}"

    def tip(self, attempt: Attempt, entry: int) -> str:
        """The tooltip of an entry."""
        tile = self.map
        return "" if tile is None else "\n".join(entry_lines(tile, attempt, entry))

    # -- choosing -------------------------------------------------------------------------------------------------

    @Slot()
    def _tile_chosen(self) -> None:
        tile = self.tile_box.currentData()
        if tile is not None:
            self.session.select_tiles((int(tile),))

    @Slot()
    def _memory_chosen(self) -> None:
        found, place = memories_to_show(self.session), self.memory_box.currentIndex()
        if not 0 <= place < len(found):
            return
        chosen = self._choice = found[place]
        if chosen.preset is not None:
            self.session.set_ranges(chosen.preset)
        self._ask()

    def _title_chosen(self, title: str, _checked: bool = False) -> None:
        self.show_placement(title)

    def show_placement(self, title: str) -> None:
        """Show one of the placements, or all side by side; the search is run when it is first asked for."""
        self._together = title == _TOGETHER
        if not self._together:
            self._title = title
        tile = self.map
        if title == SEARCH and tile is not None and all(one.title != SEARCH for one in self.attempts):
            self._runner.submit(Job(partial(_search, tile), about=tile, place="search"))
        self._show()

    @Slot(int)
    def go_to(self, column: int) -> None:
        """Put the cursor on a column, and the session on its step."""
        tile = self.map
        if tile is None:
            return
        self._column = min(max(column, 0), tile.events + 1)
        step = tile.step_of(self._column)
        if step is not None:
            self.session.select_step(step)
        self._show_cursor()

    @Slot(int)
    def _move(self, by: int) -> None:
        self.go_to((0 if self._column is None else self._column) + by)

    @Slot(int)
    def _lift(self, by: int) -> None:
        """Select the next box above or below, among those that live at the cursor."""
        tile, attempt = self.map, self.attempt
        if tile is None or attempt is None:
            return
        lives, column = columns_of(tile), self._column
        there = [
            entry
            for entry in range(len(tile.entries))
            if attempt.starts[entry] >= 0 and (column is None or lives[entry, 0] <= column < lives[entry, 1])
        ]
        there.sort(key=lambda entry: int(attempt.starts[entry]))
        if not there:
            return
        place = there.index(self._selected) + by if self._selected in there else (0 if by > 0 else len(there) - 1)
        self.select_entry(there[min(max(place, 0), len(there) - 1)])

    @Slot(object)
    def select_entry(self, entry: int | None) -> None:
        """Select an entry (None: nothing), and its allocation in the session where it has one there."""
        tile = self.map
        if tile is None:
            return
        self._selected = entry
        for plot in self.plots:
            plot.set_selected(entry)
        if entry is None:
            self.session.select_allocation(None)
            return
        roots = tile.entries[entry].roots
        if roots and self.session.selection.allocation not in roots:
            self.session.select_allocation(roots[0])
        elif not roots and tile.entries[entry].operation is not None:
            self.session.select_operation(tile.entries[entry].operation)

    def _follow_selection(self) -> None:
        """Show the step and the allocation that the session has."""
        tile, selection = self.map, self.session.selection
        if tile is None:
            return
        if selection.step is not None and tile.steps:
            events = tile.events_of(selection.step)
            if events and self._column not in events:
                self._column = events[0]
        root = selection.allocation
        if root is not None and (self._selected is None or root not in tile.entries[self._selected].roots):
            self._selected = next((at for at, entry in enumerate(tile.entries) if root in entry.roots), None)
        for plot in self.plots:
            plot.set_selected(self._selected)
        self._show_cursor()

    @Slot(object)
    def _pointed(self, entry: int | None) -> None:
        tile = self.map
        if tile is None:
            return
        found = None if entry is None else tile.entries[entry]
        root = found.roots[0] if found is not None and found.roots else None
        operation = None if found is None else found.operation
        self.bridge.hovered.emit(operation, root, None if found is None else tile.tile)
        for plot in self.plots:
            plot.set_lit(frozenset() if entry is None else frozenset((entry,)))

    @Slot(object, object, object)
    def _hovered_elsewhere(self, operation: int | None, root: int | None, _tile: int | None) -> None:
        tile = self.map
        if tile is None:
            return
        entries = enumerate(tile.entries)
        if root is not None:
            lit = frozenset(at for at, entry in entries if root in entry.roots)
        elif operation is not None:
            lit = frozenset(at for at, entry in entries if entry.operation == operation)
        else:
            lit = frozenset()
        for plot in self.plots:
            plot.set_lit(lit)

    # -- keys, menus, files ---------------------------------------------------------------------------------------

    def _key(self, event: QKeyEvent) -> Callable[[], object] | None:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return None
        key = Qt.Key(event.key())
        offered = [title for title, button in self.buttons.items() if not button.isHidden()]
        place = key - Qt.Key.Key_1
        if 0 <= place < len(offered):
            return partial(self.show_placement, offered[place])
        return None

    def view_actions(self) -> list[QAction]:
        return [
            action_of(self, title, partial(self.show_placement, title))
            for title, button in self.buttons.items()
            if not button.isHidden()
        ]

    def table_maker(self) -> Callable[[], str] | None:
        tile = self.map
        return None if tile is None else partial(address_csv, replace(tile, attempts=self.attempts))

    def picture_words(self) -> str:
        tile, attempt = self.map, self.attempt
        if tile is None or attempt is None:
            return ""
        where = self.memory_box.currentText()
        return f"Tile {tile.tile}, {where}, {self._title if not self._together else 'all orders'}: {attempt.text}"

    def why_empty(self) -> str:
        return self.plots[0].message if self.map is None else ""

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        if self.map is None:
            return ()
        shown = [plot for plot in self.plots if not plot.isHidden()]
        return (self.legend, shown[0] if len(shown) == 1 else _Row(shown))

    def shut_down(self) -> None:
        self._runner.close()


class _Row:
    """Plots side by side as one part of a picture."""

    def __init__(self, plots: Sequence[AddressPlot]) -> None:
        self._plots = plots

    def width(self) -> int:
        return sum(plot.width() + 4 for plot in self._plots)

    def height(self) -> int:
        return int(max(plot.height() for plot in self._plots))

    def draw(self, painter: QPainter) -> None:
        for plot in self._plots:
            plot.draw(painter)
            painter.translate(plot.width() + 4, 0)


def _search(tile: AddressMap, reporter: Reporter) -> Attempt:
    return by_search(tile, reporter.stopped)
