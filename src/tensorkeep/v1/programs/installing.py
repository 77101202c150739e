"""`tensorkeep.v1.install`: from here on, `import tensorflow` in this process is ours."""

from __future__ import annotations

import sys

from tensorkeep.errors import FailedPreconditionError
from tensorkeep.v1.defaults import allow_own_python
from tensorkeep.v1.programs.finding import ROOTS, Finder


def install() -> None:
    """Has `tensorflow`, `tensorflow_core` and `tensorflow_estimator`, with all modules below them, be ours here.

    Sessions may then call the Python functions that the program itself has put into its graphs (`tf.py_func`,
    `Dataset.from_generator`). FailedPreconditionError if TensorFlow itself has been imported already.
    """
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    if real := [name for name in ROOTS if name in sys.modules]:
        raise FailedPreconditionError(
            f"{', '.join(real)} has been imported already, and is TensorFlow's own: call tensorkeep.v1.install() "
            "before anything imports it"
        )
    sys.meta_path.insert(0, Finder())
    allow_own_python()
