"""A compiler's sentences taken apart, and the pieces that a step exchanges against the per-tile limit."""

from __future__ import annotations

import pytest

from tests.helpers.small_programs import program, value
from tileview.analysis.messages import Message, MessageKind, explain, find_message
from tileview.analysis.overflows import fragment_lines, too_many_fragments
from tileview.core.memory.exchange import step_exchange, step_fragments
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import Copy, Sum
from tileview.model.tensor import ROW_MAJOR, Axis, AxisBase, Layout, MemoryClass, Padding, Tiling


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "error: tile 612 has insufficient Ipu21Standard SRAM for 82944 bytes\nnote: run with",
            Message(MessageKind.INSUFFICIENT, 612, MemoryClass.STANDARD, 82_944),
        ),
        (
            "tile 3 has insufficient Ipu21Interleaved SRAM for 8 bytes",
            Message(MessageKind.INSUFFICIENT, 3, MemoryClass.INTERLEAVED, 8),
        ),
        (
            "tile 0 has insufficient Ipu21Standard SRAM for 0 bytes",
            Message(MessageKind.RANGES, 0, MemoryClass.STANDARD, 0),
        ),
        ("exchange transfer count exceeds per-tile limit: 5", Message(MessageKind.TRANSFERS)),
        ("exchange tables exceed per-tile budget: 5", Message(MessageKind.TABLES)),
        ("", Message(MessageKind.UNKNOWN)),
    ],
)
def test_messages(text: str, message: Message):
    assert find_message(text) == message
    assert explain(text).meaning


def test_pieces_of_a_step():
    # 3 remote parts of 16 MiB in pieces of 256 bytes: 196,608 of them, in one phase
    values = [value(0, (4, 1 << 23)), value(1, (1 << 23,))]
    step = Sum(7, (0,), (1,), 0, Staging(StagingKind.COMPLETE))
    assert step_fragments(step, tuple(values)) == 3 * (1 << 24) // 256 == 196_608
    assert step_exchange(step, tuple(values)) == (1 + 9 * 196_608) * 4
    made = program(values, [step], outputs=(1,), host=(0,))
    assert too_many_fragments(made).endswith("step 0 (operation 7) 196,608.")
    assert fragment_lines(made) == [too_many_fragments(made)]


def test_a_copy_in_one_piece_is_below_the_limit():
    axes = (Axis(AxisBase.END, 1, 2, padding=Padding.REJECT),)
    split, whole = Layout(ROW_MAJOR, Tiling(2, 1, axes)), Layout(ROW_MAJOR, Tiling(1, 1, ()))
    made = program([value(0, (8,), split), value(1, (8,), whole)], [Copy(None, (0,), (1,))], outputs=(1,), host=(0,))
    assert too_many_fragments(made) == ""
    assert "no step comes above 16,384 pieces" in fragment_lines(made)[0]
