"""A verdict in three steps, in words: the one place from which banner, summary, report, check and swaps take them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tileview.analysis.placement import (
    FailingTile,
    PlacementSteps,
    PlacementUnknownError,
    TilePlacements,
    place_steps,
)
from tileview.core.placement.outcome import Answer, Ended, Totals
from tileview.core.placement.proofs import Proofs
from tileview.core.placement.ranges import elements_of
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import exact_text, kib_text
from tileview.model.timeline import Verdict

SUPPORT_TAKEN = (88_088, 169_584)
"""Bytes that linked support code took in real compiles."""
SUPPORT_CAUTION = 120 * 1024
"""Below so many bytes spare, what support code really takes may decide."""


class State(StrEnum):
    """Of a step, and of a verdict: PART is "not placed by the orders tried", which proves nothing; PENDING is of steps
    only, while they are worked out."""

    GOOD = "good"
    PART = "not placed"
    OVER = "over"
    UNKNOWN = "not known"
    PENDING = "placing"


@dataclass(frozen=True, slots=True)
class Step:
    """One of the three steps: what it looks at and what came of it, such as "Sum" and "36.6 KiB spare"."""

    label: str
    text: str
    state: State


@dataclass(frozen=True, slots=True)
class StepWords:
    """A verdict in three steps. ``title``: "Fits, not placed". ``sentences``: what to know beyond the steps.

    ``more``: what would do, as a sentence; empty where nothing has to be done or nothing is known to do."""

    title: str
    state: State
    steps: tuple[Step, Step, Step]
    sentences: tuple[str, ...]
    more: str

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it: title and steps in one line, then the sentences."""
        steps = " → ".join(f"{step.label}: {step.text}" for step in self.steps)
        return (f"{self.title}. {steps}", *self.sentences, *([self.more] if self.more else []))


CAPTURED_LABEL = "Captured 498,872 B"
NO_REQUESTS = "a timeline lists bytes, not requests: its recipe can be placed"
"""Why nothing is known of a timeline's placement."""


def recipe_steps(
    verdict: Verdict, recipe: Recipe, overrides: Overrides, ended: Ended | None = None
) -> tuple[StepWords, PlacementSteps | None]:
    """Place a recipe in the memories that its verdict speaks of; None with the reason where that is not known."""
    try:
        steps = place_steps(recipe, overrides, enlarge=bool(verdict.fits), ended=ended)
    except PlacementUnknownError as error:
        return verdict_step_words(verdict, None, str(error)), None
    return verdict_step_words(verdict, steps), steps


def verdict_step_words(
    verdict: Verdict, placed: PlacementSteps | None, unknown: str = "", *, placing: bool = False
) -> StepWords:
    """The three steps of a verdict.

    Parameters
    ----------
    verdict : Verdict
        By the sum.
    placed : PlacementSteps or None
        None where the placement is not known; ``unknown`` then says why.
    placing : bool
        It is being worked out: nothing is said of it yet.
    """
    first = Step("Sum", _sum_text(verdict), _sum_state(verdict))
    if placed is None:
        text, state = ("placing…", State.PENDING) if placing else ("not known", State.UNKNOWN)
        rest = [Step(label, text, state) for label in ("Planner's memory", CAPTURED_LABEL)]
        fits = "Fits by the sum" if placing else "Fits by the sum, placement not known"
        title = {State.GOOD: fits, State.OVER: "Does not fit"}.get(first.state, "Not known")
        said = [f"Whether it can be placed is not known: {unknown}."] if unknown else []
        return StepWords(title, first.state, (first, rest[0], rest[1]), (*said, *_caution(verdict, None)), "")
    second = Step("Planner's memory", totals_text(placed.planner.totals), _state(placed.planner.totals))
    third = Step(CAPTURED_LABEL, totals_text(placed.captured.totals), _state(placed.captured.totals))
    failed = placed.failed
    sentences: list[str] = []
    if failed is not None and failed.failing is not None:
        sentences.append(failing_sentence(failed))
    elif placed.tighter is not None and placed.tighter.failing is not None:
        sentences.append(_tighter_sentence(placed.tighter))
    sentences += _caution(verdict, placed.reserve)
    state = first.state if first.state is not State.GOOD else max((second.state, third.state), key=_GRAVITY.index)
    titles = {
        State.GOOD: "Fits, placed",
        State.PART: "Fits, not placed",
        State.OVER: "Fits by the sum, over when placed" if first.state is State.GOOD else "Does not fit",
        State.UNKNOWN: "Not known",
    }
    more = enlargement_sentence(failed) if failed is not None and first.state is State.GOOD else ""
    return StepWords(titles[state], state, (first, second, third), tuple(sentences), more)


def unplaced_words(placed: PlacementSteps | None) -> str | None:
    """``144 tiles not placed in captured 498,872 B``; empty where every tile is placed, None where it is not known."""
    if placed is None:
        return None
    failed = placed.failed
    return "" if failed is None else f"{totals_text(failed.totals)} in {failed.preset.title}"


_GRAVITY = (State.GOOD, State.PART, State.UNKNOWN, State.OVER)


def _sum_state(verdict: Verdict) -> State:
    if verdict.fits is None or (not verdict.fits and not isinstance(verdict.short_bytes, int)):
        return State.UNKNOWN
    return State.GOOD if verdict.fits else State.OVER


