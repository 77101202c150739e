"""`tf.sets`: the same program text builds TensorFlow's nodes, and gives its values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tensorkeep.graph.composites import SparseTensor
from tensorkeep.tf1.functions.numbers import sets
from tests.interop.nn_programs import OURS, namespace, same

TF = SimpleNamespace(**{**vars(OURS), "sets": namespace(sets), "SparseTensor": SparseTensor})


def test_sets() -> None:
    def program(tf: Any) -> Any:
        a, b = tf.constant([[1, 2, 3], [4, 5, 6]]), tf.constant([[3, 1], [9, 9]])
        places, shape = tf.constant([[0, 0], [1, 0]], tf.int64), tf.constant([2, 3], tf.int64)
        sparse = tf.SparseTensor(places, tf.constant([2, 5]), shape)
        found = [
            tf.sets.set_intersection(a, b),
            tf.sets.set_difference(a, b),
            tf.sets.set_difference(a, b, aminusb=False),
            tf.sets.set_union(a, b),
            tf.sets.set_difference(sparse, a),
            tf.sets.set_union(sparse, sparse),
        ]
        parts = [[item.indices, item.values, item.dense_shape] for item in found]
        return [parts, tf.sets.set_size(sparse)]

    same(program, ours=TF)
