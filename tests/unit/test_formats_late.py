"""Large recipes: alternatives read when they are looked at, and never another word than of those read at once."""

from __future__ import annotations

import gzip
import json
import pickle

import pytest

from tests.helpers.golden_program import DATA
from tileview.core.estimate import estimate
from tileview.formats.lateplans import LateAlternatives
from tileview.formats.save import Changes, render
from tileview.formats.search_state import SearchState, search_state_from_bytes
from tileview.model.plan import Unknown
from tileview.model.recipe import Recipe

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
    assert copied.raw == raw


@pytest.mark.parametrize("name", NAMES)
def test_exported_to_the_byte(late, name: str) -> None:
    raw = raw_of(name)
    state, wanted = search_state_from_bytes(raw), at_once(raw)
    assert render(state) == render(state, Changes()) == raw
    value = next(iter(wanted.recipe.inputs))
    for changes in (
        Changes(plans={5: 2, 4: 1, 18: 41}),
        Changes(plans={5: 2}, inputs={value: next(iter(reversed(wanted.recipe.inputs.values())))}),
        Changes(open_boundaries=frozenset({4, 9})),
        Changes(plans=dict.fromkeys(wanted.recipe.alternatives, 0), open_boundaries=frozenset()),
    ):
        assert render(state, changes) == render(wanted, changes)


def test_a_plan_that_is_damaged_is_unknown_and_the_others_are_read(late) -> None:
    document = json.loads(raw_of(NAMES[0]))
    document["alternatives"]["4"][1]["requirements"]["inputs"] = 7
    raw = json.dumps(document, separators=(",", ":")).encode()
    state = search_state_from_bytes(raw)
    damaged = state.recipe.alternatives[4][1]
    assert isinstance(damaged.operator, Unknown)
    assert "alternatives.4[1].requirements.inputs" in damaged.operator.name
    assert state.recipe.alternatives[4][0].operator == state.recipe.plans[4].operator
    swapped = estimate(state.recipe.with_plan(4, damaged))
    assert swapped.verdict.at_least
    assert render(state) == raw


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
    assert render(state, Changes(plans={5: 2})) == render(wanted, Changes(plans={5: 2}))


@pytest.mark.parametrize("key", ["05", "4"])
def test_ids_that_are_none_or_occur_twice_are_refused_alike(late, key: str) -> None:
    raw = raw_of(NAMES[0]).replace(b'],"5":[', b'],"%s":[' % key.encode())
    with pytest.raises(Exception) as found:
        search_state_from_bytes(raw)
    with pytest.raises(type(found.value)) as wanted:
        at_once(raw)
    assert str(found.value) == str(wanted.value)
