"""The verdict on a timeline file: its headline held against its own steps, values and arrays.

A file says several times over what its peaks are. Where these accounts lead to different outcomes, or a number that
they rest on is damaged, it is not known whether the program fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tileview.core.memory.check_file import known_overflow
from tileview.core.memory.verdict import TOTAL_LIMIT, Budgets, Unsized, contiguous_bytes, decide, deciding_sizes
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.timeline import Account, Cause, Evidence, Peak, Place, Verdict
from tileview.model.timeline_file import TimelineFile

PlaceOf = Callable[[int | None, bool], Place]
"""Where the total (or, with True, the interleaved) usage of a step is largest."""

TILES: Final = "its tiles"
"""The source of the account that the usage arrays of all steps give."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What reading all arrays of a file adds to the evidence: the accounts that they give, and what is damaged.

    ``peak_steps``: the earliest steps of the standard, interleaved and total peak; None where they cannot be told.
    """

    own: tuple[Account, ...] = ()
    damage: tuple[str, ...] = ()
    peak_steps: tuple[int, int, int] | None = None


# -- accounts -------------------------------------------------------------------------------------------------------


def stated_accounts(file: TimelineFile, peak: Peak, place: PlaceOf) -> tuple[Account, ...]:
    """The headline's peaks, and what its effective peak and its contiguous overflow say where they differ from them.

    Parameters
    ----------
    peak : Peak
        The file's, in the meaning of version 3.
    """
    headline = Account("its peaks", peak, place(file.total_peak_step, False), place(file.interleaved_peak_step, True))
    accounts = [headline]
    rows = file.peak.exchange_rows if file.peak_includes_exchange_rows else 0
    effective = file.effective_peak_bytes
    if isinstance(effective, int) and isinstance(rows, int):
        total: Size = max(effective - file.reserve_bytes - rows, 0)
    else:
        total = UNAVAILABLE if isinstance(effective, Unavailable) else peak.total
    if total != peak.total:
        accounts.append(replace(headline, source="its effective peak", peak=replace(peak, total=total)))
    room, overflow = contiguous_bytes(file.reserve_bytes), known_overflow(file)
    largest = peak.maximum_standard_allocation
    over = isinstance(overflow, Unavailable) or overflow > 0
    if isinstance(largest, int) and over != (largest > room):
        largest = 0 if isinstance(overflow, Unavailable) or not overflow else room + overflow
        size: Size = UNAVAILABLE if isinstance(overflow, Unavailable) else largest
        stated = replace(peak, maximum_standard_allocation=size)
        accounts.append(replace(headline, source="its contiguous overflow", peak=stated))
    return tuple(accounts)


def steps_account(file: TimelineFile, stated: Peak, largest: Size, place: PlaceOf) -> tuple[Account, ...]:
    """What the steps' own usage gives; nothing without steps.

    From version 2 on, usage is that of the tile with the largest total: of the two classes it says only that their
    peaks are no smaller, so what the headline says of them beyond that is taken over.

    Parameters
    ----------
    stated : Peak
        The headline's.
    largest : Size
        The largest standard allocation by the values' sizes and the steps' scratch.
    """
    if not file.steps:
        return ()
    total, step = _largest([entry.usage.total for entry in file.steps])
    standard, _ = _largest([entry.usage.standard for entry in file.steps])
    interleaved, second = _largest([entry.usage.interleaved for entry in file.steps])
    if not file.usage_is_coarse:
        standard = _at_least(standard, stated.standard)
        if _at_least(interleaved, stated.interleaved) != interleaved:
            interleaved, second = stated.interleaved, file.interleaved_peak_step or 0
    peak = Peak(standard, interleaved, total, largest, stated.exchange_rows)
    return (Account("its steps", peak, place(step, False), place(second, True)),)


def sums_account(
    source: str, sums: Sequence[Sequence[int]], largest: Size, place: PlaceOf, at_least: bool
) -> tuple[Account, ...]:
    """An account of (standard, interleaved, total) at every step; nothing without steps."""
    if not sums:
        return ()
    columns = [list(column) for column in zip(*sums, strict=True)]
    most = [max(column) for column in columns]
    peak = Peak(most[0], most[1], most[2], largest, UNAVAILABLE)
    total, interleaved = columns[2].index(most[2]), columns[1].index(most[1])
    return (Account(source, peak, place(total, False), place(interleaved, True), at_least=at_least),)


def _largest(sizes: Sequence[Size]) -> tuple[Size, int]:
    """The largest size (an unavailable one is larger than any) and the first index that has it."""
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) < len(sizes):
        return UNAVAILABLE, next(index for index, size in enumerate(sizes) if isinstance(size, Unavailable))
    most = max(numbers)
    return most, numbers.index(most)


def _at_least(found: Size, stated: Size) -> Size:
    if isinstance(found, Unavailable) or isinstance(stated, Unavailable):
        return found
    return max(found, stated)


# -- the verdict ----------------------------------------------------------------------------------------------------


def verdict_on(evidence: Evidence, budgets: Budgets, unsized: tuple[Unsized, ...], own_budgets: bool = True) -> Verdict:
    """The verdict on all accounts of a file.

    A value without a valid layout never fits. Else: different outcomes are a contradiction; where all fit but
    something is damaged, it is not known; where all lead to the same outcome, the verdict is on the headline's figures,
    at the place where the file's own steps have the peak.

    Parameters
    ----------
    own_budgets : bool
        Whether the budgets are the file's, so that its own word on them counts.
    """
    if any(value.invalid_layout for value in unsized):
        return _decided(evidence.stated[0], budgets, unsized)
    stated = [(account, _decided(account, budgets)) for account in evidence.stated]
    own = [(account, _decided(account, budgets)) for account in evidence.own]
    outcomes = {verdict.fits for _, verdict in (*stated, *own)} - {None}
    if own_budgets and stated[0][1].fits is not None and not unsized:
        outcomes |= {evidence.claim} - {None}
    if len(outcomes) > 1:
        return _contradiction(evidence, stated, own, budgets)
    if False in outcomes:
        account, verdict = next(item for item in (*stated, *own) if item[1].fits is False)
        return _at_own_place(verdict, account, evidence)
    if unsized:
        known = next((item for item in own if isinstance(item[0].peak.total, int)), stated[0])
        return _decided(known[0], budgets, unsized)
    account, verdict = stated[0]
    damage = (*evidence.damage, *_lost(evidence))
    if damage:
        left = next((found for _, found in (*stated, *own) if found.fits is not None), verdict)
        return damaged(replace(left, fits=True), damage)
    return _at_own_place(verdict, account, evidence)


def _lost(evidence: Evidence) -> tuple[str, ...]:
    """A sentence on each account of all of the program in which a figure that decides is unavailable; where the
    headline is one, on that alone."""
    lost = [
        account
        for account in (*evidence.stated, *evidence.own)
        if not account.at_least and any(isinstance(size, Unavailable) for size in deciding_sizes(account.peak))
    ]
    if lost and lost[0] is evidence.stated[0]:
        return ("its peaks are unavailable",)
    return tuple(f"by {account.source} a peak is unavailable (2^64 − 1)" for account in lost)


def damaged(left: Verdict, damage: Sequence[str]) -> Verdict:
    """The verdict on a damaged file, given that on what is left of it: where that would fit, it is not known."""
    if not damage or not left.fits:
        return left
    more = f", and {len(damage) - 1:,} more such faults" if len(damage) > 1 else ""
    text = f"the file is damaged: {damage[0]}{more}. Of what is left: {left.text}"
    return replace(left, fits=None, cause=Cause.DAMAGED, text=text)


def doubted(verdict: Verdict, base: Verdict) -> Verdict:
    """The verdict on a file with other layouts, which rests on the same file: as little known as the file's own."""
    if not verdict.fits or base.cause not in (Cause.CONTRADICTION, Cause.DAMAGED):
        return verdict
    return replace(verdict, fits=None, cause=base.cause, text=f"{base.text}. With these layouts: {verdict.text}")


