"""Plans in plain words, and what differs between two of them.

Everything a plan says is first taken apart into *facts*: (label, text) pairs in a fixed order (:func:`plan_facts`).
The one-line form and the differences are both made from plain fields, so that a field which TileView learns to read
shows up in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileview.analysis.operation_words import view_words
from tileview.analysis.words import (
    Fact,
    counted,
    fact_differences,
    layout_facts,
    layout_words,
    power_of_two,
    precision_short,
    precision_words,
)
from tileview.model.plan import (
    AttentionDispatch,
    AttentionOperator,
    BlockedGemm,
    Dispatch,
    Distribution,
    GemmOperator,
    LayerNormParts,
    Operator,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Plan,
    Pointwise,
    ProductGrid,
    Requirement,
    SliceOperator,
    Staging,
    StagingKind,
    Unknown,
    ViewDispatch,
    ViewOperator,
)
from tileview.model.recipe import Recipe

# -- operators ------------------------------------------------------------------------------------------------------


def operator_name(operator: Operator) -> str:
    """``Gemm``, ``Add`` … or the unknown operator's own name."""
    if isinstance(operator, Unknown):
        return operator.name
    name = type(operator).__name__.removesuffix("Operator")
    return "FlashAttention" if name == "Attention" else name


def operator_facts(operator: Operator) -> list[Fact]:
    """An operator taken apart."""
    facts = [("operator", operator_name(operator))]
    if isinstance(operator, GemmOperator):
        facts.append(("multiply", precision_words(operator.multiply)))
        facts.append(("accumulate", precision_words(operator.accumulate)))
        if operator.transpose_left or operator.transpose_right:
            facts.append(("transposed left", _yes(operator.transpose_left)))
            facts.append(("transposed right", _yes(operator.transpose_right)))
    elif isinstance(operator, AttentionOperator):
        facts.append(("causal", _yes(operator.causal)))
        facts.append(("scale", operator.scale))
        facts.append(("accumulate", precision_words(operator.accumulate)))
    elif isinstance(operator, SliceOperator):
        facts.append(("slice", f"dimension {operator.axis} from {operator.start}, {operator.length} long"))
    elif isinstance(operator, ViewOperator):
        facts.append(("view", view_words(operator)))
    elif isinstance(operator, Unknown):
        facts.append(("operator text", operator.text))
    return facts


def _yes(on: bool) -> str:
    return "yes" if on else "no"


def staging_words(staging: Staging) -> str:
    """``all partials at once``, ``streamed``, ``in batches of 4``."""
    if staging.kind is StagingKind.COMPLETE:
        return "all partials at once"
    if staging.kind is StagingKind.STREAMED:
        return "partials streamed one by one"
    return f"partials in batches of {staging.batch}"


def _grid(grid: ProductGrid | None) -> str:
    return "none" if grid is None else f"{grid.rows} × {grid.columns} × {grid.inner}"


def _scale(exponent: int | None) -> str:
    return "in F16" if exponent is None else f"in F8 scaled by {power_of_two(exponent)}"


def distribution_facts(distribution: Distribution) -> list[Fact]:
    """How a matrix product is spread over tiles, taken apart."""
    if isinstance(distribution, OutputStationary):
        return [("distribution", "output stationary")]
    if isinstance(distribution, Unknown):
        return [("distribution", f"unknown: {distribution.name}"), ("distribution text", distribution.text)]
    assert isinstance(distribution, ParallelReduction)
    grid = (distribution.row_partitions, distribution.column_partitions, distribution.inner_partitions)
    return [
        ("distribution", "parallel reduction"),
        ("grid (rows × columns × inner)", " × ".join(map(str, grid))),
        ("result parts", f"{distribution.result_row_partitions} × {distribution.result_column_partitions}"),
        ("sum", staging_words(distribution.reduction_staging)),
    ]


def dispatch_facts(dispatch: Dispatch) -> list[Fact]:
    """How an operator is run, taken apart."""
    if isinstance(dispatch, BlockedGemm):
        return [
            ("orientation", "swapped" if dispatch.orientation is Orientation.SWAPPED else "normal"),
            *distribution_facts(dispatch.distribution),
            ("inner block", str(dispatch.inner_block)),
            ("output column block", str(dispatch.output_column_block)),
        ]
    if isinstance(dispatch, Pointwise):
        return [("dispatch", "on local shards"), ("kernel", dispatch.kernel)]
    if isinstance(dispatch, LayerNormParts):
        return [("dispatch", "in parts"), ("parts", str(dispatch.parts))]
    if isinstance(dispatch, ViewDispatch):
        return [("dispatch", "one copy")]
    if isinstance(dispatch, Unknown):
        return [("dispatch", f"unknown: {dispatch.name}"), ("dispatch text", dispatch.text)]
    assert isinstance(dispatch, AttentionDispatch)
    return [
        ("dispatch", "materialized" if dispatch.materialized else "online"),
        ("key block rows", str(dispatch.key_block_rows)),
        ("query–key grid", _grid(dispatch.query_key)),
        ("weights–value grid", _grid(dispatch.probability_value)),
        ("query–key product", _scale(dispatch.fp8_scales[0])),
        ("weights–value product", _scale(dispatch.fp8_scales[1])),
        ("padded query width", str(dispatch.padded_query_dimension)),
        ("padded value width", str(dispatch.padded_value_dimension)),
    ]


