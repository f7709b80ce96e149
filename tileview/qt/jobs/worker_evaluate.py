"""What the worker process does with alternatives: evaluate them. Imports no more than that needs."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.alternatives import evaluate as evaluate_one
from tileview.analysis.trials import Evaluator, Trial
from tileview.core.lowering.replanner import Replanner
from tileview.model.recipe import Overrides, Recipe
from tileview.qt.jobs.worker import Reporter

PART_SECONDS = 0.15
"""How often results go out."""


@dataclass(slots=True)
class _Planned:
    """What the last evaluation lowered, kept for the next one of the same state."""

    key: object
    recipe: Recipe
    replanner: Replanner
    baseline: Trial


_KEPT: list[_Planned] = []


def share(recipe: Recipe, operations: tuple[int, ...]) -> Recipe:
    """The part of a recipe that evaluating some operations' alternatives needs: of a large one, little."""
    return replace(recipe, alternatives={operation: recipe.alternatives.get(operation, ()) for operation in operations})


def evaluate(payload: tuple[object, Recipe, Overrides], reporter: Reporter) -> None:
    """Evaluate every alternative of a recipe's share; results go out in parts, a few times a second.

    The payload's key says which state the share is of: all shares of one state are evaluated against what was lowered
    for the first of them.
    """
    key, part, overrides = payload
    if not _KEPT or _KEPT[0].key != key:
        replanner = Replanner()
        _KEPT[:] = [_Planned(key, part, replanner, Evaluator(part, overrides, replanner).trial(()))]
    planned = _KEPT[0]
    recipe = replace(planned.recipe, alternatives=part.alternatives)
    found: list[AlternativeResult] = []
    sent = time.monotonic()
    for operation, plans in part.alternatives.items():
        for index in range(len(plans)):
            reporter.check()
            found.append(evaluate_one(recipe, operation, index, planned.replanner, overrides, planned.baseline))
            if time.monotonic() - sent > PART_SECONDS:
                reporter.part(found)
                found, sent = [], time.monotonic()
    reporter.part(found)
