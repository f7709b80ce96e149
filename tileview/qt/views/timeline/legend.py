"""What the lines and fills of the timeline mean, with the bytes at the selected step."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QPen

from tileview.model.sizes import kib_text
from tileview.model.timeline import ByteArray
from tileview.present.curves import CurveMode, Curves
from tileview.qt.base.theme import Theme
from tileview.qt.plot.legend import LegendLine
from tileview.qt.views.timeline.data import PlotData, layer_brushes, reserve_brush, second_pen


def timeline_legend(
    theme: Theme, data: PlotData, step: int | None, tile: int | None = None, tile_count: int = 1
) -> tuple[LegendLine, ...]:
    """What a plot's lines and fills mean, with the bytes at a step; ``tile`` is the one the curves are read from
    there.
    """
    shown, second = data.curves, data.second
    if step is not None and step >= data.steps:
        step = None

    def at(curves: Curves, sizes: ByteArray) -> str:
        if step is None:
            return ""
        if curves.unavailable[step]:
            return "unavailable" if shown.unavailable[step] else "not read yet"
        return kib_text(int(sizes[step]))

    whose, longest = _WHOSE[shown.mode], ""
    if shown.mode is not CurveMode.LARGEST and tile is not None:
        whose, longest = f"{whose} {tile}", f"total, {whose} {'0' * len(str(tile_count - 1))}"
    entries = [LegendLine(f"total, {whose}", QPen(theme.color("total"), 2.6), None, at(shown, shown.total), longest)]
    if second is not None:
        name = f"total, tile {int(second.tiles[0])}"
        entries.append(LegendLine(name, second_pen(theme, "total"), None, at(second, second.total)))
    if data.layers:
        pairs = zip(data.layers, layer_brushes(theme, data.layers), strict=True)
        entries += [LegendLine(series.name, None, brush, at(shown, series.sizes)) for series, brush in pairs]
    else:
        entries.append(LegendLine("standard", QPen(theme.color("standard"), 2), None, at(shown, shown.standard)))
        dashed = QPen(theme.color("interleaved"), 2, Qt.PenStyle.DashLine)
        entries.append(LegendLine("interleaved", dashed, None, at(shown, shown.interleaved)))
    if second is not None and not data.layers:
        for part, sizes in (("standard", second.standard), ("interleaved", second.interleaved)):
            name = f"{part}, tile {int(second.tiles[0])}"
            entries.append(LegendLine(name, second_pen(theme, part), None, at(second, sizes)))
    if data.reserve:
        pen = QPen(theme.color("muted"), 1, Qt.PenStyle.DotLine)
        entries.append(LegendLine("reserve", pen, reserve_brush(theme), kib_text(data.reserve)))
    if bool(data.over.any()):
        brush = QBrush(theme.color("over"), Qt.BrushStyle.BDiagPattern)
        count = int(data.over.sum())
        name = f"over budget at {count:,} step{'' if count == 1 else 's'}"
        entries.append(LegendLine(name, QPen(theme.color("over"), 1), brush))
    if bool(shown.unavailable.any()):
        brush = QBrush(theme.color("unavailable", 150), Qt.BrushStyle.DiagCrossPattern)
        entries.append(LegendLine("unavailable (dashed: known part)", QPen(theme.color("unavailable"), 1), brush))
    if data.baseline is not None:
        entries.append(LegendLine("baseline", QPen(theme.color("baseline"), 2.5)))
    return tuple(entries)


_WHOSE = {
    CurveMode.WORST: "fullest tile",
    CurveMode.LARGEST: "largest of each class",
    CurveMode.TILE: "tile",
}
