"""The file in ONNX Runtime beside our engine, on the same inputs.

Inputs are generated, always the same: where sizes are not known, 1, 2, 5 and mixed ones, larger ones if the model takes
none of these; floating-point numbers are normal, integers small and not negative, strings short. Where the file has
tables, some of their keys are among integers and strings. What our engine refuses is no fault of the file, and is tried
again with tamer values; if nothing can be run, that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.convert.npz import NPZ
from tensorkeep.convert.onnx.ends import Chosen
from tensorkeep.convert.onnx.files import PackedModel
from tensorkeep.convert.onnx.options import OnnxOptions
from tensorkeep.convert.onnx.reports import OutputDifference, Verification
from tensorkeep.convert.onnx.runtimes import opened_session
from tensorkeep.dtypes import BOOL, STRING, DType
from tensorkeep.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    PermissionDeniedError,
    TensorKeepError,
)
from tensorkeep.io.files.filesystem import FileSystem, path_text
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.saved_model.load.tensor_values import TensorSpec, fitted_array

_SIZES: Final[Sequence[Sequence[int]]] = ((1,), (2,), (5,), (2, 5, 3, 4))
_LARGER: Final[Sequence[Sequence[int]]] = ((1, 16), (2, 32), (1, 64), (1, 128), (1, 224))
_RANKS: Final = (2, 1, 4, 3, 0)  # of what has no known number of axes
_TEXTS: Final = ((b"alpha", b"beta gamma", b"7", b""), (b"1", b"2.5", b"3"), (b"0",))
_BELOW: Final = (8, 2, 1)  # what integers are below, from bold to tame
_HALVES: Final = frozenset(kind for kind in ir.DataType if kind.is_floating_point() and kind.bitwidth <= 16)
_MOST_KEYS: Final = 8  # of each table of the file, that are among generated inputs
_MOST_ELEMENTS: Final = 1 << 26  # of one input


class WrongExportError(InternalError):
    """What ONNX Runtime computes from the file is not what the model computes."""


@dataclass(frozen=True)
class _Palette:
    """What generated inputs are made of."""

    texts: tuple[bytes, ...]
    integers: tuple[int, ...]
    are_positive: bool = False
    """Whether floating-point numbers are above zero."""


@dataclass(frozen=True)
class _Run:
    """One run of our engine: what went in, what came out."""

    inputs: Mapping[str, Array]
    outputs: Sequence[Any]


def verify(
    chosen: Chosen,
    model: ir.Model,
    packed: PackedModel,
    options: OnnxOptions,
    *,
    is_random: bool,
    changed: Sequence[str] = (),
    fs: FileSystem,
) -> Verification:
    """How far the file is from our engine; WrongExportError if it is too far, or if ONNX Runtime does not run it.

    `changed` are the operations by which the model changes variables, which the file does without.
    """
    palettes = _palettes(model)
    runs = list(_runs(chosen, palettes, options, fs))
    if not runs:
        raise FailedPreconditionError(
            "nothing could be verified: the model takes none of the inputs that were generated "
            f"({_last_reason(chosen, palettes[-1])}). Give inputs that it takes, by verify_inputs= "
            "(--verify-inputs FILE.npz)"
        )
    session = _open_session(packed.contents, packed.weights, list(options.custom_ops))
    rounded = _computed_in_halves(model)
    problems: list[str] = []
    found: dict[str, OutputDifference] = {}
    for run in runs:
        theirs = _their_outputs(session, chosen, run, options)
        for name, ours, other in zip(chosen.outputs, run.outputs, theirs, strict=True):
            dtype = chosen.outputs[name].dtype.base_dtype
            allowed = options.tolerance
            difference, problem = _compare_output(
                name,
                np.asarray(ours),
                _from_onnx(other, dtype),
                dtype,
                (allowed.absolute, allowed.halves if name in rounded else allowed.relative),
                is_random,
            )
            found[name] = _larger(found.get(name), difference)
            if problem:
                problems.append(f'output "{name}" {problem} (inputs {_shapes_text(run)})')
    if problems:
        listed = "; ".join(problems[:5])
        kept = (
            f"The model changes variables ({some_of(changed, 3)}), and a file begins every run with the values that "
            "they have now: if that is what it is for, leave out verify (--verify). "
        )
        raise WrongExportError(
            f"ONNX Runtime computes something else from the file than the model does: {listed}. No file was left. "
            f"{kept if changed else ''}"
            "Export less of the model (inputs=, outputs=), or allow more (tolerance=), if that is good enough"
        )
    shapes = [{name: array.shape for name, array in run.inputs.items()} for run in runs]
    remarks = ["the model is random: only types and shapes were compared"] if is_random else []
    return Verification(len(runs), shapes, () if is_random else tuple(found.values()), remarks)


# ------------------------------------------------------------------------------------------------------------ inputs


def _runs(chosen: Chosen, palettes: Sequence[_Palette], options: OnnxOptions, fs: FileSystem) -> Iterator[_Run]:
    if options.verify_inputs is not None:
        inputs = _given_inputs(chosen, options, fs)
        yield _Run(inputs, _our_outputs(chosen, inputs))
        return
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for sizes in _SIZES:
        run = _first_run(chosen, sizes, palettes)
        shapes = () if run is None else tuple(array.shape for array in run.inputs.values())
        if run is not None and shapes not in seen:
            seen.add(shapes)
            yield run
    for sizes in _LARGER if not seen else ():
        run = _first_run(chosen, sizes, palettes)
        if run is not None:
            yield run
            return


def _first_run(chosen: Chosen, sizes: Sequence[int], palettes: Sequence[_Palette]) -> _Run | None:
    """A run with inputs of these sizes, and values that our engine takes; None if it takes none."""
    has_ranks = all(tensor.static_shape.dims is not None for tensor in chosen.inputs.values())
    for rank in (2,) if has_ranks else _RANKS:
        for palette in palettes:
            inputs = _generated_inputs(chosen, sizes, rank, palette)
            if inputs is None:
                return None
            try:
                return _Run(inputs, _our_outputs(chosen, inputs))
            except PermissionDeniedError:
                raise
            except TensorKeepError:
                continue
    return None


def _last_reason(chosen: Chosen, palette: _Palette) -> str:
    inputs = _generated_inputs(chosen, (2,), 2, palette)
    try:
        _our_outputs(chosen, inputs or {})
    except TensorKeepError as error:
        return str(error).partition("\n")[0]
    return "they would be too large"


def _generated_inputs(chosen: Chosen, sizes: Sequence[int], rank: int, palette: _Palette) -> dict[str, Array] | None:
    """Inputs of these sizes, always the same; None if one would be too large."""
    random = np.random.default_rng(len(sizes) * 100 + sizes[-1])
    found: dict[str, Array] = {}
    for name, tensor in chosen.inputs.items():
        dims = tensor.static_shape.dims
        dims = (None,) * rank if dims is None else dims
        shape = tuple(sizes[min(axis, len(sizes) - 1)] if size is None else size for axis, size in enumerate(dims))
        if int(np.prod(shape, dtype=object)) > _MOST_ELEMENTS:
            return None
        found[name] = _values(random, shape, tensor.dtype.base_dtype, palette)
    return found


def _values(random: np.random.Generator, shape: tuple[int, ...], dtype: DType, palette: _Palette) -> Array:
    if dtype is STRING:
        texts = palette.texts
        flat = np.empty(int(np.prod(shape)), object)
        flat[:] = [texts[at] for at in random.integers(0, len(texts), flat.size)]
        return flat.reshape(shape)
    if dtype is BOOL:
        return random.integers(0, 2, shape).astype(bool)
    if dtype.is_integer or dtype.quantized:
        wide = np.array(palette.integers, np.int64)
        given: Array = wide.astype(dtype.array_dtype)
        given = given[given.astype(np.int64) == wide]  # keys of a table that are of this type
        return np.asarray(given[random.integers(0, len(given), shape)])
    numbers = random.standard_normal(shape)
    if dtype.is_complex:
        return (numbers + 1j * random.standard_normal(shape)).astype(dtype.array_dtype)
    return (np.abs(numbers) if palette.are_positive else numbers).astype(dtype.array_dtype)


def _palettes(model: ir.Model) -> list[_Palette]:
    """What inputs are made of, from bold to tame: with keys of the file's tables first, then with nothing but these."""
    plain = [
        _Palette(texts, tuple(range(below)), are_positive=number > 0)
        for number, (texts, below) in enumerate(zip(_TEXTS, _BELOW, strict=True))
    ]
    texts, integers = _keys_of_tables(model)
    if not texts and not integers:
        return plain
    both = _Palette((*_TEXTS[0], *texts), (*range(_BELOW[0]), *integers))
    alone = _Palette(texts or _TEXTS[0], integers or tuple(range(_BELOW[0])))
    return [both, alone, *plain]


