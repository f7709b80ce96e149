"""Exports: nothing but the changed spans differs, and no moment leaves the target without a whole content."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.dumps import Json, compact, sample, small_recipe
from tests.helpers.opened import rendered
from tileview.errors import SaveError
from tileview.formats.save import Changes, replacement_notes, write_atomic
from tileview.formats.search_state import SearchState, search_state_from_bytes
from tileview.model.tensor import F32, Format, Order, OrderKind, Precision, PrecisionKind

RECIPES = [
    "pair-8tiles.recipe.json",
    "vit3-64tiles.recipe.json",
    "so400m.recipe.json",
    "so400m-over.recipe.json",
]


def opened(raw: bytes) -> SearchState:
    return search_state_from_bytes(raw, "x")


def odd_forms(document: Json) -> dict[str, bytes]:
    """The same recipe in forms that no plain dump gives back."""
    extra = {
        **document,
        "zebra": {"b": 1.50, "a": [1e3, "\u00e9"]},
        "recipe": {**document["recipe"], "new": {"2": [], "1": None}},
        "visited": [{"x": 1}],
    }
    escaped = json.dumps(extra, separators=(",", ":")).replace("operator", "\\u006fperator").replace("1.5", "1.50")
    return {
        "unknown keys": compact(extra),
        "indented": json.dumps(document, indent=2).encode() + b"\n",
        "spaced": b" \n" + json.dumps(extra, separators=(" , ", "\t:\r\n")).encode() + b"\n\n",
        "escaped": escaped.encode(),
        "reversed": compact(dict(reversed(document.items()))),
    }


def common(first: bytes, second: bytes) -> int:
    """How many bytes two texts have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


# -- without changes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECIPES)
def test_export_without_an_edit_is_identical_to_the_byte(name: str) -> None:
    raw = sample(name)
    state = opened(raw)
    assert rendered(state) == raw
    assert rendered(state, Changes()) == raw


@pytest.mark.parametrize("form", odd_forms(small_recipe()))
def test_odd_forms_are_identical_to_the_byte(form: str) -> None:
    raw = odd_forms(small_recipe())[form]
    state = opened(raw)
    assert rendered(state, Changes()) == raw
    assert state.recipe.plans == opened(sample(RECIPES[0])).recipe.plans


@pytest.mark.parametrize("name", RECIPES)
def test_changes_that_change_nothing(name: str) -> None:
    """The plan in force, the home there is, the boundaries that are open: nothing to write."""
    raw = sample(name)
    recipe = opened(raw).recipe
    in_force = {operation: recipe.in_force(operation) for operation in recipe.plans}
    plans = {operation: index for operation, index in in_force.items() if index is not None}
    changes = Changes(plans, recipe.inputs, recipe.open_boundaries)
    assert rendered(opened(raw), changes) == raw


# -- with changes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECIPES)
def test_a_swap_changes_one_plan(name: str) -> None:
    raw = sample(name)
    state = opened(raw)
    operation = next(op for op, plans in state.recipe.alternatives.items() if len(plans) > 1)
    last = len(state.recipe.alternatives[operation]) - 1
    result = rendered(state, Changes({operation: last}))
    before, after = json.loads(raw), json.loads(result)
    assert after["recipe"]["plans"].pop(str(operation)) == before["alternatives"][str(operation)][last]
    del before["recipe"]["plans"][str(operation)]
    assert after == before
    assert list(after["recipe"]["plans"]) == list(before["recipe"]["plans"])
    assert compact(json.loads(result)) == result


def test_a_swap_and_back_is_identical_to_the_byte() -> None:
    raw = sample("pair-8tiles.recipe.json")
    recipe = opened(raw).recipe
    in_force = recipe.in_force(0)
    assert in_force is not None
    swapped = rendered(opened(raw), Changes({0: (in_force + 1) % len(recipe.alternatives[0])}))
    assert swapped != raw
    assert rendered(opened(swapped), Changes({0: in_force})) == raw


@pytest.mark.parametrize("form", odd_forms(small_recipe()))
def test_a_swap_in_an_odd_form_takes_the_alternatives_own_text(form: str) -> None:
    raw = odd_forms(small_recipe())[form]
    state = opened(raw)
    result = rendered(state, Changes({1: 2}, open_boundaries=frozenset({2, 1})))
    again = opened(result)
    assert again.recipe.plans[1] == state.recipe.alternatives[1][2]
    assert again.recipe.plans[0] == state.recipe.plans[0]
    assert again.recipe.open_boundaries == {1, 2}
    before, after = json.loads(raw), json.loads(result)
    assert before["context"] == after["context"]
    assert {key for key in before if before[key] != after[key]} == {"recipe"}
    assert list(before) == list(after)
    assert common(raw, result) + common(raw[::-1], result[::-1]) > len(raw) - 2500


