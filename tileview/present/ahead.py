"""What views need of a large timeline and takes a while to find, found before they ask: on another thread, say."""

from __future__ import annotations

from tileview.analysis.lifetimes import lifetimes
from tileview.model.timeline import Timeline, positions_of_operation
from tileview.present.curves import unavailable_steps
from tileview.present.problem_rows import invalid_layouts, over_budget
from tileview.present.step_rows import MOST_LISTED, step_nodes


def find_ahead(timeline: Timeline, has_graph: bool) -> None:
    """Find what is kept for whoever asks next (:class:`~tileview.model.kept.KeptFor`).

    Without a graph a list of all steps stands in its place.
    """
    unavailable_steps(timeline)
    positions_of_operation(timeline, 0)
    lifetimes(timeline)
    invalid_layouts(timeline)
    over_budget(timeline)
    if not has_graph and len(timeline.steps) <= MOST_LISTED:
        step_nodes(timeline)
