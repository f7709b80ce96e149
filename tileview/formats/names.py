"""What dumps call element orders, memory classes and kinds of padding: the same in JSON and in Debug text."""

from __future__ import annotations

from typing import Final

from tileview.model.tensor import AMP_ORDERS, BLOCK_ORDERS, MemoryClass, Order, OrderKind, Padding

AMP: Final[dict[str, Order]] = {kind.value: Order(kind) for kind in AMP_ORDERS}
BLOCK: Final[dict[str, OrderKind]] = {kind.value: kind for kind in BLOCK_ORDERS}
CLASSES: Final[dict[str, MemoryClass]] = {item.value: item for item in MemoryClass}
PADDINGS: Final[dict[str, Padding]] = {item.value: item for item in Padding}
