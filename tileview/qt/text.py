"""Texts for Qt: names from files are shown as they are, never taken for markup, and never so long that Qt chokes."""

from __future__ import annotations

import html
import re

from PySide6.QtGui import Qt

_LONG_WORD = re.compile(r"\S{240,}")


def cut_words(text: str) -> str:
    """The text with the middle cut out of endless words.

    Breaking a word of 20,000 characters into lines takes Qt seconds, and nobody reads it to its end; whoever wants to
    finds it whole in the exported tables.
    """
    return _LONG_WORD.sub(lambda found: f"{found.group()[:150]} … {found.group()[-60:]}", text)


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
