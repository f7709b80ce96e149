"""Texts for Qt: names from files are shown as they are, never taken for markup."""

from __future__ import annotations

import html

from PySide6.QtGui import Qt


def plain_tip(text: str) -> str:
    """A tooltip that shows a text as it is.

    Qt decides by the look of a tooltip whether it is HTML; a name such as ``<b>`` would be taken for it. An empty text
    stays empty: no tooltip.
    """
    return f'<p style="white-space:pre-wrap">{html.escape(text, quote=False)}</p>' if text else ""


def safe_tip(text: str) -> str:
    """A text for any tooltip: as it is, unless Qt would take it for markup."""
    return plain_tip(text) if Qt.mightBeRichText(text) else text
