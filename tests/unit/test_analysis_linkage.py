"""A recipe and a timeline of one compile: matching by origin, name and operation id, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

from tests.helpers.opened import estimate, opened
from tileview.analysis.linkage import Linkage, LinkValue, link, statement
from tileview.model.graph import AddKind, Graph, GraphInput, InputKind, Operation
from tileview.model.tensor import F16
from tileview.model.timeline import Timeline

GRAPH = Graph(
    inputs=(GraphInput("x", InputKind.HOST, 0, (1, 4)), GraphInput("w", InputKind.PARAMETER, 1, (1, 4))),
    sequences=(),
    operations=(Operation(0, (0, 1), (2,), AddKind()),),
    outputs=(2,),
    shapes={0: (1, 4), 1: (1, 4), 2: (1, 4)},
    next_operation=1,
    next_value=3,
)


def value(index: int, origin: int, name: str, size: int = 8, shape: tuple[int, ...] = (1, 4)) -> LinkValue:
    return LinkValue(index, origin, name, shape, F16, "Layout", size)


LEFT = [value(0, 0, "x"), value(1, 1, "w"), value(2, 2, "operation 0 result 0")]


def test_equal_sides_match_whole() -> None:
    found = link(GRAPH, LEFT, LEFT, [0, None], 8, 8)
    assert found.pairs == ((0, 0), (1, 1), (2, 2))
    assert found.only_left == found.only_right == ()
    assert found.is_one_compile
    assert statement(found, LEFT, LEFT) == [
        "3 of the timeline's 3 values matched by origin and name.",
        "All matched values have the same shape, precision, layout and size.",
        "The timeline's steps name operation 0 of the graph.",
    ]


def test_several_alike_are_matched_in_order() -> None:
    twice = [value(0, 2, "operation 0 result 0"), value(1, 2, "operation 0 result 0")]
    once = [value(0, 2, "operation 0 result 0")]
    assert link(GRAPH, twice, once, [], 8, 8).pairs == ((0, 0),)
    assert link(GRAPH, twice, once, [], 8, 8).only_left == (1,)
    assert link(GRAPH, once, twice, [], 8, 8).only_right == (1,)


def test_a_name_alone_or_an_origin_alone_is_no_match() -> None:
    right = [value(0, 5, "x"), value(1, 1, "v")]
    found = link(GRAPH, LEFT, right, [], 8, 8)
    assert found.pairs == ()
    assert found.only_right == (0, 1)
    # An input by another name is no input of this graph; what stems from something else may be called as it likes.
    assert found.contradictions == ("input 1 is w in the recipe, v in the timeline",)
    both = [value(0, 0, "y"), value(1, 1, "v"), value(2, 2, "z")]
    assert link(GRAPH, LEFT, both, [], 8, 8).contradictions == (
        "input 0 is x in the recipe, y in the timeline (and 1 more input likewise)",
    )


def test_matched_values_that_differ_are_named_with_both_figures() -> None:
    right = [value(0, 0, "x", 16), *LEFT[1:]]
    found = link(GRAPH, LEFT, right, [0], 8, 8)
    assert found.differing == ((0, 0, "size 8 B / 16 B"),)
    assert "1 matched value differs (recipe / timeline): x: size 8 B / 16 B." in statement(found, LEFT, right)


def test_what_cannot_be_of_one_compile_is_said_first() -> None:
    right = [value(0, 0, "x", shape=(2, 4))]
    found = link(GRAPH, LEFT, right, [7], 64, 1472)
    assert not found.is_one_compile
    assert statement(found, LEFT, right)[0] == (
        "These two are not of one compile: the recipe plans for 64 tiles, the timeline has 1,472; "
        "x is [1,4] in the recipe, [2,4] in the timeline; the timeline names operation 7 that the graph does not have."
    )


def _values(timeline: Timeline) -> list[LinkValue]:
    return [
        LinkValue(i, v.origin, v.name, v.shape, v.precision, str(v.layout), v.bytes)
        for i, v in enumerate(timeline.values)
    ]


def _linked(recipe: str, dump: str, fusion: bool = True) -> tuple[Linkage, Timeline, Timeline]:
    """Two samples linked; the estimate of the one and the other."""
    session, file = opened(recipe), opened(dump).timeline
    session.set_fusion(fusion)
    estimate(session)
    graph, timeline = session.graph, session.timeline
    assert graph is not None
    assert timeline is not None
    assert file is not None
    sources = [step.source for step in file.steps]
    found = link(graph, _values(timeline), _values(file), sources, timeline.tile_count, file.tile_count)
    return found, timeline, file


def test_the_sample_recipe_and_the_timeline_made_from_it_are_one_compile() -> None:
    """The sample timeline is of the program without the compiler's fusions."""
    found, timeline, file = _linked("vit3-64tiles.recipe.json", "vit3-64tiles.v3.timeline.json", fusion=False)
    assert found.is_one_compile
    assert len(found.pairs) == len(timeline.values) == len(file.values)
    assert found.differing == ()


def test_two_samples_of_different_compiles_are_told_apart() -> None:
    found, _, _ = _linked("vit3-64tiles.recipe.json", "rejected-op0.timeline.json")
    assert not found.is_one_compile


def test_models_that_share_only_their_numbering_are_told_apart() -> None:
    """Four layers against 27: ids, tile count and the first shapes agree, the names do not."""
    found, _, _ = _linked("so400m-over.recipe.json", "rejected-op0.timeline.json")
    assert not found.is_one_compile
    assert found.contradictions[0] == (
        "input 11 is vit.encoder.layer4.attention_norm.scale in the recipe, vit.encoder.layer0.attention_norm.bias in "
        "the timeline (and 58 more inputs likewise)"
    )


def test_a_value_without_an_origin_is_matched_with_its_like() -> None:
    nameless = [replace(value(0, 0, "temp"), origin=None)]
    assert link(GRAPH, nameless, nameless, [], 8, 8).pairs == ((0, 0),)
