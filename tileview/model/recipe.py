"""A recipe: the chosen plans, the alternatives the search kept, and the homes of the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tileview.model.config import PipelineConfig
from tileview.model.tensor import Format

if TYPE_CHECKING:
    from tileview.model.graph import Graph
    from tileview.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Recipe:
    """A search state as the re-planner reads it; what a file holds beyond that stays in the file's own document.

    ``plans``: operation id → current plan. ``alternatives``: operation id → plans kept by the search, in file order;
    those of a large file are read as they are looked at.
    ``inputs``: graph value id → home. ``requests`` names what the recipe asks of the compiler that TileView does not
    model (field name, entries in words), for the estimate's notes. ``chip_tiles``: tile t of the program is tile
    ``chip_tiles[t]`` of the chip, a permutation; empty where they are the same.
    """

    graph: Graph
    config: PipelineConfig
    plans: Mapping[int, Plan]
    alternatives: Mapping[int, Sequence[Plan]]
    inputs: Mapping[int, Format]
    open_boundaries: frozenset[int]
    tile_mapping: str = "None"
    """Line 3 of the context: Debug text."""
    requests: tuple[tuple[str, str], ...] = ()
    visited: int = 0
    """How many recipes the search had tried (``visited``)."""
    attempts: int = 0
    chip_tiles: tuple[int, ...] = ()

    def with_plan(self, operation: int, plan: Plan) -> Recipe:
        return replace(self, plans={**self.plans, operation: plan})

    def in_force(self, operation: int) -> int | None:
        """Index of the first alternative equal to the current plan, None where it is not among them."""
        plan = self.plans.get(operation)
        alternatives = self.alternatives.get(operation, ())
        try:
            return None if plan is None else alternatives.index(plan)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Overrides:
    """What-if values that are not part of a recipe; None leaves the configuration's own.

    ``fusion`` False asks for the program without the compiler's fusions.
    """

    budget_bytes: int | None = None
    reserve_bytes: int | None = None
    fusion: bool = True


NO_OVERRIDES = Overrides()
"""Everything as the file configures it."""


def configured(config: PipelineConfig, overrides: Overrides | None) -> PipelineConfig:
    """The configuration with what-if values in place of its own."""
    if overrides is None or (overrides.budget_bytes is None and overrides.reserve_bytes is None):
        return config
    return replace(
        config,
        tile_budget_bytes=config.tile_budget_bytes if overrides.budget_bytes is None else overrides.budget_bytes,
        reserve_bytes=config.reserve_bytes if overrides.reserve_bytes is None else overrides.reserve_bytes,
    )
