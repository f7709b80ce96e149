"""The banner on top of the window: the verdict in three steps, every overflow, what to do next, the peak as a bar."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QBrush, QColor, QFont, QFontMetrics, QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.diagnosis import Diagnosis
from tileview.analysis.layout_texts import Notation, layouts_text
from tileview.analysis.next_step import Action
from tileview.model.recipe import NO_OVERRIDES
from tileview.model.sizes import Unavailable
from tileview.model.tensor import Layout
from tileview.present.banner import LOOKING, OTHERS, READ, Banner, Load, banner, icon_of, tone_of
from tileview.qt.base.painting import painting
from tileview.qt.base.text import page_text, plain_tip
from tileview.qt.base.theme import Theme, icon
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.views.base import View
from tileview.qt.widgets.docked import FlowLayout
from tileview.session.edits import Together, set_layouts, swap_plan

_PICTURE_WIDTH = 640
"""Pixels that a picture of the verdict is wide at least."""
_STRIP = 4
"""Width of the strip at the left edge that carries the verdict's colour."""
_SIDE = 330
"""Width of the part with bar, figures and buttons."""
_TINT = 34
"""How strong a chip's ground is, 0 … 255."""
HANDOFF_PAGE = "tour"
"""The page of the reference that says how layouts get to the compiler."""


