"""Where something is to be written: asking for a file, and never replacing one unasked."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from tileview.qt.base.settings import Settings
from tileview.qt.widgets.dialogs import ErrorDialog, confirm


def same_file(first: Path, second: Path) -> bool:
    """Whether two paths name one file, links and spellings included."""
    try:
        return first.exists() and second.exists() and first.samefile(second)
    except OSError:
        return first.absolute() == second.absolute()


def ask_target(window: QWidget, settings: Settings, title: str, suggested: Path, kinds: str) -> tuple[Path, str] | None:
    """Ask for a file to write, in the folder last used; its path and the kind chosen, None where the user gave up.

    Whether something may be replaced is asked later, in words of our own.
    """
    folder = Path(settings.folder) if settings.folder else suggested.parent
    name, kind = QFileDialog.getSaveFileName(
        window, title, str(folder / suggested.name), kinds, options=QFileDialog.Option.DontConfirmOverwrite
    )
    return (Path(name), kind) if name else None


def may_replace(window: QWidget, opened: Path | None, target: Path) -> bool:
    """Ask before a file is replaced; the open one is never replaced by something that is no recipe of it."""
    if opened is not None and same_file(opened, target):
        text = f"{target.name} is the file that is open. Choose another name."
        ErrorDialog("Not exported", text, "", window).open()
        return False
    if target.exists():
        return confirm(window, "Replace file?", f"{target} exists already. Replace it?", "Replace")
    return True


def may_replace_opened(window: QWidget, opened: Path, target: Path, content: bytes) -> bool:
    """The same for a recipe, which may take the place of the open one; ``content`` is what was read of that."""
    if not same_file(opened, target):
        return may_replace(window, opened, target)
    lost = "Its plans as opened would then be in no file any more."
    if not _holds(target, content):
        lost = "What stands there now is not what was opened: something else has written it since. That would be lost."
    return confirm(
        window,
        "Replace the opened file?",
        f"{target.name} is the file that is open. Replace it with the edited recipe?",
        "Replace the opened file",
        lost,
    )


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file's content is this very one."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False
