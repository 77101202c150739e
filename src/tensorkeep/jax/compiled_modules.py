"""Modules of StableHLO, which models exported from JAX contain: read, made to fit shapes, and called by JAX.

    artifact = portable bytecode of MLIR: a module whose function "main" computes
    main     = ([number of the platform], arguments...) -> results...

A module may leave sizes open ("?"). JAX refines it once the shapes of the arguments are known: "main" is called by
another function whose arguments have these shapes, and all sizes follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import jax
import numpy as np
from jax.extend import core
from jax.extend import mlir as extended
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func, stablehlo
from jax.interpreters import ad, batching, mlir

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.machine.other_processes import tried_apart
from tensorkeep.jax.values import CannotTraceError

_WIDE: Final = 'where it has 64 bits: jax.config.update("jax_enable_x64", True)'
_MADE_FOR: Final = ("mhlo.num_partitions", "mhlo.num_replicas")
_INNER: Final = "module_main"
_REFUSED: Final = 3
_READING: Final = f"""
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir
artifact = sys.stdin.buffer.read()
try:
    stablehlo.deserialize_portable_artifact(mlir.make_ir_context(), artifact)
except ValueError:
    sys.exit({_REFUSED})
"""
"""What reads an artifact, for another process: MLIR crashes on some that are damaged, or never ends."""
_ON_THE_HOST: Final = frozenset(f"stablehlo.{name}" for name in ("infeed", "outfeed", "send", "recv"))
_LIBRARY_CALL: Final = re.compile(
    r"(lapack|cu\w*|hip\w*)_\w+_ffi|(mhlo|chlo|stablehlo)\.[\w.]+|shape_assertion|Sharding|SPMD\w+ToFullShape"
    r"|SPMD\w+ToShardShape|annotate_device_placement|TopK|ApproxTopK|Qr|Eigh|LuDecomposition"
    r"|ProductOfElementaryHouseholderReflectors"
)
"""Names of what a module may call: parts of JAX and its linear algebra, which check what they are given.

Others are given addresses in the memory of the process that made the module: callbacks of Python.
"""


@dataclass(frozen=True)
class Result:
    """The shape and type of what a module gives."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class CompiledModule:
    """A module all of whose sizes are known."""

    code: bytes
    results: tuple[Result, ...]
    platforms: tuple[str, ...]
    """Those that it was made for, in JAX's words; none if it runs on any."""
    any_platform: bool
    """Whether it may run on others, too."""

    def call(self, arguments: Sequence[jax.Array], node: str) -> list[jax.Array]:
        """What the module gives. Errors name the node that it is part of."""
        return list(_module_call.bind(*arguments, module=self, node=node))

    def platform_number(self, platforms: Sequence[str], node: str) -> int:
        """The place of the platform that code is made for among those of the module."""
        if not self.platforms:
            return 0
        numbers = {self.platforms.index(name) if name in self.platforms else None for name in platforms}
        if numbers == {None} and self.any_platform:
            return 0
        number = numbers.pop()
        if number is None or numbers:
            raise CannotTraceError(
                f'"{node}" (XlaCallModule): its module was made for {" and ".join(self.platforms)}, '
                f"and is compiled for {' and '.join(platforms)}"
            )
        return number


@lru_cache(maxsize=16)
def fitted_module(
    artifact: bytes,
    arguments: tuple[Result, ...],
    types: tuple[np.dtype[Any], ...],
    platforms: tuple[str, ...],
    disabled_checks: tuple[str, ...],
) -> CompiledModule:
    """The module of an artifact, with the sizes that follow from the shapes of its arguments.

    `types` has what the results must be. Modules for several devices, with tokens, or that take other arguments are
    refused.
    """
    module = _read(artifact)
    _check_devices(module)
    _check_calls(module)
    with module.context, ir.Location.unknown():
        _wrap_main(module, arguments, takes_platform=len(platforms) > 1)
    checks_shapes = "shape_assertions" not in disabled_checks
    try:
        code = extended.refine_polymorphic_shapes(mlir.module_to_bytecode(module), checks_shapes, True, True)
    except (ValueError, RuntimeError) as error:
        raise InvalidArgumentError(f"its module does not fit the shapes of its arguments: {_first(error)}") from error
    with mlir.make_ir_context() as context:
        refined = ir.Module.parse(code, context)
        results = _checked_results(ir.SymbolTable(refined.operation)["main"].type.results, types)
    return CompiledModule(code, results, platforms, "platform" in disabled_checks)


