"""Lifetime bars."""

from __future__ import annotations

from dataclasses import replace

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, plain, small_timeline
from tileview.analysis.lifetimes import Life, LifetimeOrder, filtered, lifetime_lines, lifetimes, ordered
from tileview.analysis.loads import largest_bytes
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import MemoryClass

KIB = 1024


def by_name(rows):
    return {plain(row.name): row for row in rows}


def test_each_allocation_has_its_first_and_last_step() -> None:
    rows = by_name(lifetimes(small_timeline()))
    assert {name: (row.first, row.last) for name, row in rows.items()} == {
        "weights": (0, 7),
        "left": (0, 1),
        "product": (1, 5),
        "wide": (5, 5),
        "result": (5, 7),
    }
    assert rows["weights"].resident
    assert not rows["left"].resident
    assert rows["product"].memory_class is MemoryClass.INTERLEAVED
    assert rows["wide"].size == 500 * KIB


def test_order_by_bytes_and_by_start() -> None:
    rows = lifetimes(small_timeline())
    assert [plain(row.name) for row in ordered(rows, LifetimeOrder.BYTES)] == [
        "wide",
        "weights",
        "product",
        "left",
        "result",
    ]
    assert [plain(row.name) for row in ordered(rows, LifetimeOrder.START)] == [
        "weights",
        "left",
        "product",
        "wide",
        "result",
    ]


def test_unavailable_sizes_come_first_by_bytes() -> None:
    timeline = make_timeline(FakeProgram(2, [Step(), Step()], [Alloc("big", 1 << 20, 0, 1), Alloc("lost", None, 1, 1)]))
    rows = ordered(lifetimes(timeline), LifetimeOrder.BYTES)
    assert [(plain(row.name), row.size) for row in rows] == [("lost", UNAVAILABLE), ("big", 1 << 20)]
    assert lifetime_lines(timeline, rows[0], 0)[1] == "standard, largest on a tile unavailable"
    assert not any("on tile" in text for text in lifetime_lines(timeline, rows[0], 0))


def test_filters() -> None:
    rows = lifetimes(small_timeline())
    assert {plain(row.name) for row in filtered(rows, step=1)} == {"weights", "left", "product"}
    assert {plain(row.name) for row in filtered(rows, span=(6, 8))} == {"weights", "result"}
    assert {plain(row.name) for row in filtered(rows, span=(2, 3))} == {"weights", "product"}
    assert filtered(rows) == rows


def test_an_allocation_is_as_large_as_its_largest_value() -> None:
    timeline = small_timeline()
    merged = replace(timeline, aliases={**timeline.aliases, 4: (3, 4)})
    assert largest_bytes(timeline, 4) == 8 * KIB
    assert largest_bytes(merged, 4) == 500 * KIB


def test_lines_name_producer_and_last_consumer() -> None:
    timeline = small_timeline()
    rows = by_name(lifetimes(timeline))
    assert lifetime_lines(timeline, rows["product"], 1) == (
        "op 1's product (F16) #2",
        "interleaved, largest on a tile 64.0 KiB (65,536 B)",
        "on tile 1 64.0 KiB (65,536 B)",
        "live at steps 1 … 5, 5 of 8",
        "first use step 1: operation 1, Product Initialize",
        "last use step 5: operation 5, Product Initialize",
    )
    assert lifetime_lines(timeline, rows["weights"])[-1] == "parameter: resident from the start to the end"
    assert lifetime_lines(timeline, rows["left"])[-2].startswith("there from the start, or made in step 0")
    assert lifetime_lines(timeline, rows["result"])[-1] == "live to the end (step 7: operation 6, Copy Automatic)"


def test_a_file_with_gaps_is_shown_as_it_is() -> None:
    timeline = make_timeline(FakeProgram(1, [Step()] * 5, [Alloc("a", 8, 0, -1)]))
    steps = tuple(replace(step, live=(0,) if step.index != 2 else ()) for step in timeline.steps)
    row = lifetimes(replace(timeline, steps=steps))[0]
    assert row.spans == ((0, 2), (3, 5))
    assert (row.first, row.last) == (0, 4)
    assert row.live_at(1)
    assert not row.live_at(2)
    assert not row.meets(2, 3)


def test_with_a_program_uses_are_those_of_its_steps() -> None:
    timeline = small_timeline()
    rows = by_name(lifetimes(timeline))
    life = Life(1, 5, 1, 1, 5, True, (1, 3, 5))
    assert lifetime_lines(timeline, rows["product"], None, life)[3:] == (
        "made in step 1: operation 1, Product Initialize",
        "first used in step 3: operation 3, Gelu",
        "last used in step 5: operation 5, Product Initialize",
        "2 steps in all use it",
    )
    unused = Life(1, 5, 1, 1, 1, True, (1,))
    assert lifetime_lines(timeline, rows["product"], None, unused)[-1] == "no step reads it"
    resident = Life(0, 7, None, 2, 2, True, (2,))
    lines = lifetime_lines(timeline, rows["weights"], None, resident)
    assert "parameter: resident from the start to the end" in lines
    assert lines[-1] == "1 step in all use it"
    assert not any("there from the start" in line for line in lines)
