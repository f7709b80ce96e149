"""Fusions by hand, where no golden case decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.helpers.small_programs import F8, program, value
from tests.helpers.small_recipes import axis, layout
from tileview.core.cycles.prices import program_cycles
from tileview.core.fusion.fuse import Rewritten, fuse
from tileview.core.fusion.stand import Reason, stand, unfused
from tileview.core.memory.measurement import measure
from tileview.model.owners import Owners
from tileview.model.program import AxisView, Copy, Kernel, Mapping, Opaque, Product, Program, Repeat, Step, Value
from tileview.model.tensor import F16, F32, LEFT, TRANSPOSED_RIGHT, Layout, MemoryClass, Precision, Shape, Tiling
from tileview.model.tensor import ROW_MAJOR as ROWS

WIDE = (4, 48)
SPREAD = layout(axis(2, 4))
"""One row on each of four tiles."""
ALIKE = Layout(ROWS, Tiling(4, 1, (axis(1, 1), axis(2, 4))))
"""The same distribution, written with another axis list."""


def everywhere(owners: int) -> Layout:
    return Layout(ROWS, Tiling(owners, owners, ()))


def names(rewritten: Rewritten) -> list[str]:
    """The kernels of the rewritten program, other steps by their kind."""
    steps = [entry.step for entry in rewritten.program.flatten()]
    return [step.kernel if isinstance(step, Kernel) else type(step).__name__ for step in steps]


def fused(steps: Sequence[Step], values: list[Value], outputs: tuple[int, ...], tiles: int = 12) -> Rewritten:
    host = tuple(v.id for v in values if all(v.id not in step.results for step in steps))
    return fuse(program(values, list(steps), outputs, host=host, tiles=tiles))


# -- an Add in its consumer -----------------------------------------------------------------------------------------

ADD = Kernel(1, "Add", (0, 1), (2,))
GELU = Kernel(2, "Gelu", (2,), (3,))


def bias_gelu_values(**changed: Value) -> list[Value]:
    found = [
        value(0, WIDE, SPREAD),
        value(1, (1, 48), everywhere(4)),
        value(2, WIDE, SPREAD),
        value(3, WIDE, SPREAD),
    ]
    for name, other in changed.items():
        found[int(name[1:])] = other
    return found


def test_an_add_goes_into_its_gelu() -> None:
    made = fused([ADD, GELU], bias_gelu_values(), (3,))
    assert made.program.steps == (Kernel(2, "BiasGelu", (0, 1), (3,)),)
    (candidate,) = made.candidates
    assert (candidate.kind, candidate.source, candidate.partner, candidate.made) == ("BiasGelu", 2, 1, True)


def test_a_sum_that_two_steps_read_stays() -> None:
    values = [*bias_gelu_values(), value(4, WIDE, SPREAD)]
    assert names(fused([ADD, GELU, Kernel(3, "Gelu", (2,), (4,))], values, (3, 4))) == ["Add", "Gelu", "Gelu"]


@pytest.mark.parametrize(
    "changed",
    [
        {"v2": value(2, WIDE, SPREAD, F32)},
        {"v1": value(1, (1, 48), everywhere(4), F32)},
        {"v1": value(1, (1, 1), everywhere(4))},
        {"v1": value(1, (4, 1), SPREAD)},
        {"v0": value(0, WIDE, SPREAD, owners=Owners(1))},
        {"v3": value(3, WIDE, SPREAD, owners=Owners(1))},
        {"v3": value(3, WIDE, Layout(ROWS, SPREAD.tiling, MemoryClass.INTERLEAVED))},
        {"v2": value(2, WIDE, ALIKE)},
    ],
    ids=["F32 sum", "F32 bias", "bias of one", "column", "left elsewhere", "result there", "class", "as written"],
)  # fmt: skip
def test_operands_that_do_not_fit_together(changed: dict[str, Value]) -> None:
    assert not fused([ADD, GELU], bias_gelu_values(**changed), (3,)).changed


def test_a_bias_may_have_one_dimension() -> None:
    assert names(fused([ADD, GELU], bias_gelu_values(v1=value(1, (48,), everywhere(4))), (3,))) == ["BiasGelu"]


@pytest.mark.parametrize("group", [0, 1, 2, 4])
def test_only_copies_that_leave_the_operands_alone_may_lie_between(group: int) -> None:
    """In the way: a copy that reads the bias, one that writes a group of left, right or sum, and any kernel."""
    values = [*bias_gelu_values(), value(4, WIDE, SPREAD), replace(value(5, WIDE, SPREAD), storage_group=group)]
    made = fused([ADD, Copy(3, (4,), (5,)), GELU], values, (3, 5))
    assert made.changed == (group == 4)
    assert not fused([ADD, Copy(3, (1,), (5,)), GELU], values, (3, 5)).changed
    assert not fused([ADD, Kernel(3, "Gelu", (4,), (5,)), GELU], values, (3, 5)).changed


def test_members_and_yields_are_readers() -> None:
    """A sum that a Repeat takes as a member, or a body yields, is not used once."""
    values = [*bias_gelu_values(), *(value(n, WIDE, SPREAD) for n in (4, 5, 6, 7))]
    body = (Kernel(5, "Gelu", (6,), (7,)),)
    repeat = Repeat(None, 2, (4,), (5,), 1, ((2, 2),), (6,), body, (7,))
    assert "BiasGelu" not in names(fused([ADD, GELU, repeat], values, (3, 5)))
    inside = Repeat(None, 2, (4,), (5,), 1, (), (0,), (ADD, GELU), (2,))
    assert "BiasGelu" not in names(fused([inside], values, (5,)))
    inside = Repeat(None, 2, (4,), (5,), 1, (), (0,), (ADD, GELU), (3,))
    assert names(fused([inside], values, (5,))) == ["BiasGelu", "Repeat"]


# -- the sum of a residual with its statistics ----------------------------------------------------------------------

LONG = (4, 9216)
NORM = Kernel(2, "LayerNorm", (4, 2, 3), (5,))


def residual_values() -> list[Value]:
    rows = [value(n, (1, 9216), everywhere(4)) for n in (2, 3)]
    return [value(0, LONG, SPREAD), value(1, LONG, SPREAD), *rows, *(value(n, LONG, SPREAD) for n in (4, 5))]


RESIDUAL = Kernel(1, "Add", (0, 1), (4,))


def test_moments_in_parts_go_to_the_sum() -> None:
    """A LayerNormMoments is dropped, its statistics are a result of the Add; only copies of one storage are passed."""
    statistics = value(6, (4, 1, 2), layout(axis(3, 4)), F32)
    values = [*residual_values(), statistics]
    apply = Kernel(2, "LayerNormApply", (4, 2, 3, 6), (5,))
    made = fused([RESIDUAL, Kernel(2, "LayerNormMoments", (4,), (6,)), apply], values, (5,))
    assert made.program.steps == (Kernel(1, "AddLayerNormMoments", (0, 1), (6, 4)), apply)
    assert len(made.program.values) == len(values)
    between = [*values, value(7, LONG, layout(axis(2, 2)))]
    moved = [RESIDUAL, Copy(1, (4,), (7,)), Kernel(2, "LayerNormMoments", (7,), (6,)), apply]
    assert not fused(moved, between, (5,)).changed
    same = [*values, value(7, LONG, ALIKE)]
    assert names(fused(moved, same, (5,))) == ["AddLayerNormMoments", "LayerNormApply"]
    moved[3] = replace(apply, inputs=(7, 2, 3, 6))
    assert names(fused(moved, same, (5,))) == ["AddLayerNormMoments", "Copy", "LayerNormApply"]


@pytest.mark.parametrize(
    "changed",
    [
        {1: value(1, LONG, SPREAD, owners=Owners(2))},
        {1: value(1, LONG, Layout(ROWS, SPREAD.tiling, MemoryClass.INTERLEAVED))},
        {1: value(1, LONG, Layout(LEFT, SPREAD.tiling))},
        {4: value(4, LONG, SPREAD, owners=Owners(1))},
        {4: value(4, LONG, SPREAD, F32)},
    ],
    ids=["rotated operand", "class of an operand", "order of an operand", "rotated sum", "F32 sum"],
)
def test_storage_is_owners_order_class_and_precision(changed: dict[int, Value]) -> None:
    values = residual_values()
    assert fused([RESIDUAL, NORM], values, (4, 5)).changed
    for number, other in changed.items():
        values[number] = other
    assert not fused([RESIDUAL, NORM], values, (4, 5)).changed


def test_an_operand_written_otherwise_has_the_same_storage() -> None:
    values = residual_values()
    values[1] = value(1, LONG, ALIKE)
    assert fused([RESIDUAL, NORM], values, (4, 5)).changed


def test_a_chain_of_two_copies_goes_where_nothing_else_reads_it() -> None:
    values = [*residual_values(), value(6, LONG, layout(axis(2, 2))), value(7, LONG, SPREAD)]
    norm = replace(NORM, inputs=(7, 2, 3))
    chain = [RESIDUAL, Copy(1, (4,), (6,)), Copy(2, (6,), (7,)), norm]
    assert names(fused(chain, values, (4, 5))) == ["AddLayerNormMoments", "LayerNormApply"]
    assert names(fused(chain, values, (6, 5))) == ["AddLayerNormMoments", "Copy", "LayerNormApply"]
    for mapping in (Mapping((0, 4)), Mapping((), AxisView(1, 0, 1, False))):
        other = [RESIDUAL, Copy(1, (4,), (6,), mapping), *chain[2:]]
        assert not fused(other, values, (4, 5)).changed
    zeros = [RESIDUAL, Copy(1, (4,), (6,), Mapping((0, 0))), *chain[2:]]
    assert fused(zeros, values, (4, 5)).changed


# -- results written as F8 ------------------------------------------------------------------------------------------

MANY = (12, 1152)
WHOLE, TWELVE = layout(axis(2, 1)), layout(axis(2, 12))
PANELS = Layout(TRANSPOSED_RIGHT, Tiling(1, 1, (axis(2, 1), axis(1, 1, 32))))


class Casts:
    """A region of kernels whose results are moved and cast: some pay at the consumer only, others at the source."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.outputs: list[int] = []

    def new(self, shape: Shape, where: Layout, precision: Precision = F16) -> int:
        self.values.append(value(len(self.values), shape, where, precision))
        return len(self.values) - 1

    def chain(self, kernel: str, operands: int, here: Layout, there: Layout, target: Layout) -> None:
        x = self.new(MANY, here)
        others = [self.new((1, 1152), everywhere(here.tiling.tile_count)) for _ in range(operands)]
        made, moved, cast = self.new(MANY, here), self.new(MANY, there), self.new(MANY, target, F8)
        self.steps += [
            Kernel(1, kernel, (x, *others), (made,)),
            Copy(1, (made,), (moved,)),
            Kernel(2, "Cast", (moved,), (cast,)),
        ]
        self.outputs.append(cast)

    def at_consumer(self) -> None:
        """80,274 → 13,035 at the consumer, 88,362 → 207,264 at the source."""
        self.chain("LayerNorm", 2, WHOLE, TWELVE, Layout(LEFT, TWELVE.tiling))

    def at_source(self) -> None:
        """23,820 → 12,594 at the source; Left panels are no TransposedRight at the consumer."""
        self.chain("Gelu", 0, TWELVE, WHOLE, PANELS)

    def fuse(self) -> Rewritten:
        return fused(self.steps, self.values, tuple(self.outputs))


