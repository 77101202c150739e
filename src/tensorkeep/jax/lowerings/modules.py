"""Modules of another compiler that a model contains: those of StableHLO, which JAX itself runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.jax.compiled_modules import Result, fitted_module
from tensorkeep.jax.registry import traced_lowering
from tensorkeep.jax.values import CannotTraceError, device_type

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing

_VERSIONS: Final = range(4, 11)
"""Conventions for calling a module, by number: those of which TensorFlow's `xla_call_module_loader.cc` knows."""


@traced_lowering("XlaCallModule", raw=False)
def xla_call_module(
    tracing: Tracing,
    args: list[Any],
    *,
    version: int,
    module: bytes,
    Tout: Sequence[DType],  # noqa: N803 - TensorFlow's name
    dim_args_spec: Sequence[bytes],
    platforms: Sequence[bytes],
    function_list: Sequence[FunctionRef],
    has_token_input_output: bool,
    disabled_checks: Sequence[bytes],
) -> list[Any]:
    if version not in _VERSIONS:
        raise CannotTraceError(f"its module is called by version {version}, not {_VERSIONS[0]} to {_VERSIONS[-1]}")
    if dim_args_spec:
        raise CannotTraceError("its module takes sizes as arguments (dim_args_spec)")
    if function_list:
        names = ", ".join(f'"{function.name}"' for function in function_list)
        raise CannotTraceError(f"its module calls functions of TensorFlow (function_list): {names}")
    if has_token_input_output:
        raise CannotTraceError("its module takes and gives tokens (has_token_input_output)")
    fitted = fitted_module(
        module,
        tuple(Result(tuple(map(int, array.shape)), np.dtype(array.dtype)) for array in args),
        tuple(device_type(dtype) for dtype in Tout),
        tuple(name.decode().lower() for name in platforms),
        tuple(name.decode() for name in disabled_checks),
    )
    assert tracing.operation is not None
    return fitted.call(args, f"{tracing.scope}{tracing.operation.name}")