@lru_cache(maxsize=16)
def _check_readable(artifact: bytes) -> None:
    """Refuses bytes that would end this process; others are read, or refused, by whoever reads them."""
    status = tried_apart(_READING, artifact, seconds=60)
    if status not in (0, _REFUSED):
        raise DataLossError(
            f"its {len(artifact)} bytes are no module of StableHLO: a process that read them ended with {status}"
        )


def _read(artifact: bytes) -> ir.Module:
    _check_readable(artifact)
    try:
        module = stablehlo.deserialize_portable_artifact(mlir.make_ir_context(), artifact)
        main = ir.SymbolTable(module.operation)["main"]
    except (ValueError, KeyError, RuntimeError, ir.MLIRError) as error:
        raise DataLossError(
            f"its {len(artifact)} bytes are no module of StableHLO that JAX {jax.__version__} reads: {_first(error)}"
        ) from error
    if any(not isinstance(kind, ir.RankedTensorType) for kind in (*main.type.inputs, *main.type.results)):
        raise CannotTraceError("its module takes or gives tokens, or values without a rank")
    return module


def _check_devices(module: ir.Module) -> None:
    attributes = module.operation.attributes
    for name in _MADE_FOR:
        if name in attributes and ir.IntegerAttr(attributes[name]).value != 1:
            raise CannotTraceError(f"its module was made for several devices: {name} is {attributes[name]}")


def _check_calls(module: ir.Module) -> None:
    """Refuses a module that calls what is not in it, but for parts of JAX, or that talks to the host."""
    refused: set[str] = set()

    def look(operation: Any) -> Any:
        name = operation.operation.name
        if name in _ON_THE_HOST:
            refused.add(name)
        if name == "stablehlo.custom_call":
            target = ir.StringAttr(operation.operation.attributes["call_target_name"]).value
            if not _LIBRARY_CALL.fullmatch(target):
                refused.add(target)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    if refused:
        raise CannotTraceError(f"its module calls what is not part of it: {', '.join(sorted(refused))}")


def _wrap_main(module: ir.Module, arguments: Sequence[Result], takes_platform: bool) -> None:
    """Has "main" called by a function whose arguments have known sizes, which is "main" from now on."""
    symbols = ir.SymbolTable(module.operation)
    main = symbols["main"]
    wanted = list(main.type.inputs)
    given = [_tensor(argument) for argument in arguments]
    if takes_platform:
        given = [*wanted[:1], *given]
    if len(given) != len(wanted):
        raise InvalidArgumentError(f"its module takes {len(wanted)} arguments, and is given {len(given)}")
    for number, (kind, own) in enumerate(zip(given, wanted, strict=True)):
        _check_argument(number - takes_platform, kind, own)
    symbols.set_symbol_name(main.operation, _INNER)
    symbols.set_visibility(main.operation, "private")
    with ir.InsertionPoint(module.body):
        outer = func.FuncOp("main", (given, list(main.type.results)))
    outer.attributes["sym_visibility"] = ir.StringAttr.get("public")
    with ir.InsertionPoint(outer.add_entry_block()):
        values = [
            value if value.type == own else stablehlo.convert(own, value)
            for value, own in zip(outer.arguments, wanted, strict=True)
        ]
        call = func.CallOp(list(main.type.results), ir.FlatSymbolRefAttr.get(_INNER), values)
        func.ReturnOp(call.results)


