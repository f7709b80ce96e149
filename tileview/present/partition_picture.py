"""How a value is cut and where its parts lie, as plain numbers for a small picture.

Two drawings: two of the tensor's dimensions (divided ones first, then the longest) with the edges of their parts and
the padding, and the tiles with the bytes that each holds. Both are limited in size whatever the layout: where there
are more parts than lines can be told apart, only some edges are given and the drawing says how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from tileview.analysis.words import counted
from tileview.core.geometry.chip import Grid, grid
from tileview.core.geometry.owners import OwnerError, owner_box, owner_tiles
from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.core.geometry.resolved import Resolved
from tileview.model.owners import DIRECT_OWNERS, Owners
from tileview.model.sizes import kib_text
from tileview.model.timeline import Timeline

MOST_EDGES = 256


@dataclass(frozen=True, slots=True)
class DimensionCut:
    """One dimension: ``extent`` elements, ``padded`` with padding, in ``parts``.

    ``edges``: inside it, in elements; none where there are more than can be told apart.
    """

    label: str
    extent: int
    padded: int
    parts: int
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartitionPicture:
    """What is drawn. ``across`` is the later of the two dimensions (or the flattened elements), ``down`` the earlier.

    ``others`` says in words how further dimensions are cut. ``box`` is the selected tile's part as half-open element
    ranges (across start, across end, down start, down end), None where it holds none. ``tile_bytes`` is (tiles,),
    None where the size is unavailable; ``error`` says why then.
    """

    title: str
    across: DimensionCut | None
    down: DimensionCut | None
    others: str
    replicas: int
    owners: int
    box: tuple[int, int, int, int] | None
    tile_bytes: npt.NDArray[np.int64] | None
    grid: Grid | None
    tile: int | None
    error: str = ""


def picture(
    timeline: Timeline, index: int, tile: int | None = None, owners: Owners = DIRECT_OWNERS
) -> PartitionPicture:
    """The picture of one value (by index) of a timeline.

    Parameters
    ----------
    tile : int or None
        Whose part is marked.
    owners : Owners
        Which tile each owner sits on, where the program is known.
    """
    value = timeline.values[index]
    nothing = PartitionPicture(value.name, None, None, "", 0, 0, None, None, None, tile)
    if value.layout is None:
        return _failed(nothing, "the layout could not be read")
    try:
        resolved = resolve(value.shape, value.layout)
    except LayoutError as error:
        return _failed(nothing, error.text)
    cuts = _cuts(resolved)
    drawn = drawn_dimensions(cuts)
    rest = [cut for dimension, cut in enumerate(cuts) if dimension not in drawn and cut.parts > 1]
    others = "; ".join(f"{cut.label}: {counted(cut.parts, 'part')}" for cut in rest)
    sized = value.root not in timeline.unavailable_roots
    return PartitionPicture(
        value.name,
        cuts[drawn[-1]] if drawn else None,
        cuts[drawn[0]] if len(drawn) > 1 else None,
        others,
        value.layout.tiling.replicas,
        resolved.owner_count,
        _box(resolved, drawn, tile, owners, timeline.tile_count),
        timeline.tiles.value_bytes(index) if sized else None,
        grid(timeline.tile_count) if timeline.tile_count else None,
        tile,
        "" if sized else "its size is unavailable",
    )


def _failed(base: PartitionPicture, error: str) -> PartitionPicture:
    return PartitionPicture(base.title, None, None, "", 0, 0, None, None, None, base.tile, error)


def _cuts(resolved: Resolved) -> list[DimensionCut]:
    if resolved.splits is None:
        elements = prod(resolved.shape)
        grains = -(-elements // resolved.grain)
        owners = resolved.owner_count
        short, long = divmod(grains, owners)
        shown = range(1, owners) if owners <= MOST_EDGES else ()
        edges = tuple(min((owner * short + min(owner, long)) * resolved.grain, elements) for owner in shown)
        padded = max(grains * resolved.grain, elements)
        return [DimensionCut("all elements", elements, padded, owners, edges)]
    cuts = []
    for dimension, (extent, padded, split) in enumerate(
        zip(resolved.shape, resolved.padded_shape, resolved.splits, strict=True)
    ):
        label = f"dimension {dimension}"
        if split is None:
            cuts.append(DimensionCut(label, extent, padded, 1, ()))
        elif split.partitions > MOST_EDGES:
            cuts.append(DimensionCut(label, extent, padded, split.partitions, ()))
        else:
            bounds = split.bounds()
            edges = tuple(sorted({start for start in bounds.starts if 0 < start < padded}))
            cuts.append(DimensionCut(label, extent, padded, split.partitions, edges))
    return cuts


def drawn_dimensions(cuts: list[DimensionCut]) -> list[int]:
    """The two dimensions to draw, ascending: divided ones before others, then the longest, then the last."""
    best = sorted(range(len(cuts)), key=lambda d: (cuts[d].parts > 1, cuts[d].padded, d), reverse=True)
    return sorted(best[:2])


def _box(
    resolved: Resolved, drawn: list[int], tile: int | None, owners: Owners, tile_count: int
) -> tuple[int, int, int, int] | None:
    if tile is None:
        return None
    try:
        places = owner_tiles(owners, resolved.owner_count, tile_count)
    except OwnerError:
        return None
    found = np.flatnonzero(places == tile)
    if not len(found):
        return None
    extents = owner_box(resolved, int(found[0]))
    if not extents or not drawn:
        return None
    across = extents[drawn[-1]]
    down = extents[drawn[0]] if len(drawn) > 1 else None
    return (
        across.start,
        across.physical_end,
        0 if down is None else down.start,
        1 if down is None else down.physical_end,
    )


def caption(drawn: PartitionPicture) -> str:
    """One line under the picture: owners, replicas, further dimensions."""
    if drawn.error and drawn.across is None:
        return f"No picture: {drawn.error}"
    words = [counted(drawn.owners, "owner")]
    if drawn.replicas > 1:
        words.append(f"{drawn.replicas} copies of each part")
    for cut in (drawn.down, drawn.across):
        if cut is not None and cut.parts > 1:
            padding = f" (padded to {cut.padded})" if cut.padded != cut.extent else ""
            words.append(f"{cut.label} of {cut.extent:,}{padding} in {cut.parts:,}")
    if drawn.others:
        words.append(drawn.others)
    if drawn.tile_bytes is not None:
        words.append(f"up to {kib_text(int(drawn.tile_bytes.max(initial=0)))} a tile")
    if drawn.error:
        words.append(drawn.error)
    return "; ".join(words)
