"""Large recipes: alternatives read when they are looked at, and never another word than of those read at once."""

from __future__ import annotations

import gzip
import json
import pickle

import pytest

from tests.helpers.golden_program import DATA
from tests.helpers.opened import rendered
from tileview.core.estimate import estimate
from tileview.errors import LoadError
from tileview.formats.files import MemorySource
from tileview.formats.lateplans import LateAlternatives
from tileview.formats.save import Changes, render, write_atomic
from tileview.formats.search_state import (
    SearchState,
    alternatives_problems,
    load_search_state,
    search_state_from_bytes,
    search_state_from_source,
)
from tileview.model.plan import Unknown
from tileview.model.recipe import Recipe
from tileview.session.edits import EditState
from tileview.session.kept_results import results_key

NAMES = ["vit3-64tiles.recipe.json.gz", "v8/vit3.v8.recipe.json.gz", "v8/vit3.v7.recipe.json.gz"]


@pytest.fixture
def late(monkeypatch):
    """Files of any size count as large."""
    monkeypatch.setattr("tileview.formats.search_state.LATE_BYTES", 0)


def raw_of(name: str) -> bytes:
    return gzip.decompress((DATA / name).read_bytes())


def at_once(raw: bytes) -> SearchState:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tileview.formats.search_state.LATE_BYTES", 1 << 60)
        return search_state_from_bytes(raw)


def assert_same(found: Recipe, wanted: Recipe) -> None:
    assert list(found.alternatives) == list(wanted.alternatives)
    for operation, plans in wanted.alternatives.items():
        assert len(found.alternatives[operation]) == len(plans)
        assert found.in_force(operation) == wanted.in_force(operation)
        assert tuple(found.alternatives[operation]) == tuple(plans)
    assert (found.plans, found.inputs, found.requests) == (wanted.plans, wanted.inputs, wanted.requests)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_recipe(late, name: str) -> None:
    raw = raw_of(name)
    state, wanted = search_state_from_bytes(raw), at_once(raw)
    assert isinstance(state.recipe.alternatives, LateAlternatives)
    assert not isinstance(wanted.recipe.alternatives, LateAlternatives)
    assert_same(state.recipe, wanted.recipe)
    assert state.problems == wanted.problems
    assert state.context == wanted.context
    copied = pickle.loads(pickle.dumps(state))
    assert_same(copied.recipe, wanted.recipe)
    assert b"".join(copied.pieces()) == raw


@pytest.mark.parametrize("name", NAMES)
def test_exported_to_the_byte(late, name: str) -> None:
    raw = raw_of(name)
    state, wanted = search_state_from_bytes(raw), at_once(raw)
    assert rendered(state) == rendered(state, Changes()) == raw
    value = next(iter(wanted.recipe.inputs))
    for changes in (
        Changes(plans={5: 2, 4: 1, 18: 41}),
        Changes(plans={5: 2}, inputs={value: next(iter(reversed(wanted.recipe.inputs.values())))}),
        Changes(open_boundaries=frozenset({4, 9})),
        Changes(plans=dict.fromkeys(wanted.recipe.alternatives, 0), open_boundaries=frozenset()),
    ):
        assert rendered(state, changes) == rendered(wanted, changes)


def unchecked(raw: bytes) -> SearchState:
    """As a window has it before the check in the background."""
    return search_state_from_source(MemorySource(raw), is_checked=False)


def test_a_plan_that_is_damaged_is_refused_and_until_the_check_unknown(late) -> None:
    document = json.loads(raw_of(NAMES[0]))
    document["alternatives"]["4"][1]["requirements"]["inputs"] = 7
    raw = json.dumps(document, separators=(",", ":")).encode()
    with pytest.raises(LoadError) as wanted:
        at_once(raw)
    with pytest.raises(LoadError) as found:
        search_state_from_bytes(raw)
    assert str(found.value) == str(wanted.value)
    state = unchecked(raw)
    damaged = state.recipe.alternatives[4][1]
    assert isinstance(damaged.operator, Unknown)
    assert "alternatives.4[1].requirements.inputs" in damaged.operator.name
    assert state.recipe.alternatives[4][0].operator == state.recipe.plans[4].operator
    swapped = estimate(state.recipe.with_plan(4, damaged))
    assert swapped.verdict.at_least
    assert rendered(state) == raw
    (problem,) = alternatives_problems(state)
    assert (problem.severity, problem.place) == ("error", "alternatives.4[1].requirements.inputs")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (b'{"operator":', b'{"operator":"Add","operator":', "alternatives.2[0].operator"),
        (b'{"operator":', b'{"operator":"\xff","x":', "alternatives.2[0]"),
        (b'"dispatch":', b'"dispatch"=', "alternatives.2[0]"),
        (b'"axes":[', b'"axes":[,', "alternatives.2[0]"),
    ],
    ids=["a key twice", "no UTF-8", "no JSON", "a comma"],
)
def test_what_is_wrong_in_an_alternative_is_refused_alike_or_found_by_the_check(late, old, new, place) -> None:
    whole = raw_of(NAMES[0])
    at = whole.index(b'"2":[', whole.index(b'"alternatives":'))
    raw = whole[:at] + whole[at:].replace(old, new, 1)
    with pytest.raises(LoadError) as wanted:
        at_once(raw)
    with pytest.raises(LoadError) as found:
        search_state_from_bytes(raw)
    assert str(found.value) == str(wanted.value)
    (problem,) = alternatives_problems(unchecked(raw))
    assert (problem.severity, problem.place) == ("error", place)


