"""At 1280 × 800 every picture of the window keeps enough room to be read."""

from __future__ import annotations

import pytest

SIZES = [(1280, 800), (1600, 1000), (2560, 1440)]


@pytest.mark.parametrize("size", SIZES)
def test_pictures_have_room(driver, over, size: tuple[int, int]) -> None:
    window = driver.window
    window.resize(*size)
    window.docks.reset()
    driver.open(over)
    driver.qtbot.waitUntil(lambda: window.docks.height() > 0.8 * size[1])
    window.docks.share_space()
    timeline, tiles, graph = (window.docks.views[name] for name in ("timeline", "tiles", "graph"))
    driver.qtbot.waitUntil(lambda: timeline.plot.isVisible() and timeline.plot.height() > 120)
    line = timeline.fontMetrics().height()
    plane = timeline.plot.plane()
    # The curves have a height one can read, and the numbers of the steps stand below them, inside the pane.
    assert plane.area.height() >= 6 * line
    assert plane.area.bottom() + line <= timeline.plot.height()
    assert timeline.plot.mapTo(timeline, timeline.plot.rect().bottomLeft()).y() <= timeline.height()
    cell = tiles.map.cell_rect(0)
    assert min(cell.width(), cell.height()) >= 4
    assert tiles.groups.isVisible()
    assert tiles.legend.isVisible()
    assert graph.canvas.height() >= 8 * line
    driver.qtbot.waitUntil(lambda: graph.legend.geometry().bottom() <= graph.height())
    assert timeline.bars.isVisible() == (size[1] >= 1000)
