"""Whose bytes the usage of a tile is: what each operation made, and the parameters and inputs it reads.

At the peak of a large model most bytes are parameters. Counted under nobody they would hide more than half of it; so an
allocation that stems from an input of the graph is counted under the operation that reads it, apart from what that
operation made. Each allocation is counted once, so that all parts add up to the usage.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass

from tileview.model.graph import Graph, InputKind, Operation, RepeatKind
from tileview.model.sizes import Unavailable
from tileview.model.timeline import Timeline


def input_readers(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Value → the operations that read it, in graph order: for inputs, and for what stands for them in bodies.

    A Repeat hands inputs to its body: an invariant argument stands for the operand, an iterated one for all members of
    its sequence. So a parameter of a body's operation leads to that operation, not to the Repeat; and the argument
    itself (a copy of it may be an allocation) leads there too. A carried argument is an activation, whatever it starts
    with: that start is read by the Repeat. An argument that no operation of the body reads is read by the Repeat.
    """
    readers: dict[int, list[int]] = {entry.value: [] for entry in graph.inputs}
    for sequence in graph.sequences:
        for value in sequence.values:
            readers.setdefault(value, [])
    members = {sequence.id: sequence.values for sequence in graph.sequences}
    _visit(graph.operations, {value: (value,) for value in readers}, members, readers)
    return {value: tuple(found) for value, found in readers.items()}


_Stands = Mapping[int, tuple[int, ...]]
"""Value of a region → itself and the inputs that it stands for."""


def _visit(
    operations: Iterable[Operation],
    stands: _Stands,
    members: Mapping[int, tuple[int, ...]],
    readers: dict[int, list[int]],
) -> None:
    for operation in operations:
        kind = operation.kind
        if not isinstance(kind, RepeatKind):
            _note(operation, operation.inputs, stands, readers)
            continue
        _note(operation, operation.inputs[: kind.carried_inputs], stands, readers)
        handed = _handed(operation, kind, stands, members)
        for argument in handed:
            readers.setdefault(argument, [])
        _visit(kind.body.operations, {**stands, **handed}, members, readers)
        for argument, values in handed.items():
            if not readers[argument]:
                _note(operation, (argument,), {argument: values}, readers)


