"""What the banner on top of the window says: verdict in three steps, every overflow, the next thing to do, figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tileview.analysis.diagnosis import Diagnosis
from tileview.analysis.holdings import step_holdings
from tileview.analysis.next_step import NextStep, next_step
from tileview.analysis.overflows import Phrase, overflow_phrases
from tileview.analysis.placement import State, Step, StepWords, unplaced_words, verdict_step_words
from tileview.analysis.words import sentence
from tileview.core.cycles.words import short_cycles
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text
from tileview.model.timeline import Cause, Timeline, Verdict, fullest_tile
from tileview.present.cycle_words import cycles_sentence
from tileview.present.tables import Tone
from tileview.session.session import Session

MOST_OVERFLOWS = 3
"""Overflows that are told with their allocations; the rest are counted, and Why lists them all."""
LOOKING = "Looking for a fix…"
READ, OTHERS = -1, -2
"""In place of a category: parameters and inputs; operations without a colour of their own."""

_TONES = {
    State.GOOD: Tone.OK,
    State.PART: Tone.WARNING,
    State.OVER: Tone.OVER,
    State.UNKNOWN: Tone.UNKNOWN,
    State.PENDING: Tone.MUTED,
}
_ICONS = {State.GOOD: "fits", State.PART: "part", State.OVER: "over", State.UNKNOWN: "unknown", State.PENDING: "run"}


def tone_of(state: State) -> Tone:
    """The theme token of a state."""
    return _TONES[state]


def icon_of(state: State) -> str:
    """The icon of a state; with its word it says without colour what the state is."""
    return _ICONS[state]


@dataclass(frozen=True, slots=True)
class Load:
    """What the load bar draws, in bytes: the fullest tile by class, the reserve, the budget they are held against.

    ``parts``: (category of the operation that makes them, READ or OTHERS, and bytes) from the left; empty where they
    are not shared out.
    """

    standard: Size
    interleaved: Size
    total: Size
    reserve: int
    budget: int
    parts: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, timeline: Timeline, places: Mapping[int, int] = MappingProxyType({})) -> Load:
        step = timeline.total_peak_step
        total = timeline.peak.total
        standard, interleaved = timeline.peak.standard, timeline.peak.interleaved
        if step is not None and step < len(timeline.steps) and timeline.steps[step].usage.total == total:
            standard, interleaved = timeline.steps[step].usage.standard, timeline.steps[step].usage.interleaved
        parts: list[tuple[int, int]] = []
        if places and step is not None and not isinstance(total, Unavailable):
            tile = fullest_tile(timeline.tiles, step)
            is_sound = int(timeline.tiles.usage(step)[tile].sum()) == total
            own = step_holdings(timeline, step, tile).own if is_sound else {}
            made = [(places[one], own[one]) for one in sorted(places, key=places.__getitem__) if own.get(one)]
            others = sum(own.values()) - sum(size for _, size in made)
            read = total - sum(own.values())
            parts = [(READ, read), *made, (OTHERS, others)] if made and read >= 0 else []
        return cls(standard, interleaved, total, timeline.reserve_bytes, timeline.budget_bytes, tuple(parts))

    @property
    def needed(self) -> Size:
        return self.total if isinstance(self.total, Unavailable) else self.total + self.reserve

    def percent_text(self) -> str:
        """Share of the budget, rounded half up in integers; one decimal."""
        needed = self.needed
        if isinstance(needed, Unavailable) or self.budget <= 0:
            return "unavailable"
        tenths = (needed * 1000 * 2 + self.budget) // (self.budget * 2)
        return f"{tenths // 10:,}.{tenths % 10} %"

    def text(self) -> str:
        """The bar in words, to the byte."""
        return (
            f"Total peak {exact_text(self.total)} (standard {exact_text(self.standard)}, interleaved "
            f"{exact_text(self.interleaved)}) + reserve {exact_text(self.reserve)} of a budget of "
            f"{exact_text(self.budget)}: {self.percent_text()}"
        )

    def short_text(self, at_least: bool) -> str:
        """``603.0 KiB of 573.2 KiB, 105.2 %``; ``peak unavailable`` where it is not known."""
        if isinstance(self.needed, Unavailable):
            return "peak unavailable"
        least = "at least " if at_least else ""
        return f"{least}{kib_text(self.needed)} of {kib_text(self.budget)}, {self.percent_text()}"


@dataclass(frozen=True, slots=True)
class Banner:
    """All that the banner shows.

    ``title`` and ``state`` are the verdict, ``steps`` the chips behind it (empty where there is no program), ``says``
    the sentence in pieces with what each leads to, ``next`` what to do (None while it is being looked for), ``what_if``
    the what-if values that the verdict rests on, ``share`` and ``cycles`` the figures, ``notes`` what the estimate
    leaves out.
    """

    title: str
    state: State
    steps: tuple[Step, ...]
    says: tuple[Phrase, ...]
    next: NextStep | None
    what_if: str
    share: str
    cycles: str
    notes: tuple[str, ...]
    load: Load | None


def what_if_text(overrides: Overrides, recipe: Recipe | None) -> str:
    """``What if: budget 112.0 KiB (file: 573.2 KiB)``; empty where nothing is set."""
    parts = []
    config = None if recipe is None else recipe.config
    for name, value, own in (
        ("budget", overrides.budget_bytes, None if config is None else config.tile_budget_bytes),
        ("reserve", overrides.reserve_bytes, None if config is None else config.reserve_bytes),
    ):
        if value is not None:
            parts.append(f"{name} {kib_text(value)}" + ("" if own is None else f" (file: {kib_text(own)})"))
    if not overrides.fusion:
        parts.append("no fusions")
    return f"What if: {', '.join(parts)}" if parts else ""


def banner(
    session: Session, diagnosis: Diagnosis | None, places: Mapping[int, int] = MappingProxyType({})
) -> Banner | None:
    """The banner for the current state; None where nothing is open or nothing is known yet.

    Parameters
    ----------
    diagnosis : Diagnosis, optional
        Of the current state; None while it is made.
    places : Mapping[int, int]
        Operation → category of its colour.
    """
    verdict, timeline, document = session.verdict, session.timeline, session.document
    if verdict is None or document is None:
        return None
    words = session.placement_words() or verdict_step_words(verdict, None)
    recipe, state = session.recipe, session.state
    title, mark = _title(verdict, words, session.placement is not None)
    overrides = state.overrides
    what_if = what_if_text(overrides, recipe)
    changed = not session.history.is_clean
    doing: NextStep | None = None
    if diagnosis is not None or verdict.cause is Cause.FITS:
        swaps = len(state.swaps) + len(state.homes) + len(state.boundaries) if changed and recipe is not None else 0
        layouts = len(state.layouts) if changed else 0
        unplaced = unplaced_words(session.placement)
        doing = next_step(
            diagnosis, verdict, timeline, recipe, swaps=swaps, layouts=layouts, what_if=bool(what_if), unplaced=unplaced
        )
    kinds = {} if session.graph is None else session.graph.kind_names()
    load = None if timeline is None else Load.of(timeline, places)
    notes = list(() if timeline is None else timeline.notes)
    if timeline is not None and timeline.derived and not any("derived" in note for note in notes):
        notes.insert(0, "Numbers per tile are derived from shapes and layouts: the file has none.")
    if verdict.at_least:
        notes.insert(0, "Every sum is a lower bound: part of the program is not known.")
    return Banner(
        title,
        mark,
        words.steps if timeline is not None else (),
        tuple(_says(verdict, timeline, diagnosis, kinds, words)),
        doing,
        what_if,
        "" if load is None else load.short_text(verdict.at_least),
        _cycles_text(session),
        tuple(notes),
        load,
    )


def _title(verdict: Verdict, words: StepWords, is_placed: bool) -> tuple[str, State]:
    if verdict.cause in (Cause.PLACED, Cause.NOT_PLACED):
        state = State.GOOD if verdict.fits else State.PART if verdict.fits is None else State.OVER
        return verdict.words.capitalize(), state
    if verdict.fits is None:
        return "Not known", State.UNKNOWN
    if verdict.cause is Cause.CANNOT_LOWER:
        return "Cannot be lowered", State.OVER
    if verdict.cause is Cause.INVALID_LAYOUT:
        return "Does not fit: no valid layout", State.OVER
    if not verdict.fits:
        return "Does not fit", State.OVER
    if fits_only_fused(verdict):
        return "Fits with fusions", words.state if is_placed else State.GOOD
    return (words.title, words.state) if is_placed else ("Fits", State.GOOD)


def _says(
    verdict: Verdict,
    timeline: Timeline | None,
    diagnosis: Diagnosis | None,
    kinds: Mapping[int, str],
    words: StepWords,
) -> list[Phrase]:
    """The sentence under the verdict, in pieces."""
    if diagnosis is not None and diagnosis.overflows:
        return overflow_phrases(diagnosis.overflows, kinds, MOST_OVERFLOWS)
    told = sentence(verdict.text.removeprefix("cannot be lowered: "))  # as the title says
    if verdict.cause is not Cause.FITS or timeline is None:
        return [(told, "")]
    phrases: list[Phrase] = [(f"{told} ", "")] if fits_only_fused(verdict) else []
    if verdict.step is not None:
        phrases += [("Fullest: ", ""), (f"step {verdict.step}", f"step:{verdict.step}")]
        if verdict.operation is not None:
            operation = f"op {verdict.operation} {kinds.get(verdict.operation, '')}".rstrip()
            phrases += [(", ", ""), (operation, f"op:{verdict.operation}")]
        if verdict.tile is not None:
            phrases += [(", ", ""), (f"tile {verdict.tile}", f"tile:{verdict.tile}")]
        phrases.append((". ", ""))
    elif not phrases:
        phrases.append((f"{told} ", ""))
    return [*phrases, (" ".join(words.sentences), "")]


def _cycles_text(session: Session) -> str:
    """``20.75 M planner's cycles, 6.76 M of them exchange``; with a baseline the difference from it instead."""
    estimate = session.estimate
    if estimate is None or session.recipe is None:
        return ""
    if estimate.price is None:
        return "planner's cycles not known"
    text = cycles_sentence(estimate, session.baseline)
    return text if "," in text else f"{text}, {short_cycles(estimate.price.exchange)} of them exchange"
