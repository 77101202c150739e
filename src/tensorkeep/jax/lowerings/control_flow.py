"""Branches and loops that call functions of the graph's library, and calls of another compiler's modules.

Such modules of a model are those of StableHLO, which JAX itself runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.jax.branches_and_loops import Rounds, choose, known_truth, repeat
from tensorkeep.jax.compiled_modules import Result, fitted_module
from tensorkeep.jax.registry import traced_lowering
from tensorkeep.jax.values import CannotTraceError, Value, device_type, is_known

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing


def _calling(tracing: Tracing, function: FunctionRef, arguments: Sequence[Value]) -> Callable[[], list[Value]]:
    op = tracing.operation
    assert op is not None
    return lambda: tracing.call(op, function, arguments)


@traced_lowering("If", "StatelessIf")
def if_(
    tracing: Tracing, cond: Value, input: list[Value], *, then_branch: FunctionRef, else_branch: FunctionRef
) -> list[Value]:
    known = known_truth(cond)
    if known is not None:
        return _calling(tracing, then_branch if known else else_branch, input)()
    return choose(tracing, cond, [_calling(tracing, function, input) for function in (else_branch, then_branch)])


@traced_lowering("Case", "StatelessCase")
def case(tracing: Tracing, branch_index: Value, input: list[Value], *, branches: Sequence[FunctionRef]) -> list[Value]:
    if is_known(branch_index) or len(branches) == 1:
        index = int(branch_index) if is_known(branch_index) else 0
        return _calling(tracing, branches[index if 0 <= index < len(branches) else -1], input)()
    sides = [_calling(tracing, function, input) for function in branches]
    if len(sides) == 2:  # else it would be taken for a truth value
        sides.append(sides[-1])
    return choose(tracing, branch_index, sides)


@traced_lowering("While", "StatelessWhile")
def while_(tracing: Tracing, input: list[Value], *, cond: FunctionRef, body: FunctionRef) -> list[Value]:
    op = tracing.operation
    assert op is not None

    def goes_on(values: Sequence[Value]) -> Value:
        return tracing.call(op, cond, values)[0]

    def once(values: Sequence[Value]) -> list[Value]:
        return tracing.call(op, body, values)

    return repeat(tracing, Rounds(list(input), goes_on, once))


@traced_lowering("For", known=("start", "limit", "delta"), raw=False)
def for_(
    tracing: Tracing, start: Value, limit: Value, delta: Value, input: list[Value], *, body: FunctionRef
) -> list[Value]:
    op = tracing.operation
    assert op is not None

    def goes_on(values: Sequence[Value]) -> Value:
        return np.asarray(values[0] < limit if delta > 0 else values[0] > limit)

    def once(values: Sequence[Value]) -> list[Value]:
        return [values[0] + delta, *tracing.call(op, body, values)]

    return repeat(tracing, Rounds([np.asarray(start), *input], goes_on, once))[1:]


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
