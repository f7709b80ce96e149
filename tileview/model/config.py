"""What the re-planner reads of a recipe's configuration line, and the constants of the chip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tileview.model.tensor import Format, Precision

INTERLEAVED_BYTES: Final = 424_880
STANDARD_BELOW_BYTES: Final = 162_080
"""Standard memory between the resident runtime's end (0x586e0) and the interleaved region."""
PLANNED_BYTES: Final = STANDARD_BELOW_BYTES + INTERLEAVED_BYTES
"""586,960: what a plan may use of a tile at most."""
STANDARD_ELEMENT_BYTES: Final = 16_384
INTERLEAVED_ELEMENT_BYTES: Final = 32_768
TAIL_ELEMENTS: Final = 8
"""A matrix product reads up to 8 elements of its multiply precision past its left operand."""
CHIP_TILES: Final = 1472


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """``inputs``: formats fixed by the configuration; ``automatic_inputs``: precisions of the others; both by value id.

    ``fields`` holds every other field of the line as (name, Debug text) for display; ``operator_candidates`` is left
    out of it (most of the text, parsed only when asked for).
    """

    tile_count: int
    capacity_baseline: bool
    inputs: Mapping[int, Format]
    automatic_inputs: Mapping[int, Precision]
    reserve_bytes: int
    """``standard_memory_reservation_bytes``."""
    tile_budget_bytes: int
    """``tile_memory_budget_bytes``."""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def budget_bytes(self) -> int:
        """min(tile budget, 586,960): what peak plus reserve may reach."""
        return min(self.tile_budget_bytes, PLANNED_BYTES)
