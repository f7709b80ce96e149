"""The pages under Help: what they name exists, what exists is named, and their figures are those of the core."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.helpers.command_line import run
from tileview.core.geometry.resolve import LayoutErrorKind, resolve
from tileview.formats.sniff import SUPPORTED, DumpKind
from tileview.model import config
from tileview.model.tensor import ROW_MAJOR, Axis, AxisBase, Layout, MemoryClass, Padding, Tiling
from tileview.model.timeline import Cause
from tileview.resources import resource, sample_folder

PAGES = sorted(resource("reference").glob("*.md"))


def page(name: str) -> str:
    return resource("reference", f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_to_pages_and_pictures_that_exist(path: Path):
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).resolve().is_file(), target


def test_the_glossary_is_in_order_and_says_nothing_twice():
    words = re.findall(r"^\*\*(.+?)\.\*\*", page("glossary"), flags=re.MULTILINE)
    assert words == sorted(set(words), key=str.lower)
    assert len(words) > 60
    for word in ("Peak", "Budget", "Reserve", "Home", "Shard", "Rotation", "Unavailable", "What if"):
        assert word in words


def test_figures_of_the_chip_are_those_of_the_core():
    text = page("estimate")
    rows = re.findall(r"^\| .*? \| ([0-9,]+)(?: \(624 KiB\))? \|$", text, flags=re.MULTILINE)
    whole, runtime, standard, interleaved, planned, top = (int(row.replace(",", "")) for row in rows)
    assert whole == 624 * 1024 == runtime + standard + interleaved + top
    assert (standard, interleaved) == (config.STANDARD_BELOW_BYTES, config.INTERLEAVED_BYTES)
    assert planned == standard + interleaved == config.PLANNED_BYTES
    assert f"multiples of {config.STANDARD_ELEMENT_BYTES:,} bytes in standard" in text
    assert f"of {config.INTERLEAVED_ELEMENT_BYTES:,} in interleaved" in text


def test_worked_examples_come_out_as_said():
    text = page("estimate")
    linear = Layout(ROW_MAJOR, Tiling(1472, 1, (Axis(AxisBase.LINEAR, 0, 1472, block_size=4),)), MemoryClass.STANDARD)
    grains, most, few, large, small = re.search(
        r"over 1,472 owners: ([0-9,]+) grains, (\d+) or (\d+) an owner, so (\d+) or (\d+) elements", text
    ).groups()
    found = resolve((1, 729, 1152), linear)
    sizes = set(found.owner_elements().tolist())
    assert sizes == {int(large), int(small)} == {4 * int(most), 4 * int(few)}
    assert int(grains.replace(",", "")) * 4 == 729 * 1152
    axes = (
        Axis(AxisBase.END, 2, 4, block_size=160, padding_multiple=160, padding=Padding.ZERO),
        Axis(AxisBase.END, 1, 8, block_size=2),
    )
    found = resolve((588, 1152), Layout(ROW_MAJOR, Tiling(1472, 46, axes), MemoryClass.STANDARD))
    assert found.padded_shape == (640, 1152)
    assert found.maximum_elements == 160 * 144 == 23_040
    assert "a shard is 160 × 144 = 23,040 bytes" in text
    assert -(-(23_040 + 8) // 16_384) * 16_384 == 32_768
    assert "23,040 + 8 = 23,048, rounded up: 32,768 bytes" in text
    assert "1,152 × (3 + 2) = 5,760" in text


def test_every_reason_of_an_impossible_layout_is_explained():
    assert [kind.value for kind in LayoutErrorKind if kind.value not in page("estimate")] == []


def keys(raw: object) -> set[str]:
    return set(raw) if isinstance(raw, dict) else set()


def test_every_key_of_both_formats_is_described():
    text = page("formats")
    recipe = json.loads((sample_folder() / "vit3-64tiles.recipe.json").read_bytes())
    timelines = [json.loads(path.read_bytes()) for path in sample_folder().glob("*.timeline.json")]
    wanted = keys(recipe) | keys(recipe["recipe"])
    plan = next(iter(recipe["recipe"]["plans"].values()))
    wanted |= {"operator", "dispatch", "requirements", "output_aliasing"} & (keys(plan) | keys(plan["requirements"]))
    layout = plan["requirements"]["inputs"][0]["format"]["layout"]
    wanted |= keys(layout) | keys(layout["tiling"]) | keys(layout["tiling"]["axes"][0]) - {"axis"}
    for timeline in timelines:
        wanted |= keys(timeline) | keys(timeline["peak"])
        wanted |= keys(timeline["timeline"]["values"][0]) | keys(timeline["timeline"]["steps"][0])
    wanted -= {"timeline", "gemm_output_packing", "attention_products"}
    assert sorted(key for key in wanted if f"`{key}`" not in text) == []
    for kind, title in ((DumpKind.RECIPE, "versions 6, 7 and 8"), (DumpKind.TIMELINE, "versions 1, 2 and 3")):
        assert title in text
        assert all(str(version) in title for version in SUPPORTED[kind])


def test_every_view_and_every_export_is_described():
    text = page("window")
    rows = re.findall(r"^\| ([A-Z][\w ]+) \|", text, flags=re.MULTILINE)
    views = {"Operations", "Why", "Problems", "Graph", "Tiles", "Alternatives", "Timeline", "Allocations", "Compare"}
    assert views | {"Details", "What if", "Address map", "Memory against cycles", "Fusions"} < set(rows)
    assert {"Export recipe", "Export timeline", "Export view", "Export report"} < set(rows)


# -- the command line -----------------------------------------------------------------------------------------------


def described(name: str) -> set[str]:
    """The keys that the page on the command line gives an object."""
    row = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", page("command-line"), flags=re.MULTILINE)
    assert row is not None, name
    return set(re.findall(r"`([a-z_]+)`", row[1]))


def test_every_key_of_the_json_objects_is_described():
    pair, rejected = sample_folder() / "pair-8tiles.recipe.json", sample_folder() / "rejected-op0.timeline.json"
    summary = run("summary", rejected, pair, "nowhere.json", "--json").json
    assert keys(summary) <= described("`summary`")
    entry = summary["files"][0]
    assert keys(entry) | keys(entry["unavailable"][0]) <= described("a summary")
    assert keys(entry["verdict"]) == described("a verdict")
    assert keys(entry["peak"]) == described("a peak")
    assert keys(run("swap", pair, "0=1", "--json").json) <= described("`swap`")
    answer = run("alternatives", pair, "--json").json
    assert keys(answer) | keys(answer["alternatives"][0]) == described("`alternatives`")
    answer = run("cycles", pair, "--json").json
    assert keys(answer) | keys(answer["steps"][0]) == described("`cycles`")
    assert keys(run("fix", pair, "--json").json) | keys(run("fix", rejected, "--json").json) == described("`fix`")
    assert keys(run("diff", pair, rejected, "--json").json) == described("`diff`")
    answer = run("check", pair, "--json").json
    assert keys(answer) | keys(answer["files"][0]) == described("`check`")


def test_causes_and_the_example_of_a_layout_are_true():
    text = page("command-line")
    assert all(f"`{cause.value}`" in text for cause in Cause)
    example = re.search(r"^tileview (layout --shape .*?)'(Layout .*?)'$", text, flags=re.MULTILINE | re.DOTALL)
    answer = run(*example[1].split(), example[2]).json
    assert keys(answer) | {"kind", "text"} == described("`layout`")
    assert (answer["tile_elements"], answer["maximum_bytes"]) == ([128] * 9, 256)


def test_the_whole_check_runs_the_test_command_of_the_readme_to_the_letter():
    root = Path(__file__).resolve().parents[2]
    commands = re.findall(r"^```sh\n(.*)\n```$", (root / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    started, tested = commands
    assert re.search(r"test|dev", started) is None, "the first command installs no tools"
    assert tested in (root / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_glossary_holds_only_words_that_are_used():
    package = Path(__file__).resolve().parents[2] / "tileview"
    places = [path for path in PAGES if path.stem != "glossary"] + sorted(package.rglob("*.py"))
    used = "\n".join(path.read_text(encoding="utf-8") for path in places).lower()
    words = re.findall(r"^\*\*(.+?)\.\*\*", page("glossary"), flags=re.MULTILINE)
    terms = [term for word in words for term in word.lower().split(", ")]
    assert [term for term in terms if re.search(rf"\b{re.escape(term)}", used) is None] == []
