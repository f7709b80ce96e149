"""``tileview layout``: how a layout divides a tensor, one JSON object a question."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from typing import Any, Final

from tileview.commands.base import CONSOLE, EXIT_BAD, EXIT_NO, EXIT_OK, Arguments, UsageError, emit_json
from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.errors import LoadError, TileViewError
from tileview.formats.check import shorten
from tileview.formats.debugtensors import layout_from_text, precision_from_text
from tileview.formats.tensorjson import layout_from_json, precision_from_json
from tileview.model.sizes import U64_MAX
from tileview.model.tensor import Layout, Precision, Shape

MOST_OWNERS: Final = 1 << 20
"""Above this ``tile_elements`` is null: the list would serve nobody and take gigabytes."""

LONGEST_LINE: Final = 1 << 24
"""Bytes a question may have."""

BAD_INPUT: Final = "BadInput"
"""``error.kind`` of a question that is no question; all other kinds are the compiler's reasons."""


def run_layout(arguments: Arguments) -> int:
    """One question from the arguments, or one a line from standard input (``--jsonl``).

    Returns 0 where every layout resolves, 1 where one does not, 2 where a question was malformed (it is answered with
    an error of kind ``BadInput`` and the others are still answered).
    """
    if arguments.jsonl:
        if arguments.layout is not None or arguments.shape is not None:
            raise UsageError("--jsonl takes shapes and layouts from standard input, not from the arguments")
        return _answer_lines()
    if arguments.layout is None or arguments.shape is None:
        raise UsageError("layout needs --shape and a LAYOUT, or --jsonl (see tileview layout --help)")
    layout = _layout_from_argument(arguments.layout)
    precision = None if arguments.precision is None else _precision(arguments.precision)
    answer = _answer(_checked_shape(arguments.shape), layout, precision)
    emit_json(answer)
    return EXIT_OK if answer["ok"] else EXIT_NO


def _answer_lines() -> int:
    code = EXIT_OK
    for number, line in _lines():
        try:
            answer = _answer(*_question(_text(line)))
        except TileViewError as error:
            answer = _failure(BAD_INPUT, f"line {number}: {_reason(error)}")
            code = EXIT_BAD
        if not answer["ok"] and code == EXIT_OK:
            code = EXIT_NO
        emit_json(answer)
        if CONSOLE.closed:
            break
    return code


def _lines() -> Iterator[tuple[int, bytes]]:
    """Non-empty lines of standard input with their numbers; of one that is too long only the beginning."""
    reader = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8", "surrogatepass"))
    number = 0
    while line := reader.readline(LONGEST_LINE + 1):
        number += 1
        part = line
        while len(part) > LONGEST_LINE and not part.endswith(b"\n"):
            part = reader.readline(LONGEST_LINE + 1)
        if line.strip():
            yield number, line


def _text(line: bytes) -> str:
    """A line as text: in UTF-8, whatever the terminal's encoding is."""
    if len(line) > LONGEST_LINE:
        raise UsageError(f"the line is longer than {LONGEST_LINE:,} bytes")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"byte {error.start} of the line, 0x{line[error.start]:02x}, is not UTF-8 there") from None


def _question(line: str) -> tuple[Shape, Layout, Precision | None]:
    question = _json(line, "line")
    if not isinstance(question, dict) or "shape" not in question or "layout" not in question:
        raise UsageError('expected an object with "shape" and "layout"')
    layout = question["layout"]
    precision = question.get("precision")
    return (
        _checked_shape(question["shape"]),
        _layout_from_argument(layout) if isinstance(layout, str) else layout_from_json(layout, "layout"),
        None if precision is None else _precision(precision),
    )


def _json(text: str, what: str) -> Any:
    """A text as JSON, as strictly as dumps are read: no NaN, no key twice, no number of thousands of digits."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=_whole, object_pairs_hook=_object)
    except RecursionError:
        raise UsageError(f"the {what} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"the {what} is not JSON: {error}") from None


def _whole(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'the key "{shorten(key)}" twice in an object')
        found[key] = value
    return found


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


def _checked_shape(shape: Any) -> Shape:
    if not isinstance(shape, list | tuple) or any(type(n) is not int or not 0 <= n < U64_MAX for n in shape):
        raise UsageError("the shape must be a list of whole numbers below 2^64 − 1")
    if len(shape) > 64:
        raise UsageError("shapes of more than 64 dimensions are not accepted")
    return tuple(shape)


def _layout_from_argument(text: str) -> Layout:
    """A layout as Debug text (``Layout { … }``) or as JSON (``{"order": …}``)."""
    if not text.lstrip().startswith("{"):
        return layout_from_text(text)
    return layout_from_json(_json(text, "layout"), "layout")


def _precision(value: Any) -> Precision:
    """A precision as Debug text, as JSON, or by the bare name ``F8F143``."""
    if value == "F8F143":
        return precision_from_json({"F8F143": {"scale_exponent": 0}}, "precision")
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        return precision_from_text(value)
    return precision_from_json(_json(value, "precision") if isinstance(value, str) else value, "precision")


def _answer(shape: Shape, layout: Layout, precision: Precision | None) -> dict[str, Any]:
    """The answer to one question; ``maximum_bytes`` only where a precision was given."""
    try:
        resolved = resolve(shape, layout)
    except LayoutError as error:
        answer = _failure(error.kind.value, error.text)
    else:
        owners = resolved.owner_count
        answer = {
            "ok": True,
            "error": None,
            "padded_shape": list(resolved.padded_shape),
            "maximum_elements": resolved.maximum_elements,
            "tile_elements": resolved.owner_elements().tolist() if owners <= MOST_OWNERS else None,
        }
    if precision is not None:
        size = precision.element_bytes
        elements = answer["maximum_elements"]
        answer["maximum_bytes"] = None if size is None or elements is None else elements * size
    return answer


def _failure(kind: str, text: str) -> dict[str, Any]:
    return {
        "ok": False,
        "error": {"kind": kind, "text": text},
        "padded_shape": None,
        "maximum_elements": None,
        "tile_elements": None,
    }


def _reason(error: TileViewError) -> str:
    if isinstance(error, LoadError):
        place = f"{error.place}: " if error.place else ""
        return f"{place}expected {error.expected}, found {error.found}. {error.hint}".strip()
    return str(error)
