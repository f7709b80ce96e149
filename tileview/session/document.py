"""What is open: a file's content and the edits on it turned back into a recipe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tileview.core.memory.accounts import Findings
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.study import study_parts
from tileview.core.memory.whatif import with_findings
from tileview.formats.dumps import AddressDump, Dump
from tileview.formats.search_state import SearchState
from tileview.model.graph import Graph
from tileview.model.placement import PlacementProfile, TileDump
from tileview.model.recipe import Recipe
from tileview.model.timeline import Problem, Timeline
from tileview.model.timeline_file import FILE_CHANGED, TimelineFile
from tileview.session.edits import EditState

_SPEAKS_OF: Final = {
    "tile dump": "A tile dump describes the addresses of one tile, not a program: the address map shows it.",
    "placement profile": "A placement profile describes addresses, not a program: the address map shows it.",
}


@dataclass(frozen=True, slots=True)
class Document:
    """One opened file. ``source`` is immutable; every edit lives in an :class:`EditState` beside it."""

    path: Path
    source: Dump
    _made: list[Timeline] = field(default_factory=list, init=False, compare=False, repr=False)
    _found: list[Problem] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def is_recipe(self) -> bool:
        return isinstance(self.source, SearchState)

    @property
    def kind(self) -> str:
        """``recipe``, ``timeline``, ``tile dump`` or ``placement profile``."""
        if isinstance(self.source, TileDump):
            return "tile dump"
        if isinstance(self.source, PlacementProfile):
            return "placement profile"
        return "recipe" if self.is_recipe else "timeline"

    @property
    def addresses(self) -> AddressDump | None:
        """The content of a file that speaks of addresses; None for one that holds a program."""
        return self.source if isinstance(self.source, TileDump | PlacementProfile) else None

    @property
    def no_program(self) -> str:
        """Why there is no program to show, in one sentence; empty where there is one."""
        return _SPEAKS_OF.get(self.kind, "")

    @property
    def recipe(self) -> Recipe | None:
        """The recipe as the file has it; None for a timeline."""
        return self.source.recipe if isinstance(self.source, SearchState) else None

    @property
    def is_read_late(self) -> bool:
        """Whether it is a recipe so large that its alternatives are read, and checked, after it is shown."""
        return isinstance(self.source, SearchState) and self.source.cut is not None

    @property
    def damage(self) -> tuple[str, ...]:
        """What the check of a recipe's alternatives has found, in sentences."""
        return tuple(problem.text for problem in self._found if self.is_recipe and problem.severity == "error")

    @property
    def graph(self) -> Graph | None:
        recipe = self.recipe
        return None if recipe is None else recipe.graph

    def file_timeline(self) -> Timeline:
        """The timeline as the file has it, made once.

        Raises
        ------
        TypeError
            For any other file, which has none.
        """
        if not isinstance(self.source, TimelineFile):
            raise TypeError(f"a {self.kind} holds no timeline")
        if not self._made:
            self._made.append(timeline_from_file(self.source))
        return self._made[0]

    def read_whole(self) -> None:
        """Read all numbers per tile of a timeline now, so that its verdict rests on them too."""
        if isinstance(self.source, TimelineFile) and self.source.has_tiles:
            for part in study_parts(self.source, len(self.source.steps)):
                if isinstance(part, Findings):
                    self.add_findings(part)

    def add_findings(self, findings: Findings) -> None:
        """Take in what the arrays of the file mean for its verdict."""
        self._made[0] = with_findings(self.file_timeline(), findings)

    def add_problems(self, found: tuple[Problem, ...]) -> None:
        """Take in what a thorough check of the file has found: its timeline, made anew, lists it.

        An error in a recipe makes it damaged.
        """
        if not isinstance(self.source, TimelineFile):
            self._found.extend(problem for problem in found if problem not in self._found)
            return
        timeline = self.file_timeline()
        new = tuple(problem for problem in found if problem not in timeline.problems)
        self._made[0] = replace(timeline, problems=(*timeline.problems, *new))

    def mark_changed(self) -> bool:
        """Take in that a timeline's file is no longer what was opened: its numbers per tile are unavailable.

        False where that is known already, or where all of them are in memory.
        """
        source = self.source
        if not isinstance(source, TimelineFile) or not source.tiles.has_changed():
            return False
        timeline = self.file_timeline()
        if FILE_CHANGED in timeline.problems:
            return False
        roots = frozenset(timeline.aliases)
        self._made[0] = replace(timeline, unavailable_roots=roots, problems=(FILE_CHANGED, *timeline.problems))
        return True

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the reader found wrong but could show."""
        return (*self.source.problems, *self._found)

    def close(self) -> None:
        """Let go of a file that is read as it is looked at."""
        if isinstance(self.source, TimelineFile | PlacementProfile):
            self.source.tiles.close()


def edited_recipe(recipe: Recipe, state: EditState) -> Recipe:
    """The recipe with the edits of a state.

    Raises
    ------
    KeyError
        Where the state names an operation or alternative that the recipe has not.
    """
    plans = dict(recipe.plans)
    for operation, index in state.swaps.items():
        alternatives = recipe.alternatives.get(operation, ())
        if not 0 <= index < len(alternatives):
            raise KeyError(f"operation {operation} has no alternative {index}")
        plans[operation] = alternatives[index]
    boundaries = set(recipe.open_boundaries)
    for value, is_open in state.boundaries.items():
        (boundaries.add if is_open else boundaries.discard)(value)
    return replace(
        recipe,
        plans=plans,
        inputs={**recipe.inputs, **state.homes},
        open_boundaries=frozenset(boundaries),
    )
