"""What a killed window leaves: a recovery file that belongs to no one."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def left_by_a_crash(driver: Any, path: Path) -> Path:
    """Have a window swap operation 0's plan for alternative 2, and keep its recovery file as if it had been killed."""
    driver.open(path)
    return swapped_before_a_crash(driver)


def swapped_before_a_crash(driver: Any) -> Path:
    """The same for a window that has a file open, with its edits."""
    driver.session.swap(0, 2)
    driver.window.files.recovery.write()
    file: Path = driver.window.files.recovery.file
    copy = file.with_name("crashed.json")
    copy.write_bytes(file.read_bytes())
    driver.session.mark_clean()
    driver.window.close()
    assert copy.exists()
    return copy
