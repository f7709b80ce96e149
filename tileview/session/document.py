"""What is open: a file's content and the edits on it turned back into a recipe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from tileview.core.memory.accounts import Findings
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.study import study
from tileview.core.memory.whatif import with_findings
from tileview.formats.search_state import SearchState
from tileview.model.graph import Graph
from tileview.model.recipe import Recipe
from tileview.model.timeline import Problem, Timeline
from tileview.model.timeline_file import TimelineFile
from tileview.session.state import EditState


@dataclass(frozen=True, slots=True)
class Document:
    """One opened file. ``source`` is immutable; every edit lives in an :class:`EditState` beside it."""

    path: Path
    source: SearchState | TimelineFile
    _made: list[Timeline] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def is_recipe(self) -> bool:
        return isinstance(self.source, SearchState)

    @property
    def recipe(self) -> Recipe | None:
        """The recipe as the file has it; None for a timeline."""
        return self.source.recipe if isinstance(self.source, SearchState) else None

    @property
    def graph(self) -> Graph | None:
        recipe = self.recipe
        return None if recipe is None else recipe.graph

    def file_timeline(self) -> Timeline:
        """The timeline as the file has it, made once.

        Raises
        ------
        TypeError
            For a recipe, which has none.
        """
        if not isinstance(self.source, TimelineFile):
            raise TypeError("a recipe holds no timeline")
        if not self._made:
            self._made.append(timeline_from_file(self.source))
        return self._made[0]

    def read_whole(self) -> None:
        """Read all numbers per tile of a timeline now, so that its verdict rests on them too."""
        if isinstance(self.source, TimelineFile) and self.source.has_tiles:
            for part in study(self.source, len(self.source.steps)):
                if isinstance(part, Findings):
                    self.add_findings(part)

    def add_findings(self, findings: Findings) -> None:
        """Take in what the arrays of the file mean for its verdict."""
        self._made[0] = with_findings(self.file_timeline(), findings)

    def add_problems(self, found: tuple[Problem, ...]) -> None:
        """Take in what a thorough check of the file has found: its timeline, made anew, lists it."""
        timeline = self.file_timeline()
        self._made[0] = replace(timeline, problems=(*timeline.problems, *found))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the reader found wrong but could show."""
        return tuple(self.source.problems)


def edited_recipe(recipe: Recipe, state: EditState) -> Recipe:
    """The recipe with the edits of a state in force.

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
