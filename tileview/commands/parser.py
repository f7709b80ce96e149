"""The grammar of the command line. A command's module is imported only when that command runs."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, cast

from tileview import __version__
from tileview.commands.base import Arguments, UsageError
from tileview.model.sizes import U64_MAX, bytes_from_text


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command with its arguments, ready to run."""

    command: str
    arguments: Arguments

    def run(self) -> int:
        """Import the command's module, carry the command out and return the exit code."""
        module = importlib.import_module(f"tileview.commands.{_ELSEWHERE.get(self.command, self.command)}")
        return cast(int, getattr(module, f"run_{self.command}")(self.arguments))


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one-line :class:`UsageError`\\ s."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


VIEWS = (
    "graph",
    "tiles",
    "timeline",
    "compare",
    "allocations",
    "alternatives",
    "details",
    "operations",
    "problems",
    "whatif",
    "why",
    "address_map",
    "choose",
    "fusions",
)
"""The names of the window's views, as ``--view`` takes them."""


def parse_arguments(argv: Sequence[str]) -> Invocation:
    """Take a command line apart.

    A first word that is no command and no option is a file to open: ``tileview FILE`` is ``tileview open FILE``.

    Raises
    ------
    UsageError
        Where it cannot be carried out.
    SystemExit
        After ``--help`` and ``--version`` were printed.
    """
    words = list(argv)
    if not words or (words[0] not in COMMANDS and words[0] not in ("-h", "--help", "--version")):
        words.insert(0, "open")
    arguments = _build(words[:1] if words[0] in COMMANDS else list(COMMANDS)).parse_args(words)
    return Invocation(arguments.command, arguments)


def byte_count(text: str) -> int:
    """A number of bytes; see :func:`tileview.model.sizes.bytes_from_text`."""
    try:
        return bytes_from_text(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def count(text: str) -> int:
    """A whole number from 0 to 2^64 − 1."""
    if re.fullmatch(r"[0-9]{1,40}", text, re.ASCII) is None:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number")
    if int(text) > U64_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 2^64 − 1")
    return int(text)


def positive(text: str) -> int:
    number = count(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def assignment(text: str) -> tuple[int, int]:
    """``OP=ALT``: an operation and the index of one of its alternatives."""
    operation, equals, alternative = text.partition("=")
    if not equals or not operation.isascii() or not alternative.isascii():
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not OP=ALT, such as 21=0")
    return count(operation), count(alternative)


def shape(text: str) -> tuple[int, ...]:
    """``1,729,1152``; an empty text is the shape without dimensions."""
    return tuple(count(part.strip()) for part in text.split(",")) if text.strip() else ()


def window_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{2,5})x([0-9]{2,5})", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a size such as 1600x1000")
    return int(match.group(1)), int(match.group(2))


# -- the commands' own arguments --------------------------------------------------------------------------------------


def _file(parser: argparse.ArgumentParser, what: str = "a recipe or a timeline") -> None:
    parser.add_argument("file", metavar="FILE", help=f"{what}; - for the standard input")


def _swap_words(parser: argparse.ArgumentParser) -> None:
    words = "an operation and the alternative to swap in, such as 4=1"
    parser.add_argument("swaps", nargs="*", type=assignment, metavar="OP=ALT", help=words)


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _what_if(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", type=byte_count, metavar="N", help="what if a tile's budget were N bytes")
    parser.add_argument("--reserve", type=byte_count, metavar="N", help="what if the reserve were N bytes")
    _no_fusion(parser)


def _no_fusion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-fusion", action="store_true", help="estimate the program without fusions")


def _workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=positive, default=2, metavar="N", help="worker processes (default 2)")


def _recipe_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="RECIPE.json", help="write the recipe there")
    parser.add_argument("--force", action="store_true", help="let -o replace the file that was read")


def _open(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="recipes, timelines or folders of dumps")
    parser.add_argument("--compare", action="store_true", help="show the files side by side")


def _summary(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="recipes, timelines, or folders of them")
    _json(parser)
    parser.add_argument("--explain", action="store_true", help="add the diagnosis to the JSON object")
    parser.add_argument("--place", action="store_true", help="also say whether every tile can be placed (slower)")
    _what_if(parser)


