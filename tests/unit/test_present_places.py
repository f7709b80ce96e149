"""Steps are written as index and count, in every view alike."""

from __future__ import annotations

from tileview.analysis.words import at_start, step_place


def test_a_step_is_its_index_and_the_count() -> None:
    assert step_place(0, 165) == "step 0/165"
    assert step_place(164, 165) == "step 164/165"
    assert step_place(3999, 4000) == "step 3,999/4,000"


def test_a_capital_at_the_start_changes_nothing_else() -> None:
    assert at_start("step 3/8, op 2 GEMM") == "Step 3/8, op 2 GEMM"
    assert at_start("") == ""
