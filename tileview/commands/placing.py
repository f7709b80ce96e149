"""The memory that --ranges names, and the placement of files as other commands tell it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tileview.analysis.placement import (
    NO_REQUESTS,
    PlacementSteps,
    PlacementUnknownError,
    StepWords,
    TilePlacements,
    first_not_placed,
    not_placed_sentence,
    program_requests,
    proof_text,
    recipe_steps,
    verdict_step_words,
)
from tileview.analysis.placement_files import profile_facts, ranges_of_dump, stated_against_derived, study_tile
from tileview.commands.base import UsageError, clean
from tileview.commands.subject import Subject
from tileview.core.placement.outcome import Answer
from tileview.core.placement.ranges import PLANNER, Preset, RangeError, parse_ranges, preset, presets
from tileview.errors import LoadError
from tileview.formats.opening import open_dump
from tileview.formats.placement import load_placement, profile_problems
from tileview.formats.search_state import SearchState
from tileview.formats.sniff import DumpKind
from tileview.formats.tile_dump import load_tile_dump
from tileview.model.config import STANDARD_ELEMENT_BYTES
from tileview.model.placement import PlacementProfile, TileDump
from tileview.model.sizes import exact_text
from tileview.model.timeline import Problem

DEFAULT_RESERVE = 3 * STANDARD_ELEMENT_BYTES
"""The planner's usual reserve, for files that state none."""


def chosen_ranges(text: str | None, reserve: int, tile: int | None = None) -> Preset:
    """The memory of ``--ranges``: a preset's name, typed ranges, or a dump's own.

    Raises
    ------
    UsageError, RangeError, LoadError
        No such preset or file, ranges that the compiler would refuse, a file that is not a dump with ranges.
    """
    known = preset(PLANNER if text is None else text, reserve)
    if known is not None:
        if known.ranges[0][0] >= known.ranges[0][1]:
            raise UsageError(f"the reserve of {reserve:,} B leaves no memory to place anything in")
        return known
    assert text is not None
    if os.path.exists(text):
        return _ranges_of_file(text, tile)
    if not text[:1].isdigit():
        names = ", ".join(each.name for each in presets(reserve))
        raise UsageError(f"{clean(text)} is not a preset ({names}), no ranges such as 491520-949168, and no file")
    return Preset("", "the ranges given", parse_ranges(text), "typed")


def _ranges_of_file(name: str, tile: int | None) -> Preset:
    source = open_dump(name)
    try:
        if not isinstance(source, TileDump | PlacementProfile):
            raise LoadError(name, "", "a tile dump or a placement profile", "a dump without ranges")
        return ranges_of_dump(source, clean(os.path.basename(name), 60), tile)
    except RangeError as error:
        raise UsageError(f"{clean(name)} {error}") from None
    finally:
        if not isinstance(source, SearchState | TileDump):
            source.tiles.close()


@dataclass(frozen=True, slots=True)
class SubjectPlacement:
    """The three steps of a subject's verdict; ``steps`` is None where the placement is not known."""

    words: StepWords
    steps: PlacementSteps | None


def place_subject(subject: Subject) -> SubjectPlacement:
    """Place a recipe in the memories that a verdict speaks of; of a timeline nothing is known."""
    if subject.recipe is None:
        return SubjectPlacement(verdict_step_words(subject.verdict, None, NO_REQUESTS), None)
    return SubjectPlacement(*recipe_steps(subject.verdict, subject.recipe, subject.overrides))


def placement_json(found: SubjectPlacement) -> dict[str, Any]:
    """The entry ``placement`` of ``--place --json``."""
    words = found.words
    by_preset = {} if found.steps is None else found.steps.by_preset
    return {
        "title": words.title,
        "state": words.state.value,
        "steps": [{"label": step.label, "text": step.text, "state": step.state.value} for step in words.steps],
        "sentences": [*words.sentences, *([words.more] if words.more else [])],
        "presets": {name: _preset_json(placement) for name, placement in by_preset.items()},
    }


def _preset_json(placement: TilePlacements) -> dict[str, Any]:
    totals, failing = placement.totals, placement.failing
    return {
        "ranges": [list(span) for span in placement.preset.ranges],
        "bytes": placement.preset.bytes,
        "verdict": totals.answer.value,
        "placed_by_order_1": totals.order1,
        "placed_by_order_2": totals.order2,
        "not_placed_tiles": totals.not_placed,
        "over_tiles": totals.over,
        "smallest_enlargement_bytes": placement.enlargement,
        "tile": None if failing is None else failing.tile,
        "request": None if failing is None else failing.request,
        "request_bytes": None if failing is None else failing.bytes,
        "largest_hole": None if failing is None else failing.hole,
    }


def placement_text(found: SubjectPlacement) -> str:
    """The three steps and what to know beyond them, indented."""
    return "\n".join(f"  {clean(line, 900)}" for line in found.words.lines)


