"""What came of the compiler's fusions, in one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tileview.core.cycles.words import cycles_between, describe_cycles
from tileview.core.fusion.stand import Fusion, Reason
from tileview.model.sizes import Size, exact_text
from tileview.model.timeline import Verdict

_ONLY_FUSED: Final = "fits with the compiler's fusions"

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


def with_fusions(verdict: Verdict, total: Size, without: Verdict) -> Verdict:
    """The verdict on a fused program that fits, in words of its own where it does not ``without`` the fusions."""
    if not verdict.fits or without.fits:
        return verdict
    short = without.short_bytes
    over = f"{exact_text(short)} over" if isinstance(short, int) and short > 0 else "it does not"
    figures = f"total {exact_text(total)}; without them {over}"
    return replace(verdict, text=f"{_ONLY_FUSED} ({figures}): {verdict.text}")


def verdict_words(verdict: Verdict) -> str:
    """``fits``, ``does not fit``, ``not known``, or that it fits with the compiler's fusions alone."""
    return _ONLY_FUSED if fits_only_fused(verdict) else verdict.words


def verdict_sentence(verdict: Verdict) -> str:
    """The words of a verdict, then its sentence: ``Does not fit: step 69 needs …``."""
    if fits_only_fused(verdict):
        return verdict.text[:1].upper() + verdict.text[1:]
    return f"{verdict.words.capitalize()}: {verdict.text}"


def fits_only_fused(verdict: Verdict) -> bool:
    """Whether a verdict, made by :func:`with_fusions`, is of a program that fits with the compiler's fusions alone."""
    return verdict.text.startswith(_ONLY_FUSED)