@pytest.mark.parametrize(("sources", "winner"), [(1, "F8 at consumer"), (5, "F8 at consumer"), (6, "F8 at source")])
def test_the_cheaper_of_two_ways_through_a_region_stays(sources: int, winner: str) -> None:
    """The consumer saves 67,239 less the 1,500 odd that operands cost to be moved; each source saves 11,226."""
    region = Casts()
    region.at_consumer()
    for _ in range(sources):
        region.at_source()
    made = region.fuse()
    assert {candidate.kind for candidate in made.candidates if candidate.made} == {winner}
    assert {candidate.kind for candidate in made.candidates if candidate.pays} == {"F8 at consumer", "F8 at source"}
    new = made.program.values[len(region.values) :]
    assert [v.id for v in new] == list(range(len(region.values), len(made.program.values)))
    assert len(new) == (2 if winner == "F8 at consumer" else sources), "numbers of the way not taken are not used"
    saved = sum(
        int(candidate.before) - int(candidate.after)  # type: ignore[arg-type]
        for candidate in made.candidates
        if candidate.kind == winner and candidate.made
    )
    before = program_cycles(program(region.values, region.steps, tiles=12)).total
    after = program_cycles(made.program).total
    assert isinstance(before, int)
    assert isinstance(after, int)
    if winner == "F8 at source":
        assert before - after == saved * sources


