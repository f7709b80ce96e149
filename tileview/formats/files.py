"""Opening a file that claims to be a dump: everything that can be wrong before its first field.

A dump is a regular file of UTF-8 text without a byte order mark. Whatever else a path may name (a folder, a FIFO that
would block for ever, a device, a file without permission, gzip, UTF-16, Latin-1, nothing) ends in one
:class:`~tileview.errors.LoadError` that says so.

Files are read with ``pread`` and not through a memory map: a mapped file that another program truncates kills the
process that looks at it, a read merely comes back short.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from tileview.errors import LoadError
from tileview.model.sizes import U64_MAX

Progress = Callable[[float, str], None]
"""Called with the fraction done (0 … 1) and what is being done; may raise to cancel, the exception passes through."""

BLOCK_BYTES: Final = 1 << 20
"""What content is compared by."""
HELD_BYTES: Final = 16 << 20
"""Files up to this size are held in memory as they were opened."""
COARSE_NS: Final = 2_500_000_000
"""No file system's clock is coarser (FAT counts in two seconds): times this old when a file is opened tell any later
write."""
_REST_FACTOR: Final = 0x9E3779B97F4A7C15
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

    The handle keeps the file that was opened, also after another one has been renamed over its path. Once
    :meth:`seal` was called, every read checks that the content is still that: by device, inode, size and times, and by
    digests of the blocks it lies in where the times cannot tell (they were young when the file was opened, so that a
    later write may have left the same; or the inode was touched without a new time of writing). A small file is held
    in memory from then on. Pickling reopens the path, or where another file stands there by now what the first process
    holds, as long as the system shows it; else it gives a file without content.
    """

    def __init__(self, path: str | os.PathLike[str], streams: bool = False) -> None:
        """``streams``: ``-`` is the standard input, and a pipe that is handed over as a file is read to its end."""
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        self._held = b""
        self._sums: tuple[int, ...] = ()
        self._trusted: tuple[int, ...] | None = None
        self._compared_at: tuple[int, ...] = ()
        self._compared: set[int] = set()
        self._is_changed = False
        opened = time.time_ns()
        spooled = streams and is_stream(self.path)
        self._handle: int | None = _spooled(self.path) if spooled else _open(self.path)
        status = os.fstat(self._handle)
        self.size = status.st_size
        self._stamp = _stamp(status)
        if opened - max(status.st_mtime_ns, status.st_ctime_ns) > COARSE_NS:
            self._trusted = self._stamp

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes from ``offset``, fewer where the file ends; none where it was closed or has changed."""
        with self._lock:
            if self._held:
                return self._held[max(0, offset) : max(0, offset) + max(0, length)]
            if self._handle is None or length <= 0 or self._is_changed:
                return b""
            try:
                data = _pread(self._handle, offset, length)
                if self._sums and not self._is_same(offset, len(data)):
                    self._is_changed = True
                    return b""
            except OSError:
                return b""
            return data

    def _is_same(self, offset: int, length: int) -> bool:
        assert self._handle is not None
        now = _stamp(os.fstat(self._handle))
        if now[:4] != self._stamp[:4]:
            return False
        if now == self._trusted:
            return True
        if now != self._compared_at:
            self._compared_at, self._compared = now, set()
        for block in range(offset // BLOCK_BYTES, (offset + max(length, 1) - 1) // BLOCK_BYTES + 1):
            if block in self._compared:
                continue
            content = _pread(self._handle, block * BLOCK_BYTES, BLOCK_BYTES)
            if block >= len(self._sums) or block_sum(content) != self._sums[block]:
                return False
            if time.time_ns() - max(now[3:]) > COARSE_NS:
                self._compared.add(block)
        return True

    def seal(self, sums: Sequence[int]) -> None:
        """From now on reads give what was opened, or nothing.

        ``sums`` are :func:`block_sum` of every :data:`BLOCK_BYTES` of the content, as they were read.
        """
        held = _pread(self._handle, 0, self.size) if self._handle is not None and self.size <= HELD_BYTES else b""
        with self._lock:
            self._sums = tuple(sums)
            if held and tuple(block_sum(held[at : at + BLOCK_BYTES]) for at in range(0, len(held), BLOCK_BYTES)) == (
                self._sums
            ):
                self._held = held

    def has_changed(self) -> bool:
        """Whether what was opened can no longer be read: other content was found in it, or another file at its path."""
        with self._lock:
            if not self._is_changed and not self._held and self._handle is not None:
                self._is_changed = _stamp(os.fstat(self._handle))[:4] != self._stamp[:4]
            return self._is_changed

    def unchanged(self) -> bool:
        """Whether size and time of writing of the file that is held open are still as when it was opened."""
        with self._lock:
            if self._handle is None:
                return bool(self._held)
            status = os.fstat(self._handle)
        return _stamp(status)[:4] == self._stamp[:4]

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._held = b""
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
        state = {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_handle")}
        return {**state, "_shown_at": f"/proc/{os.getpid()}/fd/{self._handle}"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._handle = None
        if self._held:
            return
        for path in (self.path, state["_shown_at"]):
            try:
                self._handle = _open(path)
            except LoadError:
                continue
            if self.unchanged():
                return
            os.close(self._handle)
            self._handle = None
        self._is_changed = True


class Source(Protocol):
    """What a large file is read from: an open file, or bytes in memory."""

    path: str
    size: int

    def read(self, offset: int, length: int) -> bytes: ...

    def unchanged(self) -> bool: ...

    def seal(self, sums: Sequence[int]) -> None: ...

    def has_changed(self) -> bool: ...

    def close(self) -> None: ...


class MemorySource:
    """Bytes in memory in the place of a file."""

    def __init__(self, raw: bytes, path: str = "") -> None:
        self.path = path
        self.size = len(raw)
        self._raw = raw

    def read(self, offset: int, length: int) -> bytes:
        return self._raw[offset : offset + length]

    def unchanged(self) -> bool:
        return True

    def seal(self, sums: Sequence[int]) -> None:
        """Bytes in memory stay what they are."""

    def has_changed(self) -> bool:
        return False

    def close(self) -> None:
        self._raw = b""


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    """Device, inode, size, time of writing, time of the last change of the inode."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def block_sum(block: bytes | memoryview) -> int:
    """A sum over a block of at most :data:`BLOCK_BYTES` that other content gives by chance at most once in 2^32 times.

    Every word of eight bytes counts with an odd factor of its own, its upper half laid over the lower one before: of a
    last byte alone, the sum would keep eight bits. Several times as quick as a cryptographic hash, which nobody needs
    here: whoever writes the file could as well have written it before it was opened.
    """
    words = np.frombuffer(block, "<u8", len(block) // 8)
    words = words ^ (words >> np.uint64(32))
    rest = int.from_bytes(bytes(block[len(block) // 8 * 8 :]), "little")
    return (int(np.dot(words, _factors()[: len(words)])) + rest * _REST_FACTOR + len(block)) & U64_MAX


class BlockSums:
    """The sums of a content's blocks, of pieces of any length as they come."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._rest = b""

    def add(self, part: bytes) -> None:
        """Take in the next piece."""
        content = memoryview(self._rest + part if self._rest else part)
        end = len(content) // BLOCK_BYTES * BLOCK_BYTES
        self._sums += [block_sum(content[at : at + BLOCK_BYTES]) for at in range(0, end, BLOCK_BYTES)]
        self._rest = bytes(content[end:])

    def all(self) -> tuple[int, ...]:
        """One sum a block of what came in; the last block may be short."""
        return (*self._sums, *([block_sum(self._rest)] if self._rest else ()))


@cache
def _factors() -> npt.NDArray[np.uint64]:
    return np.frombuffer(hashlib.shake_128(b"factors").digest(BLOCK_BYTES), "<u8") | np.uint64(1)


def fingerprint(sums: Sequence[int]) -> str:
    """The sums of a file's blocks in one short text."""
    return hashlib.blake2b(b"".join(one.to_bytes(8, "little") for one in sums), digest_size=16).hexdigest()


def content_fingerprint(raw: bytes) -> str:
    """:func:`fingerprint` of a whole content."""
    sums = BlockSums()
    sums.add(raw)
    return fingerprint(sums.all())


def _pread(handle: int, offset: int, length: int) -> bytes:
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


STANDARD_INPUT: Final = "-"


def is_stream(path: str) -> bool:
    """Whether a path is the standard input, or one of the process's own pipes (``/dev/stdin``, ``/dev/fd/63``).

    A named pipe in a folder is none: opening it could wait for ever.
    """
    if path == STANDARD_INPUT:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode) and os.path.realpath(path).startswith(("/proc/", "/dev/"))
    except (OSError, ValueError):
        return False


def _spooled(path: str) -> int:
    """A handle on a file without a name that holds what a stream gave until its end."""
    import shutil
    import tempfile

    try:
        with (
            tempfile.TemporaryFile() as kept,
            open(0 if path == STANDARD_INPUT else path, "rb", buffering=0, closefd=path != STANDARD_INPUT) as stream,
        ):
            shutil.copyfileobj(stream, kept, _CHUNK)
            kept.flush()
            return os.dup(kept.fileno())
    except OSError as error:
        hint = "Write it to a file, and name that."
        raise LoadError(path, "", "a stream that can be read", error.strerror or str(error), hint) from None


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
        found = "text that is not JSON" if first not in b'["-0123456789tfn' else "JSON that is not an object"
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
        hint = "The file was never written to its end, or is not text: write it again."
        raise LoadError(path, f"byte {offset}", "JSON", "nothing but zero bytes", hint)
    most = memory_bytes() // 2
    if held > most:
        hint = f"At most {most:,} bytes of it can be held in this machine's memory."
        raise LoadError(path, "", "a file that fits into memory", f"{held:,} bytes and more", hint)


def read_all(file: Source, progress: Progress = no_progress, share: float = 1.0) -> bytes:
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


def seal_as_read(source: Source, sums: Sequence[int]) -> None:
    """Have every later read compared with the ``sums`` of what was read. Raises :class:`LoadError` where the file
    changed meanwhile."""
    if not source.unchanged():
        raise changed_error(source.path)
    source.seal(sums)


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
        raise LoadError(path, "", "an object", "JSON that is not an object", RAW_HINT)
    return document


def _json_error(path: str, raw: bytes, error: orjson.JSONDecodeError, offset: Callable[[int], int] | None) -> LoadError:
    try:
        text = raw.decode()
    except UnicodeDecodeError as bad:
        found = f"the byte 0x{raw[bad.start]:02x}, which is not UTF-8 there"
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
