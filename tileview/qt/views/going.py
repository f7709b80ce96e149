"""Going to where something can be seen."""

from __future__ import annotations

from tileview.session.session import Session


def go_where_live(session: Session, root: int) -> None:
    """Turn to a step where an allocation is live, unless it is at the selected one."""
    timeline, step = session.timeline, session.selection.step
    if timeline is None or (step is not None and root in timeline.steps[step].live):
        return
    for entry in timeline.steps:
        if root in entry.live:
            session.select_step(entry.index)
            return
