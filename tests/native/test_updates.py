"""Steps of optimizers by the compiled library give the bits that those by NumPy give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.native.updates import FUSED, fused_update
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape
from tests.native.implementations import implementation
from tests.ops.walking import import_all_ops

import_all_ops()

OF_WHOLE = "OfWhole"
"""What rules of whole variables end in, where that of rows is another one."""
FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")

pytestmark = pytest.mark.usefixtures("native")


@dataclass(frozen=True)
class Case:
    """A step: what is changed, and what the op is given besides, in its order."""

    op: str
    arrays: list[Array]
    values: list[Any]
    flags: dict[str, bool]
    gradient_at: int

    @property
    def gradient(self) -> Array:
        return self.values[self.gradient_at]  # type: ignore[no-any-return]

    @property
    def numbers(self) -> list[Any]:
        return [*(value for i, value in enumerate(self.values) if i != self.gradient_at), *self.flags.values()]

    @property
    def _kind(self) -> str:
        """Before the name of the op whose step it is."""
        if self.op == "KerasMomentum":
            return "ResourceApply"
        return "SparseApply" if f"{self.op}{OF_WHOLE}" in FUSED else "Apply"

    def taken(self) -> list[Array]:
        """The arrays after the step."""
        variables = []
        for array in self.arrays:
            variable = VariableResource("v", DType.of(array.dtype), Shape(array.shape))
            variable.assign(array.copy())
            variables.append(variable)
        kernel = get_op(self._kind + self.op.removesuffix(OF_WHOLE)).kernel_function
        assert kernel is not None
        values = list(self.values)
        if self._kind == "SparseApply":
            values.insert(self.gradient_at + 1, np.arange(len(self.gradient)))
        with np.errstate(all="ignore"):
            kernel(*variables, *values, **self.flags)
        return [variable.read() for variable in variables]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from(sorted(FUSED)))
    dtype = np.dtype(draw(st.sampled_from(["float32", "float64"])))
    size = draw(st.integers(0, 70))
    numbers = st.floats(width=32, min_value=0, max_value=2)
    elements = st.floats(width=32) | st.floats(-3, 3, width=32)
    array = arrays_of.arrays(dtype, size, elements=elements)
    spec = get_op(f"ResourceApply{name.removesuffix(OF_WHOLE)}")
    inputs = spec.schema.inputs
    slots = sum(1 for arg in inputs if arg.name not in ("grad", "delta") and str(arg).endswith("resource"))
    values: list[Any] = []
    for arg in inputs[slots:]:
        if arg.name in ("grad", "delta"):
            values.append(draw(array))
        elif arg.name == "lr_power":
            values.append(dtype.type(-0.5))
        else:
            values.append(dtype.type(draw(numbers)))
    flags = {attr.name: draw(st.booleans()) for attr in spec.schema.attrs if attr.name in FLAGS}
    at = next(i for i, arg in enumerate(inputs[slots:]) if arg.name in ("grad", "delta"))
    return Case(name, [draw(array) for _ in range(slots)], values, flags, at)


def _same_bits(mine: list[Array], other: list[Array]) -> None:
    for first, second in zip(mine, other, strict=True):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
        numbers = ~np.isnan(first)
        np.testing.assert_array_equal(np.signbit(first)[numbers], np.signbit(second)[numbers])


@given(cases())
def test_both_implementations_give_the_same_bits(case: Case) -> None:
    with implementation("NumPy"):
        assert not fused_update(case.op, [array.copy() for array in case.arrays], case.gradient, case.numbers)
        expected = case.taken()
    with implementation("native"):
        assert fused_update(case.op, [array.copy() for array in case.arrays], case.gradient, case.numbers)
        actual = case.taken()
    _same_bits(actual, expected)


@given(cases(), st.integers(1, 7))
def test_arrays_that_are_not_aligned_are_left_to_numpy_and_untouched(case: Case, offset: int) -> None:
    arrays = [_shifted(array, offset % array.itemsize or 1) for array in case.arrays]
    with implementation("native"):
        done = fused_update(case.op, arrays, case.gradient, case.numbers)
    assert not done or not case.gradient.size
    _same_bits(arrays, case.arrays)


@given(cases())
def test_a_gradient_in_any_order_aligned_or_not_is_the_same_gradient(case: Case) -> None:
    with implementation("native"):
        expected = case.taken()
        scattered = np.repeat(case.gradient, 2)[::2]
        unaligned = _shifted(case.gradient, 1)
        frozen = case.gradient.copy()
        frozen.flags.writeable = False
        for gradient in (scattered, unaligned, frozen):
            values = [*case.values]
            values[case.gradient_at] = gradient
            before = gradient.copy()
            _same_bits(Case(case.op, case.arrays, values, case.flags, case.gradient_at).taken(), expected)
            np.testing.assert_array_equal(gradient, before)


def _shifted(array: Array, offset: int) -> Array:
    """The same elements at an address that is no multiple of their size."""
    memory = np.empty(array.nbytes + array.itemsize, np.uint8)
    start = (-memory.ctypes.data) % array.itemsize + offset
    if start + array.nbytes > memory.nbytes:
        memory = np.empty(array.nbytes + 2 * array.itemsize, np.uint8)
        start = (-memory.ctypes.data) % array.itemsize + offset
    result = memory[start : start + array.nbytes].view(array.dtype)
    result[...] = array
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(FUSED))
@pytest.mark.parametrize("size", [1, 8, 1000, (1 << 17) + 3])
def test_every_size_has_its_remainder_done(name: str, dtype: str, size: int) -> None:
    random = np.random.default_rng(size)
    _, count, numbers = FUSED[name]
    arrays = [random.uniform(0.1, 1, size).astype(dtype) for _ in range(count - 1)]
    gradient = random.normal(size=size).astype(dtype)
    values = [0.1] * numbers
    if name.startswith("Ftrl"):
        values[-2] = -0.5
    with implementation("native"):
        assert fused_update(name, arrays, gradient, values)
        # What is done to one element is done to each, wherever it stands.
        for at in {0, size // 2, size - 1}:
            random = np.random.default_rng(size)
            alone = [random.uniform(0.1, 1, size).astype(dtype)[at : at + 1].copy() for _ in range(count - 1)]
            assert fused_update(name, alone, random.normal(size=size).astype(dtype)[at : at + 1], values)
            _same_bits([array[at : at + 1] for array in arrays], alone)


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        ("float32", [0.1, 0.1, 0.1, -0.4, 0]),
        ("float32", [0.1, np.nan, 0.1, -0.5, 0]),
        ("float16", [0.1, 0, 0, -0.5, 0]),
    ],
)
def test_what_has_no_loop_is_left_to_numpy(dtype: str, numbers: list[float]) -> None:
    arrays = [np.full(5, 0.5, dtype) for _ in range(3)]
    with implementation("native"):
        assert not fused_update("Ftrl", arrays, np.ones(5, dtype), numbers)
    for array in arrays:
        np.testing.assert_array_equal(array, np.full(5, 0.5, dtype))


def test_slots_of_another_dtype_are_left_to_numpy() -> None:
    with implementation("native"):
        assert not fused_update("Momentum", [np.ones(5), np.ones(5, np.float32)], np.ones(5), [0.1, 0.9, False])


def test_an_op_without_a_compiled_rule_is_left_to_numpy() -> None:
    with implementation("native"):
        assert not fused_update("AddSign", [np.ones(5), np.ones(5)], np.ones(5), [0.1] * 4)