def test_what_begins_as_a_plan_inside_a_field_that_is_not_known_is_none(late) -> None:
    document = json.loads(raw_of(NAMES[0]))
    for plan in document["alternatives"]["4"][:2]:
        plan["later"] = {"seen": [{"operator": 1}, {"operator": {"x": 2}}]}
    raw = json.dumps(document, separators=(",", ":")).encode()
    state = unchecked(raw)
    assert_same(state.recipe, at_once(raw).recipe)
    assert alternatives_problems(state) == ()
    assert rendered(state) == raw


def test_a_plan_met_again_is_told_in_its_first_place(late) -> None:
    document = json.loads(raw_of(NAMES[0]))
    document["alternatives"]["4"][2] = document["alternatives"]["4"][1] = {"operator": "Add"}
    raw = json.dumps(document, separators=(",", ":")).encode()
    (problem,) = alternatives_problems(unchecked(raw))
    assert problem.place == "alternatives.4[1].dispatch"


def test_what_stands_around_the_alternatives_is_refused_at_its_byte(late) -> None:
    raw = raw_of(NAMES[0]) + b" x"
    with pytest.raises(LoadError, match=f"byte {len(raw) - 1}\\b"):
        search_state_from_bytes(raw)


@pytest.mark.parametrize("chunk", [1000, 4099, 1 << 16])
@pytest.mark.parametrize("name", NAMES)
def test_cut_in_pieces_of_any_size(late, monkeypatch, name: str, chunk: int) -> None:
    raw = raw_of(name)
    wanted = search_state_from_bytes(raw).cut
    monkeypatch.setattr("tileview.formats.lateplans.CHUNK", chunk)
    found = search_state_from_bytes(raw).cut
    assert found is not None
    assert wanted is not None
    assert (found.rest, found.start, found.end, found.lists) == (wanted.rest, wanted.start, wanted.end, wanted.lists)
    assert found.sums == wanted.sums
    assert b"".join(found.pieces()) == raw
    for operation, plans in json.loads(raw)["alternatives"].items():
        listed = found.lists[int(operation)]
        assert json.loads(raw[listed.start : listed.end]) == plans
        assert listed.count == len(plans)


def test_a_file_rewritten_in_place_is_never_mixed_with_what_was_opened(late, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("tileview.formats.files.HELD_BYTES", 0)
    raw, path = raw_of(NAMES[0]), tmp_path / "x.json"
    path.write_bytes(raw)
    state = load_search_state(path)
    assert rendered(state, Changes(plans={5: 2})) == rendered(at_once(raw), Changes(plans={5: 2}))
    path.write_bytes(raw.replace(b'"FromEnd":2', b'"FromEnd":1'))
    with pytest.raises(LoadError, match="as it was opened"):
        rendered(state, Changes(plans={5: 2}))
    assert all(isinstance(plan.operator, Unknown) for plan in state.recipe.alternatives[18])
    with pytest.raises(LoadError, match="as it was opened"):
        alternatives_problems(state)


def test_an_export_over_the_file_itself_leaves_what_was_opened_readable(late, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("tileview.formats.files.HELD_BYTES", 0)
    raw, path = raw_of(NAMES[0]), tmp_path / "x.json"
    path.write_bytes(raw)
    state = load_search_state(path)
    write_atomic(path, render(state, Changes(plans={5: 2})))
    assert path.read_bytes() == rendered(at_once(raw), Changes(plans={5: 2}))
    assert rendered(state) == raw
    assert_same(state.recipe, at_once(raw).recipe)


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.replace(b'"alternatives":{', b'"alternatives": {'),
        lambda raw: json.dumps(json.loads(raw)).encode(),
        lambda raw: json.dumps(dict(reversed(json.loads(raw).items())), separators=(",", ":")).encode(),
        lambda raw: raw.replace(b'{"operator":', b'{"x":{"y":[],"7":[]},"operator":'),
    ],
    ids=["a space", "spaces", "another order", "numbers for keys in a plan"],
)
def test_other_spellings_are_read_all_the_same(late, change) -> None:
    raw = change(raw_of(NAMES[0]))
    state, wanted = search_state_from_bytes(raw), at_once(raw)
    assert_same(state.recipe, wanted.recipe)
    assert rendered(state, Changes(plans={5: 2})) == rendered(wanted, Changes(plans={5: 2}))


