"""Why: the verdict taken apart, worked out beside the window, as a page with links to what it names.

Names come from files and are escaped; links are of this program's own making (``op:21``, ``root:7``, ``place:69:174``,
``swap:21:0``, ``do:find_fix``).
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QPoint, Qt, QTimer, QUrl, Slot
from PySide6.QtWidgets import QDockWidget, QTextBrowser, QVBoxLayout, QWidget

from tileview.analysis.diagnose import diagnose, levers_only
from tileview.analysis.diagnosis import BadLayout, Contribution, ContributionGroup, Diagnosis, Lever, grouped
from tileview.analysis.loads import describe_bytes
from tileview.analysis.overflows import LIMIT_WORDS
from tileview.analysis.relief import Relief
from tileview.analysis.words import at_start, counted, sentence
from tileview.core.estimated import Estimate
from tileview.model.recipe import Recipe
from tileview.model.sizes import exact_text, kib_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Cause, fits_words
from tileview.present.tables import outcome
from tileview.present.why_parts import PartKind, WhyOverflow, why_overflow
from tileview.qt.base.text import page_text
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.process import OnBase, Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import PagePart
from tileview.qt.views.base import View, show_text_menu
from tileview.session.document import edited_recipe
from tileview.session.edits import EditState

MOST_ROWS = 12
MOST_LAYOUTS = 8
_OPERATION = '<a href="op:'


def _link(target: str, text: str) -> str:
    return f'<a href="{html.escape(target)}">{page_text(text)}</a>'


def _row(cells: Iterable[str], numbers: frozenset[int] = frozenset(), tag: str = "td") -> str:
    """A row of a table. Titles, numbers and the operation that a row is of stay in one piece: in a narrow dock the
    browser would cut words anywhere."""
    parts = []
    for index, cell in enumerate(cells):
        side = "right" if index in numbers else "left"
        whole = index in numbers or tag == "th" or (index == 0 and cell.startswith(_OPERATION))
        style = f"padding-right:6px{';white-space:nowrap' if whole else ''}"
        parts.append(f'<{tag} align="{side}" style="{style}">{cell}</{tag}>')
    return f"<tr>{''.join(parts)}</tr>"


def _table(header: tuple[str, ...], rows: list[str], numbers: frozenset[int]) -> str:
    head = _row((page_text(title).replace(" ", "<br>") for title in header), numbers, "th") if header else ""
    return f'<table cellspacing="0" cellpadding="1">{head}{"".join(rows)}</table>'


def _operation(operation: int | None, names: Mapping[int, str]) -> str:
    if operation is None:
        return ""
    words = f"op {operation} {names.get(operation, '')}".strip()
    return _link(f"op:{operation}", words)


def _swap(one: Relief | Lever) -> str:
    """A link that swaps an alternative in, and what that alone does."""
    fits = "fits with fusions then" if one.only_fused else "fits then"
    then = "then not known" if one.fits is None else fits if one.fits else "not enough alone"
    return f"{_link(f'swap:{one.operation}:{one.alternative}', f'swap in {one.alternative}')}: {then}"


def page(
    diagnosis: Diagnosis,
    names: Mapping[int, str],
    theme: Theme,
    overflows: Sequence[WhyOverflow] = (),
    colours: Mapping[int, int] = MappingProxyType({}),
    has_plans: bool = True,
) -> str:
    """The whole page as HTML for a text browser; ``names`` are the kinds of the operations, ``colours`` their
    categories in the theme.

    ``overflows`` come first, each taken apart; the sum of the verdict is left out then, as it is the first of them.
    Without ``has_plans`` there is nothing to swap.
    """
    color = theme.color(outcome(diagnosis.fits)[2])
    word = fits_words(diagnosis.fits).capitalize()
    parts = [_overflow(number, one, names, theme, colours) for number, one in enumerate(overflows, start=1)]
    if not overflows:
        cause = sentence(diagnosis.headline)
        lead = "" if cause.startswith(word) else f'<b><span style="color:{color}">{word}.</span></b> '
        parts.append(f"<p>{lead}{page_text(cause)}</p>")
        parts += _layouts(diagnosis)
        if not diagnosis.fits:
            parts.append(f"<p><b>Next:</b> {page_text(diagnosis.next_step)}{_next_links(diagnosis, has_plans)}</p>")
    more = len(diagnosis.overflows or ()) - len(overflows)
    if overflows and more > 0:
        parts.append(f"<p>and {more:,} more; N goes from one to the next.</p>")
    if diagnosis.figures and not overflows:
        rows = [
            _row((page_text(figure.label), page_text(exact_text(figure.bytes)), kib_text(figure.bytes)), _NUMBERS)
            for figure in diagnosis.figures
        ]
        parts.append(f"<h4>The sum</h4>{_table((), rows, _NUMBERS)}")
    if overflows:
        parts += _layouts(diagnosis)
    parts += _shrinking(diagnosis, names)
    parts += _contributions(diagnosis, names)
    parts += [f"<p>{page_text(sentence)}</p>" for sentence in diagnosis.details]
    parts += _growth(diagnosis)
    return "".join(parts)


_NUMBERS = frozenset({1, 2})
_SECOND = frozenset({1})
_TOKENS = {PartKind.READ: "border", PartKind.OTHER: "field", PartKind.RESERVE: "grid"}


def _overflow(number: int, why: WhyOverflow, names: Mapping[int, str], theme: Theme, colours: Mapping[int, int]) -> str:
    """One overflow: where and by how much, a bar of its parts, the parts, the cure."""
    one = why.overflow
    place = f"place:{one.step}:{one.tile}"
    operation = "" if one.operation is None else f", {_operation(one.operation, names)}"
    tiles = f"{one.tiles_over:,} tile{'' if one.tiles_over == 1 else 's'} over"
    where = _link(place, f"Step {one.step}, tile {one.tile}")
    size = f"{kib_text(one.over_bytes)} ({exact_text(one.over_bytes)}) over{LIMIT_WORDS[one.limit]}"
    over = f'<span style="color:{theme.color("over").name()}">{size}</span>'
    head = f'<p style="margin-bottom:2px"><b>{number}&nbsp; {where}{operation}<br>{over}</b>, {tiles}</p>'
    rows = []
    category = None if one.operation is None else colours.get(one.operation)
    made = theme.field if category is None else theme.categories[category]
    for part in why.parts:
        mark = f'<span style="color:{_colour(part.kind, made, theme)}">■</span> '
        label = page_text(part.label) if part.root is None else _link(f"root:{part.root}", part.label)
        text = f"<b>{label}</b>" if part.kind is PartKind.MADE else label
        rows.append(_row((mark + text, kib_text(part.bytes)), _SECOND))
    rows.append(_row((f"needed, against {kib_text(why.limit)}", f"<b>{kib_text(why.needed)}</b>"), _SECOND))
    cure = ""
    if why.swap is not None:
        link = _link(f"swap:{why.swap[0]}:{why.swap[1]}", f"alternative {why.swap[1]} of op {why.swap[0]}")
        words = f", {page_text(why.cure)}" if why.cure else ""
        cure = f"<p><b>Cure:</b> {link}{words}: its fullest step needs {kib_text(why.saved)} less.</p>"
    return head + _bar(why, made, theme) + _table((), rows, _SECOND) + cure


def _colour(kind: PartKind, made: str, theme: Theme) -> str:
    """The colour of a part; ``made`` is that of the operation at fault."""
    return made if kind is PartKind.MADE else theme.color(_TOKENS[kind]).name()


def _bar(why: WhyOverflow, made: str, theme: Theme) -> str:
    """The parts as a bar, with what is over at its end."""
    whole = max(why.needed, 1)
    left, cells = max(why.needed - why.overflow.over_bytes, 0), []
    for part in why.parts:
        shown = min(part.bytes, left)
        left -= shown
        cells.append((_colour(part.kind, made, theme), shown))
    cells.append((theme.color("over").name(), why.overflow.over_bytes))
    drawn = "".join(
        f'<td width="{max(100 * size // whole, 1)}%" bgcolor="{color}"><font size="1">&nbsp;</font></td>'
        for color, size in cells
        if size > 0
    )
    return f'<table width="96%" cellspacing="0" cellpadding="0"><tr>{drawn}</tr></table>'


def _next_links(diagnosis: Diagnosis, has_plans: bool) -> str:
    if diagnosis.cause is Cause.NOT_PLACED:
        return ""
    links = [_link("do:find_fix", "Find fix")] if has_plans or diagnosis.bad_layouts else []
    return "<br>" + " · ".join([*links, _link("view:problems", "Problems")])


def _shrinking(diagnosis: Diagnosis, names: Mapping[int, str]) -> list[str]:
    """What the operations at the place can do for their own steps, then the best single swaps."""
    parts = []
    if diagnosis.reliefs:
        rows = [
            _row(
                (
                    _operation(relief.operation, names),
                    exact_text(relief.now),
                    exact_text(relief.then),
                    _swap(relief),
                ),
                _NUMBERS,
            )
            for relief in diagnosis.reliefs
        ]
        header = ("Operation", "Now", "With best alternative", "")
        parts.append(f"<h4>Fullest step of the operations at fault</h4>{_table(header, rows, _NUMBERS)}")
    if diagnosis.levers:
        rows = [
            _row(
                (
                    _operation(lever.operation, names),
                    describe_bytes(lever.delta_total),
                    _swap(lever),
                ),
                frozenset({1}),
            )
            for lever in diagnosis.levers[:MOST_ROWS]
        ]
        titles = ("Operation", "Total peak", "")
        parts.append(f"<h4>Best single swaps by total peak</h4>{_table(titles, rows, frozenset({1}))}")
    return parts


def _contributions(diagnosis: Diagnosis, names: Mapping[int, str]) -> list[str]:
    load = diagnosis.load
    if load is None or not diagnosis.contributions:
        return []
    groups = grouped(diagnosis.contributions)
    roots = _first_roots(diagnosis.contributions)
    rows = [_contribution(group, roots, names) for group in groups[:MOST_ROWS]]
    left = groups[MOST_ROWS:]
    if left:
        rest = exact_text(sum(group.bytes for group in left))
        rows.append(_row((f"and {len(left):,} more", rest, ""), frozenset({1})))
    place = _link(f"place:{load.step}:{load.tile}", f"tile {load.tile} at step {load.step}")
    header = ("Allocation", "Bytes", "Made\N{NO-BREAK SPACE}by")
    return [f"<h4>On {place}</h4>{_table(header, rows, frozenset({1}))}"]


def _contribution(group: ContributionGroup, roots: Mapping[str, int], names: Mapping[int, str]) -> str:
    times = f" × {group.count}" if group.count > 1 else ""
    root = roots.get(group.name)
    name = page_text(group.name) if root is None else _link(f"root:{root}", group.name)
    size = exact_text(group.bytes)
    if group.memory_class is MemoryClass.INTERLEAVED:
        size += "<br>interleaved"
    maker = "input" if group.operation is None else _operation(group.operation, names)
    if group.choice is not None:
        operation, alternative = group.choice
        link = _link(f"swap:{operation}:{alternative}", f"swap in {alternative}")
        maker += f"<br>−{group.smaller_by:,} B: {link} of op {operation}"
    return _row((f"{name}{times}", size, maker), frozenset({1}))


def _first_roots(contributions: Iterable[Contribution]) -> dict[str, int]:
    """Name of an allocation or of its group → the first root under it."""
    roots: dict[str, int] = {}
    for item in contributions:
        if item.root is not None:
            roots.setdefault(item.group if item.resident and item.group else item.name, item.root)
    return roots


def _growth(diagnosis: Diagnosis) -> list[str]:
    grown = [change for change in diagnosis.changes if change.delta]
    if not grown:
        return []
    rows = [
        _row((page_text(change.name), describe_bytes(change.delta or 0)), frozenset({1}))
        for change in grown[:MOST_ROWS]
    ]
    return [f"<h4>Against the baseline</h4>{_table((), rows, frozenset({1}))}"]


def _layouts(diagnosis: Diagnosis) -> list[str]:
    """The values without a valid layout, those that fail alike together: how many, why, what would help."""
    alike: dict[tuple[str, str], list[BadLayout]] = {}
    for one in diagnosis.bad_layouts:
        alike.setdefault((one.text, one.remedy), []).append(one)
    if not alike:
        return []
    lines = []
    for (text, remedy), members in list(alike.items())[:MOST_LAYOUTS]:
        first = page_text(members[0].name)
        who = first if len(members) == 1 else f"{len(members):,} values, the first is {first}"
        cure = f"<br><b>Cure:</b> {page_text(remedy)}" if remedy else ""
        lines.append(f"<li><b>{page_text(at_start(text).rstrip('.'))}:</b> {who}.{cure}</li>")
    more = len(alike) - MOST_LAYOUTS
    left = f"<p>and {counted(more, 'more cause')}: {_link('view:problems', 'Problems')}</p>"
    return [f"<h4>No valid layout</h4><ul>{''.join(lines)}</ul>", left if more > 0 else ""]


DELAY_MS = 150
MOST_OVERFLOWS = 4
"""Overflows that are taken apart; the rest are counted."""
_PAGE_WIDTH = 560
"""Pixels that a picture of the page is wide at least."""


class WhyView(View):
    """The diagnosis of the current state.

    Re-plans of a recipe's alternatives are part of it, so it is made in a worker process; for a timeline on a
    thread. A diagnosis of a state that was left meanwhile is dropped; the newest one is told to the others.
    """

    title = "Why"
    name = "why"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._diagnosis: Diagnosis | None = None
        self._job: Job | None = None
        self._came_for: Path | None = None
        """The file for which the view has come to the front."""
        self._asked_of: Estimate | None = None
        """The estimate whose diagnosis is shown or being made."""
        self.browser = QTextBrowser(self)
        self.browser.setOpenLinks(False)
        self.browser.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.browser.setAccessibleName("Diagnosis")
        self.browser.anchorClicked.connect(self.follow)
        self.browser.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.browser.customContextMenuRequested.connect(self._menu)
        self.lead_focus(self.browser)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.browser)
        self._runner = Runner(self, say=bridge.message.emit)
        self._runner.part.connect(self._on_part)
        self._runner.ended.connect(self._on_ended)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._start)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The diagnosis of the current state, None while it is not made."""
        return self._diagnosis

    def is_busy(self) -> bool:
        return self._timer.isActive() or self._job is not None

    # -- when -----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        super().begin()
        if self.session.is_current:
            self.on_estimate()

    def on_document(self) -> None:
        self._forget()

    def on_state(self) -> None:
        if not (self.session.is_current and self.session.estimate is self._asked_of):
            self._forget()

    def on_estimate(self) -> None:
        self._timer.start()
        self._come_forward()

    def on_theme(self) -> None:
        self._show()

    def _come_forward(self) -> None:
        """Put the tab in front for a file that was opened just now and fails, or may. The focus stays where it is."""
        document, verdict = self.session.document, self.session.verdict
        if document is None or verdict is None or document.path == self._came_for:
            return
        self._came_for = document.path
        dock = self.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None and verdict.fits is not True:
            dock.raise_()

    def _forget(self) -> None:
        self._timer.stop()
        if self._job is not None:
            self._runner.cancel(self._job)
            self._job = None
        self._take(None)

    @Slot()
    def _start(self) -> None:
        session = self.session
        estimate, recipe = session.estimate, session.recipe
        self._asked_of = estimate
        if estimate is None or not session.is_current:
            return
        if recipe is None:
            self._job = Job(partial(_diagnose, estimate), place=self.name)
        else:
            asked = (session.state, self._baseline(), levers_only(session.results))
            self._job = Job("diagnose", OnBase(session.file_recipe, asked), place=self.name)
        self._runner.submit(self._job)

    def _baseline(self) -> EditState | Recipe | None:
        """What growth is measured against: a state of this file, or another's recipe; None where it is the state in
        force.
        """
        session = self.session
        baseline = session.baseline
        if baseline is None or (baseline.state == session.state and baseline.document is session.document):
            return None
        if baseline.document is session.document:
            return baseline.state
        recipe = baseline.document.recipe
        return None if recipe is None else edited_recipe(recipe, baseline.state)

    @Slot(object, object)
    def _on_part(self, job: Job, payload: object) -> None:
        if job is self._job and isinstance(payload, Diagnosis):
            self._take(payload)

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job is not self._job:
            return
        self._job = None
        if outcome == "done" and isinstance(payload, Diagnosis):
            self._take(payload)
        elif outcome != "cancelled":
            self._on_failed(*failure_of(outcome, payload))

    def _on_failed(self, summary: str, details: str) -> None:
        text = f"The diagnosis could not be made: {summary}"
        self.browser.setPlainText(text)
        if details:
            self.bridge.fault.emit(text, details)

    # -- what is shown --------------------------------------------------------------------------------------------

    def _take(self, diagnosis: Diagnosis | None) -> None:
        self._diagnosis = diagnosis
        timeline = self.session.timeline
        if diagnosis is not None and timeline is not None:
            self.session.tell_overflows(timeline, diagnosis.overflows)
        self._show()
        self.bridge.diagnosed.emit(diagnosis)

    def _show(self) -> None:
        if self._diagnosis is None:
            self.browser.setPlainText("" if self.session.document is None else "Looking for the cause …")
            return
        color = self.bridge.theme.accent
        self.browser.document().setDefaultStyleSheet(f"a {{ color: {color}; }} th {{ text-align: left; }}")
        self.browser.setHtml(
            page(
                self._diagnosis,
                self._names(),
                self.bridge.theme,
                self._overflows(),
                self.bridge.colours(),
                has_plans=self.session.recipe is not None,
            )
        )

    def _overflows(self) -> list[WhyOverflow]:
        diagnosis, session = self._diagnosis, self.session
        timeline = session.timeline
        if diagnosis is None or timeline is None or not diagnosis.overflows:
            return []
        shown = diagnosis.overflows[:MOST_OVERFLOWS]
        return [why_overflow(timeline, one, diagnosis.reliefs, session.recipe) for one in shown]

    def _names(self) -> dict[int, str]:
        graph, timeline = self.session.graph, self.session.timeline
        if graph is not None:
            return graph.kind_names()
        steps = () if timeline is None else timeline.steps
        return {step.source: step.kind for step in steps if step.source is not None}

    @Slot(QUrl)
    def follow(self, url: QUrl) -> None:
        """Do what a link says; the links are made in this program, names in them are numbers."""
        kind, *rest = url.toString().split(":")
        session = self.session
        if kind == "op":
            session.select_operation(int(rest[0]))
        elif kind == "root":
            session.select_allocation(int(rest[0]))
        elif kind == "place":
            session.select(replace(session.selection, step=int(rest[0]), tiles=(int(rest[1]),)))
        elif kind == "swap":
            session.swap(int(rest[0]), int(rest[1]))
        elif kind == "view":
            self.bridge.requested.emit("show_view", rest[0])
        elif kind == "do":
            self.bridge.requested.emit(rest[0], None)

    def text(self) -> str:
        """The page as plain text."""
        return self.browser.toPlainText()

    @Slot(QPoint)
    def _menu(self, position: QPoint) -> None:
        show_text_menu(self, self.browser, position)

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (PagePart(self.browser, max(self.browser.viewport().width(), _PAGE_WIDTH)),)

    def shut_down(self) -> None:
        self._timer.stop()
        self._job = None
        self._runner.close()


def _diagnose(estimate: Estimate, _reporter: Reporter) -> Diagnosis:
    return diagnose(estimate.verdict, estimate.timeline)
