"""A session on a sample file, its estimate computed at once: what views and tables are tested on; exports whole."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tileview.formats.opening import open_file
from tileview.formats.save import Changes, render
from tileview.formats.search_state import SearchState
from tileview.session.document import Document
from tileview.session.session import Session

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


@lru_cache(maxsize=8)
def document(name: str) -> Document:
    """A sample file, read once."""
    path = SAMPLES / name
    return Document(path, open_file(path))


def rendered(state: SearchState, changes: Changes | None = None) -> bytes:
    """An export as one piece."""
    return b"".join(render(state, changes))


def estimate(session: Session) -> None:
    """Compute what has to be computed and publish it."""
    job = session.job()
    if job is not None:
        session.publish(job.run())


def opened(name: str, session: Session | None = None) -> Session:
    """A session with a sample open and estimated."""
    session = Session() if session is None else session
    session.open(document(name))
    estimate(session)
    return session
