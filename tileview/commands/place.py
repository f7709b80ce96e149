"""``tileview place``: can every tile of a program, or the tile of a dump, be given addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tileview.analysis.placement import (
    PlacementUnknownError,
    ProgramPlacement,
    RequestNames,
    enlargement_sentence,
    failing_sentence,
    place_program,
    program_requests,
    proof_text,
    totals_text,
)
from tileview.analysis.placement_files import (
    ProfileTileFacts,
    TileStudy,
    event_text,
    profile_facts,
    stated_against_derived,
    study_tile,
)
from tileview.analysis.trials import with_swaps
from tileview.commands.base import (
    EXIT_NO,
    EXIT_OK,
    EXIT_UNKNOWN,
    Arguments,
    UsageError,
    clean,
    complain,
    emit,
    emit_json,
    table,
)
from tileview.commands.placing import DEFAULT_RESERVE, chosen_ranges
from tileview.commands.subject import overrides_of
from tileview.commands.swap import checked_swaps
from tileview.core.placement.orders import OrderRun, PlacementOrder
from tileview.core.placement.outcome import Answer, TileOutcome, smallest_enlargement_of_problem
from tileview.core.placement.proofs import Proofs, prove
from tileview.core.placement.ranges import Preset
from tileview.core.placement.requests import ProgramRequests, TileClass
from tileview.core.placement.search import Searched
from tileview.errors import LoadError
from tileview.formats.opening import open_dump
from tileview.formats.placement import profile_problems
from tileview.formats.search_state import SearchState
from tileview.model.placement import END, PlacementProfile, TileDump
from tileview.model.sizes import exact_text
from tileview.model.tensor import MemoryClass

_MOST_ROWS = 24


def run_place(arguments: Arguments) -> int:
    """Place and report: 0 where every tile is placed, 1 where one is not or is over, 3 where the program is not
    known."""
    source = open_dump(arguments.file)
    if isinstance(source, SearchState):
        return _place_recipe(arguments, source)
    if arguments.swaps:
        raise UsageError("only a recipe has plans to swap")
    if isinstance(source, TileDump):
        return _place_dump(arguments, source)
    if isinstance(source, PlacementProfile):
        try:
            return _tell_profile(arguments, source)
        finally:
            source.tiles.close()
    source.tiles.close()
    hint = "A timeline lists bytes, not requests; place the recipe, a tile dump or a placement profile of the compile."
    raise LoadError(arguments.file, "", "a recipe, a tile dump or a placement profile", "a memory timeline", hint)


# -- recipes --------------------------------------------------------------------------------------------------------


def _place_recipe(arguments: Arguments, state: SearchState) -> int:
    swaps = checked_swaps(state.recipe, arguments.swaps)
    recipe = with_swaps(state.recipe, swaps)
    chosen = chosen_ranges(arguments.ranges, recipe.config.reserve_bytes, arguments.tile)
    if arguments.tile is not None and arguments.tile >= recipe.config.tile_count:
        raise UsageError(f"the recipe is planned for tiles 0 to {recipe.config.tile_count - 1}, not {arguments.tile}")
    try:
        requests = program_requests(recipe, overrides_of(arguments), multicast=not arguments.no_multicast)
    except PlacementUnknownError as error:
        if arguments.json:
            emit_json({**_frame(chosen), "verdict": None, "error": str(error)})
        complain(f"{arguments.file}: whether it can be placed is not known: {error}")
        return EXIT_UNKNOWN
    placement = place_program(requests, chosen, searching=arguments.search)
    study, each = None, None
    if arguments.tile is not None:
        each = requests.class_of(arguments.tile)
        study = study_tile(arguments.tile, requests.requests(each), placement.memory, searching=arguments.search)
    if arguments.json:
        entry = program_json(placement)
        if study is not None and each is not None:
            entry |= _study_json(study, _names(requests, each))
        emit_json(entry)
    else:
        emit(program_text(arguments.file, placement, not arguments.no_fusion))
        if study is not None and each is not None:
            emit("\n" + _study_text(study, _names(requests, each)))
    return EXIT_OK if placement.totals.answer is Answer.PLACED else EXIT_NO


def _names(requests: ProgramRequests, each: TileClass) -> list[str]:
    name = RequestNames(requests)
    return [name(requests.templates[index]) for index in each.present]


def _frame(chosen: Preset) -> dict[str, Any]:
    return {
        "ranges": [list(span) for span in chosen.memory.ranges],
        "preset": chosen.name or None,
        "interleaved_offset": chosen.memory.interleaved_offset,
    }


def program_json(placement: ProgramPlacement) -> dict[str, Any]:
    """A program's placement as the contract has it."""
    requests, memory, totals = placement.requests, placement.memory, placement.totals
    tiles = []
    for each, outcome in zip(requests.classes, placement.outcomes, strict=True):
        proofs = outcome.proofs or prove(requests.asked(each, memory), memory)
        tiles.append(_tile_json(each.tiles, outcome, proofs, each.bytes))
    return {
        **_frame(placement.preset),
        "classes": len(requests.classes),
        "verdict": totals.answer.value,
        "placed_tiles": totals.placed,
        "not_placed_tiles": totals.not_placed,
        "over_tiles": totals.over,
        "smallest_enlargement_bytes": placement.enlargement,
        "tiles": tiles,
    }


