"""Plans in a recipe's JSON: operators, dispatches, requirements.

Version 6 folds what a plan asks of its operands into ``requirements``; versions 7 and 8 have ``inputs``, ``output`` (a
bare format) and ``reuse_inputs`` in its place. Both say the same and give the same :class:`Plan`.

A search keeps tens of thousands of alternatives that differ in a few numbers and share nearly every requirement, so
:class:`PlanReader` reads each distinct piece once and hands the same object out again (keyed by the piece's JSON): that
keeps a large recipe small in memory and makes comparing plans cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import orjson

from tileview.formats.check import FieldError, Fields, described, list_of, object_of, signed, u64
from tileview.formats.tensorjson import debug_text_of_json, layout_from_json, one_of, precision_from_json, variant
from tileview.model.plan import (
    AddOperator,
    AttentionDispatch,
    AttentionOperator,
    BlockedGemm,
    Dispatch,
    Distribution,
    GeluOperator,
    GemmOperator,
    LayerNormOperator,
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
from tileview.model.tensor import Format, Layout

_ORIENTATIONS = {item.value: item for item in Orientation}
UNFOLDED_SINCE: Final = 7
"""The first version of a search state whose plans have no ``requirements``."""


# -- operators ------------------------------------------------------------------------------------------------------


def _gemm(payload: object, place: str) -> Operator:
    fields = Fields(payload, place)
    options = fields.fields("options")
    return GemmOperator(
        options.flag("transpose_left"),
        options.flag("transpose_right"),
        precision_from_json(fields.raw("multiply", "a precision"), fields.where("multiply")),
        precision_from_json(fields.raw("accumulate", "a precision"), fields.where("accumulate")),
    )


def _attention_operator(payload: object, place: str) -> Operator:
    fields = Fields(payload, place)
    options = fields.fields("options")
    scale = options.raw("scale", "a scale")
    return AttentionOperator(
        options.flag("causal"),
        debug_text_of_json(scale, options.where("scale")),
        precision_from_json(fields.raw("accumulate", "a precision"), fields.where("accumulate")),
    )


def _slice(payload: object, place: str) -> Operator:
    fields = Fields(payload, place)
    return SliceOperator(fields.u64("axis"), fields.u64("start"), fields.u64("length"))


def _view(payload: object, place: str) -> Operator:
    fields = Fields(payload, place)
    return ViewOperator(
        fields.u64("split_axis"), fields.u64("merge_axis"), fields.u64("factor"), fields.flag("reversed")
    )


_BARE_OPERATORS: dict[str, Operator] = {
    "Add": AddOperator(),
    "Gelu": GeluOperator(),
    "LayerNorm": LayerNormOperator(),
}
_OPERATORS: dict[str, Callable[[object, str], Operator]] = {
    "Gemm": _gemm,
    "FlashAttention": _attention_operator,
    "Slice": _slice,
    "View": _view,
}


def _key(value: object, place: str) -> bytes:
    """The JSON of a piece: what it is cached under."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise FieldError(place, "nesting of at most 250 levels", described(value)) from None


def _unknown(name: str, value: object) -> Unknown:
    return Unknown(name, _key(value, "").decode())


def operator_from_json(value: object, place: str) -> Operator:
    """What is computed; a variant that is not listed in the format's description is :class:`Unknown`."""
    name, payload = variant(value, place)
    if payload is None and name in _BARE_OPERATORS:
        return _BARE_OPERATORS[name]
    if payload is not None and name in _OPERATORS:
        return _OPERATORS[name](payload, f"{place}.{name}")
    return _unknown(name, value)


# -- dispatches -----------------------------------------------------------------------------------------------------


def _staging(value: object, place: str) -> Staging | None:
    name, payload = variant(value, place)
    if payload is None and name in ("Complete", "Streamed"):
        return Staging(StagingKind(name))
    if name == "Batched" and payload is not None:
        return Staging(StagingKind.BATCHED, u64(payload, f"{place}.Batched"))
    return None


