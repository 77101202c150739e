"""Programs of branches and loops made at random, exported: what ONNX Runtime computes is what our session does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as ours
from tests.interop.test_generated_control_flow import VECTOR, Program
from tests.onnx.whole_graphs import assert_exports
from tests.support.depth import thinned

FEEDS = [(0, True), (1, False), (2, True), (3, False)]


class _WithoutGradients:
    """TensorFlow 1's functions, of which `gradients` gives none: their loops keep what they saw on stacks."""

    def __getattr__(self, name: str) -> Any:
        if name == "gradients":
            return lambda *_: []
        return ours.raw_ops.Tanh if name == "Tanh" else getattr(ours, name)


@pytest.mark.parametrize("seed", thinned(range(60), 4))
def test_a_program_made_at_random_computes_the_same(seed: int) -> None:
    with ours.Graph().as_default() as graph:
        result = Program(seed)(_WithoutGradients())[0]
        inputs = {name: graph.get_tensor_by_name(f"{name}:0") for name in ("x", "y", "n", "p")}
        feeds = [
            {inputs["x"]: VECTOR, inputs["y"]: VECTOR * 2 - np.float32(0.5), inputs["n"]: count, inputs["p"]: truth}
            for count, truth in FEEDS
        ]
        assert_exports([result], feeds, opsets=(13, 24))
