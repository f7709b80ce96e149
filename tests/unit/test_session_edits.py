"""Edits and their history: what is done, undone and redone leads back to the identical state."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from tileview.model.recipe import Overrides
from tileview.model.tensor import F16, ROW_MAJOR, Axis, AxisBase, Format, Layout, Tiling
from tileview.session import edits
from tileview.session.edits import EditState, History


def flat(owners: int) -> Layout:
    return Layout(ROW_MAJOR, Tiling(owners, 1, (Axis(AxisBase.LINEAR, 0, owners),)))


ids = st.integers(0, 5)
moves = st.one_of(
    st.tuples(st.just("swap"), ids, st.none() | ids),
    st.tuples(st.just("home"), ids, st.none() | st.integers(1, 3)),
    st.tuples(st.just("boundary"), ids, st.none() | st.booleans()),
    st.tuples(st.just("layout"), ids, st.none() | st.integers(1, 3)),
    st.tuples(st.just("budget"), st.none() | ids, st.none() | ids),
    st.tuples(st.just("together"), ids, ids),
)


def make_edit(state: EditState, move: tuple[str, int | None, int | bool | None]) -> edits.Edit:
    kind, key, value = move
    if kind == "budget":
        return edits.set_overrides(state, Overrides(key, value))
    assert key is not None
    if kind == "swap":
        return edits.swap_plan(state, key, value)
    if kind == "home":
        return edits.set_home(state, key, None if value is None else Format(F16, flat(value)))
    if kind == "boundary":
        return edits.set_boundary(state, key, None if value is None else bool(value))
    if kind == "layout":
        return edits.set_layout(state, key, None if value is None else flat(value))
    assert isinstance(value, int)
    return edits.set_layouts(state, "all of a kind", {key: flat(1), value: flat(2), key + 1: flat(3)})


@given(st.lists(moves, max_size=12))
def test_undo_and_redo_return_to_the_identical_states(script):
    history = History()
    states = [history.state]
    for move in script:
        if history.do(make_edit(history.state, move)):
            states.append(history.state)
    for before in reversed(states[:-1]):
        assert history.undo() is not None
        assert history.state == before
        assert hash(history.state) == hash(before)
    assert history.undo() is None
    assert history.state == EditState()
    for after in states[1:]:
        assert history.redo() is not None
        assert history.state == after
    assert history.redo() is None


@given(st.lists(moves, max_size=6), moves)
def test_an_edit_and_its_inverse_cancel(script, last):
    state = EditState()
    for move in script:
        state = make_edit(state, move).apply(state)
    edit = make_edit(state, last)
    assert edit.inverse().apply(edit.apply(state)) == state
    assert edit.inverse().inverse().apply(state) == edit.apply(state)


def test_an_edit_that_changes_nothing_is_no_step():
    history = History()
    assert not history.do(edits.swap_plan(history.state, 3, None))
    assert history.undo_label is None


def test_a_new_edit_forgets_what_was_undone():
    history = History()
    history.do(edits.swap_plan(history.state, 1, 0))
    history.undo()
    assert history.redo_label == "Swap operation 1 to alternative 0"
    history.do(edits.swap_plan(history.state, 2, 4))
    assert history.redo_label is None
    assert history.undo_label == "Swap operation 2 to alternative 4"


def test_clean_compares_states_and_leaves_budgets_out():
    history = History()
    history.do(edits.set_overrides(history.state, Overrides(budget_bytes=1)))
    assert history.is_clean
    history.do(edits.swap_plan(history.state, 1, 0))
    assert not history.is_clean
    history.mark_clean()
    assert history.is_clean
    history.undo()
    assert not history.is_clean
    history.do(edits.swap_plan(history.state, 1, 0))
    assert history.is_clean


def test_labels_say_what_an_edit_does():
    state = EditState()
    assert edits.set_boundary(state, 7, True).label == "Open boundary 7"
    assert edits.set_boundary(state, 7, False).label == "Close boundary 7"
    assert edits.set_overrides(state, Overrides(1024, 0)).label == "What if budget 1,024 B, reserve 0 B"
    assert edits.set_layouts(state, "Repair 43 values", {}).label == "Repair 43 values"


def test_states_travel_to_another_process():
    state = edits.set_layouts(EditState(), "x", {1: flat(2)}).apply(EditState())
    copy = pickle.loads(pickle.dumps(state))
    assert copy == state
    assert copy.key() == state.key()
