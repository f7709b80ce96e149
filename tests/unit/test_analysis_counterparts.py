"""What of one file is what in the linked one: allocations by origin and name, operations by id, and the differences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.opened import document, estimate, opened
from tileview.analysis.lifetimes import live_span
from tileview.analysis.linkage import Counterparts, FigureDifference
from tileview.analysis.loads import largest_bytes
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import Timeline
from tileview.session.session import Pin, Session, linked_timeline

RECIPE = "vit3-64tiles.recipe.json"
FILE = "vit3-64tiles.v3.timeline.json"


def timeline_of(session: Session) -> Timeline:
    timeline = session.timeline
    assert timeline is not None
    return timeline


def composed(name: str) -> Session:
    """A recipe opened without the compiler's fusions: the sample timelines are of the composed program."""
    session = opened(name)
    session.set_fusion(False)
    estimate(session)
    return session


def test_the_two_samples_of_one_compile_match_allocation_by_allocation() -> None:
    here, there = timeline_of(composed(RECIPE)), timeline_of(opened(FILE))
    found = Counterparts(here, there)
    for root in here.aliases:
        other = found.root(root)
        assert other is not None
        one, two = here.values[root], there.values[other]
        assert (one.origin, one.name, one.shape) == (two.origin, two.name, two.shape)
        sizes = found.sizes(root)
        assert sizes is not None
        assert sizes.delta == 0
        lines = found.allocation_lines(root, 3)
        assert lines[0] == f"On its largest tile: {largest_bytes(there, other):,} B (same)."
        assert lines[1] == f"On tile 3: {int(there.tiles.allocation(other)[3]):,} B (same)."
        assert lines[-1].endswith("(same).")
    assert len({found.root(root) for root in here.aliases}) == len(here.aliases)


def test_operations_are_told_with_their_steps_and_their_largest_total() -> None:
    here, there = timeline_of(composed(RECIPE)), timeline_of(opened(FILE))
    worst = there.tiles.worst()
    for operation in {step.source for step in there.steps if step.source is not None}:
        steps = [step.index for step in there.steps if step.source == operation]
        lines = Counterparts(here, there).operation_lines(operation)
        assert lines[0].endswith("(same).")
        assert lines[1] == (
            f"Largest total of a tile while it runs: {max(int(worst[step, 2]) for step in steps):,} B (same)."
        )
    assert Counterparts(here, there).operation_lines(9999) == ["No step there belongs to operation 9999."]


def test_after_a_swap_the_differences_are_those_of_the_two_programs() -> None:
    session = opened("so400m-over.recipe.json")
    before = timeline_of(session)
    session.swap(21, 0)
    estimate(session)
    after = timeline_of(session)
    found = Counterparts(after, before)
    unlike = 0
    for root in after.aliases:
        other = found.root(root)
        if other is None:
            assert found.allocation_lines(root, None)[0].startswith("Not there: ")
            continue
        sizes = found.sizes(root)
        assert sizes is not None
        here, there = largest_bytes(after, root), largest_bytes(before, other)
        assert isinstance(here, int)
        assert isinstance(there, int)
        assert sizes.delta == there - here
        unlike += sizes.delta != 0
    assert unlike
    lines = found.operation_lines(21)
    assert "568,312 B" in lines[1]
    assert lines[1].endswith("more than here).")


def test_a_difference_is_told_in_bytes_and_per_cent_of_what_is_here() -> None:
    assert FigureDifference(16_384, 32_768).words() == "32,768 B (16,384 B or 100.0 % more than here)"
    assert FigureDifference(40, 30).words() == "30 B (10 B or 25.0 % less than here)"
    assert FigureDifference(0, 8).words() == "8 B (8 B more than here)"
    assert FigureDifference(7, 7).words() == "7 B (same)"
    assert FigureDifference(UNAVAILABLE, UNAVAILABLE).words() == "unavailable (as here)"
    assert FigureDifference(7, UNAVAILABLE).words() == "unavailable (here 7 B)"
    assert FigureDifference(UNAVAILABLE, 7).words() == "7 B (here unavailable)"


def test_of_several_alike_equal_ones_find_each_other_whatever_their_order() -> None:
    timeline = timeline_of(opened(FILE))
    names: dict[tuple[int | None, str], list[int]] = {}
    for root in timeline.aliases:
        names.setdefault((timeline.values[root].origin, timeline.values[root].name), []).append(root)
    same = next(roots for roots in names.values() if len({timeline.values[root].bytes for root in roots}) > 1)
    first, second = (
        same[0],
        next(root for root in same if timeline.values[root].bytes != timeline.values[same[0]].bytes),
    )
    values = list(timeline.values)
    values[first], values[second] = (
        replace(values[second], id=values[first].id, root=first),
        replace(values[first], id=values[second].id, root=second),
    )
    turned = replace(timeline, values=tuple(values), aliases={root: (root,) for root in timeline.aliases})
    plain = replace(timeline, aliases={root: (root,) for root in timeline.aliases})
    found = Counterparts(plain, turned)
    assert found.root(first) == second
    assert found.root(second) == first


def test_live_spans_are_those_of_the_live_sets() -> None:
    timeline = timeline_of(opened("pair-8tiles.v3.timeline.json"))
    for root in timeline.aliases:
        steps = [step.index for step in timeline.steps if root in step.live]
        assert live_span(timeline, root) == ((steps[0], steps[-1]) if steps else None)


@pytest.mark.parametrize(("open_one", "other"), [(RECIPE, FILE), (FILE, RECIPE)])
def test_the_linked_timeline_is_the_file_s_or_the_pinned_estimate(open_one: str, other: str) -> None:
    session = opened(open_one)
    assert linked_timeline(session) is None
    linked = document(other)
    session.link(linked)
    if linked.is_recipe:
        assert linked_timeline(session) is None
        estimated = opened(other)
        assert estimated.estimate is not None
        session.add_pin(Pin(other, linked, estimated.state, estimated.estimate))
        assert linked_timeline(session) is estimated.timeline
    else:
        assert linked_timeline(session) is linked.file_timeline()
    session.link(None)
    assert linked_timeline(session) is None