def test_the_context_is_never_touched() -> None:
    raw = sample("vit3-64tiles.recipe.json")
    state = opened(raw)
    plans = {operation: len(entries) - 1 for operation, entries in state.recipe.alternatives.items()}
    result = rendered(state, Changes(plans, open_boundaries=frozenset()))
    end = raw.index(b'"recipe":')
    assert result[:end] == raw[:end]
    assert json.loads(result)["visited"] == []


def test_homes_are_written_as_the_compiler_writes_them() -> None:
    raw = sample("vit3-64tiles.recipe.json")
    state = opened(raw)
    homes = dict(state.recipe.inputs)
    swapped = {0: homes[110], 110: homes[0], 7: Format(F32, homes[7].layout)}
    result = rendered(state, Changes(inputs=swapped))
    before, after = json.loads(raw), json.loads(result)
    assert after["inputs"]["0"] == before["inputs"]["110"]
    assert after["inputs"]["110"] == before["inputs"]["0"]
    assert after["inputs"]["7"] == {**before["inputs"]["7"], "precision": "F32"}
    assert list(after["inputs"]) == list(before["inputs"])
    assert list(after["inputs"]["0"]["layout"]) == ["order", "tiling", "memory_class"]
    assert opened(result).recipe.inputs == {**homes, **swapped}
    assert rendered(opened(result), Changes(inputs=homes)) == raw


@pytest.mark.parametrize("present", [[], [5], [5, 20]])
def test_new_homes_go_where_ascending_order_wants_them(present: list[int]) -> None:
    document = small_recipe()
    home = next(iter(document["inputs"].values()))
    document["inputs"] = {str(value): home for value in present}
    state = opened(compact(document))
    added = [30, 1, 7, 100, 2]
    reader = opened(sample("pair-8tiles.recipe.json"))
    item = next(iter(reader.recipe.inputs.values()))
    result = rendered(state, Changes(inputs=dict.fromkeys(added, item)))
    assert list(json.loads(result)["inputs"]) == [str(value) for value in sorted(present + added)]
    assert compact(json.loads(result)) == result


def test_a_plan_for_an_operation_that_had_none() -> None:
    document = small_recipe()
    del document["recipe"]["plans"]["0"]
    state = opened(compact(document))
    result = rendered(state, Changes({0: 1}))
    assert list(json.loads(result)["recipe"]["plans"]) == ["0", "1"]
    assert opened(result).recipe.plans[0] == state.recipe.alternatives[0][1]


def test_boundaries_are_written_in_ascending_order() -> None:
    result = rendered(opened(sample("pair-8tiles.recipe.json")), Changes(open_boundaries=frozenset({10, 9, 1})))
    assert b'"open_boundaries":[1,9,10],' in result


def test_unknown_formats_are_written_as_they_were_read() -> None:
    document = small_recipe()
    unknown = {"F4": {"block": 32}}
    document["inputs"]["0"]["precision"] = unknown
    document["inputs"]["0"]["layout"]["order"] = {"Spiral": {"turns": 3}}
    state = opened(compact(document))
    home = state.recipe.inputs[0]
    result = rendered(state, Changes(inputs={1: home}))
    assert json.loads(result)["inputs"]["1"] == document["inputs"]["0"]
    assert home.precision == Precision(PrecisionKind.UNKNOWN, text="F4 { block: 32 }")
    assert home.layout.order == Order(OrderKind.UNKNOWN, text="Spiral { turns: 3 }")


@pytest.mark.parametrize("plans", [{0: 99}, {0: -1}, {77: 0}])
def test_alternatives_that_do_not_exist(plans: dict[int, int]) -> None:
    with pytest.raises(SaveError, match="no alternative"):
        rendered(opened(sample("pair-8tiles.recipe.json")), Changes(plans))


# -- writing --------------------------------------------------------------------------------------------------------


def test_write_a_new_file(tmp_path: Path) -> None:
    stages: list[str] = []
    write_atomic(tmp_path / "new.json", b"content", stages.append)
    assert (tmp_path / "new.json").read_bytes() == b"content"
    assert stages == ["created", "written", "synced", "compared", "renamed"]
    assert [path.name for path in tmp_path.iterdir()] == ["new.json"]


