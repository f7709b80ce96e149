"""A session that shows a hand-made timeline, as if a file had been opened and estimated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tileview.model.timeline import Problem, Timeline, Verdict
from tileview.session.document import Document
from tileview.session.estimate_jobs import EstimateResult
from tileview.session.session import Pin, Session


@dataclass(frozen=True)
class FakeSource:
    """Neither a recipe nor a timeline file: all that a document asks of it."""

    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class FakeEstimate:
    timeline: Timeline | None
    verdict: Verdict
    program: Any = None
    error: Any = None
    notes: tuple[str, ...] = ()
    fusion: Any = None
    other_peak: Any = None
    cycles: Any = None
    price: Any = None


def show(session: Session, timeline: Timeline, name: str = "fake.timeline.json") -> None:
    """Open a document and put a timeline in force as its estimate."""
    document = Document(Path("/fake") / name, FakeSource())  # type: ignore[arg-type]
    session.open(document)
    publish(session, timeline)


def publish(session: Session, timeline: Timeline) -> None:
    """Put another timeline in force for the open document."""
    document = session.document
    assert document is not None
    result = FakeEstimate(timeline, timeline.verdict)
    assert session.publish(EstimateResult(session.revision, document, session.state, result))  # type: ignore[arg-type]


def set_baseline(session: Session, timeline: Timeline) -> None:
    """Compare with a timeline."""
    document = session.document
    assert document is not None
    estimate = FakeEstimate(timeline, timeline.verdict)
    session.set_baseline(Pin("baseline", document, session.state, estimate))  # type: ignore[arg-type]


def session_of(timeline: Timeline) -> Session:
    """A session that shows a timeline."""
    session = Session()
    show(session, timeline)
    return session
