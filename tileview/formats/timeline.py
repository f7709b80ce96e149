"""A memory timeline, version 1, 2 or 3: from a file to :class:`~tileview.model.timeline_file.TimelineFile`.

The versions share their fields. Version 1 has no numbers per tile, and what it calls ``usage`` is a sum of
per-allocation maxima. Version 2 adds ``layout_error``, the four ``tile_…`` arrays and ``coarse_usage``. Version 3
only means something else by ``peak`` (see
:attr:`~tileview.model.timeline_file.TimelineFile.peak_includes_exchange_rows`). Everything that a version adds is
optional.

A field that is needed and missing, or of the wrong type, is a :class:`~tileview.errors.LoadError`. What is merely
inconsistent (ids that occur twice, a root that names no value, an array of the wrong length) is a problem on the
document, and the rest is shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from tileview.errors import LoadError
from tileview.formats import debugtensors, debugtext
from tileview.formats.check import FieldError, Fields, described, shorten, tile_count
from tileview.formats.duplicates import repeated_keys
from tileview.formats.files import (
    MemorySource,
    OpenFile,
    Progress,
    Source,
    fingerprint,
    no_progress,
    parse_json,
    seal_as_read,
)
from tileview.formats.names import CLASSES
from tileview.formats.sniff import DumpKind, check_version, sniff
from tileview.formats.tilearrays import STEP_KEYS, VALUE_KEYS, TileArrays, decode_numbers, numbers_of_list
from tileview.formats.tilescan import Scan, scan
from tileview.model.sizes import LARGEST_LIMIT_BYTES, U64_MAX
from tileview.model.tensor import Layout, Precision, PrecisionKind
from tileview.model.timeline import ClassBytes, Peak, Problem
from tileview.model.timeline_file import FileStep, FileValue, TimelineFile

T = TypeVar("T")

_OPTIONS: Final = ("gemm_output_packing", "attention_products")
_HEAD_BYTES: Final = 65_536
_DUPLICATES_LOOKED_FOR: Final = 1 << 26
_NUMBERS_OF_ANY_FILE: Final = 1 << 22
_NUMBERS_A_BYTE: Final = 64
"""How many numbers per tile are worked out for a file: so many for any, and so many a byte. Where the file holds them
itself they take two bytes each; a version 1 file of a whole chip leaves some thirty a byte to be derived."""


def load_timeline(path: str | os.PathLike[str], progress: Progress = no_progress) -> TimelineFile:
    """Open a timeline. The file stays open for its numbers per tile until ``tiles.close()``.

    Raises
    ------
    LoadError
        Not a readable file, not JSON, another kind or version, or a field that is not what it has to be.
    """
    file = OpenFile(path)
    try:
        return timeline_from_open_file(file, progress)
    except BaseException:
        file.close()
        raise


def timeline_from_open_file(file: OpenFile, progress: Progress = no_progress) -> TimelineFile:
    """:func:`load_timeline` for a file that is open, and has to stay open while the timeline is in use."""
    return _load(file, progress)


def timeline_from_bytes(raw: bytes, path: str = "", progress: Progress = no_progress) -> TimelineFile:
    """:func:`load_timeline` for bytes in memory; ``path`` names them in errors."""
    return _load(MemorySource(raw, path), progress)


def _load(source: Source, progress: Progress) -> TimelineFile:
    path = source.path
    found = sniff(path, source.read(0, _HEAD_BYTES))
    if found.kind is not DumpKind.TIMELINE:
        hint = f"It is a {found.kind.value} and can be opened as one."
        raise LoadError(path, "", "a memory timeline", f"a {found.kind.value}", hint)
    cut = scan(source, progress, 0.6)
    progress(0.6, "parsing")
    document = parse_json(path, cut.rest, cut.file_offset)
    version = check_version(path, DumpKind.TIMELINE, document.get("version"))
    try:
        result = _Reader(source, cut, document, version, progress).read()
    except FieldError as error:
        raise error.at(path) from None
    seal_as_read(source, cut.sums)
    progress(1.0, "read")
    return result


def _refuse_amplified(tiles: int, numbers: int, size: int) -> None:
    """Raise :class:`FieldError` where a small file would take a lot of work: many numbers per tile that it lacks."""
    most = max(_NUMBERS_OF_ANY_FILE, _NUMBERS_A_BYTE * size)
    if numbers > most:
        found = f"{tiles:,} tiles, {numbers:,} in all"
        hint = "The file itself has far fewer; too much work for what it holds."
        raise FieldError("tile_count", f"at most {most:,} numbers per tile of values and steps", found, hint)


@dataclass(slots=True)
class _Reader:
    """One pass over a parsed document; ``problems`` collects what does not stop it."""

    source: Source
    cut: Scan
    document: dict[str, Any]
    version: int
    progress: Progress
    problems: list[Problem] = field(default_factory=list)

    def read(self) -> TimelineFile:
        top = Fields(self.document)
        if len(self.cut.rest) < _DUPLICATES_LOOKED_FOR:
            for place, key in repeated_keys(self.cut.rest, self.document):
                self.say("error", place or key, f'the key "{key}" occurs twice; the last one counts')
        tiles = tile_count(top)
        timeline = top.fields("timeline")
        raw_values, raw_steps = timeline.list("values"), timeline.list("steps")
        _refuse_amplified(tiles, tiles * (2 * len(raw_values) + 4 * len(raw_steps)), self.source.size)
        values = self.values(raw_values)
        roots = tuple(value.root for value in values)
        steps = self.steps(raw_steps, roots)
        arrays = self.arrays(tiles, raw_values, raw_steps)
        return TimelineFile(
            self.source.path,
            self.version,
            top.text("scope"),
            top.text("model"),
            tiles,
            self.budget(top, "budget_bytes"),
            self.budget(top, "interleaved_budget_bytes"),
            self.budget(top, "support_reserve_bytes"),
            top.size("effective_peak_bytes"),
            top.size("standard_contiguous_overflow_bytes"),
            top.flag("fits_budget"),
            self.peak(top.fields("peak")),
            self.peak_step(top, "total", len(steps)),
            self.peak_step(top, "standard", len(steps)),
            self.peak_step(top, "interleaved", len(steps)),
            values,
            steps,
            arrays,
            tuple((name, str(self.document[name])) for name in _OPTIONS if isinstance(self.document.get(name), str)),
            tuple(self.problems),
            fingerprint(self.cut.sums),
        )

    def say(self, severity: str, place: str, text: str, value: int | None = None, step: int | None = None) -> None:
        self.problems.append(Problem(severity, place, text, value=value, step=step))

    # -- top level --------------------------------------------------------------------------------------------------

    @staticmethod
    def budget(top: Fields, name: str) -> int:
        number = top.u64(name)
        if number == U64_MAX:
            raise FieldError(name, "a number of bytes", "2^64 − 1, which stands for an unavailable size")
        if number > LARGEST_LIMIT_BYTES:
            raise FieldError(name, "at most 2^62 bytes", f"{number:,}")
        return number

    @staticmethod
    def peak(fields: Fields) -> Peak:
        return Peak(
            standard=fields.size("standard"),
            interleaved=fields.size("interleaved"),
            total=fields.size("total"),
            maximum_standard_allocation=fields.size("maximum_standard_allocation"),
            exchange_rows=fields.size("exchange_rows"),
        )

    def peak_step(self, top: Fields, which: str, steps: int) -> int | None:
        name = f"{which}_peak_step"
        step = top.optional_u64(name)
        if step is not None and step >= steps:
            self.say("error", name, f"step {step} does not exist: there are {steps}")
            return None
        return step

    def arrays(self, tiles: int, values: list[Any], steps: list[Any]) -> TileArrays:
        if self.version < 2:
            values = [{} for _ in values]
            steps = [{} for _ in steps]
        arrays = TileArrays(self.source, tiles, steps, values, self.cut)
        self.problems += arrays.length_problems()
        if self.version >= 2 and not arrays.has_tiles:
            self.missing_arrays(values, VALUE_KEYS, "values")
            self.missing_arrays(steps, STEP_KEYS, "steps")
        return arrays

    def missing_arrays(self, entries: Sequence[dict[str, Any]], keys: tuple[str, ...], where: str) -> None:
        """Say in one line how many entries lack an array."""
        for key in keys:
            lacking = [index for index, entry in enumerate(entries) if entry.get(key) is None]
            if lacking and len(lacking) < len(entries):
                text = f"{len(lacking)} of {len(entries)} {where} lack {key}; the first is number {lacking[0]}"
                self.say("warning", f"timeline.{where}[{lacking[0]}].{key}", text)

    # -- values -----------------------------------------------------------------------------------------------------

    def values(self, entries: list[Any]) -> tuple[FileValue, ...]:
        result = []
        for index, entry in enumerate(entries):
            if index % 256 == 0:
                self.progress(0.65 + 0.15 * index / len(entries), "reading the values")
            result.append(self.value(index, entry))
        roots = self.roots([value.root for value in result])
        seen: dict[int, int] = {}
        for index, value in enumerate(result):
            first = seen.setdefault(value.id, index)
            if first != index:
                place = f"timeline.values[{index}].id"
                self.say("error", place, f"the id {value.id} occurs twice, first in values[{first}]", value=index)
        return tuple(
            value if value.root == root else replace(value, root=root)
            for value, root in zip(result, roots, strict=True)
        )

    def roots(self, roots: list[int]) -> list[int]:
        """Every root resolved to one that is its own root; where there is none, the value itself."""
        count = len(roots)
        direct = np.arange(count)
        for index, root in enumerate(roots):
            if root < count:
                direct[index] = root
                continue
            text = f"root {root} names no value of {count}; the value is shown as its own allocation"
            self.say("error", f"timeline.values[{index}].root", text, value=index)
        final = direct
        for _ in range(count.bit_length()):  # each round doubles how far along its chain a root has come
            final = final[final]
        ringed = direct[final] != final
        for index in np.flatnonzero(ringed).tolist():
            self.say("error", f"timeline.values[{index}].root", "the roots form a circle", value=index)
        final = np.where(ringed, np.arange(count), final)
        for index in np.flatnonzero(~ringed & (final != direct)).tolist():
            text = f"root {roots[index]} is itself an alias; its own root {final[index]} is used"
            self.say("warning", f"timeline.values[{index}].root", text, value=index)
        result: list[int] = final.tolist()
        return result

    def value(self, index: int, entry: Any) -> FileValue:
        place = f"timeline.values[{index}]"
        item = Fields(entry, place)
        name = item.text("name")
        layout_text, class_text = item.text("layout"), item.text("class")
        layout = _tried(debugtensors.layout_from_text, layout_text)
        if isinstance(layout, FieldError):
            self.say("warning", f"{place}.layout", f"the layout cannot be read: {layout.text()}", value=index)
        memory_class = CLASSES.get(class_text)
        if memory_class is None:
            self.say("warning", f"{place}.class", f"the memory class {class_text} is not known", value=index)
        return FileValue(
            item.u64("id"),
            item.u64("origin") if item.has("origin") else None,
            item.u64("root"),
            name,
            item.text("group") if item.has("group") else name,
            item.numbers("shape"),
            self.precision(item, index),
            layout if isinstance(layout, Layout) else None,
            layout_text,
            item.text("layout_error") if item.has("layout_error") else None,
            memory_class,
            class_text,
            item.u64("storage_group"),
            item.size("shard_bytes"),
            item.size("aligned_bytes"),
            item.u64("copies"),
            item.size("bytes"),
        )

    def precision(self, item: Fields, index: int) -> Precision:
        text = item.text("precision")
        found = _tried(debugtensors.precision_from_text, text)
        if isinstance(found, Precision):
            return found
        self.say("warning", item.where("precision"), f"the precision cannot be read: {found.text()}", value=index)
        return Precision(PrecisionKind.UNKNOWN, text=text)

    # -- steps ------------------------------------------------------------------------------------------------------

    def steps(self, entries: list[Any], roots: tuple[int, ...]) -> tuple[FileStep, ...]:
        result = []
        live_of = _LiveReader(self, roots)
        for position, entry in enumerate(entries):
            if position % 64 == 0:
                self.progress(0.8 + 0.2 * position / len(entries), "reading the steps")
            place = f"timeline.steps[{position}]"
            item = Fields(entry, place)
            index = item.u64("index")
            if index != position:
                text = f"the index is {index}, expected {position}; the steps are shown in the file's order"
                self.say("error", f"{place}.index", text, step=position)
            result.append(self.step(item, position, live_of))
        return tuple(result)

    def step(self, item: Fields, position: int, live_of: _LiveReader) -> FileStep:
        operation = item.text("operation")
        coarse = self.version >= 2 and item.has("coarse_usage")
        return FileStep(
            position,
            item.optional_u64("source"),
            operation,
            debugtext.first_word(operation),
            item.u64("execution_count"),
            live_of.read(item.raw("live", "a list of roots"), position),
            _class_bytes(item.fields("scratch")),
            _class_bytes(item.fields("usage")),
            _class_bytes(item.fields("coarse_usage")) if coarse else None,
        )


class _LiveReader:
    """Reads ``live`` lists into tuples that share their numbers."""

    def __init__(self, reader: _Reader, roots: tuple[int, ...]) -> None:
        self._reader = reader
        self._roots = np.array(roots, np.int64)
        self._shared = np.empty(len(roots), object)
        self._shared[:] = range(len(roots))
        self._last: tuple[bytes, tuple[int, ...]] = (b"", ())

    def read(self, item: Any, position: int) -> tuple[int, ...]:
        """The roots of a step, ascending, each existing and its own root; what had to be mended is reported."""
        place = f"timeline.steps[{position}].live"
        span = self._reader.cut.span_of(item, "live")
        text = b""
        if span is None:
            numbers = numbers_of_list(item, 1)
        else:
            text = self._reader.source.read(span.start, span.end - span.start)
            if text == self._last[0]:
                return self._last[1]
            numbers = decode_numbers(text)
        if numbers is None:
            found = described(item) if span is None else f'"{shorten(text.decode(errors="replace"))}"'
            raise FieldError(place, "a list of indices of values", found)
        faultless, result = self._mended(numbers, position, place)
        if faultless and text:
            self._last = (text, result)
        return result

    def _mended(self, numbers: npt.NDArray[np.uint64], position: int, place: str) -> tuple[bool, tuple[int, ...]]:
        known = numbers < len(self._roots)
        indices = numbers[known].astype(np.int64)
        faultless = True
        if len(indices) < len(numbers):
            missing = numbers[~known]
            text = f"{len(missing)} entries name no value (the first is {int(missing[0])}); they are left out"
            self._reader.say("error", place, text, step=position)
            faultless = False
        roots = self._roots[indices]
        aliases = np.flatnonzero(roots != indices)
        if len(aliases):
            first = int(indices[aliases[0]])
            text = f"{len(aliases)} entries are not roots (the first is {first}); their roots are taken"
            self._reader.say("warning", place, text, step=position)
            faultless = False
        if not bool(np.all(roots[1:] > roots[:-1])):
            ordered = np.unique(roots)
            if faultless:
                self._reader.say("warning", place, "the roots are not ascending, or one occurs twice", step=position)
            faultless, roots = False, ordered
        return faultless, tuple(self._shared[roots].tolist())


def _class_bytes(fields: Fields) -> ClassBytes:
    return ClassBytes(fields.size("standard"), fields.size("interleaved"))


def _tried(read: Callable[[str], T], text: str) -> T | FieldError:
    """What a text is read as, or the error."""
    try:
        return read(text)
    except FieldError as error:
        return error
