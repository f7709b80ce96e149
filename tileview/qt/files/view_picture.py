"""A view as a picture: its parts under a caption that says what they are of."""

from __future__ import annotations

import re

from tileview.errors import SaveError
from tileview.qt.plot.picture import Picture
from tileview.qt.plot.picture_parts import Line, TextPart
from tileview.qt.views.base import View

_ODD = re.compile(r"[^\w.\-]+")


def picture_of(view: View, whole: bool = False) -> Picture:
    """A view as a picture, under its title, the name of the file, and its sentence.

    Raises
    ------
    SaveError
        Where the view has nothing to draw.
    """
    view.catch_up()
    parts = [part for part in view.picture_parts(whole) if part.width() > 0 and part.height() > 0]
    if not parts:
        raise SaveError(f"The view {view.title} has nothing to show.")
    session, theme = view.session, view.bridge.theme
    document = session.document
    title = view.title if document is None else f"{view.title} · {document.name}"
    count = len(session.history.done)
    if count and document is not None:
        title += f" with {count} edit{'s' if count != 1 else ''}"
    words = view.picture_words().strip()
    lines = [Line(title, is_bold=True), *(Line(line, "muted") for line in words.splitlines() if line)]
    width = max(part.width() for part in parts)
    caption = TextPart(lines, width, view.font(), theme)
    return Picture(title, words or view.accessibleDescription(), [caption, *parts], theme.color("surface"))


def suggested_stem(view: View) -> str:
    """``so400m-over.timeline``: the open file and the view, with nothing that a file system could refuse."""
    document = view.session.document
    stem = "tileview" if document is None else document.path.name.removesuffix(".json").removesuffix(".recipe")
    stem = _ODD.sub("_", stem.removesuffix(".timeline"))[:80]
    return f"{stem or 'tileview'}.{view.name}"
