"""Operations of the graph in plain words."""

from __future__ import annotations

from tileview.model.graph import (
    AddKind,
    AttentionKind,
    GeluKind,
    GemmKind,
    LayerNormKind,
    OperationKind,
    RepeatKind,
    SliceKind,
    UnknownKind,
    ViewKind,
    kind_name,
)
from tileview.model.plan import ViewOperator


def kind_words(kind: OperationKind) -> str:
    """A graph operation's kind with its own figures: ``Gemm``, ``Repeat × 27``, ``Slice of dimension 1, 0 … 728``."""
    name = kind_name(kind)
    if isinstance(kind, RepeatKind):
        return f"{name} × {kind.count}"
    if isinstance(kind, SliceKind):
        return f"{name} of dimension {kind.axis}, {kind.start} … {kind.start + kind.length - 1}"
    if isinstance(kind, ViewKind):
        return f"{name}: {view_words(kind)}"
    if isinstance(kind, AttentionKind):
        return f"{name}, causal" if kind.causal else name
    if isinstance(kind, GemmKind):
        turned = [side for side, on in (("left", kind.transpose_left), ("right", kind.transpose_right)) if on]
        return f"{name}, {' and '.join(turned)} transposed" if turned else name
    if isinstance(kind, UnknownKind):
        return f"{name} (unknown)"
    assert isinstance(kind, AddKind | GeluKind | LayerNormKind)
    return name


def kind_short(kind: OperationKind) -> str:
    """A graph operation's kind in one word, with the count of a Repeat: ``View``, ``Repeat × 27``."""
    return kind_words(kind) if isinstance(kind, RepeatKind | UnknownKind) else kind_name(kind)


def view_words(view: ViewKind | ViewOperator) -> str:
    """What a view does: ``dimension 2 split by 16, merged into dimension 0``."""
    first, second = ("merged", "split") if view.reversed else ("split", "merged")
    return (
        f"dimension {view.split_axis} {first} by {view.factor}, {second} "
        f"{'from' if view.reversed else 'into'} dimension {view.merge_axis}"
    )