CHAINS = {
    "source is cheaper": ((6, 2304), layout(axis(1, 2)), layout(axis(2, 2))),
    "consumer is cheaper": ((2, 2304), layout(axis(1, 3)), layout(axis(1, 4))),
}
"""A Gelu's shape, where it is, and where its result is moved and cast to F8."""


def moved_casts(*chains: tuple[Shape, Layout, Layout]) -> tuple[Program, Program, Program]:
    """The chains as they are, with each Gelu at the place of its Cast, and with each where it was."""
    values: list[Value] = []
    plain: list[Step] = []
    consumer: list[Step] = []
    source: list[Step] = []
    for shape, here, there in chains:
        base = len(values)
        x, made, moved, cast, written = range(base, base + 5)
        left = [Layout(LEFT, where.tiling) for where in (there, here)]
        values += [value(x, shape, here), value(made, shape, here), value(moved, shape, there)]
        values += [value(cast, shape, left[0], F8), value(written, shape, left[1], F8)]
        plain += [Kernel(1, "Gelu", (x,), (made,)), Copy(1, (made,), (moved,)), Kernel(2, "Cast", (moved,), (cast,))]
        consumer += [Copy(1, (x,), (moved,)), Kernel(1, "Gelu", (moved,), (cast,))]
        source += [Kernel(1, "Gelu", (x,), (written,)), Copy(2, (written,), (cast,))]
    host, outputs = tuple(range(0, len(values), 5)), tuple(range(3, len(values), 5))
    made_of = [program(values, steps, outputs, host=host, tiles=12) for steps in (plain, consumer, source)]
    return made_of[0], made_of[1], made_of[2]


