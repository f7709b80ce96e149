"""Opening a file that claims to be a dump: everything that can be wrong before its first field.

A dump is a regular file of UTF-8 text without a byte order mark. Whatever else a path may name (a folder, a FIFO that
would block for ever, a device, a file without permission, gzip, UTF-16, Latin-1, nothing) ends in one
:class:`~tileview.errors.LoadError` that says so.

Files are read with ``pread`` and not through a memory map: a mapped file that another program truncates kills the
process that looks at it, a read merely comes back short.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from typing import Any, Final

import orjson

from tileview.errors import LoadError

Progress = Callable[[float, str], None]
"""Called with the fraction done (0 … 1) and what is being done; may raise to cancel, the exception passes through."""

_CHUNK: Final = 1 << 23
_HEAD_BYTES: Final = 4096
RAW_HINT: Final = "TileView opens the compiler's own dumps: plain JSON in UTF-8."
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
_MAGIC = (
    (b"\x1f\x8b", "gzip data", "Unpack it first (gzip -d)."),
    (b"PK\x03\x04", "a zip archive", "Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "zstd data", "Unpack it first (zstd -d)."),
    (b"BZh", "bzip2 data", "Unpack it first (bunzip2)."),
    (b"\xfd7zXZ", "xz data", "Unpack it first (xz -d)."),
    (b"\xef\xbb\xbf", "a byte order mark before the text", "Save the file as UTF-8 without one."),
    (b"\xff\xfe", "UTF-16 text", "Save the file as UTF-8."),
    (b"\xfe\xff", "UTF-16 text", "Save the file as UTF-8."),
)


def no_progress(fraction: float, text: str) -> None:
    """The progress that nobody watches."""


class OpenFile:
    """A regular file held open: reads at any position, from any thread, without an exception when it has shrunk.

    The handle keeps the file that was opened, also after another one has been renamed over its path. Pickling reopens
    the path, and gives a closed file where another one stands there by then.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        self._handle: int | None = _open(self.path)
        status = os.fstat(self._handle)
        self.size = status.st_size
        self.stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes from ``offset``, fewer where the file ends (or has been closed)."""
        with self._lock:
            if self._handle is None or length <= 0:
                return b""
            try:
                return self._read(self._handle, offset, length)
            except OSError:
                return b""

    def _read(self, handle: int, offset: int, length: int) -> bytes:
        parts = []
        while length > 0:
            if hasattr(os, "pread"):
                part = os.pread(handle, min(length, 1 << 30), offset)
            else:
                os.lseek(handle, offset, os.SEEK_SET)
                part = os.read(handle, min(length, 1 << 30))
            if not part:
                break
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def unchanged(self) -> bool:
        """Whether the file that is held open is still as it was when it was opened."""
        with self._lock:
            if self._handle is None:
                return False
            status = os.fstat(self._handle)
        return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns) == self.stamp

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            os.close(handle)
            self._handle = None

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "size": self.size, "stamp": self.stamp}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path, self.size, self.stamp = state["path"], state["size"], state["stamp"]
        self._lock = threading.Lock()
        self._handle = None
        try:
            self._handle = _open(self.path)
        except LoadError:
            return
        if not self.unchanged():
            self.close()


def _open(path: str) -> int:
    """A handle on a regular file; never blocks on a FIFO."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise _not_regular(path, status.st_mode)
        handle = os.open(path, flags)
    except FileNotFoundError:
        hint = "Check the name, and the folder that it is looked for in."
        raise LoadError(path, "", "a file", "nothing under this name", hint) from None
    except PermissionError:
        hint = "Ask whom it belongs to for the permission, or for a copy."
        raise LoadError(path, "", "a readable file", "one without permission to read it", hint) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "Check the name and the disk; what the system says is no fault of the file's content."
        raise LoadError(path, "", "a readable file", f"an error of the system: {reason}", hint) from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise _not_regular(path, mode)
    return handle


def _not_regular(path: str, mode: int) -> LoadError:
    found = next((name for test, name in _KINDS if test(mode)), "something else")
    return LoadError(path, "", "a file", found, RAW_HINT)


