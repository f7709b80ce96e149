"""What of the open document is what in the file linked to it, and by how much the two differ.

Two files of one compile hold the same allocations and operations under other numbers. Allocations are matched by
origin and name (of several alike those that agree in most, else in order), operations by id: the same rules as the
statement in :mod:`tileview.present.linkage`, so that what the statement counts is what is shown here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tileview.model.graph import Graph
from tileview.model.recipe import Recipe
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text
from tileview.model.tensor import Layout
from tileview.model.timeline import Timeline, TimelineStep, steps_of_operation
from tileview.model.timeline_file import TimelineFile
from tileview.present.linkage import Linkage, LinkValue, link, match_values
from tileview.present.lives import live_span
from tileview.present.tables import percent_text
from tileview.present.words import class_words, counted, precision_words, shape_text
from tileview.session.session import Session


def linked_timeline(session: Session) -> Timeline | None:
    """The timeline of the linked file: a timeline's own, a recipe's estimate as it stands among the pins.

    None where nothing is linked, or where a recipe's estimate is not there (yet, or its pin was taken away).
    """
    document = session.linked
    if document is None:
        return None
    for pin in (*session.pins, session.baseline):
        if pin is not None and pin.document is document:
            return pin.timeline
    return document.file_timeline() if isinstance(document.source, TimelineFile) else None


def recipe_of_graph(session: Session) -> Recipe | None:
    """The recipe in force; that of the linked file where a timeline is open."""
    recipe = session.recipe
    return session.linked.recipe if recipe is None and session.linked is not None else recipe


@lru_cache(maxsize=4096)
def _layout_text(layout: Layout) -> str:
    """A layout's text, made once: thousands of values share a few layouts."""
    return str(layout)


def link_value(index: int, timeline: Timeline) -> LinkValue:
    """What a match needs of one of a timeline's values."""
    value = timeline.values[index]
    layout = value.layout_text if value.layout is None else _layout_text(value.layout)
    return LinkValue(index, value.origin, value.name, value.shape, value.precision, layout, value.bytes)


def link_values(timeline: Timeline | None) -> list[LinkValue]:
    """All values of a timeline for a match; none of no timeline."""
    return [] if timeline is None else [link_value(index, timeline) for index in range(len(timeline.values))]


