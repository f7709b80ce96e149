"""What is looked at once is counted as what is kept, and not kept."""

from __future__ import annotations

import numpy as np

from tests.helpers.make_timeline import write_timeline
from tileview.core.memory.check_file import check_arrays
from tileview.core.memory.footprint import footprint
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.timeline import load_timeline


def test_shards_counted_once_are_those_that_are_kept(tmp_path):
    path = tmp_path / "made.json"
    write_timeline(path, 30, 60, 16)
    timeline = timeline_from_file(load_timeline(path))
    for value in timeline.values:
        derived = footprint(value.shape, value.precision, value.layout, 16)
        counted = derived.count_shards(16)
        np.testing.assert_array_equal(counted, derived.shards(16))
        assert derived.count_shards(16) is derived.shards(16)


def test_a_check_finds_nothing_amiss_in_a_sound_file(tmp_path):
    path = tmp_path / "made.json"
    write_timeline(path, 30, 60, 16)
    file = load_timeline(path)
    assert [problem for problem in check_arrays(file, timeline_from_file(file)) if problem is not None] == []
