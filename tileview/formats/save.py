"""Exporting a search state: the changes spliced into the file's own bytes, written so that nothing is ever lost.

An export differs from what was opened in the changed spans only. A swapped plan is the alternative's own text;
unknown keys, odd white space, escapes and the order of keys stay as they were, and the context, which the compiler
compares character for character, is never touched. Without changes the bytes are those of the file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import orjson

from tileview.errors import LoadError, SaveError
from tileview.formats.lateplans import LateAlternatives
from tileview.formats.search_state import SearchState
from tileview.formats.spans import Member, elements, members, root, splice
from tileview.formats.tensorjson import format_to_json
from tileview.model.tensor import Format

Edit = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Changes:
    """What an export changes.

    ``plans``: operation → index of the alternative to swap in. ``inputs``: graph value → its new home.
    ``open_boundaries``: all boundaries that are to be open, None to leave them.
    """

    plans: Mapping[int, int] = field(default_factory=dict)
    inputs: Mapping[int, Format] = field(default_factory=dict)
    open_boundaries: frozenset[int] | None = None


def render(state: SearchState, changes: Changes | None = None) -> Iterable[bytes]:
    """The bytes of a search state with changes made, in pieces: of a large file few are in memory at a time.

    A change that says what the file says already leaves its span as it is. The result is parsed again and compared
    with what it should hold before it is handed out.

    Parameters
    ----------
    state : SearchState
        An opened file.
    changes : Changes, optional
        None, or empty ones, give back the file's bytes.

    Raises
    ------
    SaveError
        An alternative that does not exist, or a format that has no JSON form.
    LoadError
        A large file is no longer what was opened; the pieces may raise it too.
    """
    if changes is None:
        return state.pieces()
    raw, late = state.rest, state.cut
    document = state.json()
    plain = orjson.dumps(document) == raw
    top = {member.key: member for member in members(raw, root(raw), document if plain else None)}
    chosen_values = document["recipe"] if plain else None
    chosen = {member.key: member for member in members(raw, top["recipe"].start, chosen_values)}
    edits = [
        *_plan_edits(state, changes, document, chosen["plans"], top["alternatives"], plain),
        *_input_edits(state, changes, document, top["inputs"]),
        *_boundary_edits(state, changes, document, chosen["open_boundaries"]),
    ]
    if not edits:
        return state.pieces()
    result = splice(raw, edits)
    if orjson.dumps(document) != result and orjson.loads(result) != document:
        raise SaveError("The export does not have the content it should; nothing was written.")
    if late is None:
        return (result,)
    at = late.start + sum(len(new) - (end - start) for start, end, new in edits if end <= late.start)
    return chain((result[:at],), late.pieces(late.start, late.end), (result[at + len(b"{}") :],))


def _plan_edits(
    state: SearchState,
    changes: Changes,
    document: dict[str, Any],
    plans: Member,
    alternatives: Member,
    plain: bool,
) -> list[Edit]:
    """Replace (or add) the plans of swapped operations; ``document`` is changed along."""
    wanted: dict[str, int] = {}
    pieces: dict[str, bytes] = {}
    for operation, index in changes.plans.items():
        count = len(state.recipe.alternatives.get(operation, ()))
        if not 0 <= index < count:
            raise SaveError(f"Operation {operation} has no alternative {index}: it has {count}.")
        text = str(operation)
        late = state.recipe.alternatives
        if isinstance(late, LateAlternatives):
            piece = late.text(operation, index)
            plan = orjson.loads(piece)
            if document["recipe"]["plans"].get(text) != plan:
                document["recipe"]["plans"][text], pieces[text] = plan, piece
        elif document["recipe"]["plans"].get(text) != document["alternatives"][text][index]:
            wanted[text] = index
    if not wanted:
        return _set_members(state.rest, plans, pieces)
    for member in members(state.raw, alternatives.start, document["alternatives"] if plain else None):
        if member.key in wanted:
            start, end = list(elements(state.raw, member.start))[wanted[member.key]]
            pieces[member.key] = state.raw[start:end]
            document["recipe"]["plans"][member.key] = document["alternatives"][member.key][wanted[member.key]]
    return _set_members(state.raw, plans, pieces)


def _input_edits(state: SearchState, changes: Changes, document: dict[str, Any], inputs: Member) -> list[Edit]:
    pieces: dict[str, bytes] = {}
    for value, home in changes.inputs.items():
        if state.recipe.inputs.get(value) == home:
            continue
        try:
            item = format_to_json(home)
        except LoadError as error:
            raise SaveError(f"The home of value {value} cannot be written: {error}") from None
        document["inputs"][str(value)] = item
        pieces[str(value)] = orjson.dumps(item)
    return _set_members(state.rest, inputs, pieces)


def _boundary_edits(state: SearchState, changes: Changes, document: dict[str, Any], place: Member) -> list[Edit]:
    wanted = changes.open_boundaries
    if wanted is None or wanted == state.recipe.open_boundaries:
        return []
    document["recipe"]["open_boundaries"] = sorted(wanted)
    return [(place.start, place.end, orjson.dumps(sorted(wanted)))]


def _set_members(raw: bytes, container: Member, pieces: Mapping[str, bytes]) -> list[Edit]:
    """Edits that give members of an object (ids as keys) new values; new ones go where ascending order wants them."""
    if not pieces:
        return []
    present = list(members(raw, container.start))
    edits = [(member.start, member.end, pieces[member.key]) for member in present if member.key in pieces]
    known = {member.key for member in present}
    added: dict[int, bytes] = {}
    for key in sorted((key for key in pieces if key not in known), key=int):
        text = b'"%s":%s' % (key.encode(), pieces[key])
        after = next((member for member in present if int(member.key) > int(key)), None)
        if after is not None:
            at, text = after.key_start, text + b","
        elif present:
            at, text = present[-1].end, b"," + text
        else:
            at = container.start + 1
            text = b"," + text if at in added else text
        added[at] = added.get(at, b"") + text
    return edits + [(at, at, text) for at, text in added.items()]


# -- writing --------------------------------------------------------------------------------------------------------

_REASONS: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "there is no permission to write in this folder",
    errno.EPERM: "there is no permission to write in this folder",
    errno.ENOENT: "the folder does not exist",
    errno.ENOTDIR: "the folder does not exist",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EFBIG: "the file is too large for this disk",
}


_TEMPORARY: Final = re.compile(r"\.tileview-([0-9]+)-[0-9a-f]{12}\.part")
_LEFTOVER_SECONDS: Final = 3600
"""No write takes this long: where locks tell nothing, a temporary file this old belongs to none that still goes on."""


def _nothing(stage: str) -> None:
    """The watcher of a write that nobody watches."""


def write_atomic(
    path: str | os.PathLike[str], data: bytes | Iterable[bytes], watch: Callable[[str], None] = _nothing
) -> None:
    """Write a file so that at every moment, whatever happens, the old or the new content stands there whole.

    The data goes into a new file in the same folder, is synced to the disk, read back and compared; then the file is
    renamed over the target and the folder synced. A symbolic link stays a link, its target is replaced. An existing
    file's permissions are kept, and its group and owner where that may be (:func:`replacement_notes` says before where
    it may not). What writes that were killed have left in the folder is removed.

    Parameters
    ----------
    path : str or path
        The target.
    data : bytes or iterable of bytes
        All of its content, whole or in pieces; pieces are written as they come, so that they need not be in memory.
    watch : callable
        Called with the stage reached: ``created``, ``written``, ``synced``, ``compared``, ``renamed``.

    Raises
    ------
    SaveError
        Says why in a sentence; the target is as it was and nothing is left beside it.
    """
    name = os.fspath(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".tileview-{os.getpid()}-{secrets.token_hex(6)}.part")
    try:
        status = _replaced(target, name)
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(handle)
            digest = _fill(handle, (data,) if isinstance(data, bytes) else data, status, watch)
            if os.name != "posix":
                os.close(handle)
                handle = -1
            _compare(temporary, digest, name)
            watch("compared")
            os.replace(temporary, target)
        finally:
            if handle >= 0:
                os.close(handle)
        watch("renamed")
    except OSError as error:
        raise SaveError(_sentence(name, error)) from None
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    _sync_folder(folder)
    _clear_leftovers(folder)


def replacement_notes(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """What :func:`write_atomic` over an existing file changes besides its content, in sentences; mostly nothing."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    notes = []
    if status.st_nlink > 1:
        notes.append(f"It has {status.st_nlink} names (hard links): the others keep the old content.")
    if os.name == "posix" and os.geteuid() != 0:
        if status.st_uid != os.geteuid():
            notes.append("It belongs to another user: the new file will be yours.")
        if status.st_gid not in (os.getegid(), *os.getgroups()):
            notes.append("You are not in its group: the new file gets your group, and the group loses its rights.")
    return tuple(notes)


