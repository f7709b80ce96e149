"""What came of the compiler's fusions, in one sentence."""

from __future__ import annotations

from tileview.core.cycles.words import cycles_between, describe_cycles
from tileview.core.fusion.stand import Fusion, Reason
from tileview.model.sizes import exact_text

_PLAIN = {
    Reason.NOTHING: "the compiler's fusions: nothing to fuse",
    Reason.OFF: "the program is the one without the compiler's fusions, as asked for",
    Reason.NO_GAIN: "the compiler's fusions gain no cycles: the program without them is used",
}


def fusion_sentence(fusion: Fusion) -> str:
    """Which program stands, and why."""
    if fusion.reason in _PLAIN:
        return _PLAIN[fusion.reason]
    if fusion.reason is Reason.NOT_LOOKED:
        return f"the compiler's fusions were not considered: {fusion.why}"
    if fusion.reason is Reason.FUSED:
        change = cycles_between(fusion.composed_cycles.total, fusion.cycles.total)
        assert change is not None
        return (
            f"the program is the one after the compiler's fusions ({describe_cycles(change)} planner's cycles; "
            "no log of a compiler has confirmed their rules yet)"
        )
    tried = fusion.tried
    assert tried is not None
    assert tried.peak is not None
    change = cycles_between(fusion.composed_cycles.total, tried.price.cycles)
    saved = "" if change is None else f", {describe_cycles(change)} planner's cycles"
    return (
        f"with the compiler's fusions the program does not fit (total peak {exact_text(tried.peak.total)}{saved}): "
        "the one without them is used"
    )
