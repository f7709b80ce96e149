"""The texts of the details pane: how an allocation's bytes arise, an operation, a tile; sections of sentences.

A shard's size follows from shape, layout and precision; the allocation's from the shard, the access tail, rounding up
to memory elements and the copies. The sentences carry every factor, so that a reader can check them by hand. Where a
file states another number than its own shape and layout give, both are said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tileview.analysis.fusions import fusion_facts
from tileview.analysis.lifetimes import Life, Lives
from tileview.analysis.loads import largest_bytes
from tileview.analysis.operation_words import kind_words
from tileview.analysis.overflows import Phrase
from tileview.analysis.words import (
    class_words,
    counted,
    layout_words,
    order_words,
    precision_short,
    precision_words,
    shape_text,
)
from tileview.core.cycles.words import exact_cycles
from tileview.core.estimated import Estimate
from tileview.core.geometry.resolve import LayoutError, LayoutErrorKind, resolve
from tileview.core.geometry.resolved import Resolved, Split
from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.graph import Graph, Operation, RepeatKind
from tileview.model.owners import Owners
from tileview.model.plan import Plan
from tileview.model.program import Program
from tileview.model.recipe import Recipe
from tileview.model.sizes import U64_MAX, Size, Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.tensor import Format, Layout, MemoryClass, Shape
from tileview.model.timeline import Timeline, TimelineStep, TimelineValue, steps_of_operation, steps_read
from tileview.present.allocation_rows import allocation_row
from tileview.present.cycle_words import fusion_lines, step_name
from tileview.present.plan_words import dispatch_facts, operator_facts, plan_words, requirement_words


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


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """A heading and its lines; a line in pieces has some that lead somewhere."""

    heading: str
    lines: tuple[str | Line, ...]


def line_text(line: str | Line) -> str:
    """A line without what its pieces lead to."""
    return line if isinstance(line, str) else "".join(words for words, _ in line)


_MOST_STEPS = 40
"""Steps of an operation that are listed."""
_MOST_SIZES = 5
"""Values of one allocation whose sizes are explained."""


def allocation_details(
    timeline: Timeline,
    root: int,
    tile: int | None,
    lives: Lives,
    program: Program | None = None,
    kinds: Mapping[int, str] | None = None,
) -> tuple[Paragraphs, ...]:
    """How an allocation's bytes arise, where they lie, who makes and reads them and when, what shares them.

    ``kinds``: operation → its kind, as far as known.
    """
    value = timeline.values[root]
    where = [owners_sentence(timeline, root)]
    if tile is not None:
        where.append(tile_sentence(timeline, root, tile))
    where.append(budget_sentence(largest_bytes(timeline, root), timeline))
    sections = [
        Paragraphs("How its bytes arise", tuple(_arise(timeline, root))),
        Paragraphs("Where", tuple(where)),
        Paragraphs("When", tuple(life_lines(timeline, root, lives.of(root), kinds or {}))),
        Paragraphs("Memory it shares", (alias_sentence(timeline, root),)),
    ]
    layout = layout_words(value.layout) if value.layout is not None else value.layout_text
    kept = [f"{precision_words(value.precision)}; {layout}."]
    owners = owners_of(program, value.id)
    if owners is not None:
        kept.append(owners_words(owners))
    sections.append(Paragraphs("Home" if root in timeline.parameters else "Layout", tuple(kept)))
    if timeline.derived:
        sections.append(
            Paragraphs("Note", ("The file has no numbers per tile: they are derived, with owners starting at tile 0.",))
        )
    return tuple(sections)


def _arise(timeline: Timeline, root: int) -> list[str]:
    """A sentence on the value that decides the size, then on those of other sizes, the largest first."""
    members = sorted(
        timeline.aliases.get(root, (root,)), key=lambda i: (-_order(timeline.values[i].bytes), i != root, i)
    )
    told: list[int] = []
    for index in members:
        if not any(_alike(timeline.values[index], timeline.values[other]) for other in told):
            told.append(index)
    lines = []
    for index in told[:_MOST_SIZES]:
        value = timeline.values[index]
        name = "" if index == root else f"{value.name} (value {value.id}): "
        lines.append(name + value_sentence(timeline, index))
    if len(told) > _MOST_SIZES:
        lines.append(f"{counted(len(told) - _MOST_SIZES, 'smaller value')} of other shapes or layouts.")
    return lines


def _order(size: Size) -> int:
    """Unavailable above all sizes: it decides that the allocation has none."""
    return size if isinstance(size, int) else U64_MAX


def _alike(one: TimelineValue, other: TimelineValue) -> bool:
    """Whether the same sentence would be said of both."""
    return (one.shape, one.precision, one.layout, one.layout_text, one.memory_class, one.bytes) == (
        other.shape,
        other.precision,
        other.layout,
        other.layout_text,
        other.memory_class,
        other.bytes,
    )


def owners_of(program: Program | None, value_id: int) -> Owners | None:
    """The owner map of a lowered value; None where there is no program."""
    if program is None or not 0 <= value_id < len(program.values):
        return None
    return program.values[value_id].owners


def owners_words(owners: Owners) -> str:
    """Where owners sit, in a sentence."""
    if owners.embedding is not None:
        turned = f", rotated by {owners.rotation}" if owners.rotation else ""
        return f"Its owners sit on {counted(len(owners.embedding), 'listed tile')}{turned}."
    if owners.rotation:
        return f"Rotated by {owners.rotation}: owner 0 sits on tile {owners.rotation}."
    return "Not rotated: owner 0 sits on tile 0."


# -- operations -----------------------------------------------------------------------------------------------------


def find_operation(graph: Graph, operation: int) -> Operation | None:
    return next((found for found, _ in graph.walk() if found.id == operation), None)


def operation_details(
    recipe: Recipe,
    operation: Operation,
    timeline: Timeline | None,
    file_plan: Plan | None = None,
    estimate: Estimate | None = None,
) -> tuple[Paragraphs, ...]:
    """An operation's plan with all its figures, what it asks of operands and gives, its cycles, fusions and steps."""
    graph = recipe.graph
    plan = recipe.plans.get(operation.id)
    names = {entry.value: entry.name for entry in graph.inputs}
    about = [kind_words(operation.kind)]
    for number, value in enumerate(operation.inputs):
        about.append(f"Operand {number}: {_value_words(graph, names, value)}")
    for number, value in enumerate(operation.results):
        shape = graph.shape_of(value)
        text = f"Result {number}: value {value}" + (f", {shape_text(shape)}" if shape is not None else "")
        about.append(f"{text}, {consumer_words(graph, value)}")
    sections = [Paragraphs("Operation", tuple(about))]
    if isinstance(operation.kind, RepeatKind):
        sections.append(Paragraphs("Rounds", tuple(_repeat_lines(operation.kind, graph))))
    if plan is not None:
        lines = [plan_words(plan)]
        lines.extend(
            f"{label}: {text}" for label, text in (*operator_facts(plan.operator), *dispatch_facts(plan.dispatch))
        )
        if file_plan is not None and file_plan != plan:
            lines.append(f"The file's plan: {plan_words(file_plan)}")
        sections.append(Paragraphs("Current plan", tuple(lines)))
        asks = [f"Operand {number}: {requirement_words(asked)}" for number, asked in enumerate(plan.inputs)]
        asks.append(f"Result: {requirement_words(plan.output)}")
        if plan.may_alias:
            asks.append("The result may take the memory of " + " or ".join(f"operand {i}" for i in plan.may_alias))
        sections.append(Paragraphs("What the plan requires and produces", tuple(asks)))
    sections += _costs(operation.id, estimate)
    if timeline is not None:
        steps = steps_of_operation(timeline, operation.id)
        if steps:
            sections.append(Paragraphs(f"Its {counted(len(steps), 'step')}", step_lines(steps)))
    return tuple(sections)


