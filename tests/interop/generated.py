"""Programs of TensorFlow 1, made at random: the text of a function of `tf`, and what to feed to what it builds.

The writer knows the type and the shape that each value will have, so nearly all programs are meaningful. What a
program returns is `values`, which may be fetched together, and `updates`, each of which changes variables and so is
run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "int32")
NAMES = ("a", "b", "a_1", "layer", "b/c", "x0")
SCOPES = ("s", "t", "s_1", "layer")
MOST = 48  # elements of one value
Dims = tuple[int, ...]


class _UnfitError(Exception):
    """There is no value that the statement could be about."""


@dataclass(frozen=True)
class Value:
    """A variable of the program: a tensor. `known` if TensorFlow can tell its whole shape while building."""

    name: str
    dtype: str
    shape: Dims
    known: bool = True
    function: int = 0  # of the function that it is local to


@dataclass(frozen=True)
class Program:
    """The text of `program(tf)`, and several sets of feeds by placeholder."""

    text: str
    feeds: tuple[dict[str, Any], ...]

    def __call__(self, tf: Any) -> Any:
        names: dict[str, Any] = {}
        exec(compile(self.text, "<generated>", "exec"), names)
        return names["program"](tf)


def generate(seed: int, size: int = 12) -> Program:
    """The program of a seed: always the same."""
    return _Writer(Random(seed), size).program()


@dataclass
class _Writer:
    random: Random
    size: int
    lines: list[str] = field(default_factory=lambda: ["def program(tf):"])
    values: list[Value] = field(default_factory=list)
    placeholders: list[Value] = field(default_factory=list)
    variables: list[Value] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    indent: int = 1
    names: int = 0
    function: int = 0
    depth: int = 0  # of branches and loops
    in_loop: bool = False

    # The whole

    def program(self) -> Program:
        random = self.random
        if random.random() < 0.5:
            self.emit(f"tf.set_random_seed({random.randrange(100)})")
        for dtype, shape in self._inputs():
            self.placeholder(dtype, shape)
        self.block(self.size)
        if random.random() < 0.6:
            self.attempt(self.gradients)
        if self.variables and random.random() < 0.7:
            self.attempt(self.training)
        self.emit("init = tf.global_variables_initializer()")
        values = ", ".join(
            f"tf.identity({value.name})" if value.name.startswith("w") else value.name
            for value in self.values
            if not value.function
        )
        self.emit(f"return dict(values=[{values}], updates=[{', '.join(self.updates)}], init=init)")
        return Program("\n".join(self.lines) + "\n", tuple(self._feed(i) for i in range(3)))

    def _inputs(self) -> Iterator[tuple[str, Dims]]:
        yield "float32", self.random.choice([(3,), (2, 3), (2, 1, 3)])
        yield "float32", self.random.choice([(), (3,), (2, 3), (3, 2)])
        yield "int32", ()
        yield "bool", ()
        if self.random.random() < 0.3:
            yield "float64", (3,)
        if self.random.random() < 0.3:
            yield "int32", (3,)

    def placeholder(self, dtype: str, shape: Dims) -> None:
        kind = self.random.random()
        static: Any = list(shape)
        if kind < 0.15:
            static = None
        elif kind < 0.35:
            static = [None if self.random.random() < 0.5 else size for size in shape]
        name = f"x{len(self.placeholders)}"
        self.emit(f'{name} = tf.placeholder(tf.{dtype}, {static}, name="{name}")')
        value = Value(name, dtype, shape, static == list(shape))
        self.placeholders.append(value)
        self.values.append(value)

    def _feed(self, which: int) -> dict[str, Any]:
        random = np.random.default_rng(self.random.randrange(10**6))
        found: dict[str, Any] = {}
        for value in self.placeholders:
            if value.dtype == "bool":
                found[value.name] = np.bool_(which % 2)
            elif value.dtype == "int32":
                found[value.name] = np.asarray(random.integers(0, 4, value.shape), np.int32)
            else:
                found[value.name] = np.asarray(random.integers(-8, 9, value.shape) / 4, value.dtype)
        return found

    # Writing

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self, letter: str = "v") -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def let(self, expression: str, dtype: str, shape: Sequence[int], *inputs: Value, known: bool = True) -> Value:
        if int(np.prod(shape, dtype=np.int64)) > MOST:
            raise _UnfitError
        value = self.made(self.fresh(), dtype, shape, known and all(each.known for each in inputs))
        self.emit(f"{value.name} = {expression}")
        return value

    def made(self, name: str, dtype: str, shape: Sequence[int], known: bool = True) -> Value:
        value = Value(name, dtype, tuple(shape), known, self.function)
        self.values.append(value)
        return value

    def name(self) -> str:
        """The argument `name`, now and then."""
        return f', name="{self.random.choice(NAMES)}"' if self.random.random() < 0.2 else ""

    def pick(self, dtypes: Sequence[str] = NUMBERS, fits: Callable[[Dims], bool] = lambda shape: True) -> Value:
        """A value, preferably a recent one."""
        found = [value for value in self.values if value.dtype in dtypes and fits(value.shape)]
        if not found:
            raise _UnfitError
        return self.random.choice(found[-5:] if self.random.random() < 0.6 else found)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        self.emit(head)
        self.indent += 1
        try:
            yield
        finally:
            self.indent -= 1

    def attempt(self, make: Callable[[], Any]) -> bool:
        """Writes a statement, or nothing."""
        written: tuple[list[Any], ...] = (self.lines, self.values, self.variables, self.updates, self.scopes)
        before, in_loop = [len(things) for things in written], self.in_loop
        try:
            make()
        except _UnfitError:
            for kept, things in zip(before, written, strict=True):
                del things[kept:]
            self.in_loop = in_loop
            return False
        return True

    def block(self, statements: int) -> None:
        """So many statements; one at least."""
        plain = [
            *[self.unary] * 4,
            *[self.binary] * 6,
            *[self.reduction] * 3,
            *[self.arrangement] * 6,
            *[self.comparison] * 2,
            *[self.network] * 2,
            self.product,
            self.constant,
            self.random_values,
            self.conversion,
        ]
        nested = [
            *[self.name_scope] * 2,
            *[self.variable_scope] * 2,
            self.dependencies,
            self.placed,
        ]
        flow = [*[self.branch] * 3, *[self.loop] * 3, self.case, self.array_loop, self.mapped]
        done = 0
        while done < max(statements, 1):
            kind = self.random.random()
            if kind < 0.12 and statements > 1:
                makers = nested
            elif kind < 0.24 and self.depth < 3:
                makers = flow
            elif kind < 0.32:
                makers = [self.variable, self.gradients, self.inner_gradients]
            elif kind < 0.36 and not self.function:
                makers = [self.update, self.collected]
            else:
                makers = plain
            done += self.attempt(self.random.choice(makers))

    # Values from values

    def unary(self) -> None:
        if self.random.random() < 0.15:
            a = self.pick(("int32", *FLOATS))
            self.let(
                self.random.choice(["-{}", "abs({})", "tf.square({})", "tf.sign({})"]).format(a.name), *_like(a), a
            )
            return
        a = self.pick(FLOATS)
        forms = (
            *("tf.tanh({})", "tf.sigmoid({}{n})", "tf.sin({})", "tf.cos({})", "tf.nn.relu({}{n})", "tf.nn.elu({})"),
            *("tf.nn.softplus({})", "tf.nn.softsign({})", "tf.exp(-tf.abs({}))", "tf.sqrt(tf.abs({}) + 1.0)"),
            *("tf.log(tf.abs({}) + 1.0)", "tf.log1p(tf.square({}))", "tf.erf({})", "tf.rsqrt(tf.square({}) + 1.0)"),
            *("tf.identity({}{n})", "tf.stop_gradient({})", "tf.reciprocal(tf.square({}) + 2.0)", "tf.nn.relu6({})"),
            *("tf.clip_by_value({}, -1.0, 1.0)", "tf.negative({}{n})", "tf.nn.leaky_relu({})", "tf.floor({})"),
            *(
                "tf.nn.selu({})",
                "tf.atan({})",
                "tf.sinh(tf.tanh({}))",
                "tf.pow({}, 2.0)",
                "{} ** 2",
                "tf.expm1(-tf.abs({}))",
            ),
        )
        text = self.random.choice(forms).replace("{n}", self.name()).format(a.name)
        self.let(text, *_like(a), a)

    def binary(self) -> None:
        a = self.pick()
        if self.random.random() < 0.25:
            number = self.random.choice([2, 3]) if a.dtype == "int32" else self.random.choice([0.5, 2.0, -1.0, 0.25])
            forms = ["{0} * {1}", "{1} * {0}", "{0} + {1}", "{1} - {0}", "{0} - {1}", "{0} // {1}", "{0} % {1}"]
            if a.dtype != "int32":
                forms = [*forms[:5], "{0} / {1}", "tf.multiply({0}, {1}{n})", "tf.scalar_mul({1}, {0})"]
            text = self.random.choice(forms).replace("{n}", self.name()).format(a.name, number)
            self.let(text, *_like(a), a)
            return
        b = self.pick((a.dtype,), lambda shape: _broadcast(a.shape, shape) is not None)
        forms = [
            "{} + {}",
            "{} * {}",
            "{} - {}",
            "tf.add({}, {}{n})",
            "tf.multiply({}, {}{n})",
            "tf.subtract({}, {}{n})",
        ]
        forms += ["tf.maximum({}, {}{n})", "tf.minimum({}, {}{n})", "tf.squared_difference({}, {})"]
        if a.dtype != "int32":
            forms += ["{} / (tf.square({}) + 1.0)", "tf.div({}, tf.square({}) + 2.0)", "tf.div_no_nan({}, {})"]
            forms += ["tf.atan2({}, tf.square({}) + 1.0)", "tf.truediv({}, tf.exp(tf.tanh({})))"]
        text = self.random.choice(forms).replace("{n}", self.name()).format(a.name, b.name)
        shape = _broadcast(a.shape, b.shape)
        assert shape is not None
        self.let(text, a.dtype, shape, a, b)

    def comparison(self) -> None:
        kind = self.random.randrange(4)
        if kind == 0:
            a = self.pick(("bool",))
            b = self.pick(("bool",), lambda shape: _broadcast(a.shape, shape) is not None)
            shape = _broadcast(a.shape, b.shape)
            assert shape is not None
            form = self.random.choice(
                ["tf.logical_and({}, {})", "tf.logical_or({}, {})", "tf.logical_xor({}, {})", "{} & {}"]
            )
            self.let(form.format(a.name, b.name), "bool", shape, a, b)
        elif kind == 1:
            a = self.pick(("bool",))
            self.let(f"tf.logical_not({a.name}{self.name()})", "bool", a.shape, a)
        elif kind == 2:
            a = self.pick()
            b = self.pick((a.dtype,), lambda shape: shape == a.shape)
            condition = self.pick(
                ("bool",), lambda shape: shape == a.shape or (len(a.shape) > 0 and shape == a.shape[:1])
            )
            self.let(f"tf.where({condition.name}, {a.name}, {b.name})", *_like(a), a, b, condition)
        else:
            a = self.pick()
            b = self.pick((a.dtype,), lambda shape: _broadcast(a.shape, shape) is not None)
            shape = _broadcast(a.shape, b.shape)
            assert shape is not None
            forms = ["{} < {}", "{} >= {}", "tf.greater({}, {})", "tf.less_equal({}, {}{n})", "tf.equal({}, {})"]
            forms += ["tf.not_equal({}, {})"]
            text = self.random.choice(forms).replace("{n}", self.name()).format(a.name, b.name)
            self.let(text, "bool", shape, a, b)

    def reduction(self) -> None:
        if self.random.random() < 0.15:
            a = self.pick(("bool",))
            kind, rank = self.random.choice(["any", "all"]), len(a.shape)
        else:
            a = self.pick()
            rank = len(a.shape)
            if rank and a.dtype == "int32" and self.random.random() < 0.15:
                axis = self.random.randrange(-rank, rank)
                shape = _without(a.shape, [axis % rank])
                self.let(f"tf.argmax({a.name}, {axis}, output_type=tf.int32)", "int32", shape, a)
                return
            kinds = ["sum", "sum", "mean", "max", "min", "prod"] + ["logsumexp"] * (a.dtype != "int32")
            kind = self.random.choice(kinds)
        keep = self.random.random() < 0.3
        axes = list(range(rank))
        text = f"tf.reduce_{kind}({a.name}"
        if rank and self.random.random() < 0.75:
            axes = sorted(self.random.sample(axes, self.random.randint(1, rank)))
            spelled: Any = [axis - rank if self.random.random() < 0.4 else axis for axis in axes]
            text += f", {spelled[0] if len(spelled) == 1 and self.random.random() < 0.7 else spelled}"
        shape = tuple(1 if i in axes else size for i, size in enumerate(a.shape)) if keep else _without(a.shape, axes)
        text += ", keepdims=True" * keep + self.name() + ")"
        self.let(text, a.dtype, shape, a)

    def arrangement(self) -> None:
        makers = [self._reshaped, self._sliced, self._sliced, self._joined, self._joined, self._parted, self._permuted]
        makers += [self._gathered, self._repeated, self._shaped, self._accumulated, self._chosen, self._chosen]
        self.random.choice(makers)()

    def _reshaped(self) -> None:
        a = self.pick((*NUMBERS, "bool"))
        kind = self.random.randrange(4)
        if kind == 0:
            axis = self.random.randint(-len(a.shape) - 1, len(a.shape))
            at = axis if axis >= 0 else axis + len(a.shape) + 1
            self.let(f"tf.expand_dims({a.name}, {axis})", a.dtype, (*a.shape[:at], 1, *a.shape[at:]), a)
        elif kind == 1 and 1 in a.shape:
            axes = [i for i, size in enumerate(a.shape) if size == 1]
            if self.random.random() < 0.5:
                axes = [self.random.choice(axes)]
                self.let(f"tf.squeeze({a.name}, {axes})", a.dtype, _without(a.shape, axes), a)
            else:
                self.let(f"tf.squeeze({a.name})", a.dtype, _without(a.shape, axes), a)
        elif kind == 2:
            shapes = [(), (3,), (6,), (2, 3), (3, 2), (1, 3), (3, 1, 2), (2, 3, 2), (2,), (4,), (1,)]
            found = [shape for shape in shapes if np.prod(shape, dtype=int) == np.prod(a.shape, dtype=int)]
            if not found:
                raise _UnfitError
            shape = self.random.choice(found)
            spelled = list(shape)
            if shape and self.random.random() < 0.4:
                spelled[self.random.randrange(len(shape))] = -1
            self.let(f"tf.reshape({a.name}, {spelled}{self.name()})", a.dtype, shape, a)
        else:
            b = self.pick((*NUMBERS, "bool"), lambda shape: np.prod(shape, dtype=int) == np.prod(a.shape, dtype=int))
            self.let(f"tf.reshape({a.name}, tf.shape({b.name}))", a.dtype, b.shape, a, b)

    def _sliced(self) -> None:
        a = self.pick((*NUMBERS, "bool"), lambda shape: len(shape) > 0)
        index: list[str] = []
        shape: list[int] = []
        for size in a.shape:
            form = self.random.randrange(6)
            if form == 0:
                index.append(str(self.random.randrange(-size, size)))
            elif form == 1:
                index.append("::-1")
                shape.append(size)
            elif form == 2 and size > 1:
                index.append("1:")
                shape.append(size - 1)
            elif form == 3 and size > 1:
                index.append(":-1")
                shape.append(size - 1)
            elif form == 4:
                index += ["tf.newaxis", ":"]
                shape += [1, size]
            else:
                index.append(":")
                shape.append(size)
        if index[-1] == ":" and len(a.shape) == len(index) and self.random.random() < 0.3:
            index[-1] = "..."
        known = a.known or len(shape) == 0
        if self.random.random() < 0.25:
            self.let(f"tf.slice({a.name}, {[0] * len(a.shape)}, {[1] * len(a.shape)})", a.dtype, [1] * len(a.shape))
        else:
            self.let(f"{a.name}[{', '.join(index)}]", a.dtype, shape, known=known)

    def _joined(self) -> None:
        a = self.pick((*NUMBERS, "bool"))
        more = [self.pick((a.dtype,), lambda shape: shape == a.shape) for _ in range(self.random.randint(1, 2))]
        parts = ", ".join(value.name for value in [a, *more])
        rank = len(a.shape)
        kind = self.random.randrange(3)
        if kind == 0 and rank:
            axis = self.random.randrange(-rank, rank)
            shape = list(a.shape)
            shape[axis] *= 1 + len(more)
            self.let(f"tf.concat([{parts}], {axis}{self.name()})", a.dtype, shape, a, *more)
        elif kind == 1 and a.dtype != "bool":
            self.let(f"tf.add_n([{parts}]{self.name()})", *_like(a), a, *more)
        else:
            axis = self.random.randint(-rank - 1, rank)
            at = axis if axis >= 0 else axis + rank + 1
            shape = [*a.shape[:at], 1 + len(more), *a.shape[at:]]
            self.let(f"tf.stack([{parts}], {axis})", a.dtype, shape, a, *more)

    def _parted(self) -> None:
        a = self.pick(NUMBERS, lambda shape: len(shape) > 0 and max(shape) > 1)
        axis = self.random.choice([i for i, size in enumerate(a.shape) if size > 1])
        size = a.shape[axis]
        rest = list(a.shape)
        if self.random.random() < 0.4 and a.known:
            names = [self.fresh() for _ in range(size)]
            self.emit(f"{', '.join(names)} = tf.unstack({a.name}, axis={axis})")
            for name in names:
                self.made(name, a.dtype, _without(a.shape, [axis]), a.known)
        elif self.random.random() < 0.5:
            names = [self.fresh() for _ in range(size)]
            rest[axis] = 1
            self.emit(f"{', '.join(names)} = tf.split({a.name}, {size}, {axis})")
            for name in names:
                self.made(name, a.dtype, rest, a.known)
        else:
            first, second = self.fresh(), self.fresh()
            self.emit(f"{first}, {second} = tf.split({a.name}, [1, {size - 1}], {axis}{self.name()})")
            for name, part in ((first, 1), (second, size - 1)):
                rest[axis] = part
                self.made(name, a.dtype, rest, a.known)

    def _permuted(self) -> None:
        a = self.pick((*NUMBERS, "bool"), lambda shape: len(shape) > 0)
        rank = len(a.shape)
        kind = self.random.randrange(3)
        if kind == 0:
            self.let(f"tf.transpose({a.name})", a.dtype, a.shape[::-1], a)
        elif kind == 1:
            order = self.random.sample(range(rank), rank)
            self.let(f"tf.transpose({a.name}, {order}{self.name()})", a.dtype, [a.shape[i] for i in order], a)
        else:
            self.let(f"tf.reverse({a.name}, [{self.random.randrange(-rank, rank)}])", *_like(a), a)

    def _gathered(self) -> None:
        a = self.pick(NUMBERS, lambda shape: len(shape) > 0)
        count = self.random.randint(1, 3)
        chosen = [self.random.randrange(a.shape[0]) for _ in range(count)]
        if self.random.random() < 0.6:
            self.let(f"tf.gather({a.name}, {chosen}{self.name()})", a.dtype, (count, *a.shape[1:]), a)
        else:
            axis = self.random.randrange(len(a.shape))
            chosen = [self.random.randrange(a.shape[axis]) for _ in range(count)]
            shape = (*a.shape[:axis], count, *a.shape[axis + 1 :])
            self.let(f"tf.gather({a.name}, {chosen}, axis={axis})", a.dtype, shape, a)

    def _repeated(self) -> None:
        a = self.pick(NUMBERS, lambda shape: len(shape) > 0)
        kind = self.random.randrange(3)
        if kind == 0:
            times = [self.random.randint(1, 2) for _ in a.shape]
            self.let(f"tf.tile({a.name}, {times})", a.dtype, [x * y for x, y in zip(a.shape, times, strict=True)], a)
        elif kind == 1:
            wide = [[self.random.randint(0, 1), self.random.randint(0, 1)] for _ in a.shape]
            shape = [size + sum(pair) for size, pair in zip(a.shape, wide, strict=True)]
            self.let(f"tf.pad({a.name}, {wide})", a.dtype, shape, a)
        else:
            self.let(f"tf.broadcast_to({a.name}, {[2, *a.shape]})", a.dtype, (2, *a.shape))

    def _shaped(self) -> None:
        a = self.pick((*NUMBERS, "bool"))
        kind = self.random.randrange(7)
        if kind == 0 and a.shape:
            self.let(f"tf.shape({a.name})", "int32", (len(a.shape),), a)
        elif kind == 1:
            self.let(f"tf.size({a.name})", "int32", ())
        elif kind == 2:
            self.let(f"tf.rank({a.name})", "int32", ())
        elif kind == 3:
            self.let(f"tf.zeros_like({a.name})", *_like(a), a)
        elif kind == 4:
            self.let(f"tf.ones_like({a.name})", *_like(a), a)
        elif kind == 5:
            self.let(f"tf.fill(tf.shape({a.name}), 0.5)", "float32", a.shape, a)
        else:
            b = self.pick(("int32",), lambda shape: len(shape) < 2)
            self.let(f"tf.one_hot({b.name}, 3)", "float32", (*b.shape, 3), b)

    def _accumulated(self) -> None:
        a = self.pick(FLOATS, lambda shape: len(shape) > 0)
        axis = self.random.randrange(-len(a.shape), len(a.shape))
        more = self.random.choice(["", ", exclusive=True", ", reverse=True"])
        self.let(f"tf.{self.random.choice(['cumsum', 'cumsum', 'cumprod'])}({a.name}, {axis}{more})", *_like(a), a)

    def _chosen(self) -> None:
        """What is less common."""
        a = self.pick(FLOATS, lambda shape: len(shape) > 0)
        rows, rest = a.shape[0], a.shape[1:]
        last = len(a.shape) - 1
        ids = [min(i // 2, 2) for i in range(rows)]
        forms: list[tuple[str, str, Dims, bool]] = [
            ("tf.einsum('...i,...i->...', {0}, {0})", a.dtype, a.shape[:-1], True),
            (f"tf.tensordot({{0}}, {{0}}, [[{last}], [{last}]])", a.dtype, (*a.shape[:-1], *a.shape[:-1]), False),
            (f"tf.boolean_mask({{0}}, {[i % 2 == 0 for i in range(rows)]})", a.dtype, ((rows + 1) // 2, *rest), False),
            (f"tf.segment_sum({{0}}, {ids})", a.dtype, (ids[-1] + 1, *rest), False),
            (f"tf.unsorted_segment_sum({{0}}, {ids[::-1]}, 3)", a.dtype, (3, *rest), True),
            ("tf.norm({0})", a.dtype, (), False),
            ("tf.nn.top_k({0}, 1)[0]", a.dtype, (*a.shape[:-1], 1), True),
            ("tf.nn.zero_fraction({0})", "float32", (), False),
            ("tf.count_nonzero({0}, dtype=tf.int32)", "int32", (), False),
            (f"tf.gather_nd({{0}}, [[0], [{rows - 1}]])", a.dtype, (2, *rest), True),
            (f"tf.scatter_nd([[0], [0]], {{0}}[:1] * tf.ones([2] + {[1] * len(rest)}, tf.{a.dtype}), {[2, *rest]})",
             a.dtype, (2, *rest), False),
            (f"tf.roll({{0}}, 1, {last})", a.dtype, a.shape, True),
            ("tf.nn.crelu({0})", a.dtype, (*a.shape[:-1], 2 * a.shape[-1]), True),
            ("tf.clip_by_norm({0}, 1.0)", a.dtype, a.shape, True),
            ("tf.clip_by_global_norm([{0}, {0} * 2.0], 1.0)[0][1]", a.dtype, a.shape, True),
            ("tf.tuple([{0}, tf.tanh({0})])[1]", a.dtype, a.shape, True),
            (f"tf.nn.embedding_lookup({{0}}, [0, {rows - 1}, 0])", a.dtype, (3, *rest), True),
            ("tf.nn.batch_normalization({0}, 0.5, 2.0, None, 1.0, 1e-3)", a.dtype, a.shape, True),
            (f"tf.ensure_shape({{0}}, {list(a.shape)})", a.dtype, a.shape, True),
            (f"tf.nn.sparse_softmax_cross_entropy_with_logits(labels={[0] * rows}, logits={{0}})",
             a.dtype, a.shape[:-1], True),
            ("tf.identity_n([{0}, {0}])[0]", a.dtype, a.shape, True),
            ("tf.verify_tensor_all_finite(tf.tanh({0}), 'finite')", a.dtype, a.shape, True),
        ]  # fmt: skip
        text, dtype, shape, known = self.random.choice(forms)
        if "softmax" in text and len(a.shape) != 2:
            raise _UnfitError
        self.let(text.format(a.name), dtype, shape, a, known=known)

    def product(self) -> None:
        a = self.pick(FLOATS, lambda shape: len(shape) >= 2)
        rows, shared = a.shape[-2:]
        if self.random.random() < 0.35:
            self.let(f"tf.matmul({a.name}, {a.name}, transpose_b=True)", a.dtype, (*a.shape[:-1], rows), a)
        elif self.random.random() < 0.5:
            self.let(f"tf.matmul({a.name}, {a.name}, transpose_a=True)", a.dtype, (*a.shape[:-2], shared, shared), a)
        else:
            b = self.pick((a.dtype,), lambda shape: shape[:-2] == a.shape[:-2] and shape[-2:-1] == (shared,))
            text = self.random.choice(["tf.matmul({}, {}{n})", "{} @ {}"]).replace("{n}", self.name())
            self.let(text.format(a.name, b.name), a.dtype, (*a.shape[:-1], b.shape[-1]), a, b)

    def network(self) -> None:
        a = self.pick(FLOATS, lambda shape: len(shape) >= 1)
        kind = self.random.randrange(9)
        if kind == 0:
            self.let(f"tf.nn.softmax({a.name}{self.name()})", *_like(a), a)
        elif kind == 1:
            self.let(f"tf.nn.log_softmax({a.name})", *_like(a), a)
        elif kind == 2:
            self.let(f"tf.nn.l2_loss({a.name})", a.dtype, ())
        elif kind == 3:
            self.let(f"tf.nn.l2_normalize({a.name}, {self.random.randrange(len(a.shape))})", *_like(a), a)
        elif kind == 4 and not self.in_loop:
            self.let(f"tf.nn.dropout({a.name}, 0.5, seed={self.random.randrange(9)})", *_like(a), a)
        elif kind == 5:
            mean, variance = self.fresh(), self.fresh()
            self.emit(f"{mean}, {variance} = tf.nn.moments({a.name}, [0])")
            for name in (mean, variance):
                self.made(name, a.dtype, a.shape[1:], a.known)
        elif kind == 6:
            b = self.pick((a.dtype,), lambda shape: shape == a.shape)
            text = f"tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid({b.name}), logits={a.name})"
            self.let(text, *_like(a), a, b)
        elif kind == 7 and len(a.shape) == 2:
            b = self.pick((a.dtype,), lambda shape: shape == a.shape)
            text = f"tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax({b.name}), logits={a.name})"
            self.let(text, a.dtype, a.shape[:1], a, b)
        elif kind == 8:
            b = self.pick((a.dtype,), lambda shape: shape == a.shape)
            text = self.random.choice(["tf.losses.mean_squared_error({}, {})", "tf.losses.huber_loss({}, {})"])
            if self.function or a.dtype != "float32":
                raise _UnfitError
            self.let(text.format(a.name, b.name), "float32", ())
        else:
            raise _UnfitError

    def constant(self) -> None:
        shape = self.random.choice([(), (3,), (2, 3), (1, 3), (2,), (3, 2)])
        dtype = self.random.choice(NUMBERS)
        kind = self.random.randrange(5)
        if kind == 0:
            self.let(f"tf.{self.random.choice(['zeros', 'ones'])}({list(shape)}, tf.{dtype})", dtype, shape)
        elif kind == 1:
            self.let(
                f"tf.fill({list(shape)}, {0.25 if dtype != 'int32' else 2})",
                "float32" if dtype != "int32" else dtype,
                shape,
            )
        elif kind == 2:
            self.let("tf.range(3)", "int32", (3,))
        else:
            numbers = np.array([self.random.randint(-4, 4) for _ in range(int(np.prod(shape)))]).reshape(shape)
            spelled = numbers.tolist() if dtype == "int32" else (numbers / 4).tolist()
            self.let(f"tf.constant({spelled}, tf.{dtype}{self.name()})", dtype, shape)

    def random_values(self) -> None:
        if self.in_loop:
            raise _UnfitError
        shape = list(self.random.choice([(), (3,), (2, 3)]))
        seed = self.random.choice(["", f", seed={self.random.randrange(9)}"])
        if not seed and not self.lines[1].strip().startswith("tf.set_random_seed"):
            raise _UnfitError
        maker = self.random.choice(["random_uniform", "random_normal", "truncated_normal"])
        self.let(f"tf.{maker}({shape}{seed}{self.name()})", "float32", shape)

    def conversion(self) -> None:
        kind = self.random.randrange(4)
        if kind == 0:
            a = self.pick(("bool", "int32", *FLOATS))
            dtype = self.random.choice(FLOATS)
            self.let(f"tf.cast({a.name}, tf.{dtype})", dtype, a.shape, a)
        elif kind == 1:
            a = self.pick(("bool",))
            self.let(f"tf.to_int32({a.name})", "int32", a.shape, a)
        elif kind == 2:
            a = self.pick(("float32",))
            self.let(f"tf.cast(tf.clip_by_value({a.name}, -9.0, 9.0), tf.int32)", "int32", a.shape, a)
        else:
            a = self.pick(("int32", "bool"))
            self.let(f"tf.to_float({a.name}{self.name()})", "float32", a.shape, a)

    # Scopes

    def name_scope(self) -> None:
        names = self.random.choice(
            [f'"{self.random.choice(SCOPES)}"', f'"{self.random.choice(SCOPES)}"', 'None, "default"']
        )
        as_scope = self.random.random() < 0.3
        scope = self.fresh("n")
        with self.inside(f"with tf.name_scope({names})" + f" as {scope}" * as_scope + ":"):
            self.block(self.random.randint(1, 3))
        if as_scope and self.random.random() < 0.5:
            with self.inside(f"with tf.name_scope({scope}):"):
                self.block(1)

    def variable_scope(self) -> None:
        scope = self.fresh("s")
        kind = self.random.randrange(5)
        options = self.random.choice(["", "", ", reuse=tf.AUTO_REUSE", ", use_resource=True", ", dtype=tf.float64"])
        if self.depth:
            options = ", reuse=tf.AUTO_REUSE"
        if kind == 0 and self.scopes:
            head = f"with tf.variable_scope({self.random.choice(self.scopes)}, reuse=tf.AUTO_REUSE) as {scope}:"
        elif kind == 1 and "reuse" not in options:
            head = f'with tf.variable_scope(None, "{self.random.choice(SCOPES)}"{options}) as {scope}:'
        else:
            head = f'with tf.variable_scope("{self.random.choice(SCOPES)}"{options}) as {scope}:'
        with self.inside(head):
            if "dtype" not in options:
                self.attempt(self.variable)
            self.block(self.random.randint(1, 3))
        if not self.function:
            self.scopes.append(scope)

    def dependencies(self) -> None:
        a, b = self.pick((*NUMBERS, "bool")), self.pick((*NUMBERS, "bool"))
        listed = self.random.choice(
            [f"[{a.name}]", f"[{a.name}, {b.name}]", f"[{a.name}.op]", "None", f"[tf.group({a.name}, {b.name})]"]
        )
        with self.inside(f"with tf.control_dependencies({listed}):"):
            self.block(self.random.randint(1, 2))

    def placed(self) -> None:
        a = self.pick((*NUMBERS, "bool"))
        heads = ['tf.device("/cpu:0")', 'tf.device("/device:CPU:0")', "tf.device(None)", f"tf.colocate_with({a.name})"]
        heads += [f"tf.colocate_with({a.name}.op)", 'tf.device(lambda op: "/cpu:0" if op.type == "Mul" else "")']
        with self.inside(f"with {self.random.choice(heads)}:"):
            self.block(self.random.randint(1, 3))

    # Branches and loops

    @contextmanager
    def local(self, name: str, parameters: str = "") -> Iterator[None]:
        """A function whose values are its own."""
        outer, kept = self.function, len(self.values)
        self.names += 1
        self.function = self.names
        self.depth += 1
        try:
            with self.inside(f"def {name}({parameters}):"):
                yield
        finally:
            self.depth -= 1
            self.function = outer
            del self.values[kept:]

    def result(self, dtype: str, shape: Dims, exact: bool = False) -> Value:
        """A value of the type and shape, local to the function being written if there is one."""
        local = [each for each in self.values if each.function == self.function]
        found = [each for each in local if (each.dtype, each.shape) == (dtype, shape)]
        if found and self.random.random() < 0.8:
            value = self.random.choice(found[-3:])
        else:
            base = self.pick((dtype,), lambda each: each == shape)
            other = self.random.choice(local[-3:]) if local and self.random.random() < 0.8 else base
            number = (
                f"tf.reduce_mean({_as(other, dtype)})" if dtype != "int32" else f"tf.reduce_max({_as(other, dtype)})"
            )
            value = self.let(f"{base.name} + {number}", dtype, shape, base)
        if dtype != "int32" and self.random.random() < 0.5:
            value = self.let(f"tf.tanh({value.name})", dtype, shape, value)
        if exact and not value.known:
            value = self.let(f"tf.reshape({value.name}, {list(shape)})", dtype, shape)
        return value

    def predicate(self) -> str:
        try:
            if self.random.random() < 0.5:
                return self.pick(("bool",), lambda shape: shape == ()).name
            a = self.pick(NUMBERS, lambda shape: shape == ())
            return f"{a.name} > {self.random.randint(0, 2)}" if a.dtype == "int32" else f"{a.name} < 0.5"
        except _UnfitError:
            a = self.pick(FLOATS)
            return f"tf.reduce_sum({a.name}) > 0.0"

    def branch_function(self, targets: Sequence[Value]) -> tuple[str, bool]:
        """The name of a function that gives values like the targets, and whether all its shapes are known."""
        name = self.fresh("f")
        with self.local(name):
            self.block(self.random.randint(1, 3))
            results = [self.result(target.dtype, target.shape) for target in targets]
            known = all(value.known for value in results)
            listed = ", ".join(value.name for value in results)
            self.emit(f"return {listed}" if len(results) == 1 else f"return [{listed}]")
        return name, known

    def branch(self) -> None:
        predicate = self.predicate()
        targets = [self.pick() for _ in range(self.random.choice([1, 1, 2]))]
        (yes, known), (no, also_known) = self.branch_function(targets), self.branch_function(targets)
        names = [self.fresh() for _ in targets]
        self.emit(f"{', '.join(names)} = tf.cond({predicate}, {yes}, {no}{self.name()})")
        for name, target in zip(names, targets, strict=True):
            self.made(name, target.dtype, target.shape, known and also_known)

    def case(self) -> None:
        predicates = [self.predicate() for _ in range(self.random.randint(1, 2))]
        targets = [self.pick()]
        functions = [self.branch_function(targets) for _ in range(len(predicates) + 1)]
        pairs = ", ".join(f"({predicate}, {name})" for predicate, (name, _) in zip(predicates, functions, strict=False))
        known = all(each for _, each in functions)
        text = f"tf.case([{pairs}], default={functions[-1][0]}{self.name()})"
        self.let(text, *_like(targets[0]), known=known)

    def loop(self) -> None:
        carried = [self.pick() for _ in range(self.random.choice([1, 2, 2]))]
        loose = self.random.random() < 0.15
        names = [self.fresh("p") for _ in carried]
        index, condition, body = self.fresh("i"), self.fresh("f"), self.fresh("f")
        rounds = self.random.choice(
            ["2", "3", *[each.name for each in self.placeholders if _like(each) == ("int32", ())]]
        )
        parameters = ", ".join([index, *names])
        was_in_loop, self.in_loop = self.in_loop, True
        with self.local(condition, parameters):
            self.emit(f"return {index} < {rounds}")
        with self.local(body, parameters):
            self.made(index, "int32", ())
            for name, value in zip(names, carried, strict=True):
                self.made(name, value.dtype, value.shape, value.known and not loose)
            self.block(self.random.randint(1, 3))
            results = [self.result(*_like(value), exact=not loose) for value in carried]
            listed = ", ".join(value.name for value in results)
            self.emit(f"return [{index} + 1, {listed}]")
        self.in_loop = was_in_loop
        options = self.random.choice(
            ["", "", ", parallel_iterations=1", ", swap_memory=True", ", maximum_iterations=2", ", back_prop=False"]
        )
        if loose:
            shapes = ", ".join("tf.TensorShape(None)" for _ in carried)
            options += f", shape_invariants=[tf.TensorShape([]), {shapes}]"
        start = ", ".join([self.random.choice(["0", "tf.constant(0)"]), *[value.name for value in carried]])
        found = [self.fresh() for _ in range(len(carried) + 1)]
        self.emit(f"{', '.join(found)} = tf.while_loop({condition}, {body}, [{start}]{options}{self.name()})")
        self.made(found[0], "int32", ())
        for name, value in zip(found[1:], carried, strict=True):
            self.made(name, value.dtype, value.shape, value.known and not loose)

    def array_loop(self) -> None:
        value = self.pick(FLOATS)
        array, index, part = self.fresh("a"), self.fresh("i"), self.fresh("p")
        body = self.fresh("f")
        options = self.random.choice(
            ["", ", dynamic_size=True", ", clear_after_read=False", f", element_shape={list(value.shape)}"]
        )
        self.emit(f"{array} = tf.TensorArray(tf.{value.dtype}, size=3{options})")
        was_in_loop, self.in_loop = self.in_loop, True
        with self.local(body, f"{index}, {part}, {array}"):
            self.made(index, "int32", ())
            self.made(part, *_like(value), known=value.known)
            self.block(self.random.randint(1, 2))
            result = self.result(*_like(value), exact=True)
            self.emit(f"return {index} + 1, {result.name}, {array}.write({index}, {result.name})")
        self.in_loop = was_in_loop
        done, last, filled = self.fresh(), self.fresh(), self.fresh("a")
        start = f"(0, {value.name}, {array})"
        self.emit(f"{done}, {last}, {filled} = tf.while_loop(lambda i, *_: i < 3, {body}, {start})")
        self.made(done, "int32", ())
        self.made(last, *_like(value), known=value.known)
        kind = self.random.randrange(4)
        if kind == 0 and value.shape:
            shape = (3 * value.shape[0], *value.shape[1:])
            self.let(f"{filled}.concat()", value.dtype, shape, known=False)
        elif kind == 1:
            self.let(f"{filled}.read({self.random.randrange(3)})", *_like(value), known=False)
        elif kind == 2:
            self.let(f"{filled}.gather([2, 0])", value.dtype, (2, *value.shape), known=False)
        else:
            self.let(f"{filled}.stack()", value.dtype, (3, *value.shape), known=False)

    def mapped(self) -> None:
        value = self.pick(FLOATS, lambda shape: len(shape) > 0)
        element, body = self.fresh("p"), self.fresh("f")
        kind = self.random.choice(["map_fn", "scan", "foldl", "foldr"])
        sums = self.fresh("p")
        was_in_loop, self.in_loop = self.in_loop, True
        with self.local(body, element if kind == "map_fn" else f"{sums}, {element}"):
            self.made(element, value.dtype, value.shape[1:], known=False)
            if kind != "map_fn":
                self.made(sums, value.dtype, value.shape[1:], known=False)
            self.block(self.random.randint(1, 2))
            result = self.result(value.dtype, value.shape[1:], exact=True)
            self.emit(f"return {result.name}")
        self.in_loop = was_in_loop
        shape = value.shape[1:] if kind.startswith("fold") else value.shape
        self.let(f"tf.{kind}({body}, {value.name}{self.name()})", value.dtype, shape, known=False)

    # Variables

    def variable(self) -> None:
        shape = self.random.choice([(3,), (2, 3), (), (3, 2)])
        made = self.random.choice(["", "", ", use_resource=True", ", use_resource=False"])
        number = self.random.randint(-4, 4) / 4
        makers = [f"tf.constant_initializer({number})", "tf.zeros_initializer()", "tf.ones_initializer()"]
        makers += [f"tf.random_uniform_initializer(-1.0, 1.0, seed={self.random.randrange(9)})"]
        if shape:
            makers += [f"tf.glorot_uniform_initializer(seed={self.random.randrange(9)})"]
        extra = ""
        name = self.fresh("w")
        key = f"w{self.random.randrange(3)}{''.join(map(str, shape))}" if self.indent > 1 else name
        if self.function or self.random.random() < 0.7:
            if self.function and self.in_loop and self.random.random() < 0.7:
                raise _UnfitError
            scope_reuse = "AUTO_REUSE" in self.lines[-1] and "with tf.variable_scope" in self.lines[-1]
            key = key if scope_reuse else name
            extra = self.random.choice(["", "", ", trainable=False", ", regularizer=lambda w: 0.5 * tf.reduce_sum(w)"])
            maker = self.random.choice(makers)
            self.emit(f'{name} = tf.get_variable("{key}", {list(shape)}, tf.float32, {maker}{made}{extra})')
        else:
            start = np.full(shape, number).tolist()
            self.emit(f"{name} = tf.Variable({start}, dtype=tf.float32{self.name()}{made})")
        value = self.made(name, "float32", shape)
        if not self.function and "trainable=False" not in extra:
            self.variables.append(value)

    def update(self) -> None:
        if not self.variables:
            raise _UnfitError
        variable = self.random.choice(self.variables)
        amount = self.result("float32", variable.shape)
        form = self.random.choice(["tf.assign({}, {})", "tf.assign_add({}, {})", "{}.assign_sub({})", "{}.assign({})"])
        first = self.fresh("u")
        self.emit(f"{first} = {form.format(variable.name, amount.name)}")
        kind = self.random.randrange(4)
        second = self.fresh("u")
        if kind == 0:
            with self.inside(f"with tf.control_dependencies([{first}]):"):
                self.emit(f"{second} = tf.identity({variable.name}.read_value())")
            self.updates.append(second)
        elif kind == 1:
            with self.inside(f"with tf.control_dependencies([{first}]):"):
                self.emit(f"{second} = tf.assign_add({variable.name}, tf.ones({list(variable.shape)}))")
            self.updates.append(second)
        elif kind == 2:
            self.emit(
                f"{second} = tf.cond({self.predicate()}, "
                f"lambda: tf.group(tf.assign({variable.name}, tf.zeros({list(variable.shape)}))), lambda: tf.no_op())"
            )
            self.updates.append(second)
        else:
            self.updates.append(first)

    def collected(self) -> None:
        a = self.pick(FLOATS)
        key = self.random.choice(["things", "tf.GraphKeys.LOSSES"])
        spelled = key if key.startswith("tf.") else f'"{key}"'
        self.emit(f"tf.add_to_collection({spelled}, tf.to_float(tf.reduce_sum({a.name})))")
        self.let(f"tf.add_n(tf.get_collection({spelled}))", "float32", ())

    # Derivatives

    def gradients(self) -> None:
        """With respect to placeholders and variables, outside of functions."""
        if self.function:
            raise _UnfitError
        y = self.pick(FLOATS)
        sources = [each for each in (*self.placeholders, *self.variables) if each.dtype == y.dtype]
        if not sources:
            raise _UnfitError
        self._gradients(y, self.random.sample(sources, min(len(sources), self.random.randint(1, 3))))

    def inner_gradients(self) -> None:
        """With respect to values of the same function."""
        local = [each for each in self.values if each.dtype in FLOATS and each.function == self.function]
        if len(local) < 2:
            raise _UnfitError
        y = self.random.choice(local[-3:])
        sources = [each for each in local if each.dtype == y.dtype and each is not y]
        if not sources:
            raise _UnfitError
        self._gradients(y, self.random.sample(sources, min(len(sources), self.random.randint(1, 2))))

    def _gradients(self, y: Value, sources: Sequence[Value]) -> None:
        listed = ", ".join(each.name for each in sources)
        names = [self.fresh("g") for _ in sources]
        options = self.random.choice(
            ["", "", "", ", colocate_gradients_with_ops=True", ", gate_gradients=True", ", aggregation_method=2"]
        )
        if self.random.random() < 0.15:
            options += f", grad_ys=tf.ones_like({y.name}) * 0.5"
        if self.random.random() < 0.1:
            options += f", stop_gradients=[{self.random.choice(self.values).name}]"
        targets = ", ".join(names) + "," * (len(names) == 1)
        options += self.random.choice(["", "", ', name="gradients_2"'])
        if self.random.random() < 0.4:
            options += ', unconnected_gradients="zero"'
        self.emit(f"{targets} = tf.gradients({y.name}, [{listed}]{options})")
        for name, source in zip(names, sources, strict=True):
            self.emit(f"{name} = tf.identity({source.name}) if {name} is None else tf.convert_to_tensor({name})")
            self.made(name, *_like(source), known=False)

    def training(self) -> None:
        parts = [f"tf.reduce_sum(tf.square({each.name} - 0.5))" for each in self.variables[-3:]]
        value = self.pick(("float32",))
        parts.append(f"tf.reduce_mean(tf.tanh({value.name}))")
        loss, train = self.fresh(), self.fresh("u")
        self.emit(f"{loss} = {' + '.join(parts)}")
        makers = (
            *("GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9)", "AdamOptimizer(0.05)"),
            *("MomentumOptimizer(0.1, 0.9, use_nesterov=True)", "AdagradOptimizer(0.1)", "RMSPropOptimizer(0.1)"),
            *("RMSPropOptimizer(0.1, centered=True)", "AdadeltaOptimizer(0.1)", "FtrlOptimizer(0.1)"),
            *("ProximalGradientDescentOptimizer(0.1)", "ProximalAdagradOptimizer(0.1)"),
        )
        maker = f"tf.train.{self.random.choice(makers)}"
        if self.random.random() < 0.6:
            self.emit(f"{train} = {maker}.minimize({loss}, gate_gradients=2)")
        else:
            step, optimizer, pairs = self.fresh("t"), self.fresh("o"), self.fresh("q")
            self.emit(f"{step} = tf.train.get_or_create_global_step()")
            self.emit(f"{optimizer} = {maker}")
            self.emit(f"{pairs} = {optimizer}.compute_gradients({loss}, gate_gradients=2)")
            self.emit(f"{pairs} = [(tf.clip_by_norm(g, 1.0), w) for g, w in {pairs} if g is not None]")
            self.emit(f"{train} = {optimizer}.apply_gradients({pairs}, {step})")
        self.updates.append(train)


def _like(value: Value) -> tuple[str, Dims]:
    return value.dtype, value.shape


def _as(value: Value, dtype: str) -> str:
    """A value as a number of the type."""
    if value.dtype == dtype:
        return value.name
    if dtype == "int32" and value.dtype != "bool":
        return f"tf.cast({value.name} > 0.0, tf.int32)"
    return f"tf.cast({value.name}, tf.{dtype})"


def _broadcast(a: Dims, b: Dims) -> Dims | None:
    for x, y in zip(reversed(a), reversed(b), strict=False):
        if x != y and 1 not in (x, y):
            return None
    return np.broadcast_shapes(a, b)


def _without(shape: Dims, axes: Sequence[int]) -> Dims:
    return tuple(size for i, size in enumerate(shape) if i not in axes)
