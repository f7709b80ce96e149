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
    line = timeline.fontMetrics().height()

    def has_room() -> None:
        plot = timeline.plot
        # The curves have a height one can read, and the numbers of the steps stand below them, inside the pane.
        assert plot.isVisible()
        assert plot.area().height() >= 6 * line
        assert plot.area().bottom() + line <= plot.height()
        assert plot.mapTo(timeline, plot.rect().bottomLeft()).y() <= timeline.height()
        cell = tiles.map.cell_rect(0)
        assert min(cell.width(), cell.height()) >= 4
        # In a low window the identical tiles and the lifetimes fold away, the cycles stay.
        assert tiles.groups.isVisible() == (size[1] >= 1000)
        assert tiles.legend.isVisible()
        assert graph.canvas.height() >= 8 * line
        assert graph.legend.geometry().bottom() <= graph.height()
        assert timeline.bars.isVisible() == (size[1] >= 1000)
        assert timeline.strip.isVisible()

    # Docks find their places some events later.
    driver.qtbot.waitUntil(has_room, timeout=10_000)
