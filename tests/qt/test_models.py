"""The item model under Qt's own tester, through every kind of update; differences only, never a reset."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QItemSelectionModel, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from tests.helpers.opened import opened
from tileview.analysis.holdings import holdings, input_readers, owners_of_values, step_holdings
from tileview.model.sizes import UNAVAILABLE
from tileview.present.allocation_rows import ALLOCATIONS, AllocationFigures, flat_nodes, grouped_nodes
from tileview.present.alternative_rows import ALTERNATIVES, OperationHead, alternative_nodes, alternative_rows
from tileview.present.compare_rows import CompareSpec, CompareState, compare_nodes
from tileview.present.operation_rows import OPERATIONS, RecipeOperations, StepOperations, step_spans
from tileview.present.problem_rows import PROBLEMS, problem_nodes
from tileview.present.step_rows import StepSpec, step_nodes
from tileview.present.tables import Cell, Column, LateNodes, Node, TableSpec, Tone
from tileview.qt.base.theme import load_theme
from tileview.qt.widgets.node_model import KEY_ROLE, NodeModel


class Plain(TableSpec[tuple[str, int]]):
    """Rows of a name and a number."""

    columns = (Column("Name"), Column("Number", True, "a tip"))

    def cell(self, row: tuple[str, int], column: int) -> Cell:
        return Cell(row[0], row[0]) if column == 0 else Cell(str(row[1]), row[1], tone=Tone.OVER, bold=row[1] > 5)


def nodes(*names: str) -> list[Node[tuple[str, int]]]:
    return [Node(name, (name, len(name))) for name in names]


@pytest.fixture
def model(qapp):
    made = NodeModel(Plain(), load_theme("light"))
    made.tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    resets = []
    made.modelReset.connect(lambda: resets.append(1))
    yield made
    assert not resets
    made.deleteLater()


def shown(model: NodeModel) -> list[str]:
    return [model.data(index) for index in model.indexes()]


def test_rows_come_go_and_move(model) -> None:
    for names in (["a", "b"], ["b", "c", "a"], [], ["x"], ["a", "x", "b"], ["b"]):
        model.set_nodes(nodes(*names))
        assert shown(model) == names


def test_only_the_difference_is_told(model) -> None:
    model.set_nodes(nodes("a", "b", "c", "d"))
    told = []
    model.rowsInserted.connect(lambda parent, first, last: told.append(("in", first, last)))
    model.rowsRemoved.connect(lambda parent, first, last: told.append(("out", first, last)))
    model.layoutChanged.connect(lambda: told.append(("move",)))
    model.dataChanged.connect(lambda first, last: told.append(("data", first.row(), last.row())))
    model.set_nodes(nodes("a", "c", "d", "e"))
    assert told == [("out", 1, 1), ("in", 3, 3)]
    told.clear()
    model.set_nodes(nodes("e", "a", "c", "d"))
    assert told == [("move",)]
    told.clear()
    model.set_nodes([*nodes("e"), Node("a", ("a", 99)), *nodes("c", "d")])
    assert told == [("data", 1, 1)]
    told.clear()
    model.set_nodes([*nodes("e"), Node("a", ("a", 99)), *nodes("c", "d")])
    assert told == []


def test_persistent_indexes_follow_their_rows(model) -> None:
    model.set_nodes(nodes("a", "b", "c"))
    kept = QPersistentModelIndex(model.find("b"))
    model.set_nodes(nodes("c", "b", "new", "a"))
    assert model.data(kept) == "b"
    model.set_nodes(nodes("c"))
    assert not kept.isValid()


def test_children_are_compared_too(model) -> None:
    tree = [Node("g", ("g", 1), tuple(nodes("x", "y")))]
    model.set_nodes(tree)
    kept = QPersistentModelIndex(model.find("y"))
    model.set_nodes([Node("g", ("g", 1), tuple(nodes("z", "y", "w"))), *nodes("h")])
    assert shown(model) == ["g", "z", "y", "w", "h"]
    assert model.data(kept) == "y"
    assert model.parent(model.find("w")) == model.find("g")
    model.set_nodes(nodes("g", "h"))
    assert shown(model) == ["g", "h"]


@pytest.fixture
def untested(qapp):
    """A model without a tester, which would look below every row."""
    made = NodeModel(Plain(), load_theme("light"))
    yield made
    made.deleteLater()


class Late:
    """Children made late, and how often that was."""

    def __init__(self, *names: str) -> None:
        self.made = 0
        self.names = names

    def __call__(self) -> tuple[Node[tuple[str, int]], ...]:
        self.made += 1
        return tuple(nodes(*self.names))

    def nodes(self) -> LateNodes[tuple[str, int]]:
        return LateNodes(len(self.names), self)


def test_late_children_are_made_when_somebody_looks_below(untested) -> None:
    model = untested
    late, other = Late("x", "y"), Late("z")
    model.set_nodes([Node("a", ("a", 1), late.nodes()), Node("b", ("b", 1), other.nodes()), *nodes("c")])
    top = [model.index(row, 0) for row in range(3)]
    assert [model.rowCount(one) for one in top] == [2, 1, 0]
    assert [model.hasChildren(one) for one in top] == [True, True, False]
    never = Qt.ItemFlag.ItemNeverHasChildren
    assert [bool(model.flags(one) & never) for one in top] == [False, False, True]
    assert model.find("a") == top[0]
    assert (late.made, other.made) == (0, 0)
    below = model.index(1, 0, top[0])
    assert (model.data(below), model.parent(below)) == ("y", top[0])
    assert (late.made, other.made) == (1, 0)
    assert model.data(model.find("z")) == "z"
    assert (late.made, other.made) == (1, 1)
    assert not model.find("nothing").isValid()
    assert shown(model) == ["a", "x", "y", "b", "z", "c"]


def test_late_children_that_nobody_saw_are_replaced_unmade(untested) -> None:
    model = untested
    first, second, third = Late("x", "y"), Late("v", "w"), Late("u")
    told = []
    model.rowsInserted.connect(lambda *_: told.append("inserted"))
    model.rowsRemoved.connect(lambda *_: told.append("removed"))
    model.set_nodes([Node("a", ("a", 1), first.nodes())])
    model.set_nodes([Node("a", ("a", 1), second.nodes())])
    assert (first.made, second.made, told) == (0, 0, ["inserted"])
    model.set_nodes([Node("a", ("a", 1), third.nodes())])  # fewer: views have to be told which went
    assert told[1:] in (["removed", "inserted"], ["inserted", "removed"])
    assert shown(model) == ["a", "u"]
    model.set_nodes([Node("a", ("a", 1))])
    assert shown(model) == ["a"]
    assert not model.hasChildren(model.index(0, 0))


def test_random_updates_end_in_what_was_asked_for(model) -> None:
    chance = random.Random(4)
    for _ in range(60):
        tops = chance.sample("abcdefgh", chance.randint(0, 8))
        tree = [
            Node(
                top,
                (top, chance.randint(0, 9)),
                tuple(nodes(*(top + c for c in chance.sample("pqrs", chance.randint(0, 4))))),
            )
            for top in tops
        ]
        model.set_nodes(tree)
        expected = [name for node in tree for name in (node.key, *(child.key for child in node.children))]
        assert shown(model) == expected


def test_a_very_scattered_difference_is_told_at_once(model) -> None:
    model.set_nodes(nodes(*(f"n{i}" for i in range(2000))))
    told = []
    model.rowsInserted.connect(lambda *args: told.append(args))
    model.set_nodes(nodes(*(f"n{i}" if i % 2 else f"m{i}" for i in range(2000))))
    assert len(told) == 1
    assert model.rowCount() == 2000


def test_sorting_keeps_selection_and_is_undone_by_column_minus_one(model) -> None:
    model.set_nodes(nodes("ccc", "a", "bb"))
    selection = QItemSelectionModel(model)
    selection.select(
        model.find("bb"), QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    )
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert shown(model) == ["ccc", "bb", "a"]
    assert [index.row() for index in selection.selectedRows()] == [1]
    model.set_nodes(nodes("dddd", "a"))
    assert shown(model) == ["dddd", "a"]
    model.sort(-1)
    model.set_nodes(nodes("a", "dddd"))
    assert shown(model) == ["a", "dddd"]


def test_roles_hold_plain_strings_and_small_numbers(model) -> None:
    model.set_nodes([Node("a", ("a", 2**64 - 2)), Node("b", ("b", 3))])
    index = model.index(0, 1)
    assert model.data(index) == "18446744073709551614"
    assert model.data(index, Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight.value
    assert model.data(model.index(0, 0), Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignLeft.value
    assert model.data(index, Qt.ItemDataRole.ForegroundRole).name() == load_theme("light").over
    assert model.data(index, Qt.ItemDataRole.FontRole).bold()
    assert model.data(index, Qt.ItemDataRole.AccessibleTextRole) == "Number: 18446744073709551614"
    assert model.data(index, KEY_ROLE) == "a"
    assert model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) == "a tip"
    for role in range(40):
        value = model.data(index, role)
        assert value is None or not isinstance(value, int) or abs(value) < 2**31


def test_a_theme_changes_colours_only(model) -> None:
    model.set_nodes(nodes("a", "b"))
    told = []
    model.dataChanged.connect(lambda first, last, roles: told.append([int(role) for role in roles]))
    model.set_theme(load_theme("dark"))
    assert told == [[int(Qt.ItemDataRole.ForegroundRole)]]
    colour = model.data(model.index(0, 1), Qt.ItemDataRole.ForegroundRole).name()
    assert colour == load_theme("dark").over


def test_clearing_is_the_one_reset(qapp) -> None:
    model = NodeModel(Plain(), load_theme("light"))
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_nodes(nodes("a"))
    resets = []
    model.modelReset.connect(lambda: resets.append(1))
    model.clear()
    assert resets == [1]
    assert model.rowCount() == 0


def test_every_table_of_a_sample_passes_the_tester(qapp) -> None:
    session = opened("vit3-64tiles.recipe.json")
    recipe, timeline, verdict = session.recipe, session.timeline, session.verdict
    assert recipe is not None
    assert timeline is not None
    assert verdict is not None
    figures = AllocationFigures(timeline)
    owners, readers, spans = owners_of_values(recipe.graph), input_readers(recipe.graph), step_spans(timeline)
    rejected = opened("rejected-op0.timeline.json")
    assert rejected.timeline is not None
    lost, steps = AllocationFigures(rejected.timeline), StepOperations(rejected.timeline)
    states = [CompareState("a", verdict, timeline, recipe)]
    tables = [
        (ALLOCATIONS, [flat_nodes(figures.table(s)) for s in (0, 50, 106)]),
        (ALLOCATIONS, [grouped_nodes(figures.table(s)) for s in (0, 50, 106)]),
        (
            OPERATIONS,
            [
                RecipeOperations(recipe, spans).nodes(holdings(timeline, s, 0, owners, readers), query, within)
                for s, query, within in ((0, "", None), (106, "gemm", None), (20, "", (15, 40)), (20, "", None))
            ],
        ),
        (OPERATIONS, [steps.nodes(step_holdings(rejected.timeline, s, 0)) for s in (0, 2)]),
        (ALLOCATIONS, [flat_nodes(lost.table(0)), grouped_nodes(lost.table(3)), flat_nodes(lost.table(1))]),
        (StepSpec(), [step_nodes(timeline), step_nodes(rejected.timeline), step_nodes(timeline, "gelu"), ()]),
        (
            ALTERNATIVES,
            [
                alternative_nodes(
                    [(OperationHead(op, "Gemm", "", 2), alternative_rows(recipe, op, None, None, {})) for op in shown]
                )
                for shown in ((0, 4), (4, 35), (35,), ())
            ],
        ),
        (PROBLEMS, [problem_nodes(rejected.timeline, rejected.problems, rejected.verdict), ()]),
        (CompareSpec(["a"]), [compare_nodes(states), ()]),
    ]
    for spec, updates in tables:
        model = NodeModel(spec, load_theme("dark"))
        tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
        for update in updates:
            model.set_nodes(update)
            for index in model.indexes():
                for column in range(model.columnCount()):
                    text = model.data(index.siblingAtColumn(column))
                    assert type(text) is str
                    assert "18446744073709551615" not in text
        for column in range(len(spec.columns)):
            model.sort(column, Qt.SortOrder.DescendingOrder)
        del tester


def test_unavailable_sizes_are_words(qapp) -> None:
    class Sizes(TableSpec[object]):
        columns = (Column("Size", True),)

        def cell(self, row: object, column: int) -> Cell:
            return Cell("unavailable", UNAVAILABLE)

    model = NodeModel(Sizes(), load_theme("light"))
    model.set_nodes([Node(0, None)])
    assert model.data(model.index(0, 0)) == "unavailable"
