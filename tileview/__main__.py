"""``python -m tileview``."""

from tileview.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
