"""A recipe and a timeline of one compile side by side: what in one is what in the other, and what matches nothing.

Values are matched by origin and name (of several alike those that agree in all, else in order), operations by id.
Nothing else ties the two files together, so the statement says plainly how much was matched, where matched values
disagree, and where the files cannot be of one compile at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tileview.analysis.lifetimes import live_span
from tileview.analysis.loads import largest_bytes, match_by
from tileview.analysis.words import class_words, counted, precision_words, shape_text
from tileview.model.graph import Graph
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text, percent_text
from tileview.model.tensor import Layout, Precision, Shape
from tileview.model.timeline import Timeline, TimelineStep, steps_of_operation


@dataclass(frozen=True, slots=True)
class LinkValue:
    """What the match needs of a value; ``index`` is its place in its own timeline."""

    index: int
    origin: int | None
    name: str
    shape: Shape
    precision: Precision
    layout_text: str
    bytes: Size


@dataclass(frozen=True, slots=True)
class Linkage:
    """The match of two timelines, the recipe's (left) and the file's (right).

    ``pairs``: (left index, right index). ``only_left`` and ``only_right``: unmatched indices. ``differing``: pairs
    whose shape, precision, layout or size differ, with what differs. ``operations`` are ids that steps of the file
    name and the graph has.
    """

    pairs: tuple[tuple[int, int], ...]
    only_left: tuple[int, ...]
    only_right: tuple[int, ...]
    differing: tuple[tuple[int, int, str], ...]
    operations: tuple[int, ...]
    contradictions: tuple[str, ...] = ()
    """Why the two cannot be of one compile, one sentence each."""

    @property
    def is_one_compile(self) -> bool:
        """False where something contradicts that both stem from one compile."""
        return not self.contradictions


def link(
    graph: Graph,
    left: Sequence[LinkValue],
    right: Sequence[LinkValue],
    sources: Sequence[int | None],
    left_tiles: int,
    right_tiles: int,
) -> Linkage:
    """Match the values of a recipe's timeline with those of a file.

    Parameters
    ----------
    graph : Graph
        The recipe's.
    left, right : sequence of LinkValue
        The estimate's values and the file's.
    sources : sequence
        The operation of each of the file's steps.
    left_tiles, right_tiles : int
        The two tile counts.
    """
    pairs: list[tuple[int, int]] = []
    only_left: list[int] = []
    only_right: list[int] = []
    differing: list[tuple[int, int, str]] = []
    for one, other in match_values(left, right):
        if one is None or other is None:
            if one is not None:
                only_left.append(left[one].index)
            elif other is not None:
                only_right.append(right[other].index)
            continue
        pairs.append((left[one].index, right[other].index))
        words = _differences(left[one], right[other])
        if words:
            differing.append((left[one].index, right[other].index, words))
    known = {operation.id for operation, _ in graph.walk()}
    named = sorted({source for source in sources if source is not None})
    contradictions = []
    if left_tiles != right_tiles:
        contradictions.append(f"the recipe plans for {counted(left_tiles, 'tile')}, the timeline has {right_tiles:,}")
    contradictions.extend(_name_contradictions(graph, right))
    contradictions.extend(_shape_contradictions(graph, right))
    strange = tuple(source for source in named if source not in known)
    if strange:
        contradictions.append(f"the timeline names {_listed(strange, 'operation')} that the graph does not have")
    return Linkage(
        tuple(pairs),
        tuple(only_left),
        tuple(only_right),
        tuple(differing),
        tuple(source for source in named if source in known),
        tuple(contradictions),
    )


def match_values(left: Sequence[LinkValue], right: Sequence[LinkValue]) -> list[tuple[int | None, int | None]]:
    """Pairs of positions in two lists of values, by origin and name; None on the side that has nothing to match."""
    return match_by([_keys(value) for value in left], [_keys(value) for value in right])


def _keys(value: LinkValue) -> tuple[Hashable, ...]:
    """Strictest first: of several values of one origin and name those that are equal in all find each other."""
    who = (value.origin, value.name)
    return ((*who, value.shape, value.precision, value.layout_text, value.bytes), (*who, value.shape), who)


def _differences(left: LinkValue, right: LinkValue) -> str:
    words = []
    if left.shape != right.shape:
        words.append(f"shape {shape_text(left.shape)} / {shape_text(right.shape)}")
    if left.precision != right.precision:
        words.append(f"precision {left.precision} / {right.precision}")
    if left.layout_text != right.layout_text:
        words.append("layout")
    if left.bytes != right.bytes:
        words.append(f"size {exact_text(left.bytes)} / {exact_text(right.bytes)}")
    return ", ".join(words)


def _name_contradictions(graph: Graph, right: Sequence[LinkValue]) -> list[str]:
    """Graph inputs that the file has under the same origin with another name; what stems from one bears its name."""
    names = {entry.value: entry.name for entry in graph.inputs}
    other: dict[int, str] = {}
    for value in right:
        if value.origin is not None and value.origin in names and value.name != names[value.origin]:
            other.setdefault(value.origin, value.name)
    if not other:
        return []
    origin, name = min(other.items())
    more = f" (and {counted(len(other) - 1, 'more input')} likewise)" if len(other) > 1 else ""
    return [f"input {origin} is {names[origin]} in the recipe, {name} in the timeline{more}"]


def _shape_contradictions(graph: Graph, right: Sequence[LinkValue]) -> list[str]:
    """Graph inputs that the file holds under the same origin and name with another shape."""
    names = {entry.value: entry for entry in graph.inputs}
    found = []
    for value in right:
        entry = names.get(value.origin) if value.origin is not None else None
        if entry is None or value.name != entry.name:
            continue
        if value.shape != entry.shape:
            found.append(
                f"{entry.name} is {shape_text(entry.shape)} in the recipe, {shape_text(value.shape)} in the timeline"
            )
    return found[:3]


def _listed(numbers: Sequence[int], what: str) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"{what if len(numbers) == 1 else what + 's'} {shown}{more}"


def statement(linkage: Linkage, left: Sequence[LinkValue], right: Sequence[LinkValue]) -> list[str]:
    """What matches and what does not, one sentence a line."""
    lines = []
    if linkage.contradictions:
        lines.append("These two are not of one compile: " + "; ".join(linkage.contradictions) + ".")
    total = len(right)
    lines.append(f"{len(linkage.pairs)} of the timeline's {counted(total, 'value')} matched by origin and name.")
    if linkage.only_right:
        names = {value.index: value.name for value in right}
        lines.append(f"Only in the timeline: {_names([names[i] for i in linkage.only_right])}.")
    if linkage.only_left:
        names = {value.index: value.name for value in left}
        lines.append(f"Only in the recipe's estimate: {_names([names[i] for i in linkage.only_left])}.")
    if linkage.differing:
        names = {value.index: value.name for value in right}
        shown = "; ".join(f"{names[r]}: {words}" for _, r, words in linkage.differing[:3])
        more = f"; {len(linkage.differing) - 3} more" if len(linkage.differing) > 3 else ""
        verb = "matched value differs" if len(linkage.differing) == 1 else "matched values differ"
        lines.append(f"{len(linkage.differing)} {verb} (recipe / timeline): {shown}{more}.")
    elif linkage.pairs:
        lines.append("All matched values have the same shape, precision, layout and size.")
    if linkage.operations:
        lines.append(f"The timeline's steps name {_listed(linkage.operations, 'operation')} of the graph.")
    else:
        lines.append("No step of the timeline names an operation of the graph.")
    return lines


def brief(linkage: Linkage) -> str:
    """The statement in one line: how many match, differ and are left over on either side."""
    parts = [f"{counted(len(linkage.pairs), 'value')} matched", f"{len(linkage.differing):,} of them differ"]
    for left_over, where in ((linkage.only_left, "recipe's estimate"), (linkage.only_right, "timeline")):
        if left_over:
            parts.append(f"{len(left_over):,} only in the {where}")
    words = ", ".join(parts)
    return words if linkage.is_one_compile else f"not of one compile: {words}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{counted(len(names), 'value')}, {shown}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")


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
class FigureDifference:
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

    def sizes(self, root: int) -> FigureDifference | None:
        """What an allocation takes on its largest tile, here and there."""
        other = self.root(root)
        return (
            None
            if other is None
            else FigureDifference(largest_bytes(self.here, root), largest_bytes(self.there, other))
        )

    def on_tile(self, root: int, tile: int) -> FigureDifference | None:
        """What an allocation takes on one tile; None where it has no counterpart or one side has no such tile."""
        other = self.root(root)
        if other is None or tile >= min(self.here.tile_count, self.there.tile_count):
            return None
        return FigureDifference(_bytes_on(self.here, root, tile), _bytes_on(self.there, other, tile))

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
            lines.append("Its layout differs.")
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
            totals = FigureDifference(_highest(self.here, here), _highest(self.there, there))
            lines.append(f"Largest total of a tile while it runs: {totals.words()}.")
        return lines


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