@pytest.mark.parametrize(
    ("chains", "prices", "winner"),
    [
        (["source is cheaper"], (43_398, 41_922), "F8 at source"),
        (["consumer is cheaper"], (8_838, 10_314), "F8 at consumer"),
        (["source is cheaper", "consumer is cheaper"], (52_236, 52_236), "F8 at consumer"),
    ],
)
def test_of_two_ways_that_cost_the_same_the_consumers_stands(
    chains: list[str], prices: tuple[int, int], winner: str
) -> None:
    plain, *ways = moved_casts(*(CHAINS[name] for name in chains))
    assert tuple(program_cycles(way).total for way in ways) == prices
    rewritten = fuse(plain)
    assert {candidate.kind for candidate in rewritten.candidates if candidate.made} == {winner}
    assert program_cycles(rewritten.program).total == min(prices)


def test_a_result_for_f8_must_be_of_the_class() -> None:
    """The Cast's result must lie where the kernel would write it, in its memory class too."""
    region = Casts()
    region.chain("Gelu", 0, TWELVE, TWELVE, Layout(LEFT, TWELVE.tiling))
    assert region.fuse().changed
    other = Casts()
    other.chain("Gelu", 0, TWELVE, TWELVE, Layout(LEFT, TWELVE.tiling, MemoryClass.INTERLEAVED))
    assert not other.fuse().changed