def requirement_facts(requirement: Requirement, every: bool = False) -> list[Fact]:
    """What a plan asks of one operand, taken apart; what is as usual is left out, unless ``every`` fact is wanted."""
    facts = [("precision", precision_words(requirement.format.precision)), *layout_facts(requirement.format.layout)]
    if every or requirement.local_staging != "Direct":
        facts.append(("local staging", requirement.local_staging))
    if every or requirement.materialization != "Complete":
        facts.append(("materialization", requirement.materialization))
    return facts


def requirement_words(requirement: Requirement) -> str:
    """A requirement in one line."""
    words = f"{precision_words(requirement.format.precision)}; {layout_words(requirement.format.layout)}"
    if requirement.local_staging != "Direct":
        words += f"; staging {requirement.local_staging}"
    if requirement.materialization != "Complete":
        words += f"; materialization {requirement.materialization}"
    return words


# -- plans ----------------------------------------------------------------------------------------------------------


def dispatch_words(dispatch: Dispatch) -> str:
    """A dispatch in one line: grid, blocks, staging."""
    if isinstance(dispatch, BlockedGemm):
        return _gemm_words(dispatch)
    if isinstance(dispatch, Pointwise):
        return f"on local shards, kernel {dispatch.kernel}"
    if isinstance(dispatch, LayerNormParts):
        return f"in {dispatch.parts} parts of the last dimension"
    if isinstance(dispatch, ViewDispatch):
        return "one copy"
    if isinstance(dispatch, Unknown):
        return f"unknown dispatch {dispatch.name}"
    assert isinstance(dispatch, AttentionDispatch)
    words = ["materialized" if dispatch.materialized else "online", f"key blocks of {dispatch.key_block_rows} rows"]
    for what, grid in (("query–key", dispatch.query_key), ("weights–value", dispatch.probability_value)):
        if grid is not None:
            words.append(f"{what} grid {_grid(grid)}")
    for what, scale in zip(("query–key", "weights–value"), dispatch.fp8_scales, strict=True):
        if scale is not None:
            words.append(f"{what} {_scale(scale)}")
    return ", ".join(words)


def _gemm_words(dispatch: BlockedGemm) -> str:
    distribution = dispatch.distribution
    blocks = f"blocks {dispatch.inner_block} inner × {dispatch.output_column_block} columns"
    if isinstance(distribution, ParallelReduction):
        rows, columns, inner = (
            distribution.row_partitions,
            distribution.column_partitions,
            distribution.inner_partitions,
        )
        words = [f"grid {rows} × {columns} × {inner}", blocks, staging_words(distribution.reduction_staging)]
    elif isinstance(distribution, OutputStationary):
        words = ["output stationary", blocks]
    else:
        words = [f"unknown distribution {distribution.name}", blocks]
    if dispatch.orientation is Orientation.SWAPPED:
        words.append("swapped")
    return ", ".join(words)


def plan_words(plan: Plan) -> str:
    """A plan in one line, led by what plans of its kind differ in: the grid of a product, the owners of a result."""
    if isinstance(plan.operator, Unknown):
        return f"unknown operator {plan.operator.name}; {dispatch_words(plan.dispatch)}"
    words = dispatch_words(plan.dispatch)
    if isinstance(plan.operator, GemmOperator):
        words = f"{words}, {precision_short(plan.operator.multiply)} product"
    elif isinstance(plan.dispatch, Pointwise | LayerNormParts):
        words = f"{counted(plan.output.format.layout.tiling.tile_count, 'owner')}, {words}"
    return words


def plan_is_known(plan: Plan) -> bool:
    """False where the operator, the dispatch or its distribution is one that TileView does not know."""
    if isinstance(plan.operator, Unknown) or isinstance(plan.dispatch, Unknown):
        return False
    return not (isinstance(plan.dispatch, BlockedGemm) and isinstance(plan.dispatch.distribution, Unknown))