def _distribution(value: object, place: str) -> Distribution:
    name, payload = variant(value, place)
    if payload is None and name == "OutputStationary":
        return OutputStationary()
    if name == "ParallelReduction" and payload is not None:
        fields = Fields(payload, f"{place}.{name}")
        staging = _staging(fields.raw("reduction_staging", "a staging"), fields.where("reduction_staging"))
        if staging is not None:
            return ParallelReduction(
                fields.u64("row_partitions"),
                fields.u64("column_partitions"),
                fields.u64("inner_partitions"),
                fields.u64("result_row_partitions"),
                fields.u64("result_column_partitions"),
                staging,
            )
    return _unknown(name, value)


def _blocked_gemm(payload: object, place: str) -> Dispatch:
    fields = Fields(payload, place)
    orientation = one_of(fields.raw("orientation", "an orientation"), _ORIENTATIONS, fields.where("orientation"))
    distribution = _distribution(fields.raw("distribution", "a distribution"), fields.where("distribution"))
    return BlockedGemm(fields.u64("inner_block"), fields.u64("output_column_block"), orientation, distribution)


def _grid(fields: Fields, name: str) -> ProductGrid | None:
    if fields.raw(name, "a grid or null") is None:
        return None
    inner = fields.fields(name)
    return ProductGrid(inner.u64("rows"), inner.u64("columns"), inner.u64("inner"))


def _attention(payload: object, place: str) -> Dispatch:
    fields = Fields(payload, place)
    scales = fields.list("fp8_scales")
    where = fields.where("fp8_scales")
    if len(scales) != 2:
        raise FieldError(where, "two entries", described(scales))
    first, second = (None if s is None else signed(s, f"{where}[{i}]") for i, s in enumerate(scales))
    return AttentionDispatch(
        (first, second),
        _grid(fields, "query_key"),
        _grid(fields, "probability_value"),
        fields.flag("materialized"),
        fields.u64("key_block_rows"),
        fields.u64("padded_query_dimension"),
        fields.u64("padded_value_dimension"),
    )


_LOCAL_KERNELS: Final = ("Add", "Gelu", "LayerNorm", "FlashAttention")
"""The operators whose ``LocalKernel`` is known: the kernel of the same name."""


def dispatch_from_json(value: object, operator: object, place: str, version: int = 6) -> Dispatch:
    """How it is computed; a variant that the version does not have is :class:`Unknown`.

    The kernel of a version 6 ``Pointwise`` repeats the operator, options included (``{"FlashAttention": {…}}``); its
    name is kept. A kernel with other options than the operator's is not something TileView knows. Later versions write
    ``LocalKernel``: the kernel follows from the operator.
    """
    name, payload = variant(value, place)
    if payload is None:
        kernel_name = variant(operator, place)[0]
        if name == "LocalKernel" and version >= UNFOLDED_SINCE and kernel_name in _LOCAL_KERNELS:
            return Pointwise(kernel_name)
        return ViewDispatch() if name == "View" else _unknown(name, value)
    where = f"{place}.{name}"
    if name == "BlockedGemm":
        return _blocked_gemm(payload, where)
    if name == "Attention":
        return _attention(payload, where)
    if name == "LayerNorm":
        return LayerNormParts(Fields(payload, where).u64("parts"))
    if name == "Pointwise" and version < UNFOLDED_SINCE:
        kernel = Fields(payload, where).raw("kernel", "a kernel")
        kernel_name, options = variant(kernel, f"{where}.kernel")
        if options is None or kernel == operator:
            return Pointwise(kernel_name)
    return _unknown(name, value)


# -- plans ----------------------------------------------------------------------------------------------------------


def _aliasing(value: object, place: str) -> tuple[int, ...]:
    name, payload = variant(value, place)
    if name == "Fresh" and payload is None:
        return ()
    if name == "MayAliasInputs":
        where = f"{place}.MayAliasInputs"
        return tuple(u64(item, f"{where}[{index}]") for index, item in enumerate(list_of(payload, where)))
    raise FieldError(place, "Fresh or MayAliasInputs", described(value))