@pytest.mark.parametrize("key", ["05", "4"])
def test_ids_that_are_none_or_occur_twice_are_refused_alike(late, key: str) -> None:
    raw = raw_of(NAMES[0]).replace(b'],"5":[', b'],"%s":[' % key.encode())
    with pytest.raises(Exception) as found:
        search_state_from_bytes(raw)
    with pytest.raises(type(found.value)) as wanted:
        at_once(raw)
    assert str(found.value) == str(wanted.value)


def with_more(document: dict, index: int, more: object) -> bytes:
    """The recipe with an unknown field in an alternative of operation 4."""
    document["alternatives"]["4"][index]["more"] = more
    return json.dumps(document, separators=(",", ":")).encode()


@pytest.mark.parametrize("version", NAMES)
def test_the_plan_in_force_is_the_one_that_equals_it_whatever_else_its_text_says(late, version: str) -> None:
    document = json.loads(raw_of(version))
    plan = document["recipe"]["plans"]["4"]
    place = document["alternatives"]["4"].index(plan)
    raw = with_more(document, place, 7)
    state, wanted = search_state_from_bytes(raw), at_once(raw)
    assert isinstance(state.recipe.alternatives, LateAlternatives)
    assert state.recipe.in_force(4) == wanted.recipe.in_force(4) == place
    assert state.problems == wanted.problems


@pytest.mark.parametrize("version", NAMES)
def test_a_plan_within_an_alternative_is_not_taken_for_the_alternative(late, version: str) -> None:
    document = json.loads(raw_of(version))
    plan = document["recipe"]["plans"]["4"]
    plans = document["alternatives"]["4"]
    first = 1 if plans.index(plan) == 0 else 0
    plans.remove(plan)
    plans.append(plan)
    raw = with_more(document, first, [plan])
    state, wanted = search_state_from_bytes(raw), at_once(raw)
    assert isinstance(state.recipe.alternatives, LateAlternatives)
    assert state.recipe.in_force(4) == wanted.recipe.in_force(4) == len(plans) - 1


@pytest.mark.parametrize("space", [" ", "\n", "\r", "\t"])
@pytest.mark.parametrize("between", ["}}},%s{", "}}}%s,{"])
def test_plans_that_somebody_set_apart_by_hand_are_told_apart_before_the_check(late, space: str, between: str) -> None:
    whole = raw_of(NAMES[0])
    at = whole.rindex(b'}}},{"operator":', 0, whole.index(b'],"5":[', whole.index(b'"alternatives":')))
    raw = whole[:at] + (between % space).encode() + whole[at + len(b"}}},{") :]
    assert json.loads(raw) == json.loads(whole)
    state = unchecked(raw)
    assert_same(state.recipe, at_once(raw).recipe)
    assert alternatives_problems(state) == ()


def test_spaces_within_a_plan_leave_a_large_recipe_to_be_read_late(late) -> None:
    whole = raw_of(NAMES[0])
    at = whole.index(b'"dispatch":', whole.index(b'"alternatives":'))
    raw = whole[:at] + b" " + whole[at:]
    state = unchecked(raw)
    assert isinstance(state.recipe.alternatives, LateAlternatives)
    assert_same(state.recipe, at_once(raw).recipe)
    assert rendered(state) == raw


def test_results_kept_of_large_files_are_told_apart_by_all_of_their_content(late) -> None:
    raws = [raw_of(name) for name in NAMES[:2]]
    late_keys = [results_key(search_state_from_bytes(raw).pieces(), EditState()) for raw in raws]
    assert late_keys == [results_key(at_once(raw).pieces(), EditState()) for raw in raws]
    assert late_keys[0] != late_keys[1]


@pytest.mark.parametrize("tail", [b"\0" * (5 << 20), b'"' + b"x" * (5 << 20), b"x" * (5 << 20) + b'"'])
def test_a_tail_without_a_bracket_is_gone_through_once(late, tail: bytes) -> None:
    whole = raw_of(NAMES[0])
    raw = whole[: len(whole) // 2] + tail
    with pytest.raises(LoadError):
        search_state_from_bytes(raw)
