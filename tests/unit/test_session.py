"""The session on real files: estimates by revision, swaps, undo, pins, selection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tileview.core.estimate import estimate
from tileview.formats.opening import open_file
from tileview.model.recipe import Overrides
from tileview.model.timeline import Cause
from tileview.session import edits
from tileview.session.document import Document, edited_recipe
from tileview.session.edits import EditState
from tileview.session.session import Change, Selection, Session

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def load(name: str) -> Document:
    return Document(SAMPLES / name, open_file(SAMPLES / name))


@pytest.fixture(scope="module")
def over() -> Document:
    return load("so400m-over.recipe.json")


@pytest.fixture
def session(over):
    session = Session()
    session.open(over)
    settle(session)
    return session


def settle(session: Session) -> None:
    job = session.job()
    if job is not None:
        assert session.publish(job.run())
    assert session.is_current


def test_the_recipe_that_does_not_fit_names_limit_place_and_bytes_short(session):
    verdict = session.verdict
    assert not verdict.fits
    assert verdict.cause is Cause.TOTAL
    assert (verdict.needed_bytes, verdict.available_bytes, verdict.short_bytes) == (568_312 + 49_152, 586_960, 30_504)
    assert (verdict.step, verdict.operation) == (69, 21)
    assert session.timeline.tiles.usage(69)[verdict.tile].sum() == 568_312
    assert session.selection.step == 69
    for figure in ("568,312 B", "49,152 B", "30,504 B", "586,960 B", "step 69", "operation 21"):
        assert figure in verdict.text


def test_fusions_are_a_switch_of_the_what_if_state(session):
    """One swap repairs the program with the compiler's fusions, not without; an export would be the same."""
    session.swap(4, 0)
    settle(session)
    assert session.verdict.fits
    assert session.verdict.text.startswith("fits with the compiler's fusions (total 500,344 B; without them 30,504 B")
    assert session.set_fusion(False)
    settle(session)
    assert not session.verdict.fits
    assert session.timeline.peak.total == 568_312
    assert session.history.undo_label == "Leave the compiler's fusions out"
    assert session.state.plan_key() == EditState(swaps={4: 0}).plan_key()
    session.undo()
    assert session.is_current
    assert session.verdict.fits


def test_the_two_swaps_that_make_it_fit_and_undo_takes_them_back(session):
    session.set_fusion(False)
    settle(session)
    first = session.estimate
    session.swap(4, 0)
    settle(session)
    assert (session.timeline.peak.total, session.timeline.total_peak_step) == (568_312, 68)
    assert not session.verdict.fits
    session.swap(21, 0)
    settle(session)
    assert (session.timeline.peak.total, session.timeline.peak.standard) == (500_344, 464_888)
    assert session.verdict.fits
    assert session.history.undo_label == "Swap operation 21 to alternative 0"
    session.undo()
    session.undo()
    assert session.is_current, "the estimate of a state seen before is there at once"
    assert session.estimate is first
    assert session.state == EditState(overrides=Overrides(fusion=False))
    session.redo()
    assert session.state.swaps == {4: 0}


def test_what_an_edited_session_shows_is_what_a_cold_plan_gives(session):
    session.swap(4, 0)
    session.do(edits.set_boundary(session.state, 346, False))
    settle(session)
    cold = estimate(edited_recipe(session.file_recipe, session.state))
    assert session.timeline.peak == cold.timeline.peak
    assert session.verdict == cold.verdict
    assert session.recipe == edited_recipe(session.file_recipe, session.state)
    assert 346 not in session.recipe.open_boundaries


def test_a_stale_estimate_is_dropped(session):
    session.swap(4, 0)
    old = session.job()
    session.swap(21, 0)
    assert not session.publish(old.run())
    assert not session.is_current
    settle(session)
    assert session.verdict.fits


def test_a_result_for_another_document_is_dropped(session):
    session.swap(4, 0)
    job = session.job()
    session.open(load("so400m.recipe.json"))
    assert not session.publish(job.run())


def test_swapping_to_the_plan_of_the_file_is_no_edit(session):
    in_force = session.file_recipe.in_force(21)
    assert in_force is not None
    assert not session.swap(21, in_force)
    assert session.alternative_in_force(21) == in_force
    session.swap(21, 0)
    assert session.alternative_in_force(21) == 0
    session.swap(21, in_force)
    assert session.state == EditState()