def _lock(handle: int) -> None:
    """Show, until the file is closed, that its process lives; where there are no locks, its age has to tell."""
    with suppress(OSError, ImportError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_left(path: str, pid: int) -> bool:
    """Whether a temporary file belongs to no write that still goes on."""
    if time.time() - os.lstat(path).st_mtime > _LEFTOVER_SECONDS:
        return True
    try:
        import fcntl

        os.kill(pid, 0)
    except ProcessLookupError:
        pass
    except (OSError, ImportError, OverflowError):
        return False
    else:
        return False
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _clear_leftovers(folder: str) -> None:
    """Remove what writes that were killed have left in a folder: the temporary files of processes that are gone.

    A process of another machine cannot be looked up; the lock on its file tells, on a shared disk too.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _TEMPORARY.fullmatch(entry.name)
            if found is not None:
                with suppress(OSError):
                    if _is_left(entry.path, int(found[1])):
                        os.unlink(entry.path)


def _replaced(target: str, name: str) -> os.stat_result | None:
    """What is known of an existing target; one that is no file, or is write-protected, is refused.

    The rename would ask for neither: it needs the folder's permission only.
    """
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise SaveError(f"{name} could not be written: there is a folder of this name. Choose another name.")
    if not stat.S_ISREG(status.st_mode):
        raise SaveError(f"{name} could not be written: it is not a file. Choose another name.")
    if not os.access(target, os.W_OK):
        raise SaveError(f"{name} could not be written: it is write-protected. Choose another name.")
    return status


def _fill(handle: int, data: Iterable[bytes], like: os.stat_result | None, watch: Callable[[str], None]) -> bytes:
    """Write all pieces to the disk; their digest."""
    watch("created")
    digest = hashlib.sha256()
    if like is not None and hasattr(os, "fchmod"):
        _give(handle, like)
    for piece in data:
        digest.update(piece)
        view = memoryview(piece)
        while view:
            view = view[os.write(handle, view) :]
    watch("written")
    os.fsync(handle)
    watch("synced")
    return digest.digest()


def _give(handle: int, like: os.stat_result) -> None:
    """Give a new file the group, owner and permissions of another, as far as this user may.

    A group that is not the old one must not get the old one's rights: it gets those that everybody has.
    """
    mode = stat.S_IMODE(like.st_mode)
    with suppress(OSError):
        os.fchown(handle, -1, like.st_gid)
    with suppress(OSError):
        os.fchown(handle, like.st_uid, -1)
    if os.fstat(handle).st_gid != like.st_gid:
        mode = mode & ~0o2070 | (mode & 0o007) << 3 & mode
    os.fchmod(handle, mode)


def _compare(temporary: str, written: bytes, name: str) -> None:
    with open(temporary, "rb") as file:
        found = hashlib.file_digest(file, "sha256").digest()
    if found != written:
        raise SaveError(f"{name} could not be written: what was read back differs from what was written.")


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sentence(name: str, error: OSError) -> str:
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    return f"{name} could not be written: {reason}. The old content is untouched."
