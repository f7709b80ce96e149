"""What to do next, in one sentence: the true next thing for the state that a program is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tileview.analysis.diagnosis import BadLayout, Diagnosis
from tileview.analysis.relief import Cure
from tileview.analysis.words import counted
from tileview.core.estimated import GRAPH_LIMIT
from tileview.model.recipe import Recipe
from tileview.model.sizes import Unavailable, exact_text, size_text
from tileview.model.timeline import Cause, Origin, Timeline, Verdict


class Action(StrEnum):
    """What a window offers beside the sentence."""

    NOTHING = "nothing"
    EXPORT = "export"
    COPY_LAYOUTS = "copy layouts"
    SWAP = "swap"
    FIND_FIX = "find fix"
    FIND_PLACED = "find swaps that place every tile"
    OPEN_RECIPE = "open recipe"
    SHOW_PROBLEMS = "show problems"


@dataclass(frozen=True, slots=True)
class NextStep:
    """A sentence and the action it speaks of; ``swaps`` are (operation, alternative) pairs for SWAP."""

    text: str
    action: Action
    swaps: tuple[tuple[int, int], ...] = ()


_NOT_KNOWN = {
    Cause.CONTRADICTION: "Have the compiler write the file again: while it contradicts itself, nothing is certain.",
    Cause.DAMAGED: "Get a whole copy of the file, or have it written again; the problems name what is damaged.",
    Cause.INCOMPLETE: (
        "Take the figures as lower bounds; the notes and problems name the operations, plans or precisions that are "
        "not known."
    ),
}


def next_step(
    diagnosis: Diagnosis | None,
    verdict: Verdict,
    timeline: Timeline | None,
    recipe: Recipe | None,
    *,
    swaps: int = 0,
    layouts: int = 0,
    what_if: bool = False,
    unplaced: str | None = None,
) -> NextStep:
    """What to do next.

    Parameters
    ----------
    diagnosis : Diagnosis
        Of the current state: its cure, levers, reliefs and invalid layouts decide. None only where the
        verdict says that the program fits.
    swaps : int
        Edits of a recipe that no export holds yet.
    layouts : int
        Layouts of a timeline that were changed and not yet handed on.
    what_if : bool
        Whether budget or reserve are what-if values; an export leaves them out.
    unplaced : str, optional
        Of a recipe that fits by the sum: the tiles that are not placed, such as "144 tiles not placed in captured
        498,872 B"; empty where all are, None where that is not known.
    """
    if verdict.cause is Cause.PLACED:
        return NextStep("Nothing to do: every request has its address.", Action.NOTHING)
    if verdict.cause is Cause.NOT_PLACED:
        text = "Open the recipe of the same compile: a dump of addresses holds no plans to swap."
        return NextStep(text, Action.OPEN_RECIPE)
    if verdict.cause is Cause.FITS:
        return _after_fit(verdict, swaps, layouts, what_if, unplaced)
    assert diagnosis is not None
    if timeline is None:
        return NextStep(_after_refusal(verdict, recipe, diagnosis.bad_layouts), Action.SHOW_PROBLEMS)
    if verdict.cause is Cause.INVALID_LAYOUT:
        return _layouts(diagnosis.bad_layouts, timeline)
    if verdict.cause in _NOT_KNOWN:
        return NextStep(_NOT_KNOWN[verdict.cause], Action.SHOW_PROBLEMS)
    return _over(diagnosis, timeline, recipe)


def _after_fit(verdict: Verdict, swaps: int, layouts: int, what_if: bool, unplaced: str | None) -> NextStep:
    if layouts:
        return NextStep(f"Copy the {counted(layouts, 'layout')} and hand them to the compiler.", Action.COPY_LAYOUTS)
    if unplaced:
        export = " Or export it as it is (Ctrl+E)." if swaps else ""
        text = f"It fits by the sum, but with {unplaced}: search for swaps that place every tile.{export}"
        return NextStep(text, Action.FIND_PLACED)
    if swaps:
        left_out = " It leaves the what-if values out." if what_if else ""
        return NextStep(f"Export the recipe (Ctrl+E).{left_out}", Action.EXPORT)
    if what_if:
        return NextStep(
            "It fits under what-if values, which no export holds: reset them to judge the file.", Action.NOTHING
        )
    short = verdict.short_bytes
    spare = size_text(short if isinstance(short, Unavailable) else abs(short))
    if unplaced is None:
        return NextStep(f"By the sum there is nothing to do: it fits with {spare} spare.", Action.NOTHING)
    return NextStep(f"Nothing to do: it fits with {spare} spare, and every tile is placed.", Action.NOTHING)


def _layouts(bad: Sequence[BadLayout], timeline: Timeline) -> NextStep:
    if timeline.origin is Origin.FILE and bad:
        which = "the valid layout" if len(bad) == 1 else f"the {len(bad):,} valid layouts"
        it = "it" if len(bad) == 1 else "them"
        return NextStep(f"Copy {which} and hand {it} to the compiler.", Action.COPY_LAYOUTS)
    first = bad[0].remedy if bad else ""
    return NextStep(f"Give these values valid layouts. {first}".strip(), Action.SHOW_PROBLEMS)


def _over(diagnosis: Diagnosis, timeline: Timeline, recipe: Recipe | None) -> NextStep:
    cure = diagnosis.cure
    if cure is not None and cure.fits:
        return NextStep(f"Swap in {swap_arrows(cure.swaps)}: {_fits_words(cure)}.", Action.SWAP, cure.swaps)
    lever = diagnosis.levers[0] if diagnosis.levers else None
    if lever is not None and lever.fits:
        swap = ((lever.operation, lever.alternative),)
        fused = " with the compiler's fusions" if lever.only_fused else ""
        return NextStep(f"Swap in {swap_arrows(swap)}: it then fits{fused}.", Action.SWAP, swap)
    if cure is not None:
        text = f"Swap in {swap_arrows(cure.swaps)} and search for further swaps: alone it is not enough."
        return NextStep(text, Action.FIND_FIX, cure.swaps)
    if lever is not None:
        swap = ((lever.operation, lever.alternative),)
        text = (
            f"No single swap is enough; the best, {swap_arrows(swap)}, takes {exact_text(-lever.delta_total)} off the "
            "total peak. Search for several swaps."
        )
        return NextStep(text, Action.FIND_FIX, swap)
    choice = next((item.choice for item in diagnosis.contributions if item.choice is not None), None)
    if choice is not None:
        return NextStep(f"Try {swap_arrows((choice,))}, or search for a fix.", Action.FIND_FIX, (choice,))
    if recipe is not None:
        return NextStep("Search for a fix among the alternatives.", Action.FIND_FIX)
    if timeline.origin is Origin.FILE:
        text = "Open the recipe of the same compile: a timeline alone holds no alternatives."
        return NextStep(text, Action.OPEN_RECIPE)
    return NextStep("Give the compile more room: a smaller reserve, or fewer elements a tile.", Action.NOTHING)


def _fits_words(cure: Cure) -> str:
    if isinstance(cure.spare, Unavailable):
        return "it then fits"
    spare = f"{size_text(cure.spare)} spare"
    return f"it then fits with the compiler's fusions, {spare}" if cure.only_fused else f"it then fits with {spare}"


def swap_arrows(swaps: Sequence[tuple[int, int]]) -> str:
    """``op 21 → alternative 0 and op 4 → alternative 1``."""
    words = [f"op {operation} → alternative {alternative}" for operation, alternative in swaps]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _after_refusal(verdict: Verdict, recipe: Recipe | None, bad: Sequence[BadLayout]) -> str:
    """What to do about a recipe that cannot be lowered; ``bad`` are invalid homes."""
    operation = verdict.operation
    if verdict.limit == GRAPH_LIMIT:
        return "The graph itself is at fault, so no other plan helps: have the compiler write the file again."
    if bad:
        one = len(bad) == 1
        which = f"Give {bad[0].name} a valid home" if one else f"Give these {len(bad)} inputs valid homes"
        return f"{which}; Find fix proposes the planner's own choice."
    if operation is None or recipe is None:
        return "The recipe names a choice that cannot be carried out; see the reason."
    others = len(recipe.alternatives.get(operation, ())) - (recipe.in_force(operation) is not None)
    if others > 0:
        are = "is" if others == 1 else "are"
        return f"Try another plan for operation {operation}: {counted(others, 'alternative')} {are} in the file."
    return f"Operation {operation} has no other plan in this file; change what feeds it."
