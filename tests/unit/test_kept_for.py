"""Results that are kept for the objects they were made of."""

from __future__ import annotations

import weakref
from dataclasses import replace

from tests.helpers.make_timeline import write_timeline
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.timeline import load_timeline
from tileview.model.kept import KeptFor
from tileview.model.timeline import is_same_program
from tileview.present.problem_rows import over_budget
from tileview.present.step_rows import step_nodes


class Thing:
    """Equal to all others of its kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    def __hash__(self) -> int:
        return 0


def test_objects_are_told_by_identity_and_facts_by_value():
    kept: KeptFor[int] = KeptFor(3)
    one, other = Thing(), Thing()
    assert kept.get((one,), lambda: 1) == 1
    assert kept.get((one,), lambda: 2) == 1
    assert kept.get((other,), lambda: 3) == 3
    assert kept.get((one,), lambda: 4, ("fact",)) == 4
    assert kept.get((one,), lambda: 5, ("fa" + "ct",)) == 4


def test_the_oldest_goes_first_and_its_objects_with_it():
    kept: KeptFor[int] = KeptFor(2)
    things = [Thing() for _ in range(3)]
    first = weakref.ref(things[0])
    for number, thing in enumerate(things):
        kept.get((thing,), lambda number=number: number)
    del thing
    things.pop(0)
    assert first() is None
    assert [kept.get((thing,), lambda: -1) for thing in things] == [1, 2]


def test_what_depends_on_budgets_and_steps_read_is_made_anew(tmp_path):
    path = tmp_path / "made.json"
    write_timeline(path, 40, 20, 8)
    timeline = timeline_from_file(load_timeline(path))
    timeline.tiles.defer()
    before = step_nodes(timeline)
    assert [node.row.tile for node in before] == [-1] * 40
    assert step_nodes(timeline) is before
    timeline.tiles.resume()
    worst = timeline.tiles.worst()
    assert [node.row.tile for node in step_nodes(timeline)] == worst[:, 3].tolist()
    largest = int(worst[:, 2].max())
    small = replace(timeline, budget_bytes=largest - 1, reserve_bytes=0)
    assert is_same_program(timeline, replace(timeline, problems=()))
    assert not is_same_program(timeline, small)
    assert [bool(node.row.over) for node in step_nodes(small)] == (worst[:, 2] > largest - 1).tolist()
    found = [row for row in over_budget(small) if "total budget" in row.text]
    assert {row.step for row in found} <= set((worst[:, 2] == largest).nonzero()[0].tolist())
    assert found
    assert [row for row in over_budget(replace(small, budget_bytes=largest)) if "total budget" in row.text] == []


def test_a_list_of_steps_is_filtered_by_words_and_range(tmp_path):
    path = tmp_path / "made.json"
    write_timeline(path, 40, 20, 8)
    timeline = timeline_from_file(load_timeline(path))
    named = [step.index for step in timeline.steps if "7" in f"{step.operation} op {step.source} {step.index}"]
    assert [node.key for node in step_nodes(timeline, "step 7")] == named
    assert [node.key for node in step_nodes(timeline, within=(3, 6))] == [3, 4, 5]
    assert [node.key for node in step_nodes(timeline, "step 7", (3, 18))] == [key for key in named if 3 <= key < 18]
