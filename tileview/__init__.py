"""TileView: see which allocation overflowed a tile, and swap in a plan that fits."""

__version__ = "0.2.0"
