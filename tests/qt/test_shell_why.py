"""The verdict bar and the diagnosis beside it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor

from tileview.analysis.diagnosis import Diagnosis, Figure, Lever
from tileview.formats.opening import open_file
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import Cause
from tileview.present.banner import Load
from tileview.qt.base.theme import load_theme
from tileview.qt.jobs.plan_tasks import make_diagnosis
from tileview.qt.jobs.process import CancelledError
from tileview.qt.views.verdict import LoadBar
from tileview.qt.views.why import page
from tileview.session.edits import EditState


@pytest.fixture
def why(driver, over):
    driver.open(over)
    view = driver.window.docks.views["why"]
    driver.qtbot.waitUntil(lambda: view.diagnosis is not None, timeout=60_000)
    return view


def test_the_figures_add_up_to_what_is_over_the_budget(why):
    found = {figure.label: figure.bytes for figure in why.diagnosis.figures}
    assert found["total peak"] + found["reserve"] == found["needed"] == 617_464
    assert found["needed"] - found["budget"] == 30_504
    assert "30,504 B" in why.text()


def test_what_lies_on_the_tile_adds_up_to_the_peak(why):
    assert sum(item.bytes for item in why.diagnosis.contributions) == 568_312


def test_a_narrow_dock_cuts_no_title_number_or_operation_in_two(why):
    document = why.browser.document().clone(why)
    document.setTextWidth(290)
    assert document.size().width() <= 290
    whole = {"Operation", "Now", "Allocation", "Bytes", "Made by", "op 21 Gemm", "489,720 B", "158,976 B"}
    lines: dict[str, int] = {}
    block = document.begin()
    while block.isValid():
        text = block.text().replace("\N{NO-BREAK SPACE}", " ")
        if text in whole:
            lines.setdefault(text, block.layout().lineCount())
        block = block.next()
    assert lines == dict.fromkeys(whole, 1)


def test_the_bar_says_what_to_do_next(driver, why):
    driver.qtbot.waitUntil(lambda: "Looking" not in driver.window.verdict.next.plain(), timeout=10_000)
    assert driver.window.verdict.next.plain().startswith("Next: Swap in op 4 → alternative")


def test_links_lead_into_the_window(driver, why):
    session = driver.session
    why.follow(QUrl("place:3:7"))
    assert (session.selection.step, session.selection.tile) == (3, 7)
    why.follow(QUrl("op:4"))
    assert session.selection.operation == 4
    relief = why.diagnosis.reliefs[0]
    why.follow(QUrl(f"swap:{relief.operation}:{relief.alternative}"))
    assert dict(session.state.swaps) == {relief.operation: relief.alternative}
    assert why.diagnosis is None
    assert driver.window.verdict.next.plain() in ("Next: Looking for a fix…", "Next: Export the recipe (Ctrl+E).")
    driver.settle()
    driver.qtbot.waitUntil(lambda: why.diagnosis is not None, timeout=60_000)


def test_a_timeline_is_diagnosed_too(driver, rejected):
    driver.open(rejected)
    view = driver.window.docks.views["why"]
    driver.qtbot.waitUntil(lambda: view.diagnosis is not None, timeout=60_000)
    assert len(view.diagnosis.bad_layouts) == 43
    assert "vit.embedding.bias" in view.text()
    # Values that fail alike are told together: four causes for 43 values.
    assert view.text().count("Cure:") == 4
    assert "33 values, the first is vit.embedding.bias" in view.text()


@pytest.mark.parametrize(("delta", "text"), [(0, "±0 B"), (-67_968, "−67,968 B"), (2_048, "+2,048 B")])
def test_what_a_swap_changes_has_its_sign(delta, text):
    levers = (Lever(18, 1, delta, True),)
    fits = Diagnosis(Cause.FITS, True, "fits", (), (), "Nothing to do.", levers=levers)
    assert f">{text}<" in page(fits, {}, load_theme("light"))


def test_names_in_the_page_are_never_markup():
    name = '<img src="x"><script>alert(1)</script>&amp;'
    diagnosis = Diagnosis(Cause.TOTAL, False, name, (Figure(name, 1),), (name,), name)
    text = page(diagnosis, {}, load_theme("light"))
    assert "<img" not in text
    assert "<script" not in text
    assert "&lt;img" in text


# -- the bar ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "reserve", "budget", "text"),
    [
        (568_312, 49_152, 586_960, "105.2 %"),
        (0, 0, 586_960, "0.0 %"),
        (586_960, 0, 586_960, "100.0 %"),
        (999, 0, 2000, "50.0 %"),
        (UNAVAILABLE, 49_152, 586_960, "unavailable"),
        (5, 0, 0, "unavailable"),
    ],
)
def test_the_share_is_rounded_from_integers(total, reserve, budget, text):
    assert Load(total, 0, total, reserve, budget).percent_text() == text


@pytest.mark.parametrize("name", ["light", "dark"])
def test_over_budget_reserve_and_unavailable_differ_without_colour(qtbot, name):
    theme = load_theme(name)
    pictures = []
    for load in (
        Load(300_000, 0, 300_000, 49_152, 586_960),
        Load(800_000, 0, 800_000, 49_152, 586_960),
        Load(UNAVAILABLE, 0, UNAVAILABLE, 49_152, 586_960),
    ):
        bar = LoadBar(theme)
        qtbot.addWidget(bar)
        bar.resize(400, 24)
        bar.show_load(load)
        picture = bar.grab().toImage()
        ratio = picture.devicePixelRatio()
        row = [QColor(picture.pixel(x, int(12 * ratio))).lightness() for x in range(picture.width())]
        pictures.append(row)
        assert load.text() == bar.toolTip() == bar.accessibleDescription()
    fits, over, unavailable = pictures
    scale = len(fits) / 400
    standard = int(100 * scale)
    assert fits[standard] == fits[standard + 20]
    assert len(set(unavailable[standard : standard + 40])) > 1, "unavailable is hatched"
    excess = over[int(330 * scale) : int(370 * scale)]
    assert len(set(excess)) > 1, "the excess is hatched"
    empty = fits[int(330 * scale) : int(370 * scale)]
    assert set(empty) == {QColor(theme.background).lightness()}


def test_a_plan_that_cannot_be_lowered_is_said_and_taken_back(driver, pair):
    driver.open(pair)
    driver.session.swap(0, 3)
    driver.settle()
    assert driver.session.timeline is None
    assert driver.window.verdict.verdict_text().startswith("Cannot be lowered: ")
    for name in ("step_next", "peak_total", "over_next", "step_last", "export_timeline"):
        assert not driver.window.commands.action(name).isEnabled()
        driver.window.bridge.requested.emit(name, None)
    assert driver.window.commands.action("export_recipe").isEnabled()
    for view in driver.window.docks.views.values():
        driver.window.docks.show_view(view.name)
        assert not view.grab().isNull()
    driver.trigger("undo")
    driver.settle()
    assert driver.session.timeline is not None
    assert driver.session.selection.step is not None


def test_unknown_operations_make_every_figure_a_lower_bound(driver, samples):
    driver.open(samples / "broken" / "unknown-kinds.recipe.json")
    assert driver.session.verdict.at_least
    assert "lower bound" in driver.window.verdict.notes.accessibleDescription()
    assert driver.window.verdict.share.text() == "peak unavailable"
    assert "total peak at least 860,800 B" in driver.window.verdict.verdict_text()


class Parts:
    """A reporter that keeps parts, and gives up at the check of a number."""

    def __init__(self, last: int) -> None:
        self.parts, self.checks, self.last = [], 0, last

    def part(self, payload) -> None:
        self.parts.append(payload)

    def check(self) -> None:
        self.checks += 1
        if self.checks > self.last:
            raise CancelledError


def test_of_a_large_program_the_rest_goes_out_before_the_re_plans_which_can_be_given_up(samples, monkeypatch):
    recipe = open_file(samples / "so400m-over.recipe.json").recipe
    order = recipe, (EditState(), None, {})
    whole = make_diagnosis(order, Parts(1000))
    assert whole.reliefs
    monkeypatch.setattr("tileview.qt.jobs.plan_tasks.MANY_STEPS", 0)
    told, reporter = Parts(1000), Parts(4)
    assert make_diagnosis(order, told) == whole
    (first,) = told.parts
    assert (first.reliefs, first.headline, first.overflows) == ((), whole.headline, whole.overflows)
    with pytest.raises(CancelledError):
        make_diagnosis(order, reporter)
    assert (reporter.parts, reporter.checks) == ([first], 5)
