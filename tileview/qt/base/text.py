"""Texts for Qt: names from files are shown as they are, never as markup, and never so long that Qt chokes."""

from __future__ import annotations

import html
import re
from pathlib import Path

from PySide6.QtGui import Qt

_LONG_WORD = re.compile(r"\S{240,}")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible_text(text: str) -> str:
    """The text with control characters, and marks that reorder what follows, written out as Rust does.

    A name may hold a mark that shows the rest of its line from right to left, figures included: ``12,3`` for ``3,21``.
    """
    return _UNSEEN.sub(lambda found: f"\\u{{{ord(found.group()):x}}}", text)


def short_path(path: Path, most: int = 90) -> str:
    """A path for a menu: its beginning and the name of the file, what is between cut out where it is long."""
    text = visible_text(str(path))
    if len(text) <= most:
        return text
    end = text[-max(min(len(path.name) + 1, most - 20), most // 2) :]
    return f"{text[: most - len(end) - 1]}…{end}"


def cut_words(text: str) -> str:
    """The text as it can be shown over several lines: :func:`visible_text`, and the middle cut out of endless words.

    Breaking a word of 20,000 characters into lines takes Qt seconds, and nobody reads it to its end; whoever wants to
    finds it whole in the exported tables.
    """
    return _LONG_WORD.sub(lambda found: f"{found.group()[:150]} … {found.group()[-60:]}", visible_text(text))


def page_text(text: str) -> str:
    """A text as part of an HTML page."""
    return html.escape(cut_words(text))


def plain_tip(text: str) -> str:
    """A tooltip that shows a text as it is.

    Qt decides by the look of a tooltip whether it is HTML; a name such as ``<b>`` would be taken for it. An empty text
    stays empty: no tooltip.
    """
    shown = html.escape(cut_words(text), quote=False)
    return f'<p style="white-space:pre-wrap">{shown}</p>' if text else ""


def safe_tip(text: str) -> str:
    """A text for any tooltip: as it is, unless Qt would take it for markup."""
    return plain_tip(text) if Qt.mightBeRichText(text) else cut_words(text)