_FOLDED: Final = ("operator", "dispatch", "requirements")
_UNFOLDED: Final = ("operator", "dispatch", "inputs", "output", "reuse_inputs")


class PlanReader:
    """Reads formats and plans of one document, spelt as its version spells them, each distinct piece once.

    Pieces are keyed by their JSON as :mod:`orjson` writes it, which costs a few hundred nanoseconds; so 60,000
    alternatives are read in a second or two and equal pieces are the same object.
    """

    def __init__(self, version: int = 6) -> None:
        self._version = version
        self._outputs: dict[bytes, Requirement] = {}
        self._layouts: dict[bytes, Layout] = {}
        self._formats: dict[bytes, Format] = {}
        self._requirements: dict[bytes, Requirement] = {}
        self._operators: dict[bytes, Operator] = {}
        self._dispatches: dict[bytes, Dispatch] = {}

    def format(self, value: object, place: str) -> Format:
        """A format: ``{"precision": …, "layout": …}``."""
        key = _key(value, place)
        found = self._formats.get(key)
        if found is None:
            fields = Fields(value, place)
            precision = precision_from_json(fields.raw("precision", "a precision"), fields.where("precision"))
            layout = self._layout(fields.raw("layout", "a layout"), fields.where("layout"))
            found = self._formats[key] = Format(precision, layout)
        return found

    def _layout(self, value: object, place: str) -> Layout:
        key = _key(value, place)
        found = self._layouts.get(key)
        if found is None:
            found = self._layouts[key] = layout_from_json(value, place)
        return found

    def requirement(self, value: object, place: str) -> Requirement:
        key = _key(value, place)
        found = self._requirements.get(key)
        if found is None:
            fields = Fields(value, place)
            found = self._requirements[key] = Requirement(
                self.format(fields.raw("format", "a format"), fields.where("format")),
                fields.text("local_staging"),
                fields.text("materialization"),
            )
        return found

    def plan(self, value: object, place: str) -> Plan:
        """A plan: operator, dispatch, and what it asks of its operands."""
        fields = object_of(value, place)
        folded = self._version < UNFOLDED_SINCE
        for name in _FOLDED if folded else _UNFOLDED:
            if name not in fields:
                raise FieldError(f"{place}.{name}", "a part of a plan", "nothing: the field is missing")
        if not folded and "requirements" in fields:
            raise FieldError(
                f"{place}.requirements", "inputs, output and reuse_inputs", "requirements, as version 6 writes them"
            )
        operator, dispatch = fields["operator"], fields["dispatch"]
        key = _key(operator, f"{place}.operator")
        known_operator = self._operators.get(key)
        if known_operator is None:
            known_operator = self._operators[key] = operator_from_json(operator, f"{place}.operator")
        key = key + _key(dispatch, f"{place}.dispatch")
        known_dispatch = self._dispatches.get(key)
        if known_dispatch is None:
            known_dispatch = dispatch_from_json(dispatch, operator, f"{place}.dispatch", self._version)
            self._dispatches[key] = known_dispatch
        asked = Fields(fields["requirements"], f"{place}.requirements") if folded else Fields(fields, place)
        where = asked.where("inputs")
        inputs = tuple(self.requirement(item, f"{where}[{index}]") for index, item in enumerate(asked.list("inputs")))
        if folded:
            output = self.requirement(asked.raw("output", "a requirement"), asked.where("output"))
            alias = asked.raw("output_aliasing", "an aliasing")
            may_alias = () if alias == "Fresh" else _aliasing(alias, asked.where("output_aliasing"))
        else:
            output = self._bare_output(fields["output"], asked.where("output"))
            may_alias = () if fields["reuse_inputs"] is None else asked.numbers("reuse_inputs")
        return Plan(known_operator, known_dispatch, inputs, output, may_alias)

    def _bare_output(self, value: object, place: str) -> Requirement:
        key = _key(value, place)
        found = self._outputs.get(key)
        if found is None:
            found = self._outputs[key] = Requirement(self.format(value, place))
        return found
