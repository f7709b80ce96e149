"""Golden placements, and requests made by hand and by hypothesis."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.helpers.golden_program import DATA
from tileview.model.placement import END, Memory, Ranges, Request, TileProblem
from tileview.model.tensor import MemoryClass

PLACEMENT = DATA / "placement"
Json = dict[str, Any]

KIB = 1024
LOW = 393_216  # an element's start in region 0
B = 524_288  # region 1 begins


def golden_json(name: str) -> Any:
    """A file below ``data/placement``, compressed or not."""
    raw = (PLACEMENT / name).read_bytes()
    return json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)


def dump_file(name: str, folder: Path) -> Path:
    """A golden dump (``valid/…`` or ``broken/…``) under its own name in a folder."""
    source = PLACEMENT / "dumps" / name
    target = folder / Path(name).name
    target.write_bytes(source.read_bytes() if source.exists() else gzip.decompress(Path(f"{source}.gz").read_bytes()))
    return target


@cache
def golden_problems() -> list[Json]:
    return [p for name in ("hand.json.gz", "large.json.gz") for p in golden_json(name)["problems"]]


def as_request(entry: Json) -> Request:
    return Request(
        MemoryClass(entry["class"]),
        entry["bytes"],
        entry["alignment"],
        entry["lifetime"]["first"],
        entry["lifetime"]["last"],
        tuple((root, offset) for root, offset in entry["assignments"]),
        tuple(entry["conflicts"]),
        entry["region1_stride"],
        entry["auxiliary"],
    )


def as_problem(entry: Json) -> TileProblem:
    ranges = tuple((start, end) for start, end in entry["ranges"])
    memory = Memory(ranges, entry["interleaved_offset"])
    return TileProblem(entry["tile"], memory, tuple(map(as_request, entry["requests"])))


def digest(addresses: tuple[int | None, ...]) -> str:
    return hashlib.sha256(",".join(map(str, addresses)).encode()).hexdigest()[:16]


def standard(
    size: int, first: int, last: int, root: int, *, align: int = 8, conflicts: tuple[int, ...] = (), **more: Any
) -> Request:
    return Request(MemoryClass.STANDARD, size, align, first, last, ((root, 0),), conflicts, **more)


def interleaved(size: int, first: int, last: int, root: int, *, align: int = 8, **more: Any) -> Request:
    return Request(MemoryClass.INTERLEAVED, size, align, first, last, ((root, 0),), **more)


_LIVES = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(sorted)


@st.composite
def problems(draw: st.DrawFn) -> TileProblem:
    """Up to nine requests of every trait in small memory about the region boundary, some in the window."""
    edges = draw(st.lists(st.integers(0, 30), min_size=2, max_size=6, unique=True).map(sorted))
    edges = edges[: len(edges) // 2 * 2]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    ranges: Ranges = tuple((B - 60_000 + a * 4_000, B - 60_000 + b * 4_000) for a, b in pairs)
    if draw(st.booleans()):
        ranges = ((327_680, 360_448), *ranges)
    requests = []
    for index in range(draw(st.integers(1, 9))):
        first, last = draw(_LIVES)
        members = draw(st.integers(1, 3))
        stride = draw(st.sampled_from([0, 64, 2_048, 9_000]))
        strided = draw(st.booleans()) and members > 1 and stride > 0
        requests.append(
            Request(
                draw(st.sampled_from(list(MemoryClass))),
                stride * members,
                draw(st.sampled_from([0, 1, 4, 8, 32, 4_096])),
                first,
                draw(st.sampled_from([last, last, END])),
                tuple((10 * index + member, member * stride) for member in range(members if stride else 1)),
                tuple(draw(st.lists(st.sampled_from(range(0, 100, 10)), max_size=2, unique=True))),
                32_768 if strided else None,
            )
        )
    offset = draw(st.sampled_from([0, 0, 4_096]))
    return TileProblem(0, Memory(ranges, offset), tuple(requests))
