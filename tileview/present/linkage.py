"""A recipe and a timeline of one compile side by side: what in one is what in the other, and what matches nothing.

Values are matched by origin and name (of several alike those that agree in all, else in order), operations by id.
Nothing else ties the two files together, so the statement says plainly how much was matched, where matched values
disagree, and where the files cannot be of one compile at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tileview.analysis.loads import match_by
from tileview.model.graph import Graph
from tileview.model.sizes import Size, exact_text
from tileview.model.tensor import Precision, Shape
from tileview.present.words import counted, shape_text


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
    name and the graph has, ``strange_operations`` those that it lacks.
    """

    pairs: tuple[tuple[int, int], ...]
    only_left: tuple[int, ...]
    only_right: tuple[int, ...]
    differing: tuple[tuple[int, int, str], ...]
    operations: tuple[int, ...]
    strange_operations: tuple[int, ...]
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
        strange,
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
