"""Many computations of Keras in one exported model, each beside TensorFlow at several batches.

An export costs much more than a computation, so that cases share one: every case is an endpoint of its own, or, where
cases take the same inputs, they are the outputs of one endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import keras
import ml_dtypes
import numpy as np
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.arrays import Array

BATCHES: Final = (0, 1, 3)

# The largest error of an output, as a part of its largest element. What is computed in half precision and rounded once
# may be rounded to the neighbour: a unit in the last place.
TOLERANCES: Final = {
    np.dtype(np.float64): 1e-12,
    np.dtype(np.complex128): 1e-12,
    np.dtype(np.float32): 1e-5,
    np.dtype(np.complex64): 1e-5,
    np.dtype(np.float16): 2.0**-10,
    np.dtype(ml_dtypes.bfloat16): 2.0**-7,
}


@dataclass(frozen=True)
class Input:
    """An argument: its shape, where None is the batch, its type, and how an array of a shape is drawn."""

    shape: tuple[int | None, ...]
    dtype: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], Any]

    def of(self, batch: int, seed: int) -> Array:
        shape = tuple(batch if dim is None else dim for dim in self.shape)
        drawn = np.asarray(self.draw(np.random.default_rng([batch, seed]), shape))
        return drawn.astype(object if self.dtype == "string" else tf.as_dtype(self.dtype).as_numpy_dtype).reshape(shape)

    def as_wide_as(self, policy: str) -> Input:
        """The same for layers that compute in float64, which get it; others turn float32 into what they need."""
        return replace(self, dtype="float64") if (self.dtype, policy) == ("float32", "float64") else self


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.normal(size=shape)


def floats(*shape: int | None, dtype: str = "float32") -> Input:
    return Input(shape, dtype, _normal)


def between(low: float, high: float) -> Callable[..., Input]:
    """Makes inputs of numbers that lie between two others."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return rng.uniform(low, high, shape)

    return lambda *shape, dtype="float32": Input(shape, dtype, draw)


def below(limit: int, low: int = 0) -> Callable[..., Input]:
    """Makes inputs of whole numbers below a limit."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return rng.integers(low, limit, shape)

    return lambda *shape, dtype="int32": Input(shape, dtype, draw)


def chosen(*choices: Any, dtype: str = "string") -> Callable[..., Input]:
    """Makes inputs whose elements are among these."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.array(choices, object if dtype == "string" else None)[rng.integers(0, len(choices), shape)]

    return lambda *shape: Input(shape, dtype, draw)


@dataclass(frozen=True)
class Case:
    """A computation: `call` takes a tensor for each input and gives any structure of tensors.

    `parts` are its layers and metrics, which begin with other weights than zeros and ones, and with no state. Batches
    in `refused` are refused here as by TensorFlow; those in `ours_alone` TensorFlow refuses, and the answer is empty.
    """

    name: str
    call: Callable[..., Any]
    inputs: tuple[Input, ...]
    parts: tuple[Any, ...] = ()
    batches: tuple[int, ...] = BATCHES
    refused: tuple[int, ...] = ()
    ours_alone: tuple[int, ...] = ()

    def arrays(self, batch: int) -> dict[str, Array]:
        return {f"x{i}": given.of(batch, i) for i, given in enumerate(self.inputs)}


def tensors_of(result: Any) -> list[Any]:
    """Every tensor of a result, those that sparse and ragged ones consist of, and the masks that Keras adds."""
    tensors = []
    for part in tf.nest.flatten(result):
        mask = getattr(part, "_keras_mask", None)
        tensors += tf.nest.flatten(part, expand_composites=True) + ([] if mask is None else [mask])
    return [tensor for tensor in tensors if tensor is not None]


def prepare(case: Case) -> None:
    """Makes the variables of a case, by running it once, and gives them the values they begin with."""
    if not case.parts:
        return
    case.call(*(tf.constant(array) for array in case.arrays(case.batches[-1]).values()))
    for part in case.parts:
        if isinstance(part, keras.Metric):
            part.reset_state()
        else:
            shake(part)


def shake(layer: Any) -> None:
    """Gives a layer weights that are not what it begins with: no zeros for biases, no ones for variances."""
    rng = np.random.default_rng(7)
    for variable in layer.weights:
        if not keras.backend.is_float_dtype(variable.dtype):
            continue
        value = np.asarray(keras.ops.cast(variable, "float32")) + rng.normal(scale=0.1, size=variable.shape)
        variable.assign(np.abs(value) + 0.1 if "variance" in variable.path else value)


def together(cases: Iterable[Case]) -> list[tuple[Case, ...]]:
    """The cases in groups that take the same inputs; those of which a batch is refused stand alone."""
    alike: dict[Any, list[Case]] = {}
    for case in cases:
        alone = case.name if case.refused or case.ours_alone else ""
        alike.setdefault((case.inputs, case.batches, alone), []).append(case)
    return [tuple(group) for group in alike.values()]


