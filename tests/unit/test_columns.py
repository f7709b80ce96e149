"""A program as columns: what each step mentions, which steps and values are alike, with and without a program before.

Beside what a plain look at the objects gives.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings

from tests.helpers.golden_recipes import golden_recipe
from tests.helpers.small_programs import programs
from tests.helpers.unrolled import unrolled
from tileview.core.columns import ProgramColumns, clear_cache, program_columns
from tileview.core.fusion.fuse import fuse
from tileview.core.lowering.replanner import Replanner
from tileview.errors import PlanError
from tileview.model.program import Copy, Kernel, Product, Program, Repeat, Step, Sum


def said(step: Step) -> object:
    """All that a step says beside its numbers."""
    if isinstance(step, Copy):
        return step.mapping, step.policy
    if isinstance(step, Kernel):
        return step.kernel, step.aliases, step.part
    if isinstance(step, Product):
        return step.multiply, step.accumulate, step.aliases, step.blocks
    if isinstance(step, Sum):
        return step.axis, step.staging
    return step.count if isinstance(step, Repeat) else step.reason


def mentioned(step: Step) -> list[int]:
    more = [] if not isinstance(step, Repeat) else [*(one for each in step.iterated for one in each), *step.yields]
    return [*step.inputs, *step.results, *more]


def check(program: Program, columns: ProgramColumns) -> None:
    flat = program.flatten()
    assert columns.steps == [entry.step for entry in flat]
    assert columns.counts == [entry.execution_count for entry in flat]
    assert columns.sources == [entry.step.source for entry in flat]
    starts = columns.starts.tolist()
    found = [columns.mentions[first:last].tolist() for first, last in pairwise(starts)]
    assert found == [mentioned(entry.step) for entry in flat]
    assert columns.at.tolist() == [entry.index for entry in flat for _ in mentioned(entry.step)]
    types = [(value.shape, value.precision, value.layout, value.owners) for value in program.values]
    kinds = dict(zip(columns.kinds.tolist(), types, strict=True))
    assert [kinds[kind] for kind in columns.kinds.tolist()] == types  # equal kinds, equal types
    natures: dict[int, object] = {}
    for nature, entry in zip(columns.natures.tolist(), flat, strict=True):
        step = entry.step
        all_of_it = (type(step), len(step.inputs), said(step), [types[number] for number in mentioned(step)])
        assert natures.setdefault(nature, all_of_it) == all_of_it


@settings(max_examples=60, deadline=None)
@given(programs(), programs())
def test_columns_say_what_the_objects_do(program: Program, other: Program) -> None:
    clear_cache()
    for one in (program, other, fuse(program).program, program):
        check(one, program_columns(one))


@pytest.mark.parametrize("name", ["so400m", "vit3-64tiles", "models/c07_two_repeats_t64"])
def test_columns_after_swaps_and_fusions(name: str) -> None:
    """Built on those of the program before; what is alike keeps its numbers."""
    for recipe in (golden_recipe(name), unrolled(golden_recipe(name), 3)):
        clear_cache()
        replanner = Replanner()
        first = replanner.replan(recipe)
        natures = program_columns(first).natures.tolist()
        for operation in list(recipe.alternatives)[::4]:
            try:
                program = replanner.replan(recipe.with_plan(operation, recipe.alternatives[operation][-1]))
            except PlanError:
                continue
            for one in (program, fuse(program).program):
                check(one, program_columns(one))
        again = replanner.replan(recipe)
        assert program_columns(again).natures.tolist() == natures


def test_alike_steps_are_worked_out_once() -> None:
    program = Replanner().replan(unrolled(golden_recipe("vit3-64tiles"), 3))
    columns = program_columns(program)
    asked: list[Step] = []

    def make(step: Step, values: object) -> str:
        assert values is program.values
        asked.append(step)
        return repr(type(step))

    known: dict[int, str] = {}
    assert columns.by_nature(known, make) == [repr(type(step)) for step in columns.steps]
    assert len(asked) == len(set(columns.natures.tolist())) < len(columns.steps)
    assert columns.by_nature(known, make) == [repr(type(step)) for step in columns.steps]
    assert len(asked) == len(known)
