"""What the port of slim to TensorFlow 2 makes of the programs: a process of its own, since it needs Keras 2.

    python -m tests.interop.contrib_oracle FILE

writes a pickle of what was observed of each program. The port, `tf_slim`, was made for an older TensorFlow 2: names
that have moved since are put back where it looks for them.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.interop.contrib_programs import LAYERS, NETS, observed

_KERAS = "tf_keras.legacy_tf_layers"
_PARTS = ("base", "convolutional", "core", "normalization", "pooling")
_NETS = ("alexnet", "inception", "overfeat", "resnet_v1", "resnet_v2", "vgg")


def main(file: Path) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported
    warnings.simplefilter("ignore")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    _restore_names(tf)
    slim: Any = importlib.import_module("tf_slim")
    slim.nets = importlib.import_module("tf_slim.nets")
    for name in _NETS:
        setattr(slim.nets, name, importlib.import_module(f"tf_slim.nets.{name}"))
    found = {name: observed(tf, slim, build) for name, build in {**LAYERS, **NETS}.items()}
    file.write_bytes(pickle.dumps(found))


def _restore_names(tf: Any) -> None:
    sys.modules[_KERAS] = importlib.import_module("tf_keras.src.legacy_tf_layers")
    for name in _PARTS:
        sys.modules[f"{_KERAS}.{name}"] = importlib.import_module(f"tf_keras.src.legacy_tf_layers.{name}")
    ops: Any = importlib.import_module("tensorflow.python.framework.ops")
    arrays: Any = importlib.import_module("tensorflow.python.ops.array_ops")
    stacks: Any = importlib.import_module("tensorflow.python.ops.array_ops_stack")
    flow: Any = importlib.import_module("tensorflow.python.ops.control_flow_ops")
    ops.Tensor, ops.IndexedSlices = tf.Tensor, tf.IndexedSlices
    arrays.stack, arrays.unstack = stacks.stack, stacks.unstack
    flow.cond, flow.while_loop, flow.Assert = tf.cond, tf.while_loop, tf.Assert


if __name__ == "__main__":
    main(Path(sys.argv[1]))
