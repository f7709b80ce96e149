"""Which tile an owner of a value sits on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owners:
    """Owner o sits at ordinal (o + rotation) mod D; its tile is that ordinal, or ``embedding[ordinal]``.

    D is the embedding's length, or the program's tile count where there is none.
    """

    rotation: int = 0
    embedding: tuple[int, ...] | None = None


DIRECT_OWNERS = Owners()
