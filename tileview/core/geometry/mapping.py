"""Whether strides form a mapping: every combination of parts falls to equally many owners."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np

_MOST_ENUMERATED = 1 << 24
"""Owners that are walked one by one, at most, to judge strides that no rule covers."""


def is_mapping(divided: Sequence[tuple[int, int]], owners: int, replicas: int) -> bool:
    """Whether every combination of coordinates ⌊t / stride⌋ mod partitions occurs for exactly ``replicas`` owners t.

    Three answers, cheapest first. Where, sorted by stride, each stride is a multiple of the span (stride · partitions)
    before it and the owners are a multiple of the last span, coordinates are digits of a mixed-radix number:
    independent, a mapping. Where the owners are no multiple of some axis's span, that axis alone is uneven (its last
    coordinate occurs less often than its first): no mapping. Only what is left is counted, over one period of all axes;
    a period of more than 2^24 owners is not, and taken for no mapping (a chip has 1472).

    Parameters
    ----------
    divided : sequence of (stride, partitions)
        The axes with more than one partition; strides ≥ 1.
    owners, replicas : int
        Owners in all, and how many shall hold each part; replicas · Π partitions = owners.
    """
    chain = sorted(divided)
    span = 1
    for stride, partitions in chain:
        if stride % span:
            break
        span = stride * partitions
    else:
        if owners % span == 0:
            return True
    if any(owners % (stride * partitions) for stride, partitions in chain):
        return False
    return _counted_evenly(chain, owners, replicas)


def _counted_evenly(chain: Sequence[tuple[int, int]], owners: int, replicas: int) -> bool:
    """Count the combinations over one period, which divides ``owners`` because every span does."""
    period = lcm(*(stride * partitions for stride, partitions in chain))
    combinations = owners // replicas
    if combinations > period or period > _MOST_ENUMERATED:
        return False
    owner = np.arange(period, dtype=np.int64)
    combination = np.zeros(period, dtype=np.int64)
    for stride, partitions in chain:
        combination = combination * partitions + owner // stride % partitions
    counts = np.bincount(combination, minlength=combinations)
    return bool((counts * combinations == period).all())