def _decided(account: Account, budgets: Budgets, unsized: tuple[Unsized, ...] = ()) -> Verdict:
    return decide(
        account.peak,
        budgets,
        total_place=account.total_place,
        interleaved_place=account.interleaved_place,
        standard_place=account.standard_place,
        unsized=unsized,
        at_least=account.at_least,
        unknown=Cause.DAMAGED,
    )


_Decided = tuple[Account, Verdict]


def _contradiction(
    evidence: Evidence, stated: Sequence[_Decided], own: Sequence[_Decided], budgets: Budgets
) -> Verdict:
    """Two accounts that lead to different outcomes, the headline's first; or all of them against the file's word."""
    account, first = next(item for item in (*stated, *own) if item[1].fits is not None)
    against = next((item for item in (*own, *stated) if item[1].fits is (not first.fits)), None)
    if against is None:
        word = "fits" if evidence.claim else "does not fit"
        text = f"the file contradicts itself: it says that it {word}, by {account.source}: {first.text}"
        needed = first.needed_bytes
        return replace(first, fits=None, cause=Cause.CONTRADICTION, text=text, stated_bytes=needed, found_bytes=needed)
    other, second = against
    text = f"the file contradicts itself: by {account.source}, {first.text}; by {other.source}, {second.text}"
    over = first if first.fits is False else second
    figures = [_needed(one.peak, over, budgets) for one in (account, other)]
    return replace(
        over, fits=None, cause=Cause.CONTRADICTION, text=text, stated_bytes=figures[0], found_bytes=figures[1]
    )


def _needed(peak: Peak, over: Verdict, budgets: Budgets) -> Size:
    """What an account gives for the limit that another one exceeds."""
    if over.cause is Cause.INTERLEAVED:
        return peak.interleaved
    if over.cause is Cause.CONTIGUOUS:
        return peak.maximum_standard_allocation
    return peak.total if isinstance(peak.total, Unavailable) else peak.total + budgets.reserve


def _at_own_place(verdict: Verdict, account: Account, evidence: Evidence) -> Verdict:
    """The verdict at the place where the file's own steps (its tiles, where all are read) have that peak."""
    whole = [own for own in evidence.own if not own.at_least]
    if not whole:
        return verdict
    best = next((own for own in whole if own.source == TILES), whole[0])
    interleaved = verdict.cause is Cause.INTERLEAVED
    if verdict.limit != TOTAL_LIMIT and not interleaved:
        return verdict
    said = account.interleaved_place if interleaved else account.total_place
    place = best.interleaved_place if interleaved else best.total_place
    text = verdict.text.removesuffix(str(said)) + str(place)
    return replace(verdict, text=text, step=place.step, tile=place.tile, operation=place.operation)
