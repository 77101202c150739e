"""Running what a function builds, in a graph and a session of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorkeep.v1 as tf


def values(build: Callable[[], Any], seed: int = 1) -> Any:
    """The values of what `build` gives, and by name those of the variables."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        outputs = build()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            variables = {item.op.name: session.run(item) for item in tf.global_variables()}
            return session.run(outputs), variables
