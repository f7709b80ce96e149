"""How places are written, the same in every view."""

from __future__ import annotations


def step_place(step: int, steps: int) -> str:
    """``step 69/165``: the index of a step, which counts from 0, and how many steps there are.

    So the last step of 165 is ``step 164/165``: the first number is the one to type into Go to, the second is a count.
    """
    return f"step {step:,}/{steps:,}"


def at_start(text: str) -> str:
    """A text with a capital at its start, the rest untouched."""
    return text[:1].upper() + text[1:]