def endpoint_of(group: Sequence[Case]) -> str:
    return group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"


def traced(group: Sequence[Case]) -> Any:
    """A function of TensorFlow that computes all cases of a group; the outputs carry the cases' names."""

    def compute(*tensors: Any) -> dict[str, Any]:
        return {
            f"{case.name}/{i}": tf.identity(tensor)
            for case in group
            for i, tensor in enumerate(tensors_of(case.call(*tensors)))
        }

    for case in group:
        prepare(case)
    specs = [tf.TensorSpec(given.shape, given.dtype, f"x{i}") for i, given in enumerate(group[0].inputs)]
    return tf.function(compute, input_signature=specs, autograph=False).get_concrete_function()


def export(groups: Sequence[Sequence[Case]], folder: Path) -> dict[str, Any]:
    """Writes a model with a signature for each group, and gives TensorFlow's functions by the signatures' names."""
    module = tf.Module()
    functions = {endpoint_of(group): traced(group) for group in groups}
    module.used = [list(function.variables) for function in functions.values()]
    module.tables = [
        [getattr(layer, "lookup_table", None) for layer in part._flatten_layers()]
        for group in groups
        for case in group
        for part in case.parts
        if isinstance(part, keras.Layer)
    ]
    tf.saved_model.save(module, str(folder), signatures=functions)
    return functions


def differences(group: Sequence[Case], theirs: Callable[..., Any], ours: Callable[..., Any]) -> list[str]:
    """What TensorFlow's function and ours answer differently, batch by batch."""
    lines = []
    for batch in group[0].batches:
        arrays = group[0].arrays(batch)
        wanted = _answer(
            lambda given=arrays: theirs(*map(tf.constant, given.values())), (tf.errors.OpError, ValueError)
        )
        answer = _answer(lambda given=arrays: ours(**given), (tk.errors.TensorKeepError,))
        what = f"{endpoint_of(group)} at a batch of {batch}"
        if batch in (*group[0].refused, *group[0].ours_alone) or isinstance(wanted, str) or isinstance(answer, str):
            lines += [f"{what}: {line}" for line in _refusals(group[0], batch, wanted, answer)]
        elif answer.keys() != wanted.keys():
            lines.append(f"{what}: {sorted(answer)}, wanted {sorted(wanted)}")
        else:
            pairs = {name: difference(answer[name], wanted[name].numpy()) for name in wanted}
            lines += [f"{name} at a batch of {batch}: {line}" for name, line in pairs.items() if line]
    return lines


def _answer(ask: Callable[[], Any], refusals: tuple[type[Exception], ...]) -> Any:
    """Outputs by their names, or why there are none."""
    try:
        return ask()
    except refusals as error:
        return f"{type(error).__name__}: {error}"


def _refusals(case: Case, batch: int, wanted: Any, answer: Any) -> Iterator[str]:
    """Of a batch that one of both refuses, or is said to refuse: what is not as the case says."""
    if isinstance(wanted, str) != (batch in (*case.refused, *case.ours_alone)):
        yield f"TensorFlow refuses it: {wanted}" if isinstance(wanted, str) else "TensorFlow does not refuse it"
    if isinstance(answer, str) != (batch in case.refused):
        yield f"we refuse it: {answer}" if isinstance(answer, str) else "we do not refuse it"
    if batch in case.ours_alone and not isinstance(answer, str):
        yield from (f"{name} has elements" for name, value in answer.items() if value.size)


def difference(answer: Any, wanted: Array, tolerances: Mapping[np.dtype[Any], float] = TOLERANCES) -> str:
    """How an answer differs, or nothing."""
    answer = np.asarray(answer)
    if (answer.dtype, answer.shape) != (wanted.dtype, wanted.shape):
        return f"{answer.dtype} {answer.shape}, wanted {wanted.dtype} {wanted.shape}"
    tolerance = tolerances.get(wanted.dtype)
    if tolerance is None or not wanted.size:
        unequal = np.asarray(answer != wanted)
        return f"{answer[unequal][:3]}, wanted {wanted[unequal][:3]}" if unequal.any() else ""
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    ours, theirs = answer.astype(wide), wanted.astype(wide)
    odd = ~np.isfinite(theirs)
    if not np.array_equal(ours[odd], theirs[odd], equal_nan=True):
        return f"{ours[odd][:3]}, wanted {theirs[odd][:3]}"
    largest = np.abs(theirs[~odd]).max(initial=0) or 1.0
    error = np.abs(ours[~odd] - theirs[~odd]).max(initial=0) / largest
    return f"off by {error:.1e} of the largest element" if not error <= tolerance else ""
