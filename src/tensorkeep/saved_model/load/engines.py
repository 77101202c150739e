"""Engines by name: our own kernels, ONNX Runtime for what of a model translates to ONNX, and JAX.

    "numpy"          our kernels run everything
    "onnxruntime"    ONNX Runtime runs all that translates and is worth it, our kernels the rest
    "auto"           the same, if it is installed and faster: the first calls of every part are timed beside our kernels
    OnnxRuntime(…)   as "onnxruntime", with threads, providers and options
    "jax"            JAX runs what has a lowering on its default device, with the variables; "jax:gpu:1" names another
    JaxDevice(…)     as "jax", with a device and a precision

What belongs to the extra `onnx` is imported when the first plan is compiled, and not before; JAX at once, so that a
device that is not there is told.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, TypeAlias

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.jax.engine.options import JaxDevice
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.runtime.partitions.engines import Engine, PlanToSplit, Split

EngineName: TypeAlias = str | OnnxRuntime | JaxDevice | Engine
"""What the parameter `engine` of functions takes."""

NAMES: Final = ("numpy", "onnxruntime", "auto", "jax")
_NEEDED: Final = ("onnx", "onnx_ir", "onnxruntime")

_JAX: Final = "jax"

_engine = later("tensorkeep.onnx.engine.engine")
_jax_engine = later("tensorkeep.jax.engine.engine")


def engine_of(named: EngineName) -> Engine | None:
    """The engine that is meant; None for our own kernels. An error if it is not installed, unless it may be missing."""
    if isinstance(named, OnnxRuntime):
        _require_installed()
        return _LateEngine(named)
    if isinstance(named, JaxDevice):
        return _engine_of_jax(named)
    if not isinstance(named, str) and callable(getattr(named, "split", None)):
        return named
    if isinstance(named, str) and named.partition(":")[0] == _JAX:
        return _engine_of_jax(JaxDevice(named.partition(":")[2] or None))
    if named not in NAMES:
        raise InvalidArgumentError(
            f"there is no engine {named!r}: {', '.join(NAMES)}, tk.OnnxRuntime(...) or tk.JaxDevice(...)"
        )
    if named == "numpy" or (named == "auto" and _missing()):
        return None
    _require_installed()
    return _LateEngine(OnnxRuntime(only_if_faster=named == "auto"))


def _engine_of_jax(options: JaxDevice) -> Engine:
    if find_spec(_JAX) is None:
        raise UnimplementedError(
            'the engine of JAX needs the package jax, which is not installed: pip install "tensorkeep[jax]"'
        )
    place = np.random.get_state()  # which importing JAX moves on, and programs count on
    try:
        made: Engine = _jax_engine.JaxEngine(options)
    finally:
        np.random.set_state(place)
    return made


def _missing() -> list[str]:
    return [name for name in _NEEDED if find_spec(name) is None]


def _require_installed() -> None:
    if missing := _missing():
        raise UnimplementedError(
            f"the engine of ONNX Runtime needs the packages {', '.join(missing)}, which are not installed: "
            'pip install "tensorkeep[onnx]", or take engine="auto", which does without'
        )


class _LateEngine:
    """The engine of ONNX Runtime, imported when it is first asked."""

    def __init__(self, options: OnnxRuntime) -> None:
        self._options = options
        self._made: Engine | None = None

    def split(self, question: PlanToSplit) -> Split:
        if self._made is None:
            try:
                made: Engine = _engine.OnnxRuntimeEngine(self._options)
            except ImportError as error:
                raise UnimplementedError(
                    f"the engine of ONNX Runtime is installed and cannot be imported: {error}. Install it anew: "
                    'pip install --force-reinstall "tensorkeep[onnx]", or take engine="numpy"'
                ) from error
            self._made = made
        return self._made.split(question)
