"""A search state ("recipe"), version 6, 7 or 8: from bytes to :class:`SearchState`.

The document keeps the bytes of the file beside what was read from them: an export splices the few changed spans into
these bytes (:mod:`tileview.formats.save`), so everything that TileView does not know or does not touch survives to
the byte.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

import orjson

from tileview.errors import LoadError
from tileview.formats import debugmodel
from tileview.formats.check import FieldError, Fields, described, join, key_number, repeated_keys, shorten
from tileview.formats.debugtext import DebugValue
from tileview.formats.files import (
    MemorySource,
    OpenFile,
    Progress,
    Source,
    content_fingerprint,
    fingerprint,
    no_progress,
    parse_json,
    read_all,
    seal_as_read,
)
from tileview.formats.graphcheck import graph_problems, recipe_problems
from tileview.formats.lateplans import LATE_BYTES, CutFile, LateAlternatives, OddTextError, cut_alternatives
from tileview.formats.planjson import PlanReader
from tileview.formats.sniff import TOLD_BYTES, DumpKind, check_version, sniff
from tileview.model.config import PipelineConfig
from tileview.model.graph import Graph
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.tensor import Format
from tileview.model.timeline import Problem

_KNOWN_KEYS: Final = ("version", "context", "recipe", "alternatives", "inputs", "visited", "attempts")
_KNOWN_RECIPE_KEYS: Final = ("plans", "open_boundaries")
_HEAD_BYTES: Final = 65_536
_OPTIONS_SINCE: Final = 8
"""The first version whose recipe has ``options`` in place of the fields that name single values and sites."""
_FLAGS: Final = ("cast_before_copies", "reuse_cast_inputs", "disjoint_copy_sources")
_MOST_PACKING_ROWS: Final = 65_535
_DEFAULTS: Final[dict[str, object]] = {
    "owners": {"inputs": {}, "operators": {}, "results": []},
    "cast_before_copies": [],
    "packing": [],
    "reduction_groups": [],
    "cast_storage": {"default": "Separate", "operators": {}, "sites": []},
}
"""What the fields that are not modelled hold where they ask for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchState:
    """An opened search state: the recipe, the problems found in it, and the file's own bytes."""

    path: str
    raw: bytes = field(repr=False)
    """The file's bytes; of a large file none are kept (:meth:`pieces` reads them)."""
    version: int
    recipe: Recipe = field(repr=False)
    problems: tuple[Problem, ...]
    fingerprint: str = ""
    """What tells the file's content from any other; equal for equal bytes."""
    cut: CutFile | None = field(default=None, repr=False)
    """Where the alternatives are, for a large file, whose alternatives are read late."""

    @property
    def context(self) -> tuple[str, str, str]:
        """The three lines of Debug text: graph, configuration, tile mapping."""
        graph, config, mapping = self.json()["context"].split("\n")
        return graph, config, mapping

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes, in pieces. Raises LoadError where it is large and no longer what was opened."""
        return iter((self.raw,)) if self.cut is None else self.cut.pieces()

    @property
    def rest(self) -> bytes:
        """The file's JSON; of a large file without its alternatives (an empty object is in their place)."""
        return self.raw if self.cut is None else self.cut.rest

    def json(self) -> dict[str, Any]:
        """The JSON of :attr:`rest`, parsed anew at each call (keeping it would cost several times its size)."""
        document: dict[str, Any] = orjson.loads(self.rest)
        return document

    def operator_candidates(self) -> tuple[DebugValue, ...]:
        """The configuration's ``operator_candidates``, parsed now: slow, and nothing else needs them."""
        try:
            return debugmodel.operator_candidates(self.context[1], line=2)
        except FieldError as error:
            raise error.under("context").at(self.path) from None


def load_search_state(path: str | os.PathLike[str], progress: Progress = no_progress) -> SearchState:
    """Open a search state.

    Raises
    ------
    LoadError
        Not a readable file, not JSON, another kind or version, or a field that is not what it has to be.
    """
    return search_state_from_source(OpenFile(path), progress)


