"""Programs of `tf.nn` and `tf.losses`, built by TensorFlow and by us."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from tensorkeep.dtypes import dtype_of_array
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.nn import activations, convolution, cross_entropies, ctc, normalization, pooling
from tensorkeep.tf1.functions.numbers import elementwise, reductions
from tests.interop.programs import Built, build, our_names
from tests.ops.walking import TOLERANCES


def namespace(*modules: ModuleType) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(module, name) for module in modules for name in module.__all__})


NN = namespace(activations, cross_entropies, normalization, convolution, pooling, ctc)
OURS = our_names(
    nn=NN,
    gradients=gradients,
    reduce_sum=reductions.reduce_sum,
    cast=elementwise.cast,
    shape=shapes.shape,
    math=SimpleNamespace(sigmoid=elementwise.sigmoid),
)


def expect_close(built: Built, feeds: dict[str, Any] | None = None, prepare: str | None = None) -> None:
    """Both graphs give the same values, as near as their types allow."""
    for ours, theirs in built.run(1, feeds, prepare=prepare):
        for mine, other in zip(_leaves(ours), _leaves(theirs), strict=True):
            mine, other = np.asarray(mine), np.asarray(other)
            assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
            allowed = TOLERANCES.get(dtype_of_array(mine.dtype).name, 0.0)
            wide = np.float64 if mine.dtype.kind not in "cO" else mine.dtype
            np.testing.assert_allclose(mine.astype(wide), other.astype(wide), rtol=allowed, atol=allowed)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [] if value is None else [value]


def same(program: Callable[[Any], Any], *, seed: int | None = None, runs: bool = True, ours: Any = OURS) -> Built:
    """Builds a program twice, compares the nodes, and the values."""
    built = build(program, ours, seed=seed)
    if runs:
        expect_close(built)
    return built
