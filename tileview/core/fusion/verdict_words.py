"""Verdicts in words, among them that a program fits with the compiler's fusions alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tileview.model.sizes import Size, exact_text
from tileview.model.timeline import Verdict

_ONLY_FUSED: Final = "fits with the compiler's fusions"


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