def link_timelines(graph: Graph, recipe_tiles: int, estimate: Timeline | None, file: Timeline) -> Linkage:
    """The match of a recipe's estimate (left) with a file's timeline (right)."""
    sources = [step.source for step in file.steps]
    return link(graph, link_values(estimate), link_values(file), sources, recipe_tiles, file.tile_count)


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure here and there, in bytes; ``delta`` = there − here, None where one of them is unavailable."""

    here: Size
    there: Size

    @property
    def delta(self) -> int | None:
        if isinstance(self.here, Unavailable) or isinstance(self.there, Unavailable):
            return None
        return self.there - self.here

    def words(self) -> str:
        """``32,768 B (same)``, ``32,768 B (16,384 B or 100.0 % more than here)``."""
        delta = self.delta
        if delta is None:
            same = isinstance(self.here, Unavailable) and isinstance(self.there, Unavailable)
            return f"{exact_text(self.there)} ({'as here' if same else f'here {exact_text(self.here)}'})"
        if not delta:
            return f"{exact_text(self.there)} (same)"
        percent = "" if not isinstance(self.here, int) else percent_text(abs(delta), self.here)
        share = f" or {percent}" if percent else ""
        return f"{exact_text(self.there)} ({exact_text(abs(delta))}{share} {'more' if delta > 0 else 'less'} than here)"


class Counterparts:
    """The match of the open document's timeline with the linked one, made once for both."""

    def __init__(self, here: Timeline, there: Timeline) -> None:
        self.here = here
        self.there = there
        self._roots: dict[int, int] = {}
        pairs = dict(match_values(link_values(here), link_values(there)))
        for root, members in here.aliases.items():
            found = next((pairs[index] for index in (root, *members) if pairs.get(index) is not None), None)
            if found is not None:
                self._roots[root] = there.values[found].root

    def root(self, root: int) -> int | None:
        """The allocation there that is an allocation here; None where none is."""
        return self._roots.get(root)

    def sizes(self, root: int) -> Difference | None:
        """What an allocation takes on its largest tile, here and there."""
        other = self.root(root)
        return None if other is None else Difference(largest_bytes(self.here, root), largest_bytes(self.there, other))

    def on_tile(self, root: int, tile: int) -> Difference | None:
        """What an allocation takes on one tile; None where it has no counterpart or one side has no such tile."""
        other = self.root(root)
        if other is None or tile >= min(self.here.tile_count, self.there.tile_count):
            return None
        return Difference(_bytes_on(self.here, root, tile), _bytes_on(self.there, other, tile))

    def bytes_there(self, root: int, tile: int | None) -> Size | None:
        """What the counterpart takes on a tile, on its largest one without; None where there is none."""
        found = self.sizes(root) if tile is None else self.on_tile(root, tile)
        return None if found is None else found.there

    # -- words ----------------------------------------------------------------------------------------------------

    def allocation_lines(self, root: int, tile: int | None) -> list[str]:
        """What the linked file says of an allocation that is selected here."""
        value = self.here.values[root]
        other = self.root(root)
        if other is None:
            origin = "no origin" if value.origin is None else f"origin {value.origin}"
            return [f"Not there: no value of {origin} named {value.name} is left to match."]
        sizes = self.sizes(root)
        assert sizes is not None
        lines = [f"On its largest tile: {sizes.words()}."]
        at = None if tile is None else self.on_tile(root, tile)
        if at is not None:
            lines.append(f"On tile {tile}: {at.words()}.")
        lines.extend(self._unlike(root, other))
        here, there = live_span(self.here, root), live_span(self.there, other)
        same = " (same)" if here == there else f"; here {_span_words(here)}"
        lines.append(f"Live at {_span_words(there)}{same}.")
        return lines

    def _unlike(self, root: int, other: int) -> list[str]:
        """Shape, precision, layout and class, where they differ."""
        one, two = self.here.values[root], self.there.values[other]
        lines = []
        if one.shape != two.shape:
            lines.append(f"Shape {shape_text(two.shape)}, here {shape_text(one.shape)}.")
        if one.precision != two.precision:
            lines.append(f"Precision {precision_words(two.precision)}, here {precision_words(one.precision)}.")
        if (one.layout or one.layout_text) != (two.layout or two.layout_text):
            lines.append("Its layout is another one.")
        classes = [
            timeline.values[timeline.aliases[at][-1]].memory_class
            for timeline, at in ((self.here, root), (self.there, other))
        ]
        if classes[0] is not classes[1]:
            lines.append(f"In {class_words(classes[1])} memory, here in {class_words(classes[0])} memory.")
        return lines

    def operation_lines(self, operation: int) -> list[str]:
        """What the linked file says of an operation: its steps and the largest total while they run."""
        here = steps_of_operation(self.here, operation)
        there = steps_of_operation(self.there, operation)
        if not there:
            return [f"No step there belongs to operation {operation}."]
        kinds = [step.kind for step in there]
        words = f"{counted(len(there), 'step')}, {_indices(there)}: {', '.join(dict.fromkeys(kinds))}"
        if [step.kind for step in here] == kinds and _indices(here) == _indices(there):
            words += " (same)"
        elif here:
            words += f"; here {counted(len(here), 'step')}, {_indices(here)}"
        lines = [f"{words}."]
        if here:
            totals = Difference(_highest(self.here, here), _highest(self.there, there))
            lines.append(f"Largest total of a tile while it runs: {totals.words()}.")
        return lines


def largest_bytes(timeline: Timeline, root: int) -> Size:
    """What an allocation takes on its largest tile: the largest of its values; unavailable as soon as one is."""
    largest = 0
    for index in timeline.aliases.get(root, (root,)):
        size = timeline.values[index].bytes
        if isinstance(size, Unavailable):
            return size
        largest = max(largest, size)
    return largest


def _bytes_on(timeline: Timeline, root: int, tile: int) -> Size:
    return UNAVAILABLE if root in timeline.unavailable_roots else int(timeline.tiles.allocation(root)[tile])


def _span_words(span: tuple[int, int] | None) -> str:
    if span is None:
        return "no step"
    return f"step {span[0]}" if span[0] == span[1] else f"steps {span[0]} to {span[1]}"


def _indices(steps: Sequence[TimelineStep]) -> str:
    first, last = steps[0].index, steps[-1].index
    return f"step {first}" if first == last else f"from step {first} to {last}"


def _highest(timeline: Timeline, steps: Sequence[TimelineStep]) -> Size:
    """The largest total of any tile at some steps; unavailable where something without a size is live there."""
    for step in steps:
        if not timeline.unavailable_roots.isdisjoint(step.live):
            return UNAVAILABLE
    worst = timeline.tiles.worst()
    return max(int(worst[step.index, 2]) for step in steps)