def _handed(
    repeat: Operation, kind: RepeatKind, stands: _Stands, members: Mapping[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """The arguments of a body that stand for inputs."""
    found: dict[int, tuple[int, ...]] = {}
    for slot, argument in enumerate(kind.body.arguments):
        iterated = slot - kind.carried_inputs - kind.invariant_inputs
        if iterated >= 0:
            known = iterated < len(kind.iterated_inputs)
            values = members.get(kind.iterated_inputs[iterated], ()) if known else ()
        elif slot >= kind.carried_inputs and slot < len(repeat.inputs):
            values = stands.get(repeat.inputs[slot], ())
        else:
            continue
        if values:
            found[argument] = (argument, *values)
    return found


def _note(operation: Operation, values: Iterable[int], stands: _Stands, readers: dict[int, list[int]]) -> None:
    for value in values:
        for stood in stands.get(value, ()):
            found = readers[stood]
            if operation.id not in found:
                found.append(operation.id)


def owners_of_values(graph: Graph) -> dict[int, int]:
    """Graph value → operation that it is a result of; arguments of a body belong to its Repeat."""
    owners: dict[int, int] = {}
    for operation, _ in graph.walk():
        for result in operation.results:
            owners[result] = operation.id
        if isinstance(operation.kind, RepeatKind):
            for argument in operation.kind.body.arguments:
                owners[argument] = operation.id
    return owners


@dataclass(frozen=True, slots=True)
class Holdings:
    """Known bytes at one step on one tile; ``own``, ``read`` and ``outside`` add up to ``usage``.

    ``own``: by operation, allocations that stem from its results, and scratch. ``read``: by operation, those that stem
    from inputs and parameters; one that several operations read counts for the first, and in ``shared``.
    ``unavailable`` counts allocations without a size, ``outside`` is what belongs to no operation and
    ``unavailable_outside`` how many of that have no size. ``has_hosts``: whether ``read`` holds anything that is no
    parameter.
    """

    own: Mapping[int, int]
    read: Mapping[int, int]
    shared: int
    unavailable: Mapping[int, int]
    outside: int
    usage: int
    has_hosts: bool = False
    unavailable_outside: int = 0


NO_HOLDINGS = Holdings({}, {}, 0, {}, 0, 0)


def host_inputs(graph: Graph) -> frozenset[int]:
    """The inputs of a graph that are no parameters."""
    return frozenset(entry.value for entry in graph.inputs if entry.kind is not InputKind.PARAMETER)


def holdings(
    timeline: Timeline,
    step: int,
    tile: int,
    owners: Mapping[int, int],
    readers: Mapping[int, tuple[int, ...]],
    hosts: Collection[int] = (),
    sizes: MutableMapping[int, int] | None = None,
) -> Holdings:
    """Share out the usage of a tile at a step. What a file's usage holds beyond its allocations and scratch is outside.

    Parameters
    ----------
    owners : mapping
        Graph value → operation, from :func:`owners_of_values`.
    readers : mapping
        From :func:`input_readers`.
    hosts : collection
        From :func:`host_inputs`.
    sizes : mapping, optional
        Root → its bytes on the tile, kept from call to call: they do not depend on the step.
    """

    def holders(root: int) -> _Holders:
        maker = timeline.maker(root)
        if maker is not None:
            return maker, ()
        origin = timeline.values[root].origin
        found = () if origin is None else readers.get(origin, ())
        return found[0] if found else None if origin is None else owners.get(origin), found

    return _shared_out(timeline, step, tile, holders, hosts, sizes)


def step_holdings(timeline: Timeline, step: int, tile: int, sizes: MutableMapping[int, int] | None = None) -> Holdings:
    """Share out the usage of a timeline without a graph; ``sizes`` as for :func:`holdings`.

    What no step makes is outside: nothing says who reads it.
    """
    return _shared_out(timeline, step, tile, lambda root: (timeline.maker(root), ()), (), sizes)


_Holders = tuple[int | None, tuple[int, ...]]
"""The operation that an allocation is counted under, and all that read it where it stems from an input."""


def _shared_out(
    timeline: Timeline,
    step: int,
    tile: int,
    holders: Callable[[int], _Holders],
    hosts: Collection[int],
    sizes: MutableMapping[int, int] | None,
) -> Holdings:
    """Count each live allocation, by root, under what ``holders`` says."""
    known: MutableMapping[int, int] = {} if sizes is None else sizes
    own: dict[int, int] = {}
    read: dict[int, int] = {}
    unavailable: dict[int, int] = {}
    shared = lost = 0
    has_hosts = False
    for root in timeline.steps[step].live:
        operation, readers = holders(root)
        if operation is None:
            lost += root in timeline.unavailable_roots
            continue
        if root in timeline.unavailable_roots:
            unavailable[operation] = unavailable.get(operation, 0) + 1
            continue
        size = known.get(root)
        if size is None:
            size = known[root] = int(timeline.tiles.allocation(root)[tile])
        if size:
            into = read if readers else own
            into[operation] = into.get(operation, 0) + size
            shared += size if len(readers) > 1 else 0
            has_hosts = has_hosts or (bool(readers) and timeline.values[root].origin in hosts)
    lost += _add_scratch(timeline, step, tile, own, unavailable)
    usage = int(timeline.tiles.usage(step)[tile].sum())
    outside = usage - sum(own.values()) - sum(read.values())
    return Holdings(own, read, shared, unavailable, outside, usage, has_hosts, lost)


def _add_scratch(timeline: Timeline, step: int, tile: int, own: dict[int, int], unavailable: dict[int, int]) -> int:
    """Count the scratch of the step for its operation; gives 1 where it has no size and belongs to none."""
    entry = timeline.steps[step]
    if entry.scratch.total == 0:
        return 0
    if entry.source is None:
        return int(isinstance(entry.scratch.total, Unavailable))
    if isinstance(entry.scratch.total, Unavailable):
        unavailable[entry.source] = unavailable.get(entry.source, 0) + 1
    size = int(timeline.tiles.scratch(step)[tile].sum())
    if size:
        own[entry.source] = own.get(entry.source, 0) + size
    return 0
