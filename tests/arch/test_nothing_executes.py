"""File content is data: nothing here evaluates text, unpickles files, runs a shell or shows markup of others."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.hostile import write_hostile

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "tileview").rglob("*.py"))

CALLS = {"eval", "exec", "compile", "__import__", "execfile", "input"}
ATTRIBUTES = {
    ("os", "system"), ("os", "popen"), ("os", "startfile"), ("os", "execv"), ("os", "execvp"), ("os", "spawnv"),
    ("pickle", "load"), ("pickle", "loads"), ("pickle", "Unpickler"), ("marshal", "load"), ("marshal", "loads"),
    ("shelve", "open"), ("subprocess", "getoutput"), ("subprocess", "run"), ("subprocess", "call"),
    ("subprocess", "check_output"), ("subprocess", "Popen"), ("runpy", "run_path"), ("yaml", "load"),
    ("importlib", "import_module"), ("webbrowser", "open"), ("QDesktopServices", "openUrl"), ("QProcess", "start"),
}  # fmt: skip
ALLOWED = {
    ("tileview/analysis/workers.py", "pickle.loads"): "what this program hands to its own workers",
    ("tileview/qt/jobs/process.py", "pickle.load"): "messages of the worker process, made by this program",
    ("tileview/qt/jobs/process.py", "importlib.import_module"): "the jobs of the worker process, from a table",
    ("tileview/qt/jobs/process.py", "subprocess.Popen"): "the worker process itself, by a list of arguments",
    ("tileview/commands/parser.py", "importlib.import_module"): "the module of a command, which is one of a table",
    ("tileview/qt/views/kinds.py", "importlib.import_module"): "the views of the window, from a table",
    ("tileview/qt/app.py", "subprocess.run"): "a trial start of Qt, by a list of arguments without names of files",
}
MARKUP = {"setHtml", "setMarkdown", "insertHtml", "appendHtml"}
MARKUP_ALLOWED = {
    "tileview/qt/views/why.py": "every text goes through page_text",
    "tileview/qt/views/details.py": "every text goes through page_text",
    "tileview/qt/files/explain_message.py": "every text goes through page_text",
    "tileview/qt/window/help.py": "pages of the program's own",
}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a module with the dotted name of what is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id, node
            elif isinstance(node.func, ast.Attribute):
                owner = node.func.value
                yield f"{owner.id if isinstance(owner, ast.Name) else '?'}.{node.func.attr}", node


def test_no_module_executes_anything() -> None:
    wrong = []
    for path in MODULES:
        name = path.relative_to(ROOT).as_posix()
        for called, node in calls(path):
            owner, _, attribute = called.rpartition(".")
            forbidden = called in CALLS or (owner, attribute) in ATTRIBUTES
            if forbidden and (name, called) not in ALLOWED:
                wrong.append(f"{name}:{node.lineno} calls {called}")
            if any(keyword.arg == "shell" for keyword in node.keywords):
                wrong.append(f"{name}:{node.lineno} starts a shell")
            if attribute in MARKUP and name not in MARKUP_ALLOWED:
                wrong.append(f"{name}:{node.lineno} shows markup")
    assert wrong == []


def test_what_is_allowed_is_there() -> None:
    """An exception that is not needed any more goes."""
    for name, called in ALLOWED:
        assert called in {found for found, _ in calls(ROOT / name)}, (name, called)


WATCHED = """
import sys
seen = []
def watch(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and arguments and isinstance(arguments[0], (str, bytes)):
        seen.append((event, str(arguments[0])))
    elif event.startswith(("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect",
                           "socket.getaddrinfo", "urllib.", "webbrowser.", "pickle.find_class", "ctypes.dlopen")):
        seen.append((event, repr(arguments)))
from tileview.cli import main
import tileview.commands.summary, tileview.commands.report, tileview.commands.profile, tileview.commands.diff
import tileview.commands.swap
sys.addaudithook(watch)
for arguments in ARGUMENTS:
    main(arguments)
sys.stderr.write("\\n".join(f"SEEN {event} {text}" for event, text in seen))
"""


def test_no_path_and_no_command_of_a_file_is_followed(tmp_path: Path) -> None:
    """With every file that Python opens and every process that it starts on record."""
    made = write_hostile(tmp_path)
    commands: list[list[str]] = []
    for title, path in made.items():
        if title.split(", ")[0] in ("path", "template", "markup", "formula"):
            commands += [["summary", str(path)], ["report", str(path), "-o", str(tmp_path / "report.html")]]
            commands += [["profile", str(path), "-o", str(tmp_path / "profile.json")], ["diff", str(path), str(path)]]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED.replace("ARGUMENTS", repr(commands))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    seen = [line for line in done.stderr.splitlines() if line.startswith("SEEN ")]
    assert sum(str(tmp_path) in line for line in seen) >= len(commands)
    for line in seen:
        event = line.split(" ")[1]
        assert event in ("open", "os.listdir", "os.scandir"), line
        assert "passwd" not in line.replace(str(tmp_path), ""), line
        assert "calc" not in line.lower(), line


TRAPS = ("importlib", "multiprocessing", "numpy", "orjson", "pickle", "queue", "signal", "struct", "tileview")
STARTED = """
import multiprocessing, sys
from tileview.cli import main
from tileview.qt.jobs.process import ChildProcess

if __name__ == "__main__":
    sys.argv = ["tileview", "--version"]
    main()
    worker = multiprocessing.get_context("spawn").Process(target=len, args=((),))
    worker.start()
    worker.join()
    print("trials", worker.exitcode)
    child = ChildProcess()
    child.send((1, "load", PATH))
    while (answer := child.receive())[1] == "progress":
        pass
    print("window", answer[1])
    child.close()
"""


def test_processes_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    """A folder of dumps from elsewhere may hold modules; whoever looks at the dumps does not run them."""
    folder, script = tmp_path / "dumps", tmp_path / "script.py"
    folder.mkdir()
    for name in TRAPS:
        trap = f"open({str(tmp_path / 'sprung')!r}, 'a').write({name!r})\nraise SystemExit(7)\n"
        (folder / f"{name}.py").write_text(trap)
    sample = ROOT / "sample_data" / "pair-8tiles.recipe.json"
    script.write_text(STARTED.replace("PATH", repr(str(sample))))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()
    assert done.stdout.splitlines()[1:] == ["trials 0", "window done"], done.stderr
