"""How an allocation's bytes arise, in sentences whose figures add up.

A shard's size follows from shape, layout and precision; the allocation's from the shard, the access tail, rounding up
to memory elements and the copies. The sentences carry every factor, so that a reader can check them by hand. Where a
file states another number than its own shape and layout give, both are said.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from tileview.analysis.lifetimes import Life
from tileview.analysis.overflows import Phrase
from tileview.analysis.words import class_words, counted, precision_short, shape_text
from tileview.core.geometry.resolve import LayoutError, LayoutErrorKind, resolve
from tileview.core.geometry.resolved import Resolved, Split
from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.tensor import Layout, MemoryClass, Shape
from tileview.model.timeline import Timeline, TimelineValue
from tileview.present.allocation_rows import allocation_row


def element_bytes(memory_class: MemoryClass) -> int:
    """Bytes of a memory element: 16,384 in standard memory, 32,768 in interleaved memory."""
    return STANDARD_ELEMENT_BYTES if memory_class is MemoryClass.STANDARD else INTERLEAVED_ELEMENT_BYTES


def dimension_cuts(resolved: Resolved) -> list[str]:
    """How each dimension is cut: ``588 padded to 640 in 4 parts of 160``; undivided ones are left out."""
    if resolved.splits is None:
        elements = prod(resolved.shape)
        grains = -(-elements // resolved.grain)
        made = f"{elements:,} elements make {grains:,} grains of {resolved.grain}"
        if resolved.owner_count == 1:
            return [f"{made}, all for one owner"]
        short, long = divmod(grains, resolved.owner_count)
        each = f"{short + 1:,} or {short:,}" if long else f"{short:,}"
        return [f"{made}, {each} for each of {counted(resolved.owner_count, 'owner')}"]
    words = []
    for extent, padded, split in zip(resolved.shape, resolved.padded_shape, resolved.splits, strict=True):
        padding = "" if padded == extent else f" padded to {padded}"
        if split is None:
            if padding:
                words.append(f"{extent}{padding}")
        elif split.partitions > 1:
            words.append(_split_words(extent, padding, split))
        elif padding or split.wide != padded:
            words.append(f"{extent} padded to {split.wide}")
    return words


def _split_words(extent: int, padding: str, split: Split) -> str:
    """One dimension in several parts; groups that are padded each for itself, and parts that are widened, by name."""
    short, long = divmod(split.padded // split.block, split.partitions // split.groups)
    widths = [(short + 1) * split.block, short * split.block] if long else [short * split.block]
    if split.groups > 1:
        grew = "" if split.padded == split.logical else f" padded to {split.padded} each"
        text = f"{extent} in {split.groups} groups of {split.logical}{grew}, {split.groups} × "
        text += counted(split.partitions // split.groups, "part")
    else:
        text = f"{extent}{padding} in {counted(split.partitions, 'part')}"
    text += " of " + " or ".join(f"{width}" for width in widths)
    held = [split.wide, split.narrow] if long else [split.narrow]
    if held != widths:
        text += " widened to " + " or ".join(f"{width}" for width in dict.fromkeys(held))
    return text


def shard_factors(resolved: Resolved) -> list[int]:
    """The largest shard's extents, whose product is its elements: one a dimension, or grains and their elements."""
    if resolved.splits is None:
        grains = -(-prod(resolved.shape) // resolved.grain)
        return [-(-grains // resolved.owner_count), resolved.grain]
    return [
        padded if split is None else split.wide
        for padded, split in zip(resolved.padded_shape, resolved.splits, strict=True)
    ]


def value_sentence(timeline: Timeline, index: int) -> str:
    """How the largest size of a value on any tile arises, from its shape to its bytes."""
    value = timeline.values[index]
    head = f"{shape_text(value.shape)} {precision_short(value.precision)}: "
    if value.layout is None:
        return head + f"the layout could not be read: {value.layout_text}"
    try:
        resolved = resolve(value.shape, value.layout)
    except LayoutError as error:
        return head + f"no valid layout: {failure_words(value.shape, value.layout, error)}; its size is unavailable"
    width = value.precision.element_bytes
    if width is None:
        return head + f"precision {value.precision} is not known; its size is unavailable"
    cuts = "; ".join(dimension_cuts(resolved))
    factors = shard_factors(resolved)
    product = " × ".join(f"{factor:,}" for factor in factors)
    payload = resolved.maximum_elements * width
    text = head + (f"{cuts}. Largest shard: " if cuts else "not divided: ")
    text += f"{product} elements × {width} B = {exact_text(payload)}"
    if value.shard_bytes != payload:
        return f"{text}; the file says {exact_text(value.shard_bytes)}"
    return text + _to_allocation(timeline, value, payload)


def failure_words(shape: Shape, layout: Layout, error: LayoutError) -> str:
    """Why a layout is invalid; of too few grains with the figures one can check."""
    if layout.tiling.is_linear and error.kind is LayoutErrorKind.EMPTY_AXIS_TILING:
        grain, owners, elements = layout.tiling.axes[0].block_size, layout.tiling.tile_count, prod(shape)
        grains = -(-elements // grain) if grain else 0
        if shape and grain and grains < owners:
            return (
                f"{owners:,} tiles requested, only {grains:,} grains ({elements:,} elements, {grain} a grain), at most "
                "one tile per grain"
            )
    return error.text


def _to_allocation(timeline: Timeline, value: TimelineValue, payload: int) -> str:
    """From a shard to the allocated bytes: tail, rounding, copies."""
    tail = timeline.tails.get(value.root, 0)
    size = payload + tail
    text = f", + {exact_text(tail)} access tail" if tail else ""
    if value.root in timeline.aligned_roots:
        unit = element_bytes(value.memory_class)
        elements = -(-size // unit)
        size = elements * unit
        text += f", rounded up to {counted(elements, 'memory element')} of {exact_text(unit)} = {exact_text(size)}"
    elif tail:
        text += f" = {exact_text(size)}"
    if value.copies != 1:
        size *= value.copies
        text += f", × {counted(value.copies, 'copy', 'copies')} = {exact_text(size)}"
    if value.bytes != size:
        text += f"; the file says {exact_text(value.bytes)}"
    return text


def tile_sentence(timeline: Timeline, root: int, tile: int) -> str:
    """What an allocation takes on one tile, split into payload, tail, alignment and copies."""
    row = allocation_row(timeline, root, tile)
    if row is None:
        return f"Tile {tile} holds no part of it."
    if isinstance(row.bytes, Unavailable):
        return f"On tile {tile}: unavailable."
    if row.align is None or row.payload is None or row.tail is None:
        return f"On tile {tile}: {exact_text(row.bytes)}. {row.note}"
    parts = [f"{exact_text(row.payload)} payload"]
    if row.tail:
        parts.append(f"{exact_text(row.tail)} access tail")
    if row.align:
        parts.append(f"{exact_text(row.align)} alignment")
    text = " + ".join(parts)
    if row.copies != 1:
        text = f"({text}) × {row.copies} copies"
    return (
        f"On tile {tile}: {text} = {exact_text(row.bytes)}."
        if len(parts) > 1 or row.copies != 1
        else (f"On tile {tile}: {text}.")
    )


def owners_sentence(timeline: Timeline, root: int) -> str:
    """Which tiles hold an allocation, and between which sizes."""
    if root in timeline.unavailable_roots:
        return "Which tiles hold it is not known: it has no valid layout."
    sizes = timeline.tiles.allocation(root)
    held = sizes[sizes > 0]
    if not len(held):
        return "No tile holds a part of it."
    least, most = int(held.min()), int(held.max())
    if len(held) == 1:
        return f"On tile {int(sizes.argmax())} only: {size_text(most)}."
    each = exact_text(most) if least == most else f"{exact_text(least)} to {exact_text(most)}"
    where = "all" if len(held) == timeline.tile_count else f"{len(held):,} of {timeline.tile_count:,}"
    total = int(sizes.sum())
    return f"On {where} tiles, {each} each, {kib_text(total)} ({exact_text(total)}) in all."


def alias_sentence(timeline: Timeline, root: int) -> str:
    """Which values share an allocation, and which one decides its class."""
    members = timeline.aliases.get(root, (root,))
    last = timeline.values[members[-1]]
    if len(members) == 1:
        return f"One value, in {class_words(last.memory_class)} memory."
    names = ", ".join(f"{timeline.values[i].name} (value {timeline.values[i].id})" for i in members[:8])
    more = f" and {len(members) - 8} more" if len(members) > 8 else ""
    return (
        f"{len(members)} values share this memory: {names}{more}. Its size on a tile is the largest of theirs; its "
        f"class is that of the last, {class_words(last.memory_class)}."
    )


Line = tuple[Phrase, ...]
"""A sentence in pieces, some of which lead somewhere."""

_MOST_USES = 4


def life_lines(timeline: Timeline, root: int, life: Life | None, kinds: Mapping[int, str]) -> list[Line]:
    """When an allocation lives; ``Made by op 21 Gemm, step 68 Copy. Read by step 69 Cast.``

    ``kinds``: operation → its kind; may lack some or all.
    """
    if life is None:
        return [(("Never live at a step.", ""),)]
    count = life.last - life.first + 1
    until = f"step {life.first}" if count == 1 else f"steps {life.first} to {life.last}"
    lines: list[Line] = [((f"Live at {until} ({counted(count, 'step')} of {len(timeline.steps)}).", ""),)]
    made = (*_made_phrases(timeline, root, life, kinds), *_read_phrases(timeline, root, life))
    if made:
        lines.append(made)
    if life.exact and life.last > life.last_use:
        lines.append((("Kept to the end: a resident parameter or an output of the program.", ""),))
    return lines


def _made_phrases(timeline: Timeline, root: int, life: Life, kinds: Mapping[int, str]) -> Line:
    step = timeline.made_at.get(root)
    if step is None:
        if life.first:
            return ()
        return (("There from the start: an input. " if life.exact else "There from the start. ", ""),)
    maker = timeline.maker(root)
    phrases: list[Phrase] = [("Made by ", "")]
    if maker is not None:
        phrases += [(f"op {maker} {kinds.get(maker, '')}".rstrip(), f"op:{maker}"), (", ", "")]
    return (*phrases, _step_phrase(timeline, step), (". ", ""))


def _read_phrases(timeline: Timeline, root: int, life: Life) -> Line:
    """The steps that read it, each with its operation where that is not the maker; the last one in any case."""
    if not life.exact:
        return ()
    if not life.reads:
        return (("Read by no step.", ""),)
    shown = life.reads if len(life.reads) <= _MOST_USES else (*life.reads[: _MOST_USES - 1], life.reads[-1])
    phrases: list[Phrase] = [("Read by ", "")]
    for place, step in enumerate(shown):
        left = len(life.reads) - len(shown)
        between = f", {left:,} more steps and " if left and place == len(shown) - 1 else ", "
        phrases += [(between if place else "", ""), _step_phrase(timeline, step)]
        source = timeline.steps[step].source
        if source is not None and source != timeline.maker(root):
            phrases += [(" of ", ""), (f"op {source}", f"op:{source}")]
    return (*(phrase for phrase in phrases if phrase[0]), (".", ""))


def _step_phrase(timeline: Timeline, step: int) -> Phrase:
    return f"step {step} {timeline.steps[step].kind}".rstrip(), f"step:{step}"


def budget_sentence(size: Size, timeline: Timeline) -> str:
    """A size against the budget that remains beside the reserve."""
    if isinstance(size, Unavailable):
        return "Its share of the budget is unavailable."
    available = timeline.budget_bytes - timeline.reserve_bytes
    if available <= 0:
        return f"The reserve of {exact_text(timeline.reserve_bytes)} leaves nothing of the budget."
    share = percent_text(size, available)
    if size and share == "0.0 %":
        share = "Less than 0.1 %"
    if not timeline.reserve_bytes:
        return f"{share} of the budget of {exact_text(available)}."
    return f"{share} of the {exact_text(available)} that the reserve leaves of the budget."