def plan_facts(plan: Plan, every: bool = False) -> list[Fact]:
    """A plan taken apart: operator, dispatch, result, operands, aliasing; labels are unique.

    ``every`` as in :func:`requirement_facts`.
    """
    facts = [*operator_facts(plan.operator), *dispatch_facts(plan.dispatch)]
    facts.extend((f"result: {label}", text) for label, text in requirement_facts(plan.output, every))
    for number, requirement in enumerate(plan.inputs):
        facts.extend((f"operand {number}: {label}", text) for label, text in requirement_facts(requirement, every))
    facts.append(("may reuse the memory of", _aliases(plan.may_alias)))
    return facts


def _aliases(operands: Sequence[int]) -> str:
    return ", ".join(f"operand {operand}" for operand in operands) if operands else "nothing"


def plan_differences(base: Plan, other: Plan) -> tuple[str, ...]:
    """What ``other`` does differently from ``base``: ``inner block 144 → 288``; empty for equal plans."""
    return fact_differences(plan_facts(base, every=True), plan_facts(other, every=True))


_SHORT_LABELS = {
    "grid (rows × columns × inner)": "grid",
    "output column block": "column block",
    "result parts": "result",
    "operator": "",
    "dispatch": "",
    "distribution": "",
    "orientation": "",
    "sum": "",
}
"""Labels of a plan's choices in a line of changes; empty where the choice says what it is about."""
_GONE = "—"


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """One thing that a plan does differently from another: ``grid``, ``8×36×5``, ``8×18×9``."""

    label: str
    before: str
    after: str

    @property
    def short_lead(self) -> str:
        """What stands before the new value at least: ``grid ``."""
        return f"{self.label} ".lstrip()

    @property
    def lead(self) -> str:
        """With the old value: ``grid 8×36×5 → ``."""
        return f"{self.label} {self.before} → ".lstrip()

    @property
    def words(self) -> str:
        return self.lead + self.after


def plan_changes(base: Plan, other: Plan) -> tuple[PlanDifference, ...]:
    """What ``other`` chooses differently from ``base``: the choices alone, of which layouts and the rest follow.

    Only where all choices are the same is it told what differs otherwise; empty for equal plans.
    """
    facts = [[*operator_facts(plan.operator), *dispatch_facts(plan.dispatch)] for plan in (base, other)]
    changes = _changes(*facts)
    return changes or _changes(plan_facts(base, every=True), plan_facts(other, every=True))


def told_apart(base: Plan, plans: Sequence[Plan]) -> list[tuple[PlanDifference, ...]]:
    """The changes of several plans; of those that choose alike, one thing more by which they differ."""
    found = [plan_changes(base, plan) for plan in plans]
    for changes in set(found):
        alike = [place for place, one in enumerate(found) if one == changes]
        facts = [dict(plan_facts(plans[place], every=True)) for place in alike]
        labels = [label for label in facts[0] if len({one.get(label) for one in facts}) > 1]
        before = dict(plan_facts(base, every=True)) if labels else {}
        for place, after in zip(alike, facts, strict=True):
            more = [PlanDifference(label, before.get(label, _GONE), after.get(label, _GONE)) for label in labels[:1]]
            found[place] = (*changes, *more)
    return found


def _changes(base: Sequence[Fact], other: Sequence[Fact]) -> tuple[PlanDifference, ...]:
    before, after = dict(base), dict(other)
    found = []
    for label in dict.fromkeys([*before, *after]):
        old, new = before.get(label), after.get(label)
        if old == new or (new is None and any(one not in before or before[one] != after[one] for one in after)):
            continue
        short = _SHORT_LABELS.get(label, label)
        found.append(PlanDifference(short, _value(label, old), _value(label, new)))
    return tuple(found)


def _value(label: str, text: str | None) -> str:
    """A value in few letters: ``8×36×5``; of the parts of a result ``rows in 5 parts``."""
    if text is None:
        return _GONE
    if label == "result parts":
        rows, columns = text.split(" × ")
        parts = [f"{what} in {count} parts" for what, count in (("rows", rows), ("columns", columns)) if count != "1"]
        return " and ".join(parts) or "whole"
    return text.replace(" × ", "×")


def words_against(recipe: Recipe, operation: int, alternative: int) -> str:
    """A plan in words; where they are those of the current plan too, what differs between the two."""
    plan = recipe.alternatives[operation][alternative]
    own = recipe.plans.get(operation)
    words = plan_words(plan)
    if own is None or own == plan or plan_words(own) != words:
        return words
    return f"{words}; {short_differences(own, plan)}"


def short_differences(base: Plan, other: Plan, most: int = 3) -> str:
    """The first differences in one line; how many more there are; ``same`` where there are none."""
    differences = plan_differences(base, other)
    if not differences:
        return "same"
    shown = "; ".join(differences[:most])
    rest = len(differences) - most
    return f"{shown}; {rest} more" if rest > 0 else shown
