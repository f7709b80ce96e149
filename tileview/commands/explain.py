"""``tileview explain``: what a compiler's error sentence on memory means, and what dumps say of it."""

from __future__ import annotations

import sys

from tileview.analysis.messages import Explanation, MessageKind, explain
from tileview.commands.base import EXIT_NO, EXIT_OK, Arguments, clean, emit, emit_json
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.opening import open_dump
from tileview.formats.search_state import SearchState
from tileview.model.placement import TileDump
from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline
from tileview.model.timeline_file import TimelineFile


def run_explain(arguments: Arguments) -> int:
    """Explain a sentence; 0, or 1 where it is none that is known."""
    text = sys.stdin.read(1 << 24) if arguments.message == "-" else arguments.message
    recipes: list[tuple[str, Recipe]] = []
    timelines: list[tuple[str, Timeline]] = []
    dumps: list[tuple[str, TileDump]] = []
    open_tiles = []
    try:
        for name in arguments.files:
            source = open_dump(name)
            if isinstance(source, SearchState):
                recipes.append((name, source.recipe))
            elif isinstance(source, TimelineFile):
                open_tiles.append(source.tiles)
                timelines.append((name, timeline_from_file(source)))
            elif isinstance(source, TileDump):
                dumps.append((name, source))
            else:
                source.tiles.close()
        found = explain(text, recipes, timelines, dumps)
    finally:
        for tiles in open_tiles:
            tiles.close()
    if arguments.json:
        message = found.message
        emit_json(
            {
                "kind": message.kind.value,
                "tile": message.tile,
                "class": None if message.memory_class is None else message.memory_class.value,
                "bytes": message.bytes,
                "meaning": list(found.meaning),
                "files": [{"file": name, "findings": list(lines)} for name, lines in found.findings],
            }
        )
    else:
        emit(explanation_text(found))
    return EXIT_NO if found.message.kind is MessageKind.UNKNOWN else EXIT_OK


def explanation_text(found: Explanation) -> str:
    """The meaning, then a paragraph for every file that says something of it."""
    parts = [f"{found.message.kind.value.upper()}", *(f"  {sentence}" for sentence in found.meaning)]
    for name, lines in found.findings:
        parts += ["", clean(name), *(f"  {clean(line, 900)}" for line in lines)]
    return "\n".join(parts)