def _keys_of_tables(model: ir.Model) -> tuple[tuple[bytes, ...], tuple[int, ...]]:
    """Some texts and some whole numbers that are keys of the tables that a file has."""
    texts: dict[bytes, None] = {}
    integers: dict[int, None] = {}
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        if node.op_type != "LabelEncoder":
            continue
        if (strings := node.attributes.get("keys_strings")) is not None:
            texts |= dict.fromkeys(text.encode() for text in strings.as_strings()[:_MOST_KEYS])
        if (numbers := node.attributes.get("keys_int64s")) is not None:
            integers |= dict.fromkeys(numbers.as_ints()[:_MOST_KEYS])
        if (tensor := node.attributes.get("keys_tensor")) is not None and tensor.as_tensor().dtype == ir.DataType.INT64:
            integers |= dict.fromkeys(tensor.as_tensor().numpy()[:_MOST_KEYS].tolist())
    return tuple(texts), tuple(integers)


def _given_inputs(chosen: Chosen, options: OnnxOptions, fs: FileSystem) -> dict[str, Array]:
    """The inputs that are given, as the model takes them."""
    given = options.verify_inputs
    if isinstance(given, Mapping):
        arrays = dict(given)
    else:
        assert given is not None
        with closing(NPZ.open_source(path_text(given), fs)) as opened:
            arrays = {name: opened.read(name) for name in opened}
    problems = [f'there is no input "{name}"' for name in arrays if name not in chosen.inputs]
    problems += [f'input "{name}" is missing' for name in chosen.inputs if name not in arrays]
    found: dict[str, Array] = {}
    for name, tensor in chosen.inputs.items():
        if name in arrays:
            try:
                found[name] = fitted_array(TensorSpec(tensor.dtype.base_dtype, tensor.static_shape), arrays[name])
            except InvalidArgumentError as error:
                problems.append(f'input "{name}": {error}')
    if problems:
        raise InvalidArgumentError(f"the inputs to verify with: {'; '.join(problems)}")
    return found