def _profile(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("-o", "--output", metavar="OUT.json", help="write there instead of to standard output")
    _what_if(parser)


def _swap(parser: argparse.ArgumentParser) -> None:
    _file(parser, "a recipe")
    _swap_words(parser)
    parser.add_argument("--place", action="store_true", help="also say whether every tile can be placed (slower)")
    _json(parser)
    _recipe_out(parser)
    _what_if(parser)


def _alternatives(parser: argparse.ArgumentParser) -> None:
    _file(parser, "a recipe")
    parser.add_argument(
        "--op", dest="operations", nargs="+", action="extend", type=count, metavar="N", help="only these operations"
    )
    _json(parser)
    _workers(parser)
    _what_if(parser)


def _fix(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("--max-swaps", type=count, default=3, metavar="K", help="at most K swaps (default 3)")
    parser.add_argument("--most-margin", action="store_true", help="the lowest total peak that at most K swaps reach")
    parser.add_argument(
        "--prefer", choices=("memory", "cycles"), default="memory", help="how to rank fixes with equally few swaps"
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="give up after N re-plans")
    _ranges(parser, "also place every tile in these ranges (see place); --limit then counts programs placed")
    _json(parser)
    _recipe_out(parser)
    _workers(parser)
    _what_if(parser)


def _cycles(parser: argparse.ArgumentParser) -> None:
    _file(parser, "a recipe")
    _swap_words(parser)
    _json(parser)
    _what_if(parser)


def _diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a recipe or a timeline")
    parser.add_argument("b", nargs="?", metavar="B", help="another one")
    parser.add_argument(
        "--visited", type=count, metavar="N", help="instead of B: entry N of the recipes that A's search has tried"
    )
    _json(parser)
    _no_fusion(parser)


def _layout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("layout", nargs="?", metavar="LAYOUT", help="Debug text or JSON")
    parser.add_argument("--shape", type=shape, metavar="N,N,…", help="the tensor's shape")
    parser.add_argument("--precision", metavar="P", help="F16, F32 or F8F143: adds the bytes of the largest shard")
    parser.add_argument("--jsonl", action="store_true", help="read questions from standard input, one per line")
    parser.add_argument("--json", action="store_true", help="accepted; the output is always JSON")


def _ranges(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--ranges", metavar="PRESET|A-B,…|DUMP", help=what)


def _place(parser: argparse.ArgumentParser) -> None:
    _file(parser, "a recipe, a tile dump or a placement profile")
    _swap_words(parser)
    _ranges(
        parser,
        "the open memory: planner (default), captured-482496, captured-498872, notes-513920, or that of a dump itself",
    )
    parser.add_argument(
        "--tile", type=count, metavar="N", help="list every request of this tile and what each order gives it"
    )
    parser.add_argument("--search", action="store_true", help="run the bounded search too (about a second per class)")
    parser.add_argument("--no-multicast", action="store_true", help="leave out the conflicts of multicast copies")
    _no_fusion(parser)
    _json(parser)


def _explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="the compiler's sentence, in quotes, or - to read a log")
    parser.add_argument("files", nargs="*", metavar="FILE", help="recipes, timelines and tile dumps of that compile")
    _json(parser)


def _screenshot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="what to open; further files are shown beside the first"
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT.png", help="the picture to write")
    parser.add_argument("--size", type=window_size, default=(1600, 1000), metavar="WxH", help="default 1600x1000")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--step", type=count, metavar="N")
    parser.add_argument("--tile", type=count, metavar="N")
    parser.add_argument("--operation", type=count, metavar="N")
    parser.add_argument("--view", choices=VIEWS, help="the view that gets most of the room")


def _report(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT.html", help="the page to write")
    parser.add_argument("--no-alternatives", action="store_true", help="do not try swaps (faster)")
    _workers(parser)
    _what_if(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="recipes, timelines, or folders of them")
    parser.add_argument("--max-total", type=byte_count, metavar="N", help="the total peak may be N bytes at most")
    parser.add_argument(
        "--max-interleaved", type=byte_count, metavar="N", help="the interleaved peak may be N bytes at most"
    )
    _ranges(parser, "every tile must be placed in these ranges (see place)")
    _json(parser)
    _no_fusion(parser)


COMMANDS: Final[dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]]] = {
    "open": ("open the window", _open),
    "summary": ("does it fit, and why not", _summary),
    "profile": ("write the re-estimated timeline in the compiler's version 3 schema", _profile),
    "swap": ("swap alternatives in and re-estimate", _swap),
    "alternatives": ("what each alternative would give, swapped in alone", _alternatives),
    "fix": ("find the fewest swaps that make it fit", _fix),
    "cycles": ("the planner's own price of every step and operation", _cycles),
    "diff": ("what differs between two files", _diff),
    "layout": ("how a layout divides a tensor", _layout),
    "place": ("can every tile be given addresses, and which cannot", _place),
    "explain": ("what a compiler's error sentence on memory means", _explain),
    "screenshot": ("a picture of the window, drawn offscreen", _screenshot),
    "report": ("one self-contained HTML page", _report),
    "check": ("one line per file, for CI: does it fit, is it within the given limits", _check),
}
"""Command → its help line and the function that adds its arguments. ``run_NAME`` of the module NAME carries it out."""
_ELSEWHERE: Final = {"open": "window", "screenshot": "window"}
"""Commands that have no module of their own."""


def _build(names: Sequence[str]) -> _Parser:
    """The parser of some commands: each takes a millisecond, and only help needs them all."""
    parser = _Parser(
        prog="tileview",
        description="Does a compiled model fit the tiles of an IPU21 chip, why not, and what would make it fit.",
        epilog="Exit codes: 0 fits / nothing wrong, 1 does not fit / differs, 2 bad input or usage, 3 not known. "
        "'tileview FILE' opens the window; everything but open works without a display.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tileview {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog=parser.prog)
    for name in names:
        words, add_arguments = COMMANDS[name]
        sentence = f"{words[0].upper()}{words[1:]}."
        add_arguments(commands.add_parser(name, help=words, description=sentence, allow_abbrev=False))
    return parser