def step_lines(steps: Sequence[TimelineStep]) -> tuple[str | Line, ...]:
    """A line for each of the first steps, and how many more there are."""
    lines: list[str | Line] = [
        (
            (f"Step {step.index}", f"step:{step.index}"),
            (f": {step_name(step)}{_runs(step.execution_count)}{_scratch(step.scratch.total)}", ""),
        )
        for step in steps[:_MOST_STEPS]
    ]
    if len(steps) > _MOST_STEPS:
        lines.append(f"and {len(steps) - _MOST_STEPS} more")
    return tuple(lines)


def _costs(operation: int, estimate: Estimate | None) -> list[Paragraphs]:
    """Planner's cycles of an operation's steps, and the fusions that it has a part in."""
    sections: list[Paragraphs] = []
    if estimate is None:
        return sections
    price = None if estimate.cycles is None else estimate.cycles.operations().get(operation)
    if price is not None:
        text = f"{exact_cycles(price.cycles)}, {exact_cycles(price.exchange)} of them exchange; all runs of its steps"
        sections.append(Paragraphs("Planner's cycles", (text,)))
    lines = fusion_lines(operation, fusion_facts(estimate))
    if lines:
        sections.append(Paragraphs("Fusions", lines))
    return sections


def _runs(count: int) -> str:
    return "" if count == 1 else f", runs {count:,} times"