def test_an_alternative_that_is_not_there_is_refused(over):
    with pytest.raises(KeyError, match="operation 21 has no alternative 99"):
        edited_recipe(over.recipe, EditState(swaps={21: 99}))


def test_what_if_budgets_change_the_verdict_and_nothing_to_export(session):
    """The fused program takes 552,568 B; where that does not fit, the composed one of 568,312 B stands."""
    session.set_overrides(Overrides(budget_bytes=586_960, reserve_bytes=34_392))
    settle(session)
    assert session.verdict.fits
    assert session.verdict.short_bytes == 0
    assert session.timeline.reserve_bytes == 34_392
    assert session.history.is_clean
    assert not session.state.is_exportable_change
    session.set_overrides(Overrides(reserve_bytes=34_393))
    settle(session)
    assert not session.verdict.fits
    assert session.verdict.short_bytes == 568_312 - 552_568 + 1
    session.set_overrides(Overrides(reserve_bytes=18_649, fusion=False))
    settle(session)
    assert session.verdict.short_bytes == 1


def test_listeners_hear_what_changed(over):
    session = Session()
    heard: list[Change] = []
    stop = session.subscribe(heard.append)
    session.open(over)
    assert heard == [Change.DOCUMENT]
    settle(session)
    assert heard[1:] == [Change.ESTIMATE, Change.SELECTION]
    heard.clear()
    session.swap(4, 0)
    assert heard == [Change.STATE, Change.ALTERNATIVES, Change.PLACEMENT]
    heard.clear()
    session.select_step(3)
    session.select_step(3)
    assert heard == [Change.SELECTION]
    stop()
    session.select_step(4)
    assert heard == [Change.SELECTION]


def test_the_selection_stays_inside_the_timeline(session):
    steps, tiles = len(session.timeline.steps), session.timeline.tile_count
    session.select(Selection(step=10**9, tiles=(5, tiles, 7), allocation=-1, span=(0, steps + 1)))
    assert session.selection == Selection(step=steps - 1, tiles=(5, 7))
    assert session.selection.tile == 7
    session.select_step(-4)
    assert session.selection.step == 0


def test_the_document_as_opened_is_the_first_baseline(session):
    opened = session.estimate
    session.swap(4, 0)
    settle(session)
    assert session.baseline.estimate is opened
    pin = session.pin_current("op 4 swapped")
    assert session.pins == (pin,)
    session.set_baseline(pin)
    session.remove_pin(0)
    assert session.pins == ()
    assert session.baseline.name == "op 4 swapped"


def test_the_rejected_timeline_is_explained_and_one_edit_repairs_it():
    session = Session()
    session.open(load("rejected-op0.timeline.json"))
    settle(session)
    verdict = session.verdict
    assert verdict.cause is Cause.INVALID_LAYOUT
    for words in ("43 values", "vit.embedding.bias", "1,472 tiles requested", "288 grains"):
        assert words in verdict.text
    layouts = {}
    for index, value in enumerate(session.timeline.values):
        if index in session.timeline.unavailable_roots:
            axis = replace(value.layout.tiling.axes[0], partitions=9)
            tiling = replace(value.layout.tiling, tile_count=9, axes=(axis,))
            layouts[index] = replace(value.layout, tiling=tiling)
    assert len(layouts) == 43
    session.do(edits.set_layouts(session.state, "Nine owners", layouts))
    settle(session)
    assert session.verdict.fits
    assert (session.timeline.budget_bytes, session.timeline.reserve_bytes) == (586_960, 49_152)
    session.undo()
    assert session.verdict.cause is Cause.INVALID_LAYOUT


def test_edits_given_with_a_document_keep_their_names_and_steps(over):
    session = Session()
    first, second = EditState(swaps={4: 0}), EditState(swaps={4: 0, 21: 0})
    session.open(over, [("One", first), ("Nothing", first), ("Two", second), ("Back", first), ("Again", second)])
    settle(session)
    assert session.verdict.fits
    assert [edit.label for edit in session.history.done] == ["One", "Two", "Back", "Again"]
    assert session.history.steps() == (("One", first), ("Two", second), ("Back", first), ("Again", second))
    assert not session.history.is_clean
    session.undo()
    assert session.state == first
    for _ in range(3):
        session.undo()
    assert session.state == EditState()
    assert session.history.is_clean
    assert not session.undo()


def test_results_of_alternatives_belong_to_a_revision(session):
    assert not session.add_results(session.revision - 1, [])
    assert session.add_results(session.revision, [])
    assert session.results == {}
