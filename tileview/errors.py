"""The errors that TileView lets out; nothing else may reach a user."""

from __future__ import annotations


class TileViewError(Exception):
    """Base of every error with a text meant for the user."""


class LoadError(TileViewError):
    """A file that cannot be read as what it claims to be.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    place : str
        Where in it: ``byte 17``, ``line 2, column 40``, a JSON path such as ``recipe.plans.12.operator``, or ``""``.
    expected, found : str
        What should stand there and what does (shortened for display).
    hint : str
        What the user can do about it.
    """

    def __init__(self, path: str, place: str, expected: str, found: str, hint: str = "") -> None:
        self.path = path
        self.place = place
        self.expected = expected
        self.found = found
        self.hint = hint
        super().__init__(self.text())

    def text(self) -> str:
        """One sentence: file, place, expected, found, hint."""
        where = f"{self.path}: {self.place}" if self.place else self.path
        sentence = f"{where}: expected {self.expected}, found {self.found}."
        return f"{sentence} {self.hint}" if self.hint else sentence

    def __reduce__(self) -> tuple[type[LoadError], tuple[str, str, str, str, str]]:
        return LoadError, (self.path, self.place, self.expected, self.found, self.hint)


class PlanError(TileViewError):
    """A recipe that cannot be lowered.

    Parameters
    ----------
    text : str
        Which value or plan, and why.
    operation : int or None
        Graph operation whose plan is refused, None where no single one is at fault.
    """

    def __init__(self, text: str, operation: int | None = None) -> None:
        self.operation = operation
        self.reason = text
        super().__init__(text if operation is None else f"operation {operation}: {text}")

    def __reduce__(self) -> tuple[type[PlanError], tuple[str, int | None]]:
        return type(self), (self.reason, self.operation)


class GraphError(PlanError):
    """A graph that cannot be run whatever the plans are: it reads what nothing makes, or its figures do not agree."""


class WorkError(PlanError):
    """A recipe that asks for more work than TileView takes on: what it comes to is not known. Says how much it is."""

    def __reduce__(self) -> tuple[type[PlanError], tuple[str, int | None]]:
        return WorkError, (self.reason, self.operation)


class SaveError(TileViewError):
    """A file could not be written; what stood at the target is untouched."""
