"""Graphs that were rewritten for few bits, trained here and in TensorFlow: equal losses and ranges."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tests.interop.programs import tensorflow_1
from tests.tf1.contrib.test_quantize import IMAGES, network

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("delay", "moves", "tolerance"),
    [
        (100, True, 1e-4),
        (2, False, 5e-3),  # a last bit decides to which side a number is rounded, a 255th of its range
    ],
)
def test_a_rewritten_graph_trains_as_it_does_there(delay: int, moves: bool, tolerance: float) -> None:
    """Where averages move, TensorFlow reads them before or after by chance, which only what is rounded depends on."""
    with ours.Graph().as_default() as graph:
        ours.set_random_seed(5)
        x, logits = network(is_training=True)
        ours.contrib.quantize.create_training_graph(quant_delay=delay)
        loss = ours.reduce_mean(ours.square(logits - ours.range(5.0)))
        train = ours.train.GradientDescentOptimizer(0.05).minimize(loss)
        updates = [op.name for op in ours.get_collection(ours.GraphKeys.UPDATE_OPS)] if moves else []
        variables = ours.global_variables()
        with ours.Session() as session:
            session.run(ours.global_variables_initializer())
            first = {variable: session.run(variable) for variable in variables}
            run = [loss, train, *(graph.get_operation_by_name(name) for name in updates)]
            mine = [session.run(run, {x: IMAGES})[0] for _ in range(5)]
            last = session.run(variables)
        message = graph.as_graph_def().SerializeToString()
    with tensorflow_1(), v1.Graph().as_default() as there:
        v1.import_graph_def(v1.GraphDef.FromString(message), name="")
        with v1.Session() as session:
            for variable, value in first.items():
                session.run(f"{variable.op.name}/Assign", {variable.initializer.inputs[1].name: value})
            run = [loss.name, *(there.get_operation_by_name(name) for name in (train.name, *updates))]
            theirs = [session.run(run, {x.name: IMAGES})[0] for _ in range(5)]
            values = session.run([variable.name for variable in variables])
    np.testing.assert_allclose(mine, theirs, rtol=tolerance)
    for variable, value, other in zip(variables, last, values, strict=True):
        if moves and "quant" in variable.op.name:
            continue
        np.testing.assert_allclose(value, other, rtol=1e-2, atol=max(tolerance, 1e-3), err_msg=variable.op.name)