def placement_failure(subject: Subject, ranges: str) -> tuple[bool | None, str]:
    """Whether every tile is placed in the ranges named, and why not, or why that is not known: the quick answer."""
    if subject.recipe is None:
        return None, f"whether it can be placed is not known: {NO_REQUESTS}"
    chosen = chosen_ranges(ranges, subject.recipe.config.reserve_bytes)
    try:
        failing = first_not_placed(program_requests(subject.recipe, subject.overrides), chosen)
    except PlacementUnknownError as error:
        return None, f"whether it can be placed is not known: {error}"
    return failing is None, "" if failing is None else not_placed_sentence(failing, chosen.title)


# -- dumps of addresses ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddressSummary:
    """A tile dump or placement profile in a few facts; ``text`` is one sentence."""

    name: str
    kind: DumpKind
    version: int | None
    tiles: int
    answer: Answer
    text: str
    tile: int | None
    short_bytes: int | None
    notes: tuple[str, ...]


def address_summary(name: str, kind: DumpKind, ranges: str | None = None) -> AddressSummary:
    """What a tile dump or a placement profile comes to; a tile dump is placed again.

    Raises
    ------
    LoadError
        Where it cannot be read.
    """
    return _dump_summary(load_tile_dump(name), ranges) if kind is DumpKind.TILE_DUMP else _profile_summary(name)


def _dump_summary(dump: TileDump, ranges: str | None) -> AddressSummary:
    problem = dump.problem
    memory = problem.memory if ranges is None else chosen_ranges(ranges, DEFAULT_RESERVE, problem.tile).memory
    study = study_tile(problem.tile, problem.requests, memory, searching=True)
    answer = study.outcome.answer
    if answer is Answer.PLACED:
        text = f"tile {problem.tile}: all {len(problem.requests):,} requests placed by {study.outcome.by}"
    elif answer is Answer.OVER:
        over = study.proofs.over
        what = f"over by {exact_text(over)} whatever the order" if over else "cannot be placed whatever the order"
        text = f"tile {problem.tile} is {what}" if over else f"tile {problem.tile} {what}"
        text += f" ({proof_text(study.proofs)})"
    else:
        placing = study.outcome.placing
        assert placing.failed is not None
        text = (
            f"tile {problem.tile} is not placed by the orders and the search: a request of "
            f"{exact_text(problem.requests[placing.failed].bytes)} finds no hole, the largest is "
            f"{exact_text(placing.hole)}; this is no proof"
        )
    problems = [*dump.problems, *(stated_against_derived(dump, study) if ranges is None else ())]
    short = study.proofs.over or None
    return AddressSummary(
        dump.path, DumpKind.TILE_DUMP, dump.version, 1, answer, text, problem.tile, short, _notes(problems)
    )


def _profile_summary(name: str) -> AddressSummary:
    profile = load_placement(name)
    try:
        facts = list(profile_facts(profile))
        problems = list(profile_problems(profile))
    finally:
        profile.tiles.close()
    text, tile = "no tile is listed", None
    if facts:
        fullest = max(facts, key=lambda each: (each.peak, -each.logical))
        tile = fullest.logical
        text = (
            f"a finished placement of {len(facts):,} tiles; the fullest is tile {tile} with {exact_text(fullest.peak)} "
            f"of tensors live at once in {exact_text(fullest.open_bytes)} that were open"
        )
    return AddressSummary(
        name, DumpKind.PLACEMENT, profile.version, len(facts), Answer.PLACED, text, tile, None, _notes(problems)
    )


def _notes(problems: list[Problem]) -> tuple[str, ...]:
    return tuple(f"{each.place}: {each.text}" for each in problems)


def address_json(found: AddressSummary) -> dict[str, Any]:
    """An entry of ``summary --json`` for a dump of addresses; what only programs have is null."""
    return {
        "file": found.name,
        "kind": found.kind.value,
        "version": found.version,
        "scope": Path(found.name).stem,
        "tile_count": found.tiles,
        "fits": found.answer is Answer.PLACED,
        "verdict": {
            "cause": found.answer.value,
            "text": found.text,
            "limit": "open memory",
            "needed_bytes": None,
            "available_bytes": None,
            "short_bytes": found.short_bytes,
            "step": None,
            "tile": found.tile,
            "operation": None,
        },
        "peak": None,
        "notes": list(found.notes),
    }


def address_text(found: AddressSummary) -> str:
    """A page on a dump of addresses."""
    version = "no version stated" if found.version is None else f"version {found.version}"
    lines = [
        f"{clean(found.name)}: {found.answer.value.upper()}",
        f"  {found.kind.value}, {version}, {found.tiles:,} tile{'' if found.tiles == 1 else 's'}",
        f"  {clean(found.text[:1].upper() + found.text[1:], 600)}.",
    ]
    notes = [f"  - {clean(note, 400)}" for note in found.notes[:12]]
    return "\n".join([*lines, *(["", "  Notes:", *notes] if notes else [])])