def _tile_json(tiles: tuple[int, ...], outcome: TileOutcome, proofs: Proofs, sizes: tuple[int, ...]) -> dict[str, Any]:
    failed = None if outcome.answer is Answer.PLACED else outcome.placing.failed
    return {
        "tile": tiles[0],
        "tiles": list(tiles),
        "verdict": outcome.answer.value,
        "order": _order_json(outcome.by),
        "over_bytes": proofs.over,
        "proof": proof_text(proofs),
        "largest_hole": None if failed is None else outcome.placing.hole,
        "free_bytes": None if failed is None else outcome.placing.free_bytes,
        "request_bytes": None if failed is None else sizes[failed],
        "live_peak": proofs.all.peak,
    }


def _order_json(by: str | None) -> int | str | None:
    return {"order 1": 1, "order 2": 2}.get(by or "", by)


def program_text(name: str, placement: ProgramPlacement, fused: bool) -> str:
    """A program's placement as a page; ``fused``: fusions were looked for."""
    preset_, totals = placement.preset, placement.totals
    which = "of the program after fusions" if fused else "of the composed program, without fusions"
    lines = [
        f"{clean(name)}: {totals.answer.value.upper()}",
        f"  {preset_.title}: {_ranges_text(preset_.ranges)}, {exact_text(preset_.bytes)}",
        f"  {totals_text(totals)}; {len(placement.requests.classes):,} classes of identical tiles, "
        f"{placement.requests.count:,} requests, {placement.requests.events:,} events, {which}",
    ]
    rows = [(what, f"{count:,}") for what, count in _counts(placement) if count]
    lines += ["", table(("tiles", ""), rows, numbers=(1,), indent=2)]
    if placement.failing is not None:
        lines += ["", f"  {clean(failing_sentence(placement), 900)}"]
        lines += [f"  The compiler would write: {placement.failing.message}"]
        more = enlargement_sentence(placement)
        lines += [f"  {more}"] if more else []
        if not placement.searched and totals.not_placed:
            lines.append("  The search, which the compiler tries last, was not run (--search).")
    return "\n".join(lines)


def _counts(placement: ProgramPlacement) -> Iterable[tuple[str, int]]:
    totals = placement.totals
    yield "placed by order 1", totals.order1
    yield "placed by order 2", totals.order2
    yield "placed by the search", totals.search
    yield "not placed by what was tried", totals.not_placed
    yield "over, whatever the order", totals.over