def _sum_text(verdict: Verdict) -> str:
    short = verdict.short_bytes
    if verdict.fits is None or not isinstance(short, int):
        return "not known"
    return f"{kib_text(-short)} spare" if verdict.fits else f"{kib_text(short)} over"


def _state(totals: Totals) -> State:
    return {Answer.PLACED: State.GOOD, Answer.NOT_PLACED: State.PART, Answer.OVER: State.OVER}[totals.answer]


def totals_text(totals: Totals) -> str:
    """``all 1,472 tiles placed``, ``1,066 tiles over, 127 not placed``."""
    if totals.answer is Answer.PLACED:
        return f"all {totals.placed:,} tiles placed" if totals.placed != 1 else "the tile placed"
    parts = []
    if totals.over:
        parts.append(f"{_tiles(totals.over)} over")
    if totals.not_placed:
        parts.append(f"{totals.not_placed:,} not placed" if parts else f"{_tiles(totals.not_placed)} not placed")
    return ", ".join(parts)


def _tiles(count: int) -> str:
    return "1 tile" if count == 1 else f"{count:,} tiles"


def failing_sentence(placement: TilePlacements) -> str:
    """Why tiles are not placed, by the example of one; says whether that is a proof."""
    failing, totals, preset = placement.failing, placement.totals, placement.preset
    assert failing is not None
    where = {
        "planner": f"In the memory that the planner assumes ({exact_text(preset.bytes)})",
        "captured-482496": f"In the tighter memory that one real compile left open ({exact_text(preset.bytes)})",
        "captured-498872": f"In the memory that one real compile left open ({exact_text(preset.bytes)})",
    }.get(preset.name, f"In {preset.title} ({exact_text(preset.bytes)})")
    if failing.answer is Answer.OVER:
        others = f"; {totals.not_placed:,} more are not placed by the orders tried" if totals.not_placed else ""
        one, of_all = totals.over == 1, f"{totals.over:,} of {_tiles(placement.tile_count)}"
        verb = "needs" if one else "need"
        return f"{where}, {of_all} {verb} more than is open whatever the order: {_over_words(failing)}{others}."
    tried = "orders and the search" if placement.searched else "two orders"
    return (
        f"{where}, {totals.not_placed:,} of {_tiles(placement.tile_count)} cannot be placed by the compiler's {tried}: "
        f"on tile {failing.tile}, {failing.request} ({exact_text(failing.bytes)} in one piece) finds no hole, the "
        f"largest is {exact_text(failing.hole)}. This is no proof that it cannot be placed: "
        f"{exact_text(failing.free_bytes)} are free in all."
    )


def _over_words(failing: FailingTile) -> str:
    if failing.impossible:
        return f"on tile {failing.tile}, no range can hold {failing.request} ({exact_text(failing.bytes)})"
    counted = "" if failing.counted == "all requests" else f" ({failing.counted} alone)"
    return f"tile {failing.tile} is over by {exact_text(failing.over)}{counted}"


def enlargement_sentence(placement: TilePlacements) -> str:
    """What more memory would do: ``53,248 B more would do, four elements of code or table less.``"""
    more = placement.enlargement
    if not placement.enlarged or placement.failing is None:
        return ""
    if more is None:
        return "No enlargement of its ranges places every tile by the two orders."
    return f"{exact_text(more)} more would do, {elements_words(more)} of code or table less."


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def elements_words(more: int) -> str:
    """``four elements``: what an enlargement is worth."""
    count = elements_of(more)
    word = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return f"{word} element{'' if count == 1 else 's'}"


def _tighter_sentence(placement: TilePlacements) -> str:
    missing = placement.totals.not_placed + placement.totals.over
    verb = "is" if missing == 1 else "are"
    text = f"In the tighter {placement.preset.title}, {_tiles(missing)} {verb} not placed"
    return f"{text}: {exact_text(placement.enlargement)} more would do." if placement.enlargement else f"{text}."


def _caution(verdict: Verdict, reserve: int | None) -> list[str]:
    """What support code really took, where little is spare."""
    short = verdict.short_bytes
    if not verdict.fits or not isinstance(short, int) or -short >= SUPPORT_CAUTION:
        return []
    low, high = (kib_text(size).removesuffix(" KiB") for size in SUPPORT_TAKEN)
    assumed = "" if reserve is None else f", {kib_text(reserve)} are assumed"
    return [f"Less than 120 KiB is spare: support code took {low} to {high} KiB in real compiles{assumed}."]


def not_placed_sentence(failing: FailingTile, title: str) -> str:
    """One tile that is not placed, for a check that stopped at it; says whether that is a proof."""
    alike = "" if failing.tiles == 1 else f" (and {_tiles(failing.tiles - 1)} like it)"
    if failing.answer is Answer.OVER:
        return f"in {title}, {_over_words(failing)}{alike} whatever the order"
    return (
        f"in {title} tile {failing.tile}{alike} cannot be placed by the compiler's two orders: {failing.request} "
        f"({exact_text(failing.bytes)}) finds no hole, the largest is {exact_text(failing.hole)}; this is no proof"
    )


def proof_text(proofs: Proofs) -> str | None:
    """What is proved, in words; None where nothing is."""
    if proofs.over:
        counted, worst = proofs.worst
        return f"{counted}: {worst.peak:,} B live at event {worst.event}, {worst.capacity:,} B open to them"
    return "a request that no range can hold" if proofs.no_place else None