def search_state_from_source(source: Source, progress: Progress = no_progress, is_checked: bool = True) -> SearchState:
    """:func:`load_search_state` for a file that is open; a large one has to stay open while the state is in use.

    ``is_checked`` False leaves the alternatives of a large file to :func:`alternatives_problems`: then nothing is known
    of them yet.
    """
    _refuse_other_kinds(source)
    state = _read_late(source, progress, is_checked) if source.size >= LATE_BYTES else None
    return _read_at_once(read_all(source, progress, 0.1), source.path, progress) if state is None else state


def search_state_from_bytes(raw: bytes, path: str = "", progress: Progress = no_progress) -> SearchState:
    """:func:`load_search_state` for bytes already read; ``path`` names them in errors."""
    if len(raw) >= LATE_BYTES:
        return search_state_from_source(MemorySource(raw, path), progress)
    _refuse_other_kinds(MemorySource(raw, path))
    return _read_at_once(raw, path, progress)


def alternatives_problems(state: SearchState, progress: Progress = no_progress) -> tuple[Problem, ...]:
    """What is wrong in the alternatives of a large file; raises LoadError where it is no longer what was opened."""
    late = state.recipe.alternatives
    if isinstance(late, LateAlternatives):
        try:
            late.check(progress)
        except FieldError as error:
            text = f"expected {error.expected}, found {error.found}"
            return (Problem("error", error.place, text, "Get a whole copy of the file, or write it again."),)
    return ()


def _refuse_other_kinds(source: Source) -> None:
    path = source.path
    found = sniff(path, source.read(0, _HEAD_BYTES), lambda: source.read(0, TOLD_BYTES))
    if found.kind is not DumpKind.RECIPE:
        hint = f"It is a {found.kind.value} and can be opened as one."
        raise LoadError(path, "", "a search state", f"a {found.kind.value}", hint)


def _read_at_once(raw: bytes, path: str, progress: Progress) -> SearchState:
    progress(0.1, "parsing")
    state = _read(parse_json(path, raw), raw, path, progress)
    progress(1.0, "read")
    return state


def _read_late(source: Source, progress: Progress, is_checked: bool) -> SearchState | None:
    """The state of a large file, whose alternatives are read late; None where they cannot be told apart."""
    path = source.path
    cut = cut_alternatives(source, progress, 0.4)
    if cut is None:
        return None
    document = parse_json(path, cut.rest, cut.file_offset)
    try:
        state = _read(document, b"", path, progress, cut)
        late = state.recipe.alternatives
        assert isinstance(late, LateAlternatives)
        if is_checked:
            late.check(lambda share, text: progress(0.6 + 0.4 * share, text))
    except OddTextError:
        return None
    except FieldError as error:
        raise error.at(path) from None
    seal_as_read(source, cut.sums)
    progress(1.0, "read")
    return state


def _read(
    document: dict[str, Any], raw: bytes, path: str, progress: Progress, cut: CutFile | None = None
) -> SearchState:
    """The state of a parsed file, given by its bytes, or where it was cut by what was left of it."""
    text = raw if cut is None else cut.rest
    version = check_version(path, DumpKind.RECIPE, document.get("version"), lambda: text[:TOLD_BYTES])
    try:
        _refuse_duplicates(text, document)
        progress(0.2 if cut is None else 0.4, "reading the graph")
        recipe, wrong = _recipe(document, version, progress)
    except FieldError as error:
        raise error.at(path) from None
    if cut is not None:
        late = LateAlternatives(cut, version, recipe.plans)
        late.find_in_force(document["recipe"]["plans"])
        recipe = replace(recipe, alternatives=late)
        document["alternatives"] = dict.fromkeys(map(str, cut.lists))
    problems = (*wrong, *graph_problems(recipe.graph), *recipe_problems(recipe), *_order_problems(document))
    mark = content_fingerprint(raw) if cut is None else fingerprint(cut.sums)
    return SearchState(path, raw, version, recipe, problems, mark, cut)


