"""Small programs made by hand and by hypothesis, for tests of the measurement."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.helpers.random_layouts import layouts
from tileview.core.geometry.resolve import layout_failure
from tileview.model.graph import InputKind
from tileview.model.owners import Owners
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import Copy, Kernel, Product, Program, ProgramInput, Repeat, Step, Sum, Value
from tileview.model.tensor import F16, F32, ROW_MAJOR, Layout, Precision, PrecisionKind, Shape, Tiling

F8 = Precision(PrecisionKind.F8F143, -4)
WHOLE = Layout(ROW_MAJOR, Tiling(1, 1, ()))


def value(
    number: int, shape: Shape = (8,), layout: Layout = WHOLE, precision: Precision = F16, **more: object
) -> Value:
    """A value named after its number, by default 16 bytes on tile 0."""
    name = str(more.pop("name", f"v{number}"))
    return Value(number, number, name, name, shape, precision, layout, number, **more)  # type: ignore[arg-type]


def program(
    values: list[Value],
    steps: list[Step],
    outputs: tuple[int, ...] = (),
    host: tuple[int, ...] = (),
    parameters: tuple[int, ...] = (),
    tiles: int = 4,
) -> Program:
    inputs = [ProgramInput(values[i].name, InputKind.HOST, i) for i in host]
    inputs += [ProgramInput(values[i].name, InputKind.PARAMETER, i) for i in parameters]
    return Program(tiles, tuple(inputs), outputs, tuple(values), tuple(steps))


def kernel(*inputs: int, to: int, aliases: tuple[tuple[int, int], ...] = (), source: int | None = None) -> Kernel:
    return Kernel(source, "Add", inputs, (to,), aliases)


class _Builder:
    """Draws steps over values that exist so far; every new result is a new value."""

    def __init__(self, draw: st.DrawFn, tiles: int) -> None:
        self.draw = draw
        self.tiles = tiles
        self.values: list[Value] = []

    def new(self, like: Value | None = None) -> int:
        number = len(self.values)
        if like is not None:
            self.values.append(value(number, like.shape, like.layout, like.precision, owners=like.owners))
            return number
        shape = self.draw(st.lists(st.integers(1, 40), min_size=1, max_size=2).map(tuple))
        layout = self.draw(layouts(shape, self.tiles))
        precision = self.draw(st.sampled_from([F8, F16, F32]))
        rotation = self.draw(st.integers(0, self.tiles - 1))
        usable = layout_failure(shape, layout) is None or self.draw(st.integers(0, 5)) == 0
        self.values.append(value(number, shape, layout if usable else WHOLE, precision, owners=Owners(rotation)))
        return number

    def step(self, known: list[int], depth: int) -> Step:
        kinds = ["kernel", "alias", "copy", "sum", "product", "repeat"]
        kind = self.draw(st.sampled_from(kinds if depth else kinds[:-1]))
        pick = st.sampled_from(known)
        if kind == "kernel":
            inputs = tuple(self.draw(st.lists(pick, min_size=1, max_size=3)))
            return Kernel(None, "Add", inputs, (self._add(known),))
        if kind == "alias":
            donor = self.draw(pick)
            result = self.new(self.values[donor])
            known.append(result)
            return Kernel(None, "Gelu", (self.draw(pick), donor), (result,), ((0, 1),))
        if kind == "copy":
            return Copy(None, (self.draw(pick),), (self._add(known),))
        if kind == "sum":
            staging = self.draw(st.sampled_from([Staging(StagingKind.COMPLETE), Staging(StagingKind.BATCHED, 2)]))
            return Sum(None, (self.draw(pick),), (self._add(known),), 0, staging)
        if kind == "product":
            left, right = self.draw(pick), self.draw(pick)
            return Product(None, (left, right), (self._add(known),), self.values[left].precision, F16)
        return self._repeat(known)

    def _add(self, known: list[int]) -> int:
        result = self.new()
        known.append(result)
        return result

    def _repeat(self, known: list[int]) -> Repeat:
        carried = self.draw(st.sampled_from(known))
        invariant = self.draw(st.lists(st.sampled_from(known), max_size=1))
        members = tuple(self.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3)))
        inputs = (carried, *invariant)
        arguments = [self.new(self.values[operand]) for operand in (*inputs, members[0])]
        inside = list(arguments)
        body = tuple(self.step(inside, 0) for _ in range(self.draw(st.integers(1, 3))))
        yielded = self.draw(st.sampled_from(inside))
        result = self.new(self.values[carried])
        known.append(result)
        return Repeat(None, 3, inputs, (result,), 1, (members,), tuple(arguments), body, (yielded,))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random programs: some inputs, up to eight steps with aliases, products and a level of Repeats."""
    tiles = draw(st.integers(1, 9))
    builder = _Builder(draw, tiles)
    known = [builder.new() for _ in range(draw(st.integers(1, 4)))]
    host = draw(st.integers(0, len(known)))
    steps = [builder.step(known, 1) for _ in range(draw(st.integers(0, 8)))]
    outputs = tuple(draw(st.lists(st.sampled_from(known), max_size=2)))
    inputs = range(len(builder.values))[: draw(st.integers(host, max(host, 1)))]
    parameters = tuple(i for i in inputs if i >= host)
    return program(builder.values, steps, outputs, tuple(range(host)), parameters, tiles)
