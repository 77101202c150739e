"""Samples of fused recurrent cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import sample

GENERATOR = np.random.default_rng(8)
BATCH, INPUTS, CELL, STEPS = 2, 3, 4, 5


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return (GENERATOR.standard_normal(shape) * 0.7).astype(dtype)


def weights(dtype: Any = np.float32) -> tuple[Any, ...]:
    """w, wci, wcf, wco, b."""
    vectors = [normal(CELL, dtype=dtype) for _ in range(3)]
    return normal(INPUTS + CELL, 4 * CELL, dtype=dtype), *vectors, normal(4 * CELL, dtype=dtype)


def state(dtype: Any = np.float32) -> tuple[Any, Any]:
    return normal(BATCH, CELL, dtype=dtype), normal(BATCH, CELL, dtype=dtype)


def cell(dtype: Any = np.float32) -> tuple[Any, ...]:
    return normal(BATCH, INPUTS, dtype=dtype), *state(dtype), *weights(dtype)


def sequence(length: int = STEPS, dtype: Any = np.float32) -> tuple[Any, ...]:
    return np.int64(length), normal(STEPS, BATCH, INPUTS, dtype=dtype), *state(dtype), *weights(dtype)


HALF_SIZES = ((1, 9, 4), (1, 150, 4), (6, 20, 6), (3, 200, 8))
"""Numbers of rows, inputs and cells with which TensorFlow adds up the terms of products in different orders."""


def halves(rows: int, inputs: int, cells: int) -> tuple[Any, ...]:
    """A step of halves."""
    shapes = ((rows, inputs), (rows, cells), (rows, cells), (inputs + cells, 4 * cells), *((cells,),) * 3, (4 * cells,))
    return tuple(normal(*shape, dtype=np.float16) * np.float16(0.5) for shape in shapes)


def kept(*lead: int) -> list[Any]:
    """Values such as the gates of a step or sequence may have."""
    return [GENERATOR.uniform(0.1, 0.9, (*lead, BATCH, CELL)).astype(np.float32) for _ in range(6)]


def gru() -> tuple[Any, ...]:
    joined = INPUTS + CELL
    biases = normal(2 * CELL), normal(CELL)
    return normal(BATCH, INPUTS), normal(BATCH, CELL), normal(joined, 2 * CELL), normal(joined, CELL), *biases


SAMPLES = {
    "LSTMBlockCell": [
        sample(*cell()),
        sample(*cell(), use_peephole=True),
        sample(*cell(), forget_bias=0.0, cell_clip=0.2),
        sample(*cell(), cell_clip=-1.0, use_peephole=True),
        *(sample(*cell(np.float16), use_peephole=p, tolerance=0.0, gradient=False) for p in (True, False)),
        *(sample(*halves(*sizes), tolerance=0.0, gradient=False) for sizes in HALF_SIZES),
        sample(*cell()[:-1], normal(4 * CELL + 4), fails=True),
        sample(*cell()[:-2], normal(1), normal(4 * CELL), gradient=False),  # wco, which is not used
    ],
    "LSTMBlockCellGrad": [
        sample(*cell(), *kept(), *state(), use_peephole=True),
        sample(*cell(), *kept(), *state(), use_peephole=False, unspecified=(2, 3, 4)),
        sample(*cell(), *kept(), *state()[:1], normal(1, CELL), use_peephole=False, fails=True),
    ],
    "BlockLSTM": [
        sample(*sequence()),
        sample(*sequence(), use_peephole=True),
        # What TensorFlow computes beyond the longest sequence is left to chance, but for the states.
        sample(*sequence(3), cell_clip=0.3, gradient=False, unspecified=(0, 2, 3, 4, 5)),
        sample(*sequence(0), forget_bias=0.0, gradient=False, unspecified=(0, 2, 3, 4, 5)),
        sample(*sequence(dtype=np.float16), tolerance=0.0, gradient=False),
        sample(*sequence()[:-2], normal(CELL, 1), normal(4 * CELL), fails=True),  # wco
    ],
    "BlockLSTMV2": [
        sample(*sequence()),
        sample(*sequence(), use_peephole=True, cell_clip=0.5),
        sample(*sequence(dtype=np.float16), use_peephole=True, tolerance=0.0, gradient=False),
        sample(*sequence(2), gradient=False, unspecified=(0, 2, 3, 4, 5)),
    ],
    "BlockLSTMGrad": [
        sample(*sequence(length), *kept(STEPS), *kept(STEPS)[:3], use_peephole=peephole)
        for length in (STEPS, 3)
        for peephole in (True, False)
    ],
    "BlockLSTMGradV2": [
        sample(*sequence(length), *kept(STEPS), *kept(STEPS)[:3], use_peephole=peephole)
        for length in (STEPS, 3)
        for peephole in (True, False)
    ],
    "GRUBlockCell": [sample(*gru()), sample(*gru()[:-1], normal(CELL + 1), fails=True)],
    "GRUBlockCellGrad": [
        sample(*gru(), *kept()[:3], normal(BATCH, CELL)),
        sample(*gru(), *kept()[:2], kept()[0][:1], normal(BATCH, CELL), fails=True),
    ],
}
