"""PySide's classes are made in the window's thread before pyqtgraph is imported on another."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import types
from PySide6 import QtCore, QtGui, QtWidgets
from tileview.qt.views.kinds import meet_qt
looks = 0
while not meet_qt(0.0):
    looks += 1
assert looks > 100, looks
assert meet_qt(0.0)
made = [name for module in (QtCore, QtGui, QtWidgets) for name in dir(module) if name in module.__dict__]
every = [name for module in (QtCore, QtGui, QtWidgets) for name in dir(module)]
assert made == every
"""


def test_every_class_is_met_a_few_at_a_time():
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=120)