def _check_argument(number: int, given: Any, wanted: Any) -> None:
    fits = given.element_type == wanted.element_type and given.rank == wanted.rank
    fits = fits and all(wanted.is_dynamic_dim(at) or given.shape[at] == wanted.shape[at] for at in range(wanted.rank))
    if fits:
        return
    remedy = f"; give it {_WIDE}" if "64" in str(wanted.element_type) else ""
    raise InvalidArgumentError(f"argument {number} of its module is {wanted}, and is given {given}{remedy}")


def _checked_results(found: Sequence[Any], types: Sequence[np.dtype[Any]]) -> tuple[Result, ...]:
    results = []
    if len(found) != len(types):
        raise InvalidArgumentError(f"its module gives {len(found)} results, and the operation has {len(types)}")
    for number, (kind, dtype) in enumerate(zip(found, types, strict=True)):
        if kind.element_type != mlir.dtype_to_ir_type(dtype):
            remedy = f"; have JAX hold it {_WIDE}" if "64" in str(kind.element_type) else ""
            raise InvalidArgumentError(f"result {number} of its module is {kind}, and JAX's would be {dtype}{remedy}")
        results.append(Result(tuple(kind.shape), dtype))
    return tuple(results)


def _tensor(argument: Result) -> Any:
    return ir.RankedTensorType.get(argument.shape, mlir.dtype_to_ir_type(argument.dtype))


def _first(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


# ---------------------------------------------------------------------------------------------- the call, as JAX has it


_module_call: Final = core.Primitive("stablehlo_module")
_module_call.multiple_results = True


@lru_cache(maxsize=16)
def _jitted_module(module: CompiledModule, node: str) -> Any:
    return jax.jit(partial(_module_call.bind, module=module, node=node))


def _run(*arguments: Any, module: CompiledModule, node: str) -> Any:
    return _jitted_module(module, node)(*arguments)


def _results(*arguments: Any, module: CompiledModule, node: str) -> list[Any]:
    return [jax.core.ShapedArray(result.shape, result.dtype) for result in module.results]


def _inline_module(context: Any, *arguments: Any, module: CompiledModule, node: str) -> Any:
    """Puts the module's functions into the one that is compiled, and calls them."""
    whole = context.module_context
    number = module.platform_number(whole.platforms, node)
    own = ir.Module.parse(module.code, whole.module.context)
    kinds = ir.SymbolTable(own.operation)["main"].type
    name = mlir.merge_mlir_modules(whole.module, "stablehlo_module", own, dst_symtab=whole.symbol_table)
    first = []
    if len(module.platforms) > 1:
        wide = "64" in str(kinds.inputs[0])
        first = [mlir.ir_constant(np.int64(number) if wide else np.int32(number))]
    return func.CallOp(list(kinds.results), ir.FlatSymbolRefAttr.get(name), [*first, *arguments]).results


def _one_by_one(
    arguments: Sequence[Any], axes: Sequence[Any], *, module: CompiledModule, node: str
) -> tuple[Any, list[int]]:
    """What a module gives for a batch (`jax.vmap`): its sizes are fixed, so it is called row by row."""
    batched = [at for at, axis in enumerate(axes) if axis is not None]
    rows = [jax.numpy.moveaxis(arguments[at], axes[at], 0) for at in batched]

    def once(row: Sequence[Any]) -> Any:
        given = list(arguments)
        for at, value in zip(batched, row, strict=True):
            given[at] = value
        return _module_call.bind(*given, module=module, node=node)

    results = jax.lax.map(once, rows)
    return results, [0] * len(results)


def _no_gradient(primals: Any, tangents: Any, *, module: CompiledModule, node: str) -> Any:
    raise CannotTraceError(
        f'"{node}" (XlaCallModule): a module of StableHLO has no gradient, only what comes before and after it does'
    )


_module_call.def_impl(_run)
_module_call.def_abstract_eval(_results)
mlir.register_lowering(_module_call, _inline_module)
batching.primitive_batchers[_module_call] = _one_by_one
ad.primitive_jvps[_module_call] = _no_gradient
