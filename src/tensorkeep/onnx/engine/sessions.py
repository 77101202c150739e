"""ONNX models in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from functools import cache
from gc import collect
from typing import Any, Final

import numpy as np
import onnx_ir as ir
import onnxruntime

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, StorageError, UnimplementedError
from tensorkeep.io.files.passing_files import passing_folder
from tensorkeep.io.machine.mapped_memory import leave_in_files
from tensorkeep.io.machine.parallel import thread_limit
from tensorkeep.io.machine.system import give_freed_memory_back
from tensorkeep.onnx.engine.options import PROCESSOR, OnnxRuntime, name_and_options

_CUDA: Final = "CUDAExecutionProvider"
_APART: Final = 4096  # bytes; smaller constants are in the message
_WEIGHTS: Final = "weights.bin"
_MUCH: Final = 2 << 20  # bytes of constants that are not to be there once more than they have to
_SHOWN: Final = 80  # characters of a name, in a message
_SILENT: Final = 4  # ONNX Runtime logs nothing below a crash: what fails is run by our kernels, whose error is told

Feed = dict[str, Array]
Runner = Callable[[Sequence[str], Feed, object], list[Any]]


class CannotRunError(UnimplementedError):
    """A model that ONNX Runtime does not take."""


class OnnxSession:
    """A model that can be run. Several threads may do so."""

    def __init__(
        self,
        model: ir.Model,
        options: OnnxRuntime,
        sources: Iterable[Array | None] = (),
        by_row: frozenset[str] = frozenset(),
    ) -> None:
        """Takes the model apart: ONNX Runtime has what was in it. `sources` are what its constants were made of,
        `by_row` the inputs that it may be given some rows of at a time.
        """
        self.by_row = by_row
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads or thread_limit()
        settings.inter_op_num_threads = 1
        settings.log_severity_level = _SILENT
        _set_options(settings, options)
        is_large = sum(tensor.nbytes for _, tensor in _arrays_of(model)) > _MUCH
        with ExitStack() as while_opening:
            source = _in_files(model, settings, while_opening) if is_large else _message(model)
            del model
            if is_large:
                collect()  # nodes that were put together hold each other, and the constants that they had
                leave_in_files(sources)
                give_freed_memory_back()
            self._session = _open_session(source, settings, _providers_of(options))
        self.inputs = tuple(value.name for value in self._session.get_inputs())
        self.outputs = [value.name for value in self._session.get_outputs()]
        # The session's own `run` looks once more at the names, which takes as long as a small model does.
        self.run: Runner = getattr(getattr(self._session, "_sess", None), "run", None) or self._session.run


def _open_session(source: bytes | str, settings: Any, providers: list[tuple[str, dict[str, str]]]) -> Any:
    try:
        return onnxruntime.InferenceSession(source, settings, providers=providers, enable_fallback=0)
    except Exception as error:  # of a module that is not to be named: the classes are made in compiled code
        raise CannotRunError(f"ONNX Runtime does not take the model: {str(error).strip()}") from error


def _message(model: ir.Model) -> bytes:
    return ir.to_proto(model).SerializeToString()


def _in_files(model: ir.Model, settings: Any, while_opening: ExitStack) -> bytes | str:
    """The path of a file with a model whose large constants are in a file of their own; there while it is opened.

    ONNX Runtime copies what it is handed in memory, and reads what lies in files when it lays it out for its kernels:
    so constants are in memory but once. If no files can be written, it is handed them in memory, beside the message.
    """
    try:
        folder = while_opening.enter_context(passing_folder())
        for value, tensor in _arrays_of(model):
            start = folder.append(_WEIGHTS, tensor.raw)
            value.const_value = ir.ExternalTensor(
                _WEIGHTS, start, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=tensor.name or ""
            )
        return folder.write("model.onnx", _message(model))
    except StorageError:
        kept = _handed_over(model, settings)
        while_opening.callback(kept.clear)
        return _message(model)


def _set_options(settings: Any, options: OnnxRuntime) -> None:
    """Sets session options by name. ONNX Runtime takes any name, and looks only at those that it knows."""
    for name, value in options.options.items():
        try:
            settings.add_session_config_entry(name, value)
        except Exception as error:  # of a module that is not to be named: the classes are made in compiled code
            shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
            raise InvalidArgumentError(
                f'ONNX Runtime does not take the option "{shown}" (options=): {str(error).strip()}'
            ) from error


def check_options(options: OnnxRuntime) -> None:
    """An error if ONNX Runtime does not take an option, or if a provider that is asked for is not in this build of it,
    or cannot work on this machine.

    ONNX Runtime leaves out a provider whose libraries or device it does not find, says so in its log at most, and runs
    everything on the processor: so a model of one addition is opened, and asked who would run it.
    """
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = _SILENT
    _set_options(settings, options)
    wanted = [name for name, _ in map(name_and_options, options.providers)]
    known = onnxruntime.get_available_providers()
    if missing := [name for name in wanted if name not in known]:
        raise InvalidArgumentError(
            f"this build of ONNX Runtime has no {', '.join(missing)}; it has {', '.join(known)}. "
            "Install the build that has it, such as onnxruntime-gpu"
        )
    if options.is_of_processor:
        return
    if _CUDA in wanted:
        _find_cuda_libraries()
    try:
        found, why = _open_session(_smallest_model(), settings, _providers_of(options)).get_providers(), ""
    except CannotRunError as error:
        found, why = [], f": {error.__cause__}"
    if missing := [name for name in wanted if name not in found]:
        raise InvalidArgumentError(
            f"ONNX Runtime cannot use {', '.join(missing)} on this machine, though this build has it{why}. Look "
            "whether the device is there, its options are right, and the libraries of its vendor are installed, in the "
            f"versions that ONNX Runtime {onnxruntime.__version__} wants; or leave it out of providers"
        )


def _providers_of(options: OnnxRuntime) -> list[tuple[str, dict[str, str]]]:
    """The execution providers that are asked for, and the processor's, with their options.

    Products of CUDA are of float32, as everywhere in tensorkeep: ONNX Runtime's default there is TF32, with ten bits of
    mantissa in place of 23, which an option of the provider can still ask for.
    """
    wanted = dict(map(name_and_options, options.providers))
    if _CUDA in wanted:
        wanted[_CUDA] = {"use_tf32": "0", **wanted[_CUDA]}
    return list((wanted | {PROCESSOR: wanted.get(PROCESSOR, {})}).items())


@cache
def _find_cuda_libraries() -> None:
    """Loads the libraries of CUDA that are installed as Python packages: ONNX Runtime does not look there by itself."""
    preload = getattr(onnxruntime, "preload_dlls", None)
    if preload is not None:  # since 1.21
        with redirect_stdout(None):  # what it does not find, it prints; the system's own may be there
            preload()


def _smallest_model() -> bytes:
    """An ONNX model that adds a number to itself."""
    x, y = (ir.Value(name=name, type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([1])) for name in "xy")
    graph = ir.Graph([x], [y], nodes=[ir.Node("", "Add", [x, x], outputs=[y])], opset_imports={"": 13}, name="probe")
    return _message(ir.Model(graph, ir_version=8))


def _arrays_of(model: ir.Model) -> Iterator[tuple[ir.Value, ir.Tensor[Any]]]:
    """The constants of a model that need not be in its message, which holds 2 GB at most."""
    for value in list(model.graph.initializers.values()):
        tensor = value.const_value
        array = tensor.raw if isinstance(tensor, ir.Tensor) and tensor.nbytes >= _APART else None
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.dtype.isbuiltin == 1:
            assert isinstance(tensor, ir.Tensor)
            yield value, tensor


def _handed_over(model: ir.Model, settings: Any) -> list[Any]:
    """Takes large constants out of a model, and hands them to ONNX Runtime beside it; to be kept until it has them."""
    names: list[str] = []
    values: list[Any] = []
    arrays: list[Array] = []
    for value, tensor in _arrays_of(model):
        array = np.ascontiguousarray(tensor.raw)
        names.append(value.name or "")
        values.append(onnxruntime.OrtValue.ortvalue_from_numpy(array))
        arrays.append(array)
        value.const_value = ir.ExternalTensor(
            "elsewhere", 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=value.name or ""
        )
    settings.add_external_initializers(names, values)
    return [values, arrays]
