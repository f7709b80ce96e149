"""Python looks for rings seldom while the command line works, and as before afterwards."""

from __future__ import annotations

import gc

import pytest

from tileview.collecting import collected_seldom


def test_it_holds_meanwhile_and_ends_whatever_happens() -> None:
    before, seen = gc.get_threshold(), []

    @collected_seldom()
    def fail() -> None:
        seen.append(gc.get_threshold()[0])
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen[0] > 10 * before[0]
    assert gc.get_threshold() == before
