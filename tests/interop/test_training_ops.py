"""The ops of optimizers beside TensorFlow's: the same variables and slots after the same steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.dtypes import DType
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.ops.training import optimizer_steps
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape
from tests.native.implementations import IMPLEMENTATIONS, implementation, is_turned_off

assert optimizer_steps

SCALARS = {
    "lr": 0.05,
    "alpha": 0.05,
    "beta1_power": 0.81,
    "beta2_power": 0.998,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-3,
    "rho": 0.9,
    "momentum": 0.8,
    "l1": 0.01,
    "l2": 0.02,
    "l2_shrinkage": 0.03,
    "lr_power": -0.5,
    "logbase": 1.0,
    "sign_decay": 0.7,
    "beta": 0.9,
}
FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")
RESOURCE_OPS = sorted(name for name in registered_ops() if name.startswith(("ResourceApply", "ResourceSparseApply")))


def _variable(array: np.ndarray) -> VariableResource:
    variable = VariableResource("v", DType.of(array.dtype), Shape(array.shape))
    variable.assign(array.copy())
    return variable


@pytest.fixture(params=IMPLEMENTATIONS)
def _by_each_implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "native" and is_turned_off():
        pytest.skip("TENSORKEEP_NATIVE=0")
    with implementation(request.param):
        yield


@pytest.mark.usefixtures("_by_each_implementation")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RESOURCE_OPS)
def test_variable_and_slots_after_three_steps_equal_tensorflows(name: str, dtype: str) -> None:
    spec = registered_ops()[name]
    flags = [attr.name for attr in spec.schema.attrs if attr.name in FLAGS]
    for flag in (False, True) if flags else (None,):
        for overrides in ({}, {"l1": 0.0}, {"lr_power": -0.4}):
            _compare(name, np.dtype(dtype), {flags[0]: flag} if flags else {}, {**SCALARS, **overrides})


@pytest.mark.parametrize("name", sorted(name for name in registered_ops() if name.startswith(("Apply", "SparseApply"))))
def test_the_op_on_references_does_what_the_one_on_resources_does(name: str) -> None:
    spec, twin = registered_ops()[name], registered_ops()[f"Resource{name}"]
    words = [arg.name for arg in spec.schema.inputs]
    slots = sum(arg.is_ref for arg in spec.schema.inputs)
    random = np.random.default_rng(3)
    arrays = [random.uniform(0.1, 1, (6, 3)) for _ in range(slots)]
    values = [
        random.normal(size=(2 if "Sparse" in name else 6, 3))
        if word in ("grad", "delta")
        else np.array([5, 0])
        if word == "indices"
        else np.int64(4)
        if word == "global_step"
        else np.float64(SCALARS[word])
        for word in words[slots:]
    ]
    flags = {attr.name: attr.default for attr in spec.schema.attrs if attr.name in FLAGS}
    first, second = [_variable(array) for array in arrays], [_variable(array) for array in arrays]
    assert spec.kernel_function is not None
    assert twin.kernel_function is not None
    with np.errstate(all="ignore"):
        assert spec.kernel_function(*first, *values, **flags) is first[0]
        twin.kernel_function(*second, *values, **flags)
    for mine, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(mine.read(), other.read())


def _compare(name: str, dtype: np.dtype, flags: dict[str, bool], scalars: dict[str, float]) -> None:
    random = np.random.default_rng(7)
    spec = registered_ops()[name]
    arrays = [
        random.uniform(0.1, 1, (6, 3)).astype(dtype) for arg in spec.schema.inputs if str(arg).endswith("resource")
    ]
    ours = [_variable(array) for array in arrays]
    theirs = [tf.Variable(array) for array in arrays]
    for step in range(3):
        values = []
        for arg in spec.schema.inputs[len(arrays) :]:
            if arg.name in ("grad", "delta"):
                rows = 5 if "Sparse" in name else 6
                values.append(random.normal(size=(rows, 3)).astype(dtype))
            elif arg.name == "indices":
                values.append(np.array([4, 0, 4, 2, 4], np.int64))
            elif arg.name == "global_step":
                values.append(np.int64(step + 1))
            else:
                values.append(dtype.type(scalars[arg.name]))
        assert spec.kernel_function is not None
        with np.errstate(all="ignore"):
            spec.kernel_function(*ours, *values, **flags)
        names = [arg.name for arg in spec.schema.inputs]
        inputs = dict(zip(names, [*(variable.handle for variable in theirs), *map(tf.constant, values)], strict=True))
        getattr(tf.raw_ops, name)(**inputs, **flags)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.read().dtype == dtype
        np.testing.assert_allclose(mine.read(), other.numpy(), rtol=2e-5 if dtype == np.float32 else 1e-12, atol=1e-7)


@pytest.mark.usefixtures("_by_each_implementation")
@pytest.mark.parametrize("multiplies", [False, True])
@pytest.mark.parametrize("power", [-0.5, -0.6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [name for name in RESOURCE_OPS if "Ftrl" in name])
def test_ftrl_of_what_is_no_number_is_tensorflows(name: str, dtype: str, power: float, multiplies: bool) -> None:
    """Whole variables become 0 where the linear term is not a number, and rows become no numbers."""
    gradient = np.array([np.nan, np.inf, -np.inf, 0, 0, 1, 0, np.nan] * 3, dtype)
    state = [
        np.array([1, 2, -2, 1, 1, 0, 1, -1] * 3, dtype),
        np.array([0.1, 0.1, 0.1, 0, np.nan, 0, 0, 0] * 3, dtype),
        np.array([0, 1, -1, 0, 0.001, 0, 0.02, 5] * 3, dtype),
    ]
    numbers = {"lr": 0.1, "l1": 0.01, "l2": 0.0, "l2_shrinkage": 0.5, "lr_power": power}
    wanted = [tf.Variable(array) for array in state]
    arguments = {"grad": gradient, "multiply_linear_by_lr": multiplies}
    if "Sparse" in name:
        arguments["indices"] = np.arange(len(gradient))
    arguments |= {
        word: np.array(value, dtype) for word, value in numbers.items() if "V2" in name or word != "l2_shrinkage"
    }
    places = dict(zip(("var", "accum", "linear"), wanted, strict=True))
    getattr(tf.raw_ops, name)(**{slot: item.handle for slot, item in places.items()}, **arguments)
    found = [_variable(array) for array in state]
    spec = registered_ops()[name]
    ordered = [arguments[arg.name] for arg in spec.schema.inputs[3:]]
    assert spec.kernel_function is not None
    with np.errstate(all="ignore"):
        spec.kernel_function(*found, *ordered, multiply_linear_by_lr=multiplies)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine.read(), other.numpy(), rtol=1e-6)
