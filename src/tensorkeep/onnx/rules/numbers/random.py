"""Random numbers: of the same distribution as TensorFlow's, but other numbers.

ONNX says nothing of how numbers are drawn, so that no file can repeat TensorFlow's. A seed of the graph becomes one of
the node, by which ONNX Runtime draws the same numbers whenever a model is loaded; but ops that are given their state,
which TensorFlow repeats exactly, draw new numbers at each run. Where all that those take is known before, they are
computed now and are TensorFlow's own numbers. None is translated for the engine, which must repeat them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression
from tensorkeep.onnx.rules.numbers.special_functions import normal_quantile
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term, element_type

_REACH: Final = 0.47724986805182079  # of the normal distribution, between its middle and two deviations
_PHILOX: Final = 1  # the number of the algorithm that TensorFlow draws by
_BELOW_ONE: Final = {"float16": 1 - 2.0**-11, "bfloat16": 1 - 2.0**-8}
_LAST_RUN: Final = 21  # the opset after which ONNX Runtime has no kernels that draw numbers
_LARGEST_SEED: Final = 1 << 24  # up to which a float holds every whole number


def _seed(to: OnnxGraph) -> float | None:
    """The seed that the operation has of its own, as ONNX wants it; None if it has none."""
    operation = to.operation
    assert operation is not None
    names = {attr.name for attr in operation.spec.schema.attrs}
    if "seed" not in names:
        return None
    seeds = int(operation.attr("seed")), int(operation.attr("seed2"))
    return float((seeds[0] * 31 + seeds[1]) % _LARGEST_SEED) if any(seeds) else None


def _check(to: OnnxGraph) -> None:
    if to.model.is_for_engine:
        to.refuse("ONNX draws other numbers than TensorFlow")
    to.require_at_most_opset(_LAST_RUN, "ONNX Runtime draws no numbers")


def _drawn_numbers(to: OnnxGraph, op_type: str, shape: Term, dtype: DType, **attrs: float) -> Term:
    """Numbers that a node draws, of a shape that is known or computed."""
    _check(to)
    marks = {**attrs, "dtype": int(element_type(dtype)), "seed": _seed(to)}
    if shape.array is not None:
        sizes = [int(size) for size in shape.array.reshape(-1)]
        if sizes and 0 not in sizes:
            return to.node(op_type, dtype=dtype, dims=tuple(sizes), attrs={**marks, "shape": sizes})
        shape = to.constant(sizes, INT64)
    dims: Dims | None = None
    if shape.sizes is not None:
        dims = tuple(size if isinstance(size, int) else None for size in shape.sizes)
    zeros = to.node(
        "ConstantOfShape", to.cast(shape, INT64), dtype=dtype, dims=dims, value=np.zeros(1, dtype.array_dtype)
    )
    return to.node(f"{op_type}Like", zeros, dtype=dtype, dims=dims, attrs=marks)


def _wide(dtype: DType) -> DType:
    """The type that numbers are drawn in: ONNX Runtime draws none of 16 bits."""
    return FLOAT64 if dtype is FLOAT64 else FLOAT32


@rule("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2")
def random_uniform(to: OnnxGraph, shape: Term, *state: Term, dtype: DType) -> Term:
    """Numbers from 0 to 1, without 1."""
    found = _drawn_numbers(to, "RandomUniform", shape, _wide(dtype), low=0.0, high=1.0)
    if dtype.name in _BELOW_ONE:
        found = Expression(to, found).least(_BELOW_ONE[dtype.name]).term
    return to.cast(found, dtype)


@rule("RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2")
def random_normal(to: OnnxGraph, shape: Term, *state: Term, dtype: DType) -> Term:
    return to.cast(_drawn_numbers(to, "RandomNormal", shape, _wide(dtype), mean=0.0, scale=1.0), dtype)


@rule("TruncatedNormal", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2")
def truncated_normal(to: OnnxGraph, shape: Term, *state: Term, dtype: DType) -> Term:
    """Normal numbers up to two deviations from the middle: the quantiles of probabilities that are drawn evenly."""
    middle = Expression(to, _drawn_numbers(to, "RandomUniform", shape, FLOAT64, low=-_REACH, high=_REACH))
    found = normal_quantile(middle, 0.5 - middle.apply("Abs"))
    return to.cast(found.least(2.0).most(-2.0).term, dtype)


def _whole(to: OnnxGraph, shape: Term, low: Term, high: Term) -> Term:
    """Whole numbers from one to another, without the latter."""
    if low.dtype.is_unsigned:
        to.refuse("random whole numbers without sign have no rule")
    first, last = (Expression(to, to.cast(end, INT64)) for end in (low, high))
    count = to.cast((last - first).term, FLOAT64)
    share = Expression(to, _drawn_numbers(to, "RandomUniform", shape, FLOAT64, low=0.0, high=1.0))
    return to.cast((Expression(to, to.cast((share * count).apply("Floor").term, INT64)) + first).term, low.dtype)


@rule("RandomUniformInt")
def random_uniform_int(to: OnnxGraph, shape: Term, minval: Term, maxval: Term) -> Term:
    return _whole(to, shape, minval, maxval)


@rule("StatelessRandomUniformInt", "StatelessRandomUniformIntV2")
def stateless_uniform_int(to: OnnxGraph, shape: Term, *state_and_ends: Term) -> Term:
    return _whole(to, shape, *state_and_ends[-2:])


@rule("Multinomial", "StatelessMultinomial")
def multinomial(to: OnnxGraph, logits: Term, num_samples: Term, *state: Term, output_dtype: DType) -> Term:
    """Classes, drawn by the logarithms of their shares."""
    _check(to)
    count = int(to.known_array(num_samples, "how many classes are drawn"))
    given = to.cast(logits, FLOAT32)
    marks = {"sample_size": count, "dtype": int(element_type(INT32)), "seed": _seed(to)}
    found = to.node("Multinomial", given, dtype=INT32, dims=(logits.size(0), count), attrs=marks)
    return to.cast(found, output_dtype)


@rule("RandomShuffle", "StatelessShuffle")
def random_shuffle(to: OnnxGraph, value: Term, *state: Term) -> Term:
    """Rows in the order of numbers that are drawn for them."""
    if value.rank == 0:
        return value
    count = to.shape(value, 0, 1)
    keys = _drawn_numbers(to, "RandomUniform", count, FLOAT32, low=0.0, high=1.0)
    dims = (value.size(0),)
    _, order = to.node_with_outputs("TopK", [keys, count], 2, [FLOAT32, INT64], [dims, dims])
    return to.node("Gather", value, order, dims=value.dims, axis=0)


# ---------------------------------------------------------------------------------------------------- States


@rule("StatelessRandomGetKeyCounter")
def get_key_counter(to: OnnxGraph, seed: Term) -> tuple[Term, Term]:
    """A key and a counter, which are no values of the file: what draws by them is not told of them."""
    return Term(UINT64, (1,), held="the key of a seed"), Term(UINT64, (2,), held="the counter of a seed")


@rule("StatelessRandomGetKeyCounterAlg")
def get_key_counter_alg(to: OnnxGraph, seed: Term) -> tuple[Term, Term, Term]:
    return *get_key_counter(to, seed), get_alg(to)


@rule("StatelessRandomGetAlg")
def get_alg(to: OnnxGraph) -> Term:
    return to.constant(_PHILOX, INT32)
