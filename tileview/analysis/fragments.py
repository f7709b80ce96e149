"""Pieces that the steps of a program exchange, against the most that a tile may: a module by itself, since every
recipe's notes speak of them and need nothing else that compiler messages do.
"""

from __future__ import annotations

from typing import Final

from tileview.core.memory.exchange import step_fragments
from tileview.model.program import Program

MOST_FRAGMENTS: Final = 16_384
"""What a tile may send or receive in one exchange, in pieces."""
_MOST_LISTED: Final = 6


def _fragments(program: Program) -> list[tuple[int, int, int | None]]:
    """(pieces, step, operation) of every step that moves something, most first."""
    found = []
    for entry in program.flatten():
        pieces = step_fragments(entry.step, program.values)
        if isinstance(pieces, int) and pieces:
            found.append((pieces, entry.index, entry.step.source))
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))


def too_many_fragments(program: Program) -> str:
    """The steps that exchange more pieces than a tile may, by estimate, in a sentence; empty where none does."""
    over = [entry for entry in _fragments(program) if entry[0] > MOST_FRAGMENTS]
    listed = [f"step {index} (operation {source}) {pieces:,}" for pieces, index, source in over[:_MOST_LISTED]]
    limit = f"the {MOST_FRAGMENTS:,} pieces that a tile may exchange at once"
    return f"Steps above {limit}, by estimate: {', '.join(listed)}." if over else ""


def fragment_lines(program: Program) -> list[str]:
    """The steps whose estimated pieces are above the per-tile limit; a sentence where none is."""
    over = too_many_fragments(program)
    if over:
        return [over]
    pieces, index, source = next(iter(_fragments(program)), (0, 0, None))
    return [
        f"By estimate no step comes above {MOST_FRAGMENTS:,} pieces; the most are {pieces:,} at step {index} "
        f"(operation {source}). The compiler counts the pieces of its messages, which may be more."
    ]
