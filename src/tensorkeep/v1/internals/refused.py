"""What is refused with a word: what needs TensorFlow's own binary."""

from __future__ import annotations

from typing import NoReturn

from tensorkeep.errors import UnimplementedError


def load_op_library(library_filename: str) -> NoReturn:
    """Raises: compiled ops are made for TensorFlow's own binary."""
    raise UnimplementedError(
        f"\"{library_filename}\" holds compiled ops, which only TensorFlow's own binary can load. An op of one's own "
        "is written in Python here: tensorkeep.graph.registry.opspec; or let tf.py_func call what computes it"
    )


load_library = load_op_library