class LoadBar(QWidget):
    """Peak and reserve against the budget.

    Three things tell the parts apart without colour: the reserve is hatched one way, the excess the other way, and the
    budget is a line; the figure below the bar says the same.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._load: Load | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(120)
        self.setAccessibleName("Peak against the budget")

    def sizeHint(self) -> QSize:
        return QSize(160, self.fontMetrics().height() + 6)

    def show_load(self, load: Load | None) -> None:
        self._load = load
        text = "" if load is None else load.text()
        self.setToolTip(text)
        self.setAccessibleDescription(text)
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw on any painter: the widget's own, or that of a file."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 3, -1, -3)
        theme, load = self._theme, self._load
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("background"))
        painter.drawRect(area)
        if load is None:
            return
        if isinstance(load.needed, Unavailable):
            painter.fillRect(area, theme.color("unavailable", 60))
            painter.fillRect(area, QBrush(theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern))
            return
        self._draw_parts(painter, area, load, load.needed)

    def _draw_parts(self, painter: QPainter, area: QRectF, load: Load, needed: int) -> None:
        theme = self._theme
        scale = area.width() / max(needed, load.budget, 1)

        def span(start: int, end: int) -> QRectF:
            left = area.left() + start * scale
            return QRectF(left, area.top(), max(0.0, area.left() + end * scale - left), area.height())

        known = 0
        for place, part in load.parts:
            grey = theme.color("border" if place == READ else "field")
            color = grey if place in (READ, OTHERS) else QColor(theme.categories[place])
            painter.fillRect(span(known, known + part), color)
            known += part
        for token, size in (("standard", load.standard), ("interleaved", load.interleaved)):
            if not load.parts and not isinstance(size, Unavailable):
                painter.fillRect(span(known, known + size), theme.color(token))
                known += size
        reserve = span(needed - load.reserve, needed)
        painter.fillRect(reserve, theme.color("baseline", 70))
        painter.fillRect(reserve, QBrush(theme.color("text"), Qt.BrushStyle.BDiagPattern))
        if needed > load.budget:
            excess = span(load.budget, needed)
            painter.fillRect(excess, theme.color("over", 90))
            painter.fillRect(excess, QBrush(theme.color("over"), Qt.BrushStyle.FDiagPattern))
        x = min(area.left() + load.budget * scale, area.right() - 1)
        painter.setPen(QPen(theme.color("budget"), 2))
        painter.drawLine(QPointF(x, area.top() - 3), QPointF(x, area.bottom() + 3))


class Chip(QAbstractButton):
    """A rounded label with an icon: a step of the verdict, or (dashed, to be clicked) the what-if values."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, dashed: bool = False) -> None:
        super().__init__(parent)
        self._theme = theme
        self._label = ""
        self._strong = ""
        self._icon = ""
        self._token = "muted"
        self._dashed = dashed
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if dashed else Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_step(self, label: str, strong: str, icon_name: str, token: str) -> None:
        """``Sum`` and ``29.8 KiB over``, with the icon and colour of its state."""
        self._label, self._strong, self._icon, self._token = label, strong, icon_name, token
        self.setText(f"{label} {strong}".strip())
        self.setAccessibleName(self.text())
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setBold(True)
        return font

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        strong = self._strong and f" {self._strong}"
        width = metrics.horizontalAdvance(self._label) + QFontMetrics(self._bold()).horizontalAdvance(strong)
        image = metrics.height() + 4 if self._icon else 0
        return QSize(width + image + 18, metrics.height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, metrics = self._theme, self.fontMetrics()
        with painting(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            style = Qt.PenStyle.DashLine if self._dashed else Qt.PenStyle.NoPen
            width = 2 if self.hasFocus() else 1
            painter.setPen(QPen(theme.color(self._token), width, style))
            painter.setBrush(theme.color(self._token, _TINT))
            painter.drawRoundedRect(area, area.height() / 2, area.height() / 2)
            x = 9.0
            if self._icon:
                size = metrics.height()
                pixmap = icon(self._icon, theme, self._token).pixmap(QSize(size, size), self.devicePixelRatioF())
                painter.drawPixmap(QPointF(x, (self.height() - size) / 2), pixmap)
                x += size + 4
            painter.setPen(theme.color("text"))
            baseline = (self.height() + metrics.ascent() - metrics.descent()) / 2
            painter.drawText(QPointF(x, baseline), self._label)
            x += metrics.horizontalAdvance(f"{self._label} ")
            painter.setFont(self._bold())
            painter.setPen(theme.color(self._token))
            painter.drawText(QPointF(x, baseline), self._strong)


class LinkedText(QLabel):
    """Text that wraps, can be selected and copied, and whose links are reached with Tab."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setMinimumWidth(40)  # else the longest word of a name would hold the window open
        self.setAccessibleName(name)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self._plain = ""

    def show_pieces(self, pieces: Sequence[tuple[str, str]], strong: str = "") -> None:
        """Show pieces of text, those with a target as links; ``strong`` is put before them in bold."""
        parts = [f"<b>{page_text(strong)}</b> "] if strong else []
        for words, target in pieces:
            shown = page_text(words)
            parts.append(f'<a href="{html.escape(target)}">{shown}</a>' if target else shown)
        self._plain = " ".join(filter(None, (strong, "".join(words for words, _ in pieces).strip())))
        self.setText("".join(parts))
        self.setAccessibleDescription(self._plain)

    def plain(self) -> str:
        """What it says, without markup."""
        return self._plain


class VerdictBar(View):
    """Always on top: see the module. the diagnosis comes from the Why view, placement from the session."""

    title = "Verdict"
    name = "verdict"
    needs_program = False
    shown = Signal()
    """What the banner says has changed."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self.setAutoFillBackground(True)
        self._diagnosis: Diagnosis | None = None
        self._banner: Banner | None = None
        self._token = "muted"
        self._sign = QLabel(self)
        self._word = QLabel(self)
        strong = QFont(self._word.font())
        strong.setBold(True)
        strong.setPointSizeF(strong.pointSizeF() * 1.1)
        self._word.setFont(strong)
        self._word.setAccessibleName("Verdict")
        self._what_if = Chip(bridge.theme, self, dashed=True)
        self._what_if.setToolTip("Reset budget, reserve and fusions to what the file says")
        self._what_if.clicked.connect(self._reset_what_if)
        self._chips = tuple(Chip(bridge.theme, self) for _ in range(3))
        self._arrows = tuple(QLabel("→", self) for _ in range(2))
        self.says = LinkedText("What the verdict rests on", self)
        self.next = LinkedText("What to do next", self)
        self.says.linkActivated.connect(self._follow)
        self.next.linkActivated.connect(self._follow)
        self._bar = LoadBar(bridge.theme, self)
        self.share = QLabel(self)
        self.share.setWordWrap(True)
        self.share.setAccessibleName("Peak and budget")
        self.cycles = QLabel(self)
        self.cycles.setAccessibleName("Planner's cycles")
        self.notes = QPushButton(self)
        self.notes.setFlat(True)
        self.notes.clicked.connect(self._show_notes)
        self.act = QPushButton(self)
        self.act.setDefault(True)
        self.find_fix = QPushButton("Fin&d fix…", self)
        self.export = QPushButton("E&xport…", self)
        self.act.clicked.connect(self._act)
        self.find_fix.clicked.connect(self._ask_for_fix)
        self.export.clicked.connect(self._ask_for_export)
        self._lay_out()
        bridge.placement_changed.connect(self._refresh)
        bridge.diagnosed.connect(self.show_diagnosis)
        self._refresh()

    def _lay_out(self) -> None:
        head = QWidget(self)
        flow = FlowLayout(head, 8)
        for widget in (self._sign, self._word, self._what_if):
            flow.addWidget(widget)
        for index, chip in enumerate(self._chips):
            if index:
                flow.addWidget(self._arrows[index - 1])
            flow.addWidget(chip)
        text = QVBoxLayout()
        text.setSpacing(3)
        for item in (head, self.says, self.next):
            text.addWidget(item)
        text.addStretch(1)
        side = QWidget(self)
        side.setFixedWidth(_SIDE)
        grid = QGridLayout(side)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self._bar, 0, 0, 1, 2)
        grid.addWidget(self.share, 1, 0)
        grid.addWidget(self.notes, 1, 1, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self.cycles, 2, 0, 1, 2)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in (self.act, self.find_fix, self.export):
            buttons.addWidget(button)
        grid.addLayout(buttons, 3, 0, 1, 2)
        grid.setRowStretch(4, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(_STRIP + 8, 5, 8, 4)
        row.setSpacing(12)
        row.addLayout(text, 1)
        row.addWidget(side)

    # -- what is asked for ----------------------------------------------------------------------------------------

    def _ask_for_fix(self) -> None:
        self.bridge.requested.emit("find_fix", None)

    def _ask_for_export(self) -> None:
        self.bridge.requested.emit("export_recipe" if self._is_recipe() else "export_timeline", None)

    def _is_recipe(self) -> bool:
        return self.session.document is not None and self.session.document.is_recipe

    def _reset_what_if(self) -> None:
        self.session.set_overrides(NO_OVERRIDES)

    @Slot(str)
    def _follow(self, target: str) -> None:
        """Select what a link names; step, operation and tile of one overflow together."""
        kind, _, number = target.partition(":")
        session, selection = self.session, self.session.selection
        if kind == "act":
            self._act()
        elif kind == "page":
            self.bridge.requested.emit("reference", number)
        elif kind == "op":
            session.select_operation(int(number))
        elif kind == "root":
            session.select_allocation(int(number))
        else:
            overflow = self._overflow_of(kind, int(number))
            if overflow is not None:
                step, tile, operation = overflow
                session.select(replace(selection, step=step, tiles=(tile,), operation=operation, allocation=None))
            elif kind == "step":
                session.select_step(int(number))
            elif kind == "tile":
                session.select_tiles((int(number),))

    def _overflow_of(self, kind: str, number: int) -> tuple[int, int, int | None] | None:
        """Step, tile and operation of the overflow that a link to a step or a tile belongs to."""
        found = () if self._diagnosis is None else self._diagnosis.overflows or ()
        for one in found:
            if number == (one.step if kind == "step" else one.tile):
                return one.step, one.tile, one.operation
        return None

    @Slot()
    def _act(self) -> None:
        """Do the next thing."""
        doing = None if self._banner is None else self._banner.next
        if doing is None:
            return
        if doing.action is Action.SWAP:
            state = self.session.state
            edits = [swap_plan(state, operation, alternative) for operation, alternative in doing.swaps]
            title = f"Swap in {len(edits)} plans" if len(edits) > 1 else edits[0].label
            self.session.do(Together(title, tuple(edits)) if len(edits) > 1 else edits[0])
        elif doing.action is Action.COPY_LAYOUTS:
            self._ask_for_notation()
        else:
            asked = {
                Action.EXPORT: ("export_recipe", None),
                Action.FIND_FIX: ("find_fix", None),
                Action.FIND_PLACED: ("find_fix", None),
                Action.OPEN_RECIPE: ("open", None),
                Action.SHOW_PROBLEMS: ("show_view", "problems"),
            }.get(doing.action)
            if asked is not None:
                self.bridge.requested.emit(*asked)

    def _ask_for_notation(self) -> None:
        menu = QMenu(self)
        menu.addActions(self.layout_actions(menu))
        menu.exec(self.act.mapToGlobal(QPoint(0, self.act.height())))
        menu.deleteLater()

    def layout_actions(self, parent: QWidget) -> list[QAction]:
        """What can be done with the valid layouts: copy them in three notations, or apply them here."""
        actions = []
        for notation in Notation:
            action = QAction(f"Copy as {notation.value}", parent)
            action.triggered.connect(lambda _=False, chosen=notation: self.copy_layouts(chosen))
            actions.append(action)
        here = QAction("Apply here", parent)
        here.triggered.connect(self._apply_layouts)
        how = QAction("How the layouts reach the compiler", parent)
        how.triggered.connect(lambda _=False: self.bridge.requested.emit("reference", HANDOFF_PAGE))
        return [*actions, here, how]

    def copy_layouts(self, notation: Notation) -> None:
        """Put the layouts that take the place of those that do not resolve on the clipboard."""
        timeline = self.session.timeline
        if timeline is None:
            return
        layouts = dict(self.session.state.layouts) or self._repaired()
        QGuiApplication.clipboard().setText(layouts_text(timeline, layouts, notation))
        self.bridge.message.emit(f"Copied {len(layouts):,} layouts as {notation.value}.")

    def _repaired(self) -> dict[int, Layout]:
        return {} if self._diagnosis is None else dict(self._diagnosis.repaired)

    def _apply_layouts(self) -> None:
        layouts = self._repaired()
        if layouts:
            self.session.do(set_layouts(self.session.state, f"Apply {len(layouts):,} layouts", layouts))

    @Slot()
    def _show_notes(self) -> None:
        QToolTip.showText(self.notes.mapToGlobal(QPoint(0, self.notes.height())), self.notes.toolTip(), self.notes)

    # -- what is shown --------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._refresh()

    def on_state(self) -> None:
        self._refresh()

    def on_estimate(self) -> None:
        self._refresh()

    def on_theme(self) -> None:
        self._bar.set_theme(self.bridge.theme)
        for chip in (self._what_if, *self._chips):
            chip.set_theme(self.bridge.theme)
        self._refresh()

    @Slot(object)
    def show_diagnosis(self, diagnosis: Diagnosis | None) -> None:
        """Say what overflows and what to do next, once that is known; None takes it away."""
        self._diagnosis = diagnosis
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        session = self.session
        document = session.document
        self._banner = banner(session, self._diagnosis, self.bridge.colours())
        shown = self._banner
        if shown is None:
            word = "Nothing open" if document is None else "Estimating"
            says = "Open a recipe or a memory timeline, or drop one here." if document is None else document.name
            self._show_head(word, "note", "muted")
            self.says.show_pieces([(says, "")])
            self.next.hide()
        else:
            earlier = "" if session.is_current else " (before the last edit)"
            self._show_head(f"{shown.title}{earlier}", icon_of(shown.state), tone_of(shown.state))
            self.says.show_pieces(shown.says)
            self._show_next(shown)
        self._show_chips(shown)
        self._show_figures(shown)
        for widget in (self._bar, self.share, self.cycles, self.find_fix, self.export):
            widget.setVisible(document is not None)
        self._show_buttons(shown)
        self.setAccessibleDescription(self.verdict_text())
        self.update()
        self.shown.emit()

    def _show_head(self, word: str, sign: str, token: str) -> None:
        theme = self.bridge.theme
        self.find_fix.setIcon(icon("fix", theme))
        self.export.setIcon(icon("export", theme))
        size = self.fontMetrics().height() + 2
        self._sign.setPixmap(icon(sign, theme, token).pixmap(QSize(size, size), self.devicePixelRatioF()))
        self._word.setText(word)
        palette = self._word.palette()
        palette.setColor(self._word.foregroundRole(), theme.color(token))
        self._word.setPalette(palette)
        self._token = token
        muted = self.share.palette()
        muted.setColor(self.share.foregroundRole(), theme.color("muted"))
        for label in (self.share, self.cycles):
            label.setPalette(muted)

    def _show_next(self, shown: Banner) -> None:
        self.next.show()
        doing = shown.next
        if doing is None:
            self.next.show_pieces([(LOOKING, "")], "Next:")
            return
        target = "" if doing.action is Action.NOTHING else "act:next"
        pieces = [(doing.text, target)]
        if doing.action is Action.COPY_LAYOUTS:
            pieces += [(" ", ""), ("How the layouts reach the compiler", f"page:{HANDOFF_PAGE}")]
        self.next.show_pieces(pieces, "Next:")

    def _show_chips(self, shown: Banner | None) -> None:
        steps = () if shown is None else shown.steps
        for index, chip in enumerate(self._chips):
            chip.setVisible(index < len(steps))
            if index:
                self._arrows[index - 1].setVisible(index < len(steps))
            if index < len(steps):
                step = steps[index]
                chip.show_step(step.label, step.text, icon_of(step.state), tone_of(step.state))
        text = "" if shown is None else shown.what_if
        self._what_if.setVisible(bool(text))
        if text:
            self._what_if.show_step(text, "Reset", "", "warning")

    def _show_figures(self, shown: Banner | None) -> None:
        load = None if shown is None else shown.load
        self._bar.show_load(load)
        self.share.setText("" if shown is None else shown.share)
        self.share.setToolTip("" if load is None else load.text())
        self.cycles.setText("" if shown is None else shown.cycles)
        notes = () if shown is None else shown.notes
        self.notes.setVisible(bool(notes))
        self.notes.setText(f"{len(notes)} note{'' if len(notes) == 1 else 's'}")
        self.notes.setToolTip(plain_tip("\n".join(f"• {note}" for note in notes)))
        self.notes.setAccessibleDescription("\n".join(notes))

    def _show_buttons(self, shown: Banner | None) -> None:
        session = self.session
        document = session.document
        doing = None if shown is None else shown.next
        swaps = 0 if doing is None else len(doing.swaps)
        layouts = 0 if self._diagnosis is None else len(self._diagnosis.bad_layouts)
        names = {
            Action.SWAP: "Swap in" if swaps == 1 else "Swap both in" if swaps == 2 else "Swap all in",
            Action.COPY_LAYOUTS: f"Copy {layouts:,} layout{'' if layouts == 1 else 's'}",
            Action.OPEN_RECIPE: "Open recipe…",
            Action.SHOW_PROBLEMS: "Show problems",
        }
        name = "" if doing is None else names.get(doing.action, "")
        self.act.setVisible(bool(name))
        self.act.setText(name)
        fits = session.verdict is not None and session.verdict.fits is True
        reason = (
            "A dump of addresses holds no plans to swap." if document is not None and document.no_program
            else "It fits: there is nothing to fix." if fits and session.unplaced is None
            else "A timeline holds no plans to swap: open the recipe of the same compile."
            if self._diagnosis is not None and not self._is_recipe() and not layouts
            else "The estimate is being made." if not session.is_current
            else ""
        )  # fmt: skip
        self.find_fix.setEnabled(document is not None and not reason)
        aim = "with which every tile is placed" if fits else "that make the program fit"
        self.find_fix.setToolTip(reason or f"Search for the fewest swaps {aim}")
        can_export = document is not None and (document.is_recipe or bool(session.state.layouts))
        self.export.setEnabled(can_export)
        self.export.setToolTip(
            "Write the recipe with the edits (Ctrl+E)" if document is not None and document.is_recipe
            else "Write the timeline with its changed layouts" if can_export
            else "A timeline holds no plans: there is nothing to export until a layout is changed."
        )  # fmt: skip

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with painting(self) as painter:
            painter.fillRect(QRectF(0, 0, _STRIP, self.height()), self.bridge.theme.color(self._token))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    # -- for pictures, copying and tests --------------------------------------------------------------------------

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        """The sentences whole, however little room the banner has for them."""
        from tileview.qt.plot.picture_parts import Line, TextPart

        theme = self.bridge.theme
        above = [Line(self._word.text(), self._token, True), Line(self.says.plain())]
        if not self.next.isHidden():
            above.append(Line(self.next.plain()))
        below = [Line(text, "muted") for text in (self.share.text(), self.cycles.text()) if text]
        width = max(self.width() * 2 // 3, _PICTURE_WIDTH)
        parts: list[Part] = [TextPart(above, width, self.font(), theme)]
        if self._bar.isVisibleTo(self):
            parts += [self._bar, TextPart(below, width, self.font(), theme)]
        return parts

    def verdict_text(self) -> str:
        """The verdict with its figures to the byte, for copying, screen readers and tests."""
        verdict = self.session.verdict
        exact = self.says.plain() if verdict is None else verdict.text
        return f"{self._word.text()}: {exact}"

    def chip_texts(self) -> list[str]:
        """The steps behind the verdict as shown, what-if values first."""
        return [chip.text() for chip in (self._what_if, *self._chips) if not chip.isHidden()]
