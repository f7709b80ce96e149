"""Results kept for the next opening come back as they were, or not at all."""

from __future__ import annotations

import hashlib
import json
import random
import zlib
from functools import cache

import pytest

from tests.helpers.mutate import damage
from tests.helpers.opened import document
from tileview.analysis.alternatives import AlternativeResult, evaluate_all
from tileview.model.recipe import Overrides, Recipe
from tileview.session.edits import EditState
from tileview.session.kept_results import count_of, results_from_bytes, results_key, results_to_bytes

PAIR = "pair-8tiles.recipe.json"
STATE = EditState()


@cache
def found(name: str = PAIR) -> tuple[AlternativeResult, ...]:
    return evaluate_all(recipe(name), workers=1)


def recipe(name: str = PAIR) -> Recipe:
    made = document(name).recipe
    assert made is not None
    return made


def key(state: EditState = STATE, name: str = PAIR) -> dict[str, object]:
    return results_key(document(name).source.pieces(), state)  # type: ignore[union-attr]


@cache
def kept(name: str = PAIR) -> bytes:
    return results_to_bytes(key(name=name), list(found(name)))


@pytest.mark.parametrize("name", [PAIR, "vit3-64tiles.recipe.json"])
def test_results_come_back_as_they_were(name: str) -> None:
    assert results_from_bytes(key(name=name), recipe(name), kept(name)) == list(found(name))
    assert count_of(kept(name)) == len(found(name))


def test_more_results_than_a_line_holds_come_back() -> None:
    many = [*found()] * 80
    assert count_of(results_to_bytes(key(), many)) == len(many) == 560
    with pytest.raises(ValueError, match="as many results"):  # each is there eighty times
        results_from_bytes(key(), recipe(), results_to_bytes(key(), many))


def test_no_results_are_kept_too() -> None:
    assert results_from_bytes(key(), recipe(), results_to_bytes(key(), [])) == []


@pytest.mark.parametrize(
    "state",
    [
        STATE.with_swap(0, 1),
        STATE.with_overrides(Overrides(budget_bytes=1000)),
        STATE.with_overrides(Overrides(reserve_bytes=0)),
        STATE.with_overrides(Overrides(fusion=False)),
        STATE.with_entry("boundaries", 1, True),
    ],
)
def test_results_of_another_state_are_refused(state: EditState) -> None:
    assert key(state) != key()
    with pytest.raises(ValueError, match="another file, state or program"):
        results_from_bytes(key(state), recipe(), kept())


def test_the_order_of_edits_does_not_matter() -> None:
    one = json.dumps(key(STATE.with_swap(0, 1).with_swap(1, 1)), sort_keys=True)
    assert json.dumps(key(STATE.with_swap(1, 1).with_swap(0, 1)), sort_keys=True) == one


def test_results_of_another_file_or_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="another file"):
        results_from_bytes(key(name="vit3-64tiles.recipe.json"), recipe(), kept())
    monkeypatch.setattr("tileview.session.kept_results.__version__", "0.0.1")
    with pytest.raises(ValueError, match="another file, state or program"):
        results_from_bytes(key(), recipe(), kept())


@pytest.mark.parametrize("seed", range(400))
def test_damaged_results_are_refused_or_are_what_they_were(seed: int) -> None:
    damaged = damage(random.Random(seed), kept())
    try:
        back = results_from_bytes(key(), recipe(), damaged)
    except ValueError:
        return
    assert back == list(found())


@pytest.mark.parametrize("place", range(0, 400, 7))
def test_a_cut_file_is_refused(place: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        results_from_bytes(key(), recipe(), kept()[: -1 - place])


def rewritten(text: bytes, count: int = 1) -> bytes:
    """Kept results that hold this text, with a sum that is right: what only another program would write."""
    body = zlib.compress(text)
    head = {**key(), "count": count, "sum": hashlib.sha256(body).hexdigest()}
    return json.dumps(head).encode() + b"\n" + body


ROW = [0, 0, True, True, None, [1, 2, 3, 4, 5], True, 0, None, [1, 1], 0, None]


def row(**changes: object) -> bytes:
    """A line of one result, its places (``at3=…``) changed."""
    changed = list(ROW)
    for place, value in changes.items():
        changed[int(place[2:])] = value
    return json.dumps([[], [changed]]).encode()


def test_a_row_as_this_program_writes_it_is_read() -> None:
    assert len(results_from_bytes(key(), recipe(), rewritten(row()))) == 1


FOREIGN = {
    "no JSON": b"nonsense",
    "a number": b"7",
    "three parts": b"[[],[],[]]",
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff",
    "an infinite number": row().replace(b"[1, 2, 3", b"[1, 1e999, 3"),
    "Infinity": row(at7=float("inf")),
    "NaN": row(at10=float("nan")),
    "a fraction": row(at5=[1, 2, 3, 4, 5.5]),
    "a huge number": row(at5=[1, 2, 3, 4, 10**40]),
    "more digits than Python reads": row().replace(b"[1, 2, 3", b"[1, " + b"9" * 9000 + b", 3"),
    "a negative size": row(at5=[1, 2, -3, 4, 5]),
    "true for a size": row(at5=[1, 2, True, 4, 5]),
    "too few sizes": row(at5=[1, 2, 3]),
    "a text for sizes": row(at5="12345"),
    "a number for true": row(at3=1),
    "an operation that is none": row(at0=99),
    "an alternative that is none": row(at1=99),
    "a negative operation": row(at0=-1),
    "a list for an operation": row(at0=[0]),
    "a text beyond the last": row(at4=3),
    "a negative text": row(at4=-1),
    "a text that is none": b"[[1],[]]",
    "a verdict that is none": row(at8=[True, 0]),
    "a row that is none": b"[[],[7]]",
    "texts that are none": b"[7,[]]",
    "one row twice": json.dumps([[], [ROW, ROW]]).encode(),
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_another_program_would_write_is_refused(text: bytes) -> None:
    for count in (0, 1, 2):
        with pytest.raises(ValueError, match=r"."):
            results_from_bytes(key(), recipe(), rewritten(text, count))


HEADS = {
    "empty": b"",
    "no head": b"\n",
    "a list": b"[1]\n",
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\n",
    "infinite": kept().replace(b'"count": 7', b'"count": 1e999'),
    "no count": kept().replace(b'"count"', b'"caunt"'),
    "another count": kept().replace(b'"count": 7', b'"count": 8'),
    "one thing more": kept().replace(b'"count"', b'"more": 1, "count"'),
    "more behind": kept() + b"x",
}


@pytest.mark.parametrize("content", HEADS.values(), ids=HEADS)
def test_a_malformed_head_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        results_from_bytes(key(), recipe(), content)


def test_what_unpacks_to_very_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileview.session.kept_results.MOST_TEXT_BYTES", 1 << 20)
    with pytest.raises(ValueError, match="end where it should"):
        results_from_bytes(key(), recipe(), rewritten(b" " * (8 << 20)))


def test_no_more_is_written_than_may_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    first = results_to_bytes(key(), [*found()] * 200)
    monkeypatch.setattr("tileview.session.kept_results.MOST_TEXT_BYTES", 100_000)
    assert 0 < count_of(results_to_bytes(key(), [*found()] * 200)) < count_of(first) == 1400
