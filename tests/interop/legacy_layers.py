"""What TensorFlow makes of the programs: run as a process of its own, since its Keras 2 must be chosen at the start.

    python -m tests.interop.legacy_layers FOLDER

writes to the folder, for each program, NAME.pb (the graph) and NAME.pickle (collections, results, variables); and
signatures.pickle, the parameters of all public names.
"""

from __future__ import annotations

import inspect
import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.interop import recurrent_programs  # noqa: F401 - adds its programs
from tests.interop.layer_programs import COLLECTIONS, PROGRAMS, SEED, STEPS, feeds

_PLAIN = int | float | str | tuple | type | None


def main(folder: Path) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    with tf.Graph().as_default():  # the first layer that looks for GPUs leaves nodes in the graph
        tf.layers.max_pooling1d(tf.zeros([1, 1, 4]), 2, 2, data_format="channels_first")
    modules = {"layers": tf.layers, "cells": tf.nn.rnn_cell, "nn": tf.nn, "tf": tf}
    signatures = {key: public_signatures(module) for key, module in modules.items()}
    (folder / "signatures.pickle").write_bytes(pickle.dumps(signatures))
    for name, program in PROGRAMS.items():
        graph = tf.Graph()
        graph.seed = SEED
        with graph.as_default():
            outputs = program(tf)
            tf.global_variables_initializer()
        (folder / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString())
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(observed(tf, graph, outputs)))


def public_signatures(module: Any) -> dict[str, Any]:
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name: parameters(value) for name, value in found.items() if inspect.isfunction(value) or _is_own(value)}


def _is_own(value: Any) -> bool:
    return isinstance(value, type) and value.__module__.startswith("tf_keras")


def parameters(function: Any) -> list[tuple[str, str, Any]]:
    """The names, kinds and plain defaults of a function's parameters; other defaults by the name of their class."""
    return [
        (name, item.kind.name, item.default if isinstance(item.default, _PLAIN) else type(item.default).__name__)
        for name, item in inspect.signature(function).parameters.items()
    ]


def observed(tf: Any, graph: Any, outputs: Any) -> dict[str, Any]:
    """The names in collections, the results of all steps, and the variables at last."""
    collections = {key: [item.name for item in graph.get_collection(key)] for key in COLLECTIONS}
    found: dict[str, Any] = {"collections": collections}
    placeholders = [
        (op.name, op.outputs[0].dtype.name, op.outputs[0].shape.as_list())
        for op in graph.get_operations()
        if op.type == "Placeholder"
    ]
    tensors = [item for item in tf.nest.flatten(outputs) if not isinstance(item, tf.Operation)]
    found["shapes"] = [str(item.shape) for item in tensors]
    with tf.Session(graph=graph) as session:
        try:
            session.run("init")
            found["results"] = [session.run(outputs, feeds(placeholders, step)) for step in range(STEPS)]
            found["variables"] = session.run(graph.get_collection("variables"))
        except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError) as error:
            found["error"] = str(error)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