def _ranges_text(ranges: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{start:#x}–{end:#x}" for start, end in ranges)


# -- one tile -------------------------------------------------------------------------------------------------------


def _place_dump(arguments: Arguments, dump: TileDump) -> int:
    problem = dump.problem
    if arguments.tile not in (None, problem.tile):
        raise UsageError(f"{clean(arguments.file)} is a dump of tile {problem.tile}, not of tile {arguments.tile}")
    chosen = Preset("", "the dump's own ranges", problem.memory.ranges, "a tile dump", problem.memory)
    if arguments.ranges is not None:
        chosen = chosen_ranges(arguments.ranges, DEFAULT_RESERVE, problem.tile)
    study = study_tile(problem.tile, problem.requests, chosen.memory, searching=True)
    problems = [*dump.problems, *(stated_against_derived(dump, study) if arguments.ranges is None else ())]
    names = [", ".join(f"root {root}" for root in request.roots[:3]) for request in problem.requests]
    enlargement = smallest_enlargement_of_problem(replace(problem, memory=chosen.memory))
    answer = study.outcome.answer
    if arguments.json:
        counted = {each: int(each is answer) for each in Answer}
        entry = {
            **_frame(chosen),
            "classes": 1,
            "verdict": answer.value,
            "placed_tiles": counted[Answer.PLACED],
            "not_placed_tiles": counted[Answer.NOT_PLACED],
            "over_tiles": counted[Answer.OVER],
            "smallest_enlargement_bytes": enlargement,
            "tiles": [
                _tile_json((problem.tile,), study.outcome, study.proofs, tuple(r.bytes for r in problem.requests))
            ],
            **_study_json(study, names),
            "placed_in_file": dump.placed,
            "notes": [f"{each.place}: {each.text}" for each in problems],
        }
        emit_json(entry)
    else:
        title = "version 1" if dump.version else "no version stated"
        emit(f"{clean(arguments.file)}: {answer.value.upper()}")
        emit(f"  tile dump, {title}, {len(problem.requests):,} requests in {chosen.title}")
        emit(f"  {_ranges_text(chosen.memory.ranges)}, {exact_text(chosen.memory.bytes)}\n")
        emit(_study_text(study, names))
        if enlargement:
            emit(f"  {exact_text(enlargement)} more would do.")
        for each in problems:
            emit(f"  {each.severity}: {clean(each.place)}: {clean(each.text, 400)}")
    return EXIT_OK if answer is Answer.PLACED else EXIT_NO


def _study_json(study: TileStudy, names: list[str]) -> dict[str, Any]:
    starts = study.outcome.starts
    requests = [
        {
            "class": request.memory_class.value,
            "bytes": request.bytes,
            "alignment": request.alignment,
            "first": request.first,
            "last": request.last,
            "roots": list(request.roots),
            "conflicts": list(request.conflicts),
            "name": name,
            "start": start,
        }
        for request, name, start in zip(study.requests, names, starts, strict=True)
    ]
    names_of = {PlacementOrder.FIRST_USE: "1", PlacementOrder.SIZE: "2", PlacementOrder.END_FIRST: "end first"}
    orders: dict[str, Any] = {names_of[placing.order]: _placing_json(placing) for placing in study.orders}
    orders["search"] = _search_json(study.searched)
    return {"requests": requests, "orders": orders}


def _placing_json(placing: OrderRun) -> dict[str, Any]:
    return {"placed": placing.placed, "starts": list(placing.starts), "failed_request": placing.failed}


def _search_json(searched: Searched | None) -> dict[str, Any]:
    """The search; ``placed`` is null where it was not run."""
    if searched is None:
        return {"placed": None, "starts": None, "failed_request": None, "nodes": None, "work": None}
    starts = None if searched.starts is None else list(searched.starts)
    return {
        "placed": searched.placed,
        "starts": starts,
        "failed_request": None,
        "nodes": searched.nodes,
        "work": searched.work,
        "exhausted": searched.exhausted,
    }


def _study_text(study: TileStudy, names: list[str]) -> str:
    """What each order comes to on a tile, what is proved, and where the largest requests lie."""
    rows = []
    for placing in study.orders:
        if placing.failed is None:
            rows.append((placing.order.value, "places all", "", "", ""))
        else:
            size = exact_text(study.requests[placing.failed].bytes)
            rows.append((placing.order.value, f"ends at {clean(names[placing.failed], 50)}", size,
                         exact_text(placing.hole), exact_text(placing.free_bytes)))  # fmt: skip
    rows.append(("search", _search_text(study.searched), "", "", ""))
    lines = [
        f"  Tile {study.tile}: {study.outcome.answer.value}" + (f" by {study.outcome.by}" if study.outcome.by else ""),
        table(("tried", "outcome", "request", "largest hole", "free"), rows, numbers=(2, 3, 4), indent=2),
    ]
    proof = proof_text(study.proofs)
    if study.proofs.over:
        lines.append(f"  Over by {exact_text(study.proofs.over)} whatever the order: {proof}.")
    elif proof:
        lines.append(f"  Proved: {proof}.")
    if study.message:
        lines.append(f"  The compiler would write: {study.message}")
    largest = sorted(range(len(names)), key=lambda index: -study.requests[index].bytes)[:_MOST_ROWS]
    listed = [
        (clean(names[index], 50), _life(study.requests[index].first, study.requests[index].last),
         "interleaved" if study.requests[index].memory_class is MemoryClass.INTERLEAVED else "standard",
         exact_text(study.requests[index].bytes), _start_text(study.outcome.starts[index]))
        for index in largest
    ]  # fmt: skip
    header = (f"largest of {len(names):,} requests", "life", "class", "bytes", "address")
    return "\n".join([*lines, "", table(header, listed, numbers=(3, 4), indent=2)])


def _search_text(searched: Searched | None) -> str:
    if searched is None:
        return "was not run (--search)"
    if searched.placed:
        return f"places all after {searched.nodes:,} nodes"
    if searched.excess:
        return "is not begun: the live bytes exceed the ranges"
    limit = ", a limit reached" if searched.exhausted else ""
    return f"ends without success after {searched.nodes:,} nodes{limit}: no proof"


def _start_text(start: int | None) -> str:
    return "not placed" if start is None else f"{start:#x}"


def _life(first: int, last: int) -> str:
    return f"{'start' if first == 0 else first} … {'end' if last == END else last}"


# -- placement profiles ---------------------------------------------------------------------------------------------


def _tell_profile(arguments: Arguments, profile: PlacementProfile) -> int:
    """A finished placement: what was open on its tiles, and how full they are. Always placed: 0."""
    if arguments.ranges is not None:
        raise UsageError("a placement profile is a finished placement; place its recipe with --ranges, or a tile dump")
    facts = [each for each in profile_facts(profile) if arguments.tile in (None, each.logical)]
    if not facts:
        raise UsageError(f"{clean(arguments.file)} does not list tile {arguments.tile}")
    problems = list(profile_problems(profile))
    if arguments.json:
        emit_json(
            {
                "kind": "placement profile",
                "verdict": Answer.PLACED.value,
                "placed_tiles": len(facts),
                "tiles": [_facts_json(each) for each in facts],
                "notes": [f"{each.place}: {each.text}" for each in problems],
            }
        )
    else:
        emit(profile_text(arguments.file, profile, facts))
        for each in problems[:_MOST_ROWS]:
            emit(f"  {each.severity}: {each.place}: {clean(each.text, 300)}")
        if len(problems) > _MOST_ROWS:
            emit(f"  and {len(problems) - _MOST_ROWS:,} more like these")
    return EXIT_OK


def _facts_json(facts: ProfileTileFacts) -> dict[str, Any]:
    return {
        "tile": facts.logical,
        "physical": facts.physical,
        "allocations": facts.entries,
        "ranges": [list(span) for span in facts.ranges],
        "open_bytes": facts.open_bytes,
        "live_peak": facts.peak,
        "live_event": facts.event,
    }


def profile_text(name: str, profile: PlacementProfile, facts: list[ProfileTileFacts]) -> str:
    """A finished placement as a page: its fullest tile, and the memories that were open."""
    fullest = max(facts, key=lambda each: (each.peak, -each.logical))
    entries = sum(each.entries for each in facts)
    lines = [
        f"{clean(name)}: PLACED",
        f"  placement profile, schema {profile.version}, {len(facts):,} tiles, {entries:,} entries",
        f"  Fullest: tile {fullest.logical}, {exact_text(fullest.peak)} of tensors live {event_text(fullest.event)}, "
        f"{exact_text(fullest.open_bytes)} open",
        "",
    ]
    memories = Counter(each.ranges for each in facts)
    rows = [
        (f"{count:,}", exact_text(sum(end - start for start, end in ranges)), _ranges_text(ranges) or "nothing")
        for ranges, count in memories.most_common(_MOST_ROWS)
    ]
    return "\n".join([*lines, table(("tiles", "open", "ranges"), rows, numbers=(0, 1), indent=2)])