# -- the parts ------------------------------------------------------------------------------------------------------


def _recipe(document: dict[str, Any], version: int, progress: Progress) -> tuple[Recipe, list[Problem]]:
    top = Fields(document)
    graph, config, mapping = _context(top.text("context"))
    chosen = top.fields("recipe")
    reader = PlanReader(version)
    choices = read_choices(chosen, reader, version, config.tile_count)
    recipe = Recipe(
        graph,
        config,
        choices.plans,
        _alternatives(top.object("alternatives"), reader, progress),
        _homes(top.object("inputs"), reader),
        choices.open_boundaries,
        mapping,
        choices.requests,
        len(top.list("visited")) if top.has("visited") else 0,
        top.u64("attempts") if top.has("attempts") else 0,
        choices.chip_tiles,
    )
    return recipe, list(choices.problems)


@dataclass(frozen=True, slots=True)
class RecipeChoices:
    """What a ``recipe`` object chooses, as :class:`Recipe` names it; ``problems``: what is wrong in it and ignored."""

    plans: dict[int, Plan]
    open_boundaries: frozenset[int]
    requests: tuple[tuple[str, str], ...]
    chip_tiles: tuple[int, ...]
    problems: tuple[Problem, ...]


def read_choices(chosen: Fields, reader: PlanReader, version: int, tiles: int) -> RecipeChoices:
    """Read a ``recipe`` object, or an entry of ``visited``, in the spelling of its version. Raises FieldError."""
    place = chosen.where("plans")
    plans = {
        key_number(key, place): reader.plan(value, f"{place}.{key}") for key, value in chosen.object("plans").items()
    }
    boundaries = frozenset(chosen.numbers("open_boundaries"))
    if version < _OPTIONS_SINCE:
        return RecipeChoices(plans, boundaries, _requests(chosen.values), (), ())
    options = chosen.fields("options")
    requests = (*_option_requests(options), *_requests(chosen.values, (*_KNOWN_RECIPE_KEYS, "options")))
    chip_tiles, problems = _chip_tiles(options, tiles)
    return RecipeChoices(plans, boundaries, requests, chip_tiles, tuple(problems))


def _option_requests(options: Fields) -> list[tuple[str, str]]:
    """The options of a version 8 recipe that ask for something which is not modelled, and unknown ones."""
    rows = options.u64("packing_rows", _MOST_PACKING_ROWS)
    asked = {name: options.flag(name) for name in _FLAGS}
    asked |= {"packing_rows": rows > 0, "parallel_reductions": options.u64("parallel_reductions") > 1}
    return [
        (f"options.{name}", shorten(orjson.dumps(value).decode(), 200))
        for name, value in options.values.items()
        if asked.get(name, name != "tile_mapping" and value not in _EMPTY)
    ]


_EMPTY: Final[tuple[object, ...]] = (None, False, 0, "", [], {})


def _chip_tiles(options: Fields, tiles: int) -> tuple[tuple[int, ...], list[Problem]]:
    """The mapping of the program's tiles to the chip's: empty for the identity, and where it is no permutation."""
    mapping = options.numbers("tile_mapping")
    if not mapping or mapping == tuple(range(tiles)):
        return (), []
    wrong = ""
    if len(mapping) != tiles:
        wrong = f"{len(mapping):,} entries for {tiles:,} tiles"
    elif max(mapping) >= tiles:
        wrong = f"the entry {max(mapping):,}, the tiles end at {tiles - 1:,}"
    elif len(set(mapping)) != tiles:
        wrong = f"{tiles - len(set(mapping)):,} tiles are named twice"
    if not wrong:
        return mapping, []
    text = f"the mapping is not a permutation of the tiles ({wrong}): the compiler rejects it; ignored here"
    return (), [Problem("error", options.where("tile_mapping"), text)]


