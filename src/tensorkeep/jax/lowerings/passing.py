"""What only passes values on, and what only checks them: inside a function of JAX nothing fails by computed values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.jax.registry import lowering, traced_lowering
from tensorkeep.jax.values import CannotTraceError, Value, device_type, is_known, is_on_device, on_device, shape_of
from tensorkeep.shapes import Shape

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing

_SHOWN: Final = 3  # elements of what an assertion tells
CHECKS: Final = frozenset(("Assert", "CheckNumerics", "CheckNumericsV2", "Print", "PrintV2", "Abort"))
"""Ops that check or print values, which the function of JAX does not do."""


@lowering(
    "Identity", "Snapshot", "RefIdentity", "DeepCopy", "CopyTensor", "DebugGradientIdentity", "OptimizationBarrier",
    "Copy", "CopyHost", "_MklIdentity", raw=True,
)  # fmt: skip
def identity(input: Value) -> Value:
    return input


@lowering("IdentityN", raw=True)
def identities(input: list[Value]) -> list[Value]:
    return list(input)


@lowering("StopGradient", "PreventGradient", raw=True)
def stop_gradient(input: Value) -> Value:
    return lax.stop_gradient(input) if is_on_device(input) else input


@lowering("CheckNumerics", "CheckNumericsV2", raw=True)
def skip_numerics_check(tensor: Value) -> Value:
    return tensor


@lowering("Print", raw=True)
def skip_printing(input: Value, data: list[Value]) -> Value:
    return input


@lowering("PrintV2", raw=True)
def not_printed(input: Value) -> tuple[Value, ...]:
    return ()


@traced_lowering("Assert")
def assert_known_condition(tracing: Tracing, condition: Value, data: list[Value]) -> tuple[Value, ...]:
    """Checks what is known, such as shapes; what is computed is not checked."""
    if tracing.is_certain and is_known(condition) and not np.all(condition):
        shown = [" ".join(map(_shown_item, np.ravel(item)[:_SHOWN])) for item in data if is_known(item)]
        raise InvalidArgumentError(f"assertion failed: {' '.join(f'[{text}]' for text in shown)}")
    return ()


def _shown_item(item: Any) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)


@lowering("NoOp", "ControlTrigger", raw=True)
def nothing() -> tuple[Value, ...]:
    return ()


@lowering("EnsureShape", raw=True)
def of_shape(input: Value, *, shape: Shape) -> Value:
    found = Shape(shape_of(input))
    if not found.is_compatible(shape):
        raise CannotTraceError(f"its input has the shape {found}, and must have {shape}")
    return input


@lowering("PlaceholderWithDefault", raw=True)
def default(input: Value) -> Value:
    return input


@lowering("FakeParam", raw=True)
def fake_param(*, dtype: DType, shape: Shape) -> Value:
    dims = shape.dims
    if dims is None or None in dims:
        raise CannotTraceError("a value that is never there has no shape either")
    return np.zeros([size or 0 for size in dims], dtype.array_dtype)


@lowering("DeviceIndex", raw=True)
def device_index(*, device_names: Sequence[bytes]) -> Value:
    names = [name.decode() for name in device_names]
    return np.int32(names.index("CPU") if "CPU" in names else len(names))


@lowering("ToBool", raw=True)
def to_bool(input: Value) -> Value:
    array = on_device(input)
    return jnp.asarray(array.size > 0) if array.ndim else array != 0


@lowering("ZerosLike")
def zeros_like(x: jax.Array) -> jax.Array:
    return jnp.zeros_like(x)


@lowering("OnesLike")
def ones_like(x: jax.Array) -> jax.Array:
    return jnp.ones_like(x)


@lowering("Empty", known=("shape",))
def empty(shape: Array, *, dtype: DType) -> jax.Array:
    return jnp.zeros([int(size) for size in shape], device_type(dtype))