# --------------------------------------------------------------------------------------------------------------- runs


def _our_outputs(chosen: Chosen, inputs: Mapping[str, Array]) -> list[Any]:
    feeds = {chosen.inputs[name]: array for name, array in inputs.items()} | dict(chosen.captured)
    try:
        found: list[Any] = chosen.session.run(list(chosen.outputs.values()), feeds)
    except PermissionDeniedError as error:
        raise PermissionDeniedError(
            f"the file cannot be verified, as the model would have to run: {str(error).partition(', which')[0]}. If "
            "you trust it, say what it may do (allow=; --allow), or leave out verify (--verify)"
        ) from error
    return found


def _open_session(contents: bytes, weights: Mapping[str, Any], custom_ops: Sequence[str]) -> Any:
    try:
        return opened_session(contents, {name: tensor.numpy() for name, tensor in weights.items()})
    except Exception as error:
        brought = f": it has no code for custom ops ({some_of(custom_ops, 3)}), so leave out verify (--verify)"
        raise WrongExportError(
            f"ONNX Runtime does not take the file{brought if custom_ops else ''}: {error}. No file was left"
        ) from error


def _their_outputs(session: Any, chosen: Chosen, run: _Run, options: OnnxOptions) -> list[Any]:
    taken = {item.name for item in session.get_inputs()}
    feeds = {
        name: _to_onnx(array, chosen.inputs[name].dtype.base_dtype, name in options.channels_first)
        for name, array in run.inputs.items()
        if name in taken
    }
    try:
        found: list[Any] = session.run(list(chosen.outputs), feeds)
    except Exception as error:
        raise WrongExportError(
            f"ONNX Runtime fails where the model does not: {error} (inputs {_shapes_text(run)}). No file was left. If "
            "the model is never given such sizes, verify it with inputs that it is (verify_inputs=; --verify-inputs)"
        ) from error
    return found