def _context(text: str) -> tuple[Graph, PipelineConfig, str]:
    lines = text.split("\n")
    if len(lines) != 3:
        raise FieldError("context", "three lines (graph, configuration, tile mapping)", f"{len(lines)}")
    try:
        graph = debugmodel.graph_from_text(lines[0])
    except FieldError as error:
        raise _in_context(error, "graph") from None
    try:
        config = debugmodel.config_from_text(lines[1], line=2)
    except FieldError as error:
        raise _in_context(error, "configuration") from None
    return graph, config, lines[2]


def _in_context(error: FieldError, part: str) -> FieldError:
    """A syntax error keeps its line and column; a wrong field is named within its line's part."""
    prefix = "context" if error.place.startswith("line ") else f"context: {part}"
    return error.under(prefix)


def _alternatives(entries: dict[str, Any], reader: PlanReader, progress: Progress) -> dict[int, tuple[Plan, ...]]:
    result: dict[int, tuple[Plan, ...]] = {}
    for done, (key, plans) in enumerate(entries.items()):
        place = f"alternatives.{key}"
        number = key_number(key, "alternatives")
        if not isinstance(plans, list):
            raise FieldError(place, "a list of plans", described(plans))
        result[number] = tuple(reader.plan(plan, f"{place}[{index}]") for index, plan in enumerate(plans))
        progress(0.3 + 0.6 * done / len(entries), "reading the alternatives")
    return result


def _homes(entries: dict[str, Any], reader: PlanReader) -> dict[int, Format]:
    return {key_number(key, "inputs"): reader.format(value, f"inputs.{key}") for key, value in entries.items()}


def _requests(chosen: dict[str, Any], known: tuple[str, ...] = _KNOWN_RECIPE_KEYS) -> tuple[tuple[str, str], ...]:
    """What a recipe asks of the compiler beyond plans and boundaries: (field, its entries), for fields not at their
    default.

    A field that TileView has never heard of counts as a request unless it is empty: it may well change the memory.
    """
    requests: list[tuple[str, str]] = []
    for name, value in chosen.items():
        idle = not value if name not in _DEFAULTS else value == _DEFAULTS[name]
        if name not in known and not idle:
            requests += _asked(name, value, _DEFAULTS.get(name))
    return tuple(requests)


def _asked(name: str, value: object, default: object) -> list[tuple[str, str]]:
    if isinstance(value, dict) and isinstance(default, dict):
        return [
            (f"{name}.{key}", shorten(orjson.dumps(item).decode(), 200))
            for key, item in value.items()
            if item != default.get(key, None) and (key in default or item)
        ]
    if isinstance(value, list):
        return [(name, shorten(orjson.dumps(item).decode(), 200)) for item in value]
    return [(name, shorten(orjson.dumps(value).decode(), 200))]


def _order_problems(document: dict[str, Any]) -> list[Problem]:
    """Ids that are not in ascending order, as the compiler writes them: kept as they are, but said."""
    problems: list[Problem] = []
    chosen = document["recipe"]
    alternatives, inputs = document["alternatives"], document["inputs"]
    tables = (("recipe.plans", chosen["plans"]), ("alternatives", alternatives), ("inputs", inputs))
    for place, entries in tables:
        ids = [int(key) for key in entries]
        if any(first > second for first, second in pairwise(ids)):
            problems.append(Problem("note", place, "the ids are not in ascending order; an export keeps the order"))
    boundaries = chosen["open_boundaries"]
    if any(first >= second for first, second in pairwise(boundaries)):
        text = "the values are not in ascending order, or one occurs twice"
        problems.append(Problem("note", "recipe.open_boundaries", text))
    return problems


def _refuse_duplicates(raw: bytes, document: dict[str, Any]) -> None:
    """Raise :class:`FieldError` where an object names a key twice: which one the compiler takes is not to be guessed.

    ``visited`` and unknown keys are kept without being understood, so they are not looked into.
    """
    for place, key in repeated_keys(raw, document):
        top = place.split(".")[0].split("[")[0]
        if top != "visited" and (not place or top in _KNOWN_KEYS):
            raise FieldError(join(place, key), "each key once", f'the key "{shorten(key)}" twice')
