"""Layered drawings of a recipe's graph: plain numbers in and out, no window.

:func:`read_structure` turns a model graph into nodes, ports and edges, :func:`layout_graph` places them,
:func:`find_neighbours` answers who makes and who reads what.
"""

from tileview.graphlayout.picture import (
    GraphPicture,
    Sizes,
    Stroke,
    Strokes,
    bent,
    clip,
    first_collapsed,
    layout_graph,
    make_strokes,
    repeats,
    snapped_to_grid,
    stubs,
    touching,
)
from tileview.graphlayout.region import Box, EdgeLine, RegionLayout, Route, Spacing, Way, layout_region
from tileview.graphlayout.structure import (
    Edge,
    LayoutCancelled,
    LayoutNode,
    Neighbours,
    NodeKind,
    RegionNodes,
    Structure,
    Token,
    find_neighbours,
    read_structure,
)

__all__ = [
    "Box",
    "Edge",
    "EdgeLine",
    "GraphPicture",
    "LayoutCancelled",
    "LayoutNode",
    "Neighbours",
    "NodeKind",
    "RegionLayout",
    "RegionNodes",
    "Route",
    "Sizes",
    "Spacing",
    "Stroke",
    "Strokes",
    "Structure",
    "Token",
    "Way",
    "bent",
    "clip",
    "find_neighbours",
    "first_collapsed",
    "layout_graph",
    "layout_region",
    "make_strokes",
    "read_structure",
    "repeats",
    "snapped_to_grid",
    "stubs",
    "touching",
]