def _to_onnx(array: Array, dtype: DType, channels_first: bool) -> Any:
    """An array as ONNX Runtime takes it: text for strings, pairs for complex numbers."""
    if channels_first:
        array = np.ascontiguousarray(np.moveaxis(array, -1, 1))
    if dtype is STRING:
        flat = np.empty(array.size, object)
        flat[:] = [item.decode("utf-8", "surrogateescape") for item in array.reshape(-1)]
        return flat.reshape(array.shape)
    if dtype.is_complex:
        pairs = np.stack([array.real, array.imag], -1)
        return pairs.astype(np.float32 if array.dtype == np.complex64 else np.float64)
    return array


def _from_onnx(value: Any, dtype: DType) -> Array:
    array = np.asarray(value)
    if dtype is STRING:
        flat = np.empty(array.size, object)
        flat[:] = [item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item
                   for item in array.reshape(-1).tolist()]  # fmt: skip
        return flat.reshape(array.shape)
    if dtype.is_complex:
        return np.asarray(array[..., 0] + 1j * array[..., 1], dtype.array_dtype)
    return array


# ------------------------------------------------------------------------------------------------------- differences


def _compare_output(
    name: str, ours: Array, theirs: Array, dtype: DType, tolerance: tuple[float, float], is_random: bool
) -> tuple[OutputDifference, str]:
    """How far two arrays are from each other, and what is wrong with that. `tolerance` is absolute and relative."""
    none = OutputDifference(name, 0.0, 0.0, True)
    if ours.shape != theirs.shape:
        return none, f"has the shape {list(theirs.shape)}, and {list(ours.shape)} in the model"
    if dtype is not STRING and ours.dtype != theirs.dtype:
        return none, f"is {theirs.dtype}, and {ours.dtype} in the model"
    if is_random:
        return none, ""
    if dtype is STRING or not (dtype.is_floating or dtype.is_complex):
        count = int(np.count_nonzero(ours != theirs))
        if not count:
            return none, ""
        far = 0.0 if dtype is STRING else float(np.max(np.abs(ours.astype(np.float64) - theirs.astype(np.float64))))
        return OutputDifference(name, far, 1.0, False), f"differs in {count} of {ours.size} elements"
    return _compared_numbers(name, ours, theirs, dtype, tolerance)


def _compared_numbers(
    name: str, ours: Array, theirs: Array, dtype: DType, tolerance: tuple[float, float]
) -> tuple[OutputDifference, str]:
    wide = np.complex128 if dtype.is_complex else np.float64
    with np.errstate(all="ignore"):
        mine, other = ours.astype(wide), theirs.astype(wide)
        finite = np.isfinite(mine)
        same = np.array_equal(np.isfinite(other), finite) and np.array_equal(
            mine[~finite], other[~finite], equal_nan=True
        )
        far = float(np.max(np.abs(mine - other)[finite], initial=0.0))
        largest = float(np.max(np.abs(mine)[finite], initial=0.0))
    found = OutputDifference(name, far, far / largest if largest else far, same and far == 0)
    if not same:
        return found, "has NaN or infinities where the model has none, or the reverse"
    absolute, relative = tolerance
    allowed = absolute + relative * largest
    if far <= allowed:
        return found, ""
    return found, f"differs by {far:.3g}, where {allowed:.3g} is allowed and its largest value is {largest:.3g}"


def _computed_in_halves(model: ir.Model) -> set[str]:
    """The outputs of a file that nodes with results of 16 bits or fewer lead to: each of those is rounded to that."""
    found: set[str] = set()
    is_half: dict[ir.Value, bool] = {}
    for node in model.graph:  # in an order in which each comes after what it takes
        graphs = [item.as_graph() for item in node.attributes.values() if item.type is ir.AttributeType.GRAPH]
        every = [node, *(item for graph in graphs for item in graph.all_nodes())]
        halves = any(value.dtype in _HALVES for item in every for value in item.outputs) or any(
            is_half.get(value, False) for item in every for value in item.inputs if value is not None
        )
        is_half.update(dict.fromkeys(node.outputs, halves))
    for value in model.graph.outputs:
        if value.name is not None and (is_half.get(value, False) or value.dtype in _HALVES):
            found.add(value.name)
    return found


def _larger(first: OutputDifference | None, second: OutputDifference) -> OutputDifference:
    if first is None:
        return second
    return OutputDifference(
        first.output,
        max(first.absolute, second.absolute),
        max(first.relative, second.relative),
        first.is_equal and second.is_equal,
    )


def _shapes_text(run: _Run) -> str:
    return some_of([f"{name} {list(array.shape)}" for name, array in run.inputs.items()], 5) or "none"
