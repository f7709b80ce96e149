"""What alternatives gave, as bytes to keep for the next opening of the same file.

The first line is JSON: what the results are of (:func:`results_key`), how many there are, and a sum over the rest. The
rest is compressed: lines of JSON, each with some results and the texts that they share. Whatever differs from what this
version of the program would write is refused: then the alternatives are evaluated again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from tileview import __version__
from tileview.analysis.alternatives import AlternativeResult
from tileview.core.cycles.prices import Price
from tileview.core.memory.assemble import OwnPeak
from tileview.model.recipe import Recipe
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.timeline import Cause, Peak, Verdict
from tileview.session.edits import MOST_NUMBER, EditState, json_of, state_to_json, whole_number, yes_or_no

VERSION: Final = 1
MOST_FILE_BYTES: Final = 64 << 20
"""The results of one state of one file never take more."""
MOST_TEXT_BYTES: Final = 512 << 20
"""Nor do they when they are no longer compressed."""
_A_LINE: Final = 500
"""Results in a line: between two of them another thread may go on."""
_LARGEST: Final = 2**64
_NOT_A_SIZE: Final = "unavailable"


def results_key(content: Iterable[bytes], state: EditState) -> dict[str, Any]:
    """What results are of: a file's content (in pieces), the edits on it, what-if values and fusion among them, and the
    rules of this program."""
    digest = hashlib.sha256()
    for piece in content:
        digest.update(piece)
    return {
        "results": VERSION,
        "program": f"{__version__} {_rules()}",
        "content": digest.hexdigest(),
        "edits": state_to_json(state),
    }


@cache
def _rules() -> str:
    """What changes with the code that computes results, so that a checkout takes none of an earlier one."""
    package = Path(__file__).resolve().parents[1]
    found = []
    for part in ("model", "formats", "core", "analysis"):
        for path in sorted((package / part).rglob("*.py")):
            status = path.stat()
            found.append(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]


# -- bytes ------------------------------------------------------------------------------------------------------------


def results_to_bytes(key: Mapping[str, Any], results: Sequence[AlternativeResult]) -> bytes:
    """Results as bytes; as many of them as :data:`MOST_FILE_BYTES` hold."""
    packer, count, text_bytes = zlib.compressobj(6), 0, 0
    packed: list[bytes] = []
    size = 0
    for start in range(0, len(results), _A_LINE):
        some = results[start : start + _A_LINE]
        line = json.dumps(_line(some), separators=(",", ":")).encode() + b"\n"
        text_bytes += len(line)
        if size + len(line) > MOST_FILE_BYTES - (1 << 20) or text_bytes > MOST_TEXT_BYTES:
            break
        packed.append(packer.compress(line))
        size += len(packed[-1])
        count += len(some)
    body = b"".join((*packed, packer.flush()))
    head = {**key, "count": count, "sum": hashlib.sha256(body).hexdigest()}
    return json.dumps(head, sort_keys=True).encode() + b"\n" + body


def count_of(kept: bytes) -> int:
    """How many results the first line of some bytes speaks of. Raises ValueError where it is malformed."""
    return whole_number(_head(kept)["count"], MOST_NUMBER)


def _head(kept: bytes) -> dict[str, Any]:
    try:
        head = json_of(kept.partition(b"\n")[0].decode())
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(head, dict) or "count" not in head:
        raise ValueError("it does not begin with what it holds")
    return head


def results_from_bytes(key: Mapping[str, Any], recipe: Recipe, kept: bytes) -> list[AlternativeResult]:
    """:func:`results_to_bytes` undone. Raises ValueError for bytes of anything else, malformed in whatever way."""
    head, body = _head(kept), kept.partition(b"\n")[2]
    if head != {**key, "count": head["count"], "sum": hashlib.sha256(body).hexdigest()}:
        raise ValueError("it is of another file, state or program, or damaged")
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(body, MOST_TEXT_BYTES)
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError("it does not end where it should")
        found = [one for line in text.splitlines() for one in _results(json_of(line.decode()))]
    except (zlib.error, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    choices = {(one.operation, one.alternative) for one in found}
    if len(found) != count_of(kept) or len(choices) != len(found):
        raise ValueError("it does not hold as many results as it says")
    if any(alternative >= len(recipe.alternatives.get(operation, ())) for operation, alternative in choices):
        raise ValueError("it speaks of an alternative that the file has not")
    return found


# -- a line -----------------------------------------------------------------------------------------------------------


def _line(results: Sequence[AlternativeResult]) -> list[Any]:
    texts: dict[str, int] = {}

    def text(one: str | None) -> int | None:
        return None if one is None else texts.setdefault(one, len(texts))

    def verdict(one: Verdict) -> list[Any]:
        sizes = (one.needed_bytes, one.available_bytes, one.short_bytes, one.stated_bytes, one.found_bytes)
        return [
            one.fits, text(one.cause), text(one.text), text(one.limit), *map(_to_size, sizes),
            one.step, one.tile, one.operation, one.at_least,
        ]  # fmt: skip

    rows = [
        [
            one.operation,
            one.alternative,
            one.in_force,
            one.ok,
            text(one.error),
            None if one.peak is None else [*map(_to_size, _peak_parts(one.peak))],
            one.fits,
            one.delta_total,
            None if one.verdict is None else verdict(one.verdict),
            None if one.price is None else [*map(_to_size, one.price)],
            one.delta_cycles,
            None if one.own_peak is None else [_to_size(one.own_peak.total), _to_size(one.own_peak.spare)],
        ]
        for one in results
    ]
    return [list(texts), rows]


def _peak_parts(peak: Peak) -> tuple[Size, ...]:
    return peak.standard, peak.interleaved, peak.total, peak.maximum_standard_allocation, peak.exchange_rows


def _to_size(size: Size | None) -> int | str | None:
    return _NOT_A_SIZE if isinstance(size, Unavailable) else size


def _results(line: Any) -> Iterator[AlternativeResult]:
    texts, rows = line
    if not all(isinstance(one, str) for one in texts):
        raise ValueError("a text is none")

    def text(index: object) -> str:
        found = texts[whole_number(index, MOST_NUMBER)]
        assert isinstance(found, str)
        return found

    def verdict(row: Any) -> Verdict:
        fits, cause, said, limit, *sizes, step, tile, operation, at_least = row
        needed, available, short, stated, found = sizes
        return Verdict(
            _answer(fits), Cause(text(cause)), text(said), text(limit),
            _size(needed), _size(available), _size(short, -_LARGEST),
            _maybe(step), _maybe(tile), _maybe(operation), yes_or_no(at_least),
            None if stated is None else _size(stated), None if found is None else _size(found),
        )  # fmt: skip

    def own(row: Any) -> OwnPeak:
        total, spare = row
        return OwnPeak(_size(total), _size(spare, -_LARGEST))

    for row in rows:
        operation, alternative, in_force, ok, error, peak, fits, total, judged, price, cycles, fullest = row
        yield AlternativeResult(
            whole_number(operation, MOST_NUMBER),
            whole_number(alternative, MOST_NUMBER),
            yes_or_no(in_force),
            yes_or_no(ok),
            None if error is None else text(error),
            None if peak is None else Peak(*map(_size, _exactly(peak, 5))),
            _answer(fits),
            _maybe(total, -_LARGEST),
            None if judged is None else verdict(judged),
            None if price is None else Price(*map(_size, _exactly(price, 2))),
            _maybe(cycles, -_LARGEST),
            None if fullest is None else own(fullest),
        )


def _exactly(row: Any, count: int) -> list[Any]:
    if not isinstance(row, list) or len(row) != count:
        raise ValueError(f"{count} numbers are expected")
    return row


def _size(value: object, least: int = 0) -> Size:
    return UNAVAILABLE if value == _NOT_A_SIZE else whole_number(value, _LARGEST, least)


def _maybe(value: object, least: int = 0) -> int | None:
    return None if value is None else whole_number(value, _LARGEST, least)


def _answer(value: object) -> bool | None:
    return None if value is None else yes_or_no(value)
