"""Damaged dumps through everything that a window or a command does with a file: refused in words, or shown."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.helpers.mutate import damage
from tests.property.test_formats_fuzz import BASES, SAMPLES
from tileview.analysis.diagnose import diagnose
from tileview.core.memory.study import study_parts
from tileview.errors import LoadError
from tileview.formats.search_state import SearchState, search_state_from_bytes
from tileview.formats.sniff import DumpKind, sniff
from tileview.formats.timeline import timeline_from_bytes
from tileview.formats.timeline_writer import dump_timeline
from tileview.model.timeline_file import TimelineFile
from tileview.session.document import Document
from tileview.session.edits import EditState
from tileview.session.estimate_jobs import EstimateJob

CASES = 400


def opened(raw: bytes) -> SearchState | TimelineFile:
    if sniff("x", raw[:65_536]).kind is DumpKind.RECIPE:
        return search_state_from_bytes(raw, "x")
    return timeline_from_bytes(raw, "x")


def use(source: SearchState | TimelineFile) -> None:
    """Estimate, look at every number, diagnose, check, write as a timeline."""
    document = Document(Path("x.json"), source)
    estimate = EstimateJob(0, document, EditState()).run().estimate
    timeline = estimate.timeline
    assert estimate.verdict.text
    if timeline is not None:
        assert timeline.tiles.worst().shape == (len(timeline.steps), 4)
        for step in range(len(timeline.steps)):
            assert timeline.tiles.usage(step).shape == (timeline.tile_count, 2)
        assert dump_timeline(timeline)
    assert diagnose(estimate.verdict, timeline, document.recipe).headline
    if isinstance(source, TimelineFile):
        *_, problems = study_parts(source)
        assert isinstance(problems, tuple)


def test_damaged_dumps_are_refused_or_used() -> None:
    outcome: Counter[str] = Counter()
    bases = {name: (Path(SAMPLES) / name).read_bytes() for name in BASES}
    for seed in range(CASES):
        rng = random.Random(seed)
        raw = damage(rng, bases[rng.choice(list(bases))])
        try:
            source = opened(raw)
        except LoadError:
            outcome["refused"] += 1
            continue
        try:
            use(source)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        outcome["used"] += 1
    assert outcome["refused"] > 100
    assert outcome["used"] > 50
