"""The one selection that all views share."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected; None (or an empty tuple) where nothing is.

    ``operation`` is a graph operation id, ``allocation`` a root (index into the timeline's values), ``step`` an index
    into its steps, ``tiles`` logical tile numbers in the order they were picked: the last one is the current tile.
    ``value`` is the graph value whose home or boundary is looked at. ``span`` is a half-open range of steps that
    tables are filtered to.
    """

    operation: int | None = None
    allocation: int | None = None
    step: int | None = None
    tiles: tuple[int, ...] = ()
    value: int | None = None
    span: tuple[int, int] | None = None

    @property
    def tile(self) -> int | None:
        return self.tiles[-1] if self.tiles else None

    def clipped(self, steps: int, tiles: int, roots: frozenset[int]) -> Selection:
        """The selection that still makes sense in a timeline with so many steps and tiles and these roots."""
        step = None if self.step is None or steps == 0 else min(self.step, steps - 1)
        kept = tuple(tile for tile in self.tiles if tile < tiles)
        allocation = self.allocation if self.allocation in roots else None
        span = self.span if self.span is not None and self.span[1] <= steps else None
        return replace(self, step=step, tiles=kept, allocation=allocation, span=span)