def _scratch(scratch: object) -> str:
    return f", scratch {exact_text(scratch)}" if isinstance(scratch, int) and scratch else ""


def _value_words(graph: Graph, names: Mapping[int, str], value: int) -> str:
    shape = graph.shape_of(value)
    text = f"value {value}"
    if value in names:
        text = f"{names[value]} (value {value})"
    else:
        source = _source_words(graph, value)
        if source:
            text = f"value {value}, {source}"
    return text if shape is None else f"{text}, {shape_text(shape)}"


def _source_words(graph: Graph, value: int) -> str:
    """What makes a value that is no graph input: an operation, or the Repeat whose body has it as an argument."""
    for operation, _ in graph.walk():
        if value in operation.results:
            return f"result of operation {operation.id}"
        if isinstance(operation.kind, RepeatKind) and value in operation.kind.body.arguments:
            return f"argument of the body of operation {operation.id}"
    return ""


def consumer_words(graph: Graph, value: int) -> str:
    """Who reads a value: ``read by operations 22 and 23, carried into the next round of operation 24``."""
    readers: list[int] = []
    rounds: list[int] = []
    for operation, _ in graph.walk():
        if value in operation.inputs:
            readers.append(operation.id)
        if isinstance(operation.kind, RepeatKind) and value in operation.kind.body.yields:
            rounds.append(operation.id)
    words = []
    if readers:
        numbers = [str(reader) for reader in sorted(readers)]
        listed = numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"
        words.append(f"read by operation{'s' if len(numbers) > 1 else ''} {listed}")
    words.extend(f"carried into the next round of operation {number}" for number in rounds)
    if value in graph.outputs:
        words.append("an output of the graph")
    return ", ".join(words) if words else "read by nothing"


def _repeat_lines(kind: RepeatKind, graph: Graph) -> list[str]:
    lines = [
        f"Runs {counted(kind.count, 'time')}; {counted(kind.carried_inputs, 'carried value')}, "
        f"{counted(kind.invariant_inputs, 'invariant')}, {counted(len(kind.iterated_inputs), 'sequence')}."
    ]
    names = {sequence.id: sequence.name for sequence in graph.sequences}
    if kind.iterated_inputs:
        lines.append("Sequences: " + ", ".join(names.get(i, str(i)) for i in kind.iterated_inputs))
    lines.append(f"Body: {counted(len(kind.body.operations), 'operation')}.")
    return lines


@dataclass(frozen=True, slots=True)
class HomeLine:
    """A graph input that an operation reads: its home as it is, and whether an edit made it so."""

    value: int
    name: str
    kind: str
    home: Format | None
    text: str
    is_edited: bool
    short: str = ""
    """Name (a sequence's for its members), precision, owners and order in few words."""


