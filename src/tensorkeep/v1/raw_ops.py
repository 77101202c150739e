"""`tf.raw_ops`: every op as a function of its inputs and attributes, all by keyword.

Every name here but these few is that of an op, so nothing else may be imported: there is an op `Any`, and one `Shape`.
"""

from __future__ import annotations

from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.v1.op_functions import RawOp, function_of


def __getattr__(name: str) -> RawOp:
    spec = None if name.startswith("_") else find_op(name)
    if spec is None:
        raise AttributeError(f"module 'tensorkeep.v1.raw_ops' has no attribute {name!r}: TensorFlow has no such op")
    return function_of(spec)
