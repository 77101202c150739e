"""ONNX models in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from gc import collect
from typing import Any, Final

import numpy as np
import onnx_ir as ir
import onnxruntime

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.io.machine.parallel import thread_limit
from tensorkeep.onnx.engine.options import OnnxRuntime

_CPU: Final = "CPUExecutionProvider"
_APART: Final = 4096  # bytes; smaller constants are in the message
_MUCH: Final = 16 << 20  # bytes of constants that are not to be there once more than they have to
_SILENT: Final = 4  # ONNX Runtime logs nothing below a crash: what fails is run by our kernels, whose error is told

Feed = dict[str, Array]
Runner = Callable[[Sequence[str], Feed, object], list[Any]]


class CannotRunError(UnimplementedError):
    """A model that ONNX Runtime does not take."""


class OnnxSession:
    """A model that can be run. Several threads may do so."""

    def __init__(self, model: ir.Model, options: OnnxRuntime) -> None:
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads or thread_limit()
        settings.inter_op_num_threads = 1
        settings.log_severity_level = _SILENT
        for name, value in options.options.items():
            settings.add_session_config_entry(name, value)
        constants = _constants_apart(model, settings)
        message = ir.to_proto(model).SerializeToString()
        if sum(array.nbytes for array in constants[1::2]) > _MUCH:
            del model
            collect()  # nodes that were put together hold each other, and the constants that they had
        try:
            self._session = onnxruntime.InferenceSession(message, settings, providers=providers_of(options))
        except Exception as error:  # of a module that is not to be named: the classes are made in compiled code
            raise CannotRunError(f"ONNX Runtime does not take the model: {str(error).strip()}") from error
        del constants  # ONNX Runtime has copied them
        self.inputs = tuple(value.name for value in self._session.get_inputs())
        self.outputs = [value.name for value in self._session.get_outputs()]
        # The session's own `run` looks once more at the names, which takes as long as a small model does.
        self.run: Runner = getattr(getattr(self._session, "_sess", None), "run", None) or self._session.run


def providers_of(options: OnnxRuntime) -> list[str]:
    """The execution providers that are asked for, and the processor's; an error if one is not in this build."""
    known = onnxruntime.get_available_providers()
    if missing := [name for name in options.providers if name not in known]:
        raise InvalidArgumentError(
            f"this build of ONNX Runtime has no {', '.join(missing)}; it has {', '.join(known)}. "
            "Install the build that has it, such as onnxruntime-gpu"
        )
    return [*options.providers, *([] if _CPU in options.providers else [_CPU])]


def _constants_apart(model: ir.Model, settings: Any) -> list[Any]:
    """Takes large constants out of a model, and hands them to ONNX Runtime beside it: a message holds 2 GB at most."""
    names: list[str] = []
    values: list[Any] = []
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        if not isinstance(tensor, ir.Tensor) or not isinstance(tensor.raw, np.ndarray) or tensor.nbytes < _APART:
            continue
        array = np.ascontiguousarray(tensor.raw)
        if array.dtype.kind not in "biuf" or array.dtype.isbuiltin != 1:
            continue
        names.append(name)
        values.append(onnxruntime.OrtValue.ortvalue_from_numpy(array))
        values.append(array)
        value.const_value = ir.ExternalTensor(
            "elsewhere", 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=name
        )
    settings.add_external_initializers(names, values[::2])
    return values