def test_copies_with_offsets_or_a_second_reader_end_the_search() -> None:
    region = Casts()
    region.at_source()
    copy = region.steps[1]
    assert isinstance(copy, Copy)
    assert region.fuse().changed
    region.steps[1] = replace(copy, mapping=Mapping((0, 32)))
    assert not region.fuse().changed
    region.steps[1] = copy
    region.outputs.append(copy.results[0])
    assert not region.fuse().changed


def test_what_costs_exactly_as_much_is_not_made() -> None:
    """An Add and a LayerNorm of 2 × 62 take 4,440 cycles apart and together; of 2 × 48 they are cheaper together."""
    for width, changed in ((62, False), (48, True)):
        shape, row = (2, width), (1, width)
        rows = [value(n, row, everywhere(1)) for n in (2, 3)]
        tensors = [value(n, shape, WHOLE) for n in (0, 1, 4, 5)]
        made = fused([RESIDUAL, NORM], [*tensors[:2], *rows, *tensors[2:]], (5,))
        (candidate,) = [one for one in made.candidates if one.kind == "AddLayerNorm"]
        assert made.changed == candidate.pays == changed
        if not changed:
            assert (candidate.before, candidate.after) == (4_440, 4_440)


def test_a_candidate_without_a_price_does_not_pay() -> None:
    made = fused([ADD, GELU], bias_gelu_values(v1=value(1, (1, 48), layout(axis(1, 1, 7)))), (3,))
    assert [candidate.pays for candidate in made.candidates] == [False]
    assert not made.changed


# -- all or nothing -------------------------------------------------------------------------------------------------


def whole() -> Program:
    return program(bias_gelu_values(), [ADD, GELU], (3,), host=(0, 1))


def test_the_fused_program_stands_only_where_it_fits() -> None:
    """Two buffers of 96 bytes and a bias of 96 are live at the BiasGelu."""
    for budget, reason in ((288, Reason.FUSED), (287, Reason.DOES_NOT_FIT)):
        found, measured = stand(whole(), lambda made, budget=budget: measure(made, budget, 0))
        assert (found.reason, found.stands) == (reason, reason is Reason.FUSED)
        assert measured is not None
        assert measured.peak.total == 288
        assert found.program == (found.composed if reason is Reason.DOES_NOT_FIT else fuse(whole()).program)


def test_what_is_dropped_holds_no_memory() -> None:
    timeline = measure(fuse(whole()).program, 1000, 0)
    assert {root for step in timeline.steps for root in step.live} == {0, 1, 3}


def test_without_a_price_no_cycles_are_gained() -> None:
    """A product of no plan has no price: the total is never less."""
    values = [*bias_gelu_values(), value(4, (8, 8)), value(5, (8, 8)), value(6, (8, 8))]
    steps = [ADD, GELU, Product(3, (4, 5), (6,), F16, F32)]
    found, measured = stand(program(values, steps, (3, 6), host=(0, 1, 4, 5)), lambda made: measure(made, 9**9, 0))
    assert (found.reason, measured) == (Reason.NO_GAIN, None)
    assert [candidate.pays for candidate in found.candidates] == [True]


def test_when_fusions_are_not_looked_for() -> None:
    unknown = replace(whole(), steps=(*whole().steps, Opaque(7, (3,), (2,), "?")), unknown=((7, "?"),))
    for given, checkpoints, why in ((unknown, False, "operation 7"), (whole(), True, "diagnostic checkpoints")):
        found, _ = stand(given, lambda made: measure(made, 9**9, 0), checkpoints)
        assert found.reason is Reason.NOT_LOOKED
        assert why in found.why
        assert found.program is given
    assert unfused(whole(), Reason.OFF).cycles == program_cycles(whole())
