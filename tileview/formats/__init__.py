"""Bytes to model and back: the dump formats, the Rust Debug text inside them, and safe saving."""