def homes_of_operation(
    recipe: Recipe, operation: Operation, homes: Mapping[int, Format], edited: Mapping[int, Format]
) -> tuple[HomeLine, ...]:
    """The graph inputs that an operation reads, members of sequences by their first."""
    inputs = {entry.value: entry for entry in recipe.graph.inputs}
    groups = {value: sequence.name for sequence in recipe.graph.sequences for value in sequence.values}
    read = list(operation.inputs)
    if isinstance(operation.kind, RepeatKind):
        sequences = {sequence.id: sequence for sequence in recipe.graph.sequences}
        read.extend(
            sequences[i].values[0] for i in operation.kind.iterated_inputs if i in sequences and sequences[i].values
        )
    else:
        read = [_outside(recipe.graph, value) for value in read]
    lines = []
    for value in dict.fromkeys(read):
        entry = inputs.get(value)
        if entry is None:
            continue
        home = recipe.inputs.get(value) or homes.get(value)
        text = (
            "left to the planner" if home is None else f"{precision_words(home.precision)}; {layout_words(home.layout)}"
        )
        name = groups.get(value, entry.name)
        short = f"{name}: left to the planner"
        if home is not None:
            owners = counted(home.layout.tiling.tile_count, "owner")
            short = f"{name}: {precision_short(home.precision)}, {owners}, {order_words(home.layout.order)}"
        lines.append(HomeLine(value, entry.name, entry.kind.value, home, text, value in edited, short))
    return tuple(lines)


def _outside(graph: Graph, value: int) -> int:
    """The graph input that a body's argument stands for (a sequence's first member); any other value is itself."""
    sequences = {sequence.id: sequence for sequence in graph.sequences}
    for around, _ in graph.walk():
        kind = around.kind
        if not isinstance(kind, RepeatKind) or value not in kind.body.arguments:
            continue
        position = kind.body.arguments.index(value)
        outer = kind.carried_inputs + kind.invariant_inputs
        if position < outer:
            return _outside(graph, around.inputs[position]) if position < len(around.inputs) else value
        number = position - outer
        if number < len(kind.iterated_inputs):
            sequence = sequences.get(kind.iterated_inputs[number])
            if sequence is not None and sequence.values:
                return sequence.values[0]
    return value


# -- tiles ----------------------------------------------------------------------------------------------------------


def tile_details(timeline: Timeline, step: int, tile: int) -> tuple[Paragraphs, ...]:
    """A tile at a step: usage by class against the budgets, its own peak, where it sits."""
    usage = timeline.tiles.usage(step)[tile]
    standard, interleaved = int(usage[0]), int(usage[1])
    total = standard + interleaved
    needed = total + timeline.reserve_bytes
    spare = timeline.budget_bytes - needed
    verb = "spare" if spare >= 0 else "over"
    lines = [
        f"Standard {size_text(standard)} + interleaved {size_text(interleaved)} = {size_text(total)}.",
        f"With the reserve of {exact_text(timeline.reserve_bytes)}: {exact_text(needed)}, "
        f"{percent_text(needed, timeline.budget_bytes)} of the budget of {exact_text(timeline.budget_bytes)}, "
        f"{exact_text(abs(spare))} {verb}.",
        f"Interleaved: {percent_text(interleaved, timeline.interleaved_budget_bytes)} of the region of "
        f"{exact_text(timeline.interleaved_budget_bytes)}.",
    ]
    live = set(timeline.steps[step].live) & timeline.unavailable_roots
    if live:
        lines.append(f"{counted(len(live), 'live allocation')} without a known size: these sums are lower bounds.")
    curve = timeline.tiles.tile_curve(tile).sum(axis=1)
    sections = [Paragraphs(f"Tile {tile} at step {step}", tuple(lines))]
    if steps_read(timeline) < len(curve):
        sections.append(Paragraphs("Its own peak", ("The file's numbers per tile are still being read.",)))
    elif len(curve):
        peak = int(curve.argmax())
        own = f"{size_text(int(curve[peak]))} at step {peak}, {timeline.steps[peak].kind}."
        sections.append(Paragraphs("Its own peak", (own,)))
    return tuple(sections)


def plain_text(title: str, sections: tuple[Paragraphs, ...]) -> str:
    """All of it as text, for copying."""
    lines = [title]
    for section in sections:
        lines.append("")
        lines.append(section.heading)
        lines.extend(f"  {line_text(line)}" for line in section.lines)
    return "\n".join(lines)