def check_head(path: str, head: bytes) -> None:
    """Refuse what a file's first bytes show not to be JSON text in UTF-8; raises :class:`LoadError`."""
    if not head:
        raise LoadError(path, "byte 0", "JSON", "an empty file", RAW_HINT)
    for magic, found, hint in _MAGIC:
        if head.startswith(magic):
            raise LoadError(path, "byte 0", "JSON in UTF-8", found, hint)
    if b"\0" in head[:4]:
        text = b"{" in head[:4]
        found, hint = ("UTF-16 or UTF-32 text", "Save the file as UTF-8.") if text else ("binary data", RAW_HINT)
        raise LoadError(path, "byte 0", "JSON in UTF-8", found, hint)
    first = head.lstrip(b" \t\r\n")[:1]
    if not first:
        raise LoadError(path, "byte 0", "JSON", "nothing but white space", RAW_HINT)
    if first != b"{":
        found = "text that is not JSON" if first not in b'["-0123456789tfn' else "JSON that is no object"
        place = f"byte {len(head) - len(head.lstrip())}"
        raise LoadError(path, place, "an object, '{'", found, RAW_HINT)


def memory_bytes() -> int:
    """The machine's memory, a terabyte where it cannot be known."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 40


def refuse_hopeless(path: str, part: bytes, offset: int, held: int) -> None:
    """Give up a file early: at a piece that is nothing but zero bytes, or where it would not fit into memory.

    A file of terabytes need not take a block of the disk: what was never written of it reads as zeros.

    Parameters
    ----------
    path : str
        The file, for errors.
    part : bytes
        A piece of some MiB, or the file's last one; empty at its end.
    offset : int
        Where in the file the piece stands.
    held : int
        Bytes that have to be held at once so far.

    Raises
    ------
    LoadError
        Saying which of the two.
    """
    if part and not part.strip(b"\0"):
        hint = "The file was never written to its end, or is no text: write it again."
        raise LoadError(path, f"byte {offset}", "JSON", "nothing but zero bytes", hint)
    most = memory_bytes() // 2
    if held > most:
        hint = f"At most {most:,} bytes of it can be held in this machine's memory."
        raise LoadError(path, "", "a file that fits into memory", f"{held:,} bytes and more", hint)


def read_all(file: OpenFile, progress: Progress = no_progress, share: float = 1.0) -> bytes:
    """The whole content; raises :class:`LoadError` where it is not a dump's beginning or changes while it is read.

    ``progress`` runs from 0 to ``share``.
    """
    check_head(file.path, file.read(0, _HEAD_BYTES))
    parts: list[bytes] = []
    done = 0
    while True:
        part = file.read(done, _CHUNK)
        if not part:
            break
        refuse_hopeless(file.path, part, done, max(file.size, done))
        parts.append(part)
        done += len(part)
        progress(share * min(1.0, done / max(1, file.size)), "reading")
    if done != file.size or not file.unchanged():
        raise changed_error(file.path)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def changed_error(path: str) -> LoadError:
    return LoadError(
        path, "", "a finished file", "one that changed while it was read", "Open it again when it is complete."
    )


def parse_json(path: str, raw: bytes, offset: Callable[[int], int] | None = None) -> Any:
    """Parse a JSON object.

    Parameters
    ----------
    path : str
        The file, for errors.
    raw : bytes
        JSON text.
    offset : callable, optional
        Where ``raw`` is not the file itself: the byte of the file that a byte of ``raw`` is. Errors then name bytes
        and not lines.

    Raises
    ------
    LoadError
        Not UTF-8, not JSON, cut off, nested too deeply, or no object.
    """
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _json_error(path, raw, error, offset) from None
    if not isinstance(document, dict):
        raise LoadError(path, "", "an object", "JSON that is no object", RAW_HINT)
    return document


def _json_error(path: str, raw: bytes, error: orjson.JSONDecodeError, offset: Callable[[int], int] | None) -> LoadError:
    try:
        text = raw.decode()
    except UnicodeDecodeError as bad:
        found = f"the byte 0x{raw[bad.start]:02x}, which is no UTF-8 there"
        byte = offset(bad.start) if offset else bad.start
        return LoadError(path, f"byte {byte}", "text in UTF-8", found, "Save the file as UTF-8.")
    place = f"line {error.lineno}, column {error.colno}"
    if offset is not None:
        place = f"byte {offset(len(text[: error.pos].encode()))}"
    if error.pos >= len(text.rstrip()) or _is_cut(error.msg):
        return LoadError(path, place, "more JSON", "the end of the file", "The file is cut off: write it again.")
    if "depth limit" in error.msg:
        return LoadError(path, place, "nesting of at most 1,024 levels", "deeper nesting", RAW_HINT)
    around = text[max(0, error.pos - 20) : error.pos + 20]
    printable = "".join(char if char.isprintable() else " " for char in around)
    hint = "The file is damaged: write it again."
    return LoadError(path, place, "JSON", f'"{printable}" ({error.msg.split(": line ")[0]})', hint)


def _is_cut(message: str) -> bool:
    return "unexpected end" in message or "unclosed string" in message
