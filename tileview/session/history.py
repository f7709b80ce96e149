"""Undo and redo."""

from __future__ import annotations

from tileview.session.edits import Edit
from tileview.session.state import EditState

Step = tuple[str, EditState]
"""The label of an edit, and the state it leads to."""


class History:
    """The edits done and undone, and the state they lead to.

    The clean mark is the state last exported (at first the unedited one); :attr:`is_clean` compares states, not
    counts, so that undoing back to it, or editing back to it, is clean again.
    """

    def __init__(self, state: EditState | None = None) -> None:
        self._state = EditState() if state is None else state
        self._clean = self._state
        self._done: list[Edit] = []
        self._undone: list[Edit] = []

    @property
    def state(self) -> EditState:
        return self._state

    @property
    def is_clean(self) -> bool:
        """True where nothing would be lost by closing: budgets are what-if and do not count."""
        return self._state.plan_key() == self._clean.plan_key()

    @property
    def undo_label(self) -> str | None:
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        return self._undone[-1].label if self._undone else None

    @property
    def done(self) -> tuple[Edit, ...]:
        """The current edits, oldest first."""
        return tuple(self._done)

    def steps(self) -> tuple[Step, ...]:
        """The current edits by label and the state each led to, oldest first."""
        found, state = [], self._state
        for edit in reversed(self._done):
            found.append((edit.label, state))
            state = edit.inverse().apply(state)
        return tuple(reversed(found))

    def do(self, edit: Edit) -> bool:
        """Apply an edit; False (and no new entry) where it changes nothing."""
        state = edit.apply(self._state)
        if state == self._state:
            return False
        self._state = state
        self._done.append(edit)
        self._undone.clear()
        return True

    def undo(self) -> Edit | None:
        """Undo the last edit; the edit that was undone, None where there is none."""
        if not self._done:
            return None
        edit = self._done.pop()
        self._state = edit.inverse().apply(self._state)
        self._undone.append(edit)
        return edit

    def redo(self) -> Edit | None:
        if not self._undone:
            return None
        edit = self._undone.pop()
        self._state = edit.apply(self._state)
        self._done.append(edit)
        return edit

    def mark_clean(self) -> None:
        self._clean = self._state
