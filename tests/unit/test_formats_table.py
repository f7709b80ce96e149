"""The whole table of damages, for a recipe and for a timeline of each version: one refusal in words, or a document."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers.dumps import compact
from tests.helpers.malformed import documents, table, truncated
from tests.property.test_chain_fuzz import opened, use
from tileview.errors import LoadError
from tileview.formats import files
from tileview.formats.opening import open_file
from tileview.model.timeline_file import TimelineFile

KINDS = sorted(documents())


def refusal(raw: bytes) -> LoadError | None:
    """The one error that opening gives, whole; None where it opens, and everything can be done with what opened."""
    try:
        source = opened(raw)
    except LoadError as error:
        found = error
    else:
        use(source)
        return None
    assert (found.path, bool(found.expected), bool(found.found), bool(found.hint)) == ("x", True, True, True)
    assert len(str(found)) < 600
    assert "\n" not in str(found)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_everything_in_the_table_is_refused_or_used(kind: str) -> None:
    outcome = {}
    for name, raw in table(kind).items():
        try:
            outcome[name] = refusal(raw)
        except Exception as error:
            raise AssertionError(f"{kind}: {name}") from error
    used = {name for name, error in outcome.items() if error is None}
    assert "whole" in used
    assert len(used) > 150
    assert len(outcome) - len(used) > 450
    for name in ("empty", "byte order mark", "UTF-16", "Latin-1", "gzip", "twice", "no version", "NUL within"):
        assert outcome[name] is not None, name
    for name in outcome:
        if name.endswith(("NaN", "Infinity", "5000 digits", "surrogate", "100000", "200000")):
            assert name not in used or ".tile_" in name, name  # numbers per tile are decoded when they are looked at


@pytest.mark.parametrize("kind", KINDS)
def test_cut_off_at_every_structural_boundary(kind: str) -> None:
    raw = compact(documents()[kind])
    cuts = list(truncated(raw))
    assert len(cuts) > 800
    for cut in cuts:
        assert refusal(cut) is not None, len(cut)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_with_an_endless_hole_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    """Terabytes that take no block of the disk, behind a dump, and in the middle of one."""
    raw = compact(documents()[kind])
    for cut in (len(raw), len(raw) - 100):
        path = tmp_path / "sparse.json"
        path.write_bytes(raw[:cut])
        os.truncate(path, 1 << 42)
        with pytest.raises(LoadError, match=r"nothing but zero bytes|fits into memory") as caught:
            open_file(path)
        assert kind == "recipe" or caught.value.place.startswith("byte ")
        path.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_memory_cannot_hold_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(compact(documents()[kind])[:-1] + b',"more":"' + b"x" * 9_000_000 + b'"}')
    monkeypatch.setattr(files, "memory_bytes", lambda: 1 << 23)
    with pytest.raises(LoadError, match="a file that fits into memory"):
        open_file(path)
    assert files.memory_bytes() == 1 << 23
    monkeypatch.undo()
    assert files.memory_bytes() > 1 << 28
    document = open_file(path)
    if isinstance(document, TimelineFile):
        document.tiles.close()


@pytest.mark.parametrize("first", KINDS)
def test_a_file_that_another_replaces_while_it_is_opened_is_the_one_that_stood_there(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind and content come from one file, whatever is renamed over it meanwhile."""
    other = "timeline v3" if first == "recipe" else "recipe"
    path, new = tmp_path / "dump.json", tmp_path / "new.json"
    path.write_bytes(compact(documents()[first]))
    new.write_bytes(compact(documents()[other]))
    sniffed = files.OpenFile.read

    def replaced(self: files.OpenFile, offset: int, length: int) -> bytes:
        part = sniffed(self, offset, length)
        if new.exists():
            os.replace(new, path)
        return part

    monkeypatch.setattr(files.OpenFile, "read", replaced)
    document = open_file(path)
    assert isinstance(document, TimelineFile) == (first != "recipe")
    if isinstance(document, TimelineFile):
        document.tiles.close()