def test_replace_keeps_permissions(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target.json"
    target.write_bytes(b"old")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_an_open_reader_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        write_atomic(path, b"new")
        assert reader.read() == b"old"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "the disk is read-only"),
        (errno.EACCES, "no permission"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_failures_leave_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, sentence: str
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"old")

    def fail(*_: Any, **__: Any) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(SaveError, match=sentence):
            write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


def test_a_disk_that_gives_back_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data).replace(b"n", b"m")))
    with pytest.raises(SaveError, match="what was read back differs"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_targets_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match="there is a folder of this name"):
        write_atomic(tmp_path, b"new")
    with pytest.raises(SaveError, match="the folder does not exist"):
        write_atomic(tmp_path / "missing" / "x.json", b"new")
    with pytest.raises(SaveError, match="the name is too long"):
        write_atomic(tmp_path / ("x" * 400), b"new")


def test_a_write_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told by the system's answer, whoever runs the test: permissions do not bind the superuser."""
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda target, mode: (Path(target), mode) != (path, os.W_OK))
    with pytest.raises(SaveError, match="write-protected"):
        write_atomic(path, b"new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("x.json", b"old")]


def child(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = "import os, resource, signal, sys\nfrom tileview.formats.save import write_atomic\n" + textwrap.dedent(
        code
    )
    root = str(Path(__file__).resolve().parents[2])
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize("stage", ["created", "written", "synced", "compared", "renamed"])
def test_a_kill_at_any_stage_leaves_old_or_new(tmp_path: Path, stage: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"old" * 1000)
    done = child(
        """
        def watch(stage):
            if stage == sys.argv[2]:
                os.kill(os.getpid(), signal.SIGKILL)
        write_atomic(sys.argv[1], b"new" * 200_000, watch)
        """,
        str(path),
        stage,
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == (b"new" * 200_000 if stage == "renamed" else b"old" * 1000)


def test_what_a_killed_write_left_is_removed_by_a_later_one(tmp_path: Path) -> None:
    """However young, where its process is gone; not what another write may still be at work on."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    names = {
        f".tileview-{done.pid}-{'0a' * 6}.part": 1,
        f".tileview-{os.getpid()}-{'0c' * 6}.part": 3700,
        f".tileview-{os.getpid()}-{'0b' * 6}.part": 3500,
        ".tileview-77-notes.part": 90_000,
        f"tileview-77-{'0a' * 6}.part": 90_000,
    }
    for name, age in names.items():
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    held = tmp_path / f".tileview-{done.pid}-{'0d' * 6}.part"  # as where a process of another machine writes it
    with held.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_atomic(tmp_path / "target.json", b"whole")
        left = {path.name for path in tmp_path.iterdir()}
    assert left == {"target.json", held.name, *list(names)[2:]}


def test_the_group_of_what_is_replaced_is_kept(tmp_path: Path) -> None:
    groups = [group for group in os.getgroups() if group != os.getegid()]
    if os.geteuid() == 0:
        groups = [os.getegid() + 1]
    if not groups:
        pytest.skip("this user has one group only")
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    os.chown(path, -1, groups[0])
    assert replacement_notes(path) == ()
    write_atomic(path, b"new")
    assert path.stat().st_gid == groups[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_hard_link_that_will_break_is_said_before(tmp_path: Path) -> None:
    path, other = tmp_path / "x.json", tmp_path / "y.json"
    path.write_bytes(b"old")
    assert replacement_notes(path) == ()
    os.link(path, other)
    (note,) = replacement_notes(path)
    assert "2 names (hard links)" in note
    assert replacement_notes(tmp_path / "none.json") == ()


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs file size limits")
def test_a_disk_that_takes_only_part(tmp_path: Path) -> None:
    """A limit on file sizes stops the write half way, as a full disk does."""
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    done = child(
        """
        from tileview.errors import SaveError
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            write_atomic(sys.argv[1], b"new" * 200_000)
        except SaveError as error:
            print(error)
        """,
        str(path),
    )
    assert done.returncode == 0, done.stderr
    assert "too large for this disk" in done.stdout
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "x.json").write_bytes(b"old")
    folder.chmod(0o555)
    try:
        with pytest.raises(SaveError, match="no permission"):
            write_atomic(folder / "x.json", b"new")
    finally:
        folder.chmod(0o755)
    assert (folder / "x.json").read_bytes() == b"old"
