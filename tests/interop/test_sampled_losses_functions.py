"""Losses over samples of classes beside TensorFlow's: the same nodes, gradients among them, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.nn import candidate_sampling, sampled_losses
from tests.interop.programs import build, our_names

NAMES = {name: getattr(module, name) for module in (candidate_sampling, sampled_losses) for name in module.__all__}
OURS = our_names(gradients=reverse_walk.gradients, nn=SimpleNamespace(**NAMES))
Program = Callable[[Any], Any]

CLASSES = 12
INPUTS = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
WEIGHTS = np.cos(np.arange(CLASSES * 4, dtype=np.float32)).reshape(CLASSES, 4)
BIASES = np.sin(np.arange(CLASSES, dtype=np.float32))


def _arguments(tf: Any, num_true: int = 1, labels: str = "int64") -> dict[str, Any]:
    classes = np.arange(5 * num_true).reshape(5, num_true) % CLASSES
    return {
        "weights": tf.constant(WEIGHTS),
        "biases": tf.constant(BIASES),
        "labels": tf.constant(classes.astype(labels)),
        "inputs": tf.constant(INPUTS),
        "num_sampled": 6,
        "num_classes": CLASSES,
        "num_true": num_true,
    }


def _with_gradients(tf: Any, loss: Callable[..., Any], arguments: dict[str, Any], **more: Any) -> Any:
    made = loss(**arguments, **more)
    slices = tf.gradients(made, [arguments["weights"], arguments["biases"]])
    return [made, *tf.gradients(made, arguments["inputs"]), *(part.values for part in slices)]


def _with_given_samples(tf: Any) -> Any:
    arguments = _arguments(tf, 2)
    samples = tf.nn.uniform_candidate_sampler(arguments["labels"], 2, 6, True, CLASSES, seed=4)
    return tf.nn.nce_loss(sampled_values=samples, **arguments)


def _of_shards(tf: Any) -> Any:
    arguments = {**_arguments(tf), "weights": [tf.constant(WEIGHTS[:6]), tf.constant(WEIGHTS[6:])]}
    return tf.nn.sampled_softmax_loss(partition_strategy="div", seed=3, **arguments)


PROGRAMS: dict[str, Program] = {
    "nce": lambda tf: _with_gradients(tf, tf.nn.nce_loss, _arguments(tf)),
    "nce, several true classes": lambda tf: _with_gradients(tf, tf.nn.nce_loss, _arguments(tf, 3)),
    "nce, labels of another type": lambda tf: tf.nn.nce_loss(**_arguments(tf, labels="int32"), name=None),
    "nce without accidental hits": lambda tf: tf.nn.nce_loss(remove_accidental_hits=True, **_arguments(tf)),
    "nce with given samples": _with_given_samples,
    "softmax": lambda tf: _with_gradients(tf, tf.nn.sampled_softmax_loss, _arguments(tf), seed=5),
    "softmax, several true classes": lambda tf: tf.nn.sampled_softmax_loss(**_arguments(tf, 2), name="loss"),
    "softmax with accidental hits": lambda tf: tf.nn.sampled_softmax_loss(
        remove_accidental_hits=False, **_arguments(tf)
    ),
    "softmax of shards": _of_shards,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_nodes_and_numbers(name: str) -> None:
    build(PROGRAMS[name], OURS, seed=9).expect_same_values(times=2, tolerance=1e-4)
