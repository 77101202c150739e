"""TensorFlow's module paths, and where each of their names is here: the one table.

A row has, by path below `tensorflow`, the names that are taken from modules of ours (`tensorkeep._lazy` says how it is
written); `*` takes whatever a module has, after the names that are said. Namespaces of `tensorkeep.v1` need no row. A
path that is added takes its word in `lacking` away.

    contributions  `tensorflow.contrib`, below its namespaces
    estimators     `tensorflow.estimator`, `tensorflow.python.feature_column`, `tensorflow.contrib.tpu`
    framework      `tensorflow.python.framework`, `eager`, `client`; `tensorflow.core`: modules of messages
    lacking        modules that TensorFlow 1 has and we do not
    learning       `tensorflow.python.layers`, `training`, `summary`, `saved_model`; `keras`, below its namespaces
    operations     `tensorflow.python.ops`, `tensorflow.models.rnn`
    surroundings   `tensorflow.python.data`, `lib`, `platform`, `tools`, `util`, `tensorflow.examples` and others
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table
from tensorkeep.v1.programs.paths.contributions import CONTRIBUTIONS
from tensorkeep.v1.programs.paths.estimators import ESTIMATORS
from tensorkeep.v1.programs.paths.framework import FRAMEWORK
from tensorkeep.v1.programs.paths.lacking import LACKING, LACKING_WHOLE
from tensorkeep.v1.programs.paths.learning import LEARNING
from tensorkeep.v1.programs.paths.operations import OPERATIONS
from tensorkeep.v1.programs.paths.surroundings import SURROUNDINGS

PATHS: Final[dict[str, Table]] = {
    **CONTRIBUTIONS,
    **ESTIMATORS,
    **FRAMEWORK,
    **LEARNING,
    **OPERATIONS,
    **SURROUNDINGS,
}
"""By path, what its module offers."""

SAME_AS: Final = {
    "_api.v1": "",
    "compat.v1": "",
    "contrib.keras.api.keras": "keras",
    "contrib.keras.python.keras": "keras",
    "contrib.keras": "keras",
    "contrib.slim.python.slim.data": "contrib.slim",
    "contrib.slim.python.slim": "contrib.slim",
    "python.estimator": "estimator",
    "python.keras": "keras",
    "python.ops.hash_table": "hash_table",
    "python.training.checkpointable": "python.training.tracking",
}
"""Paths that are other names of paths; the empty one is `tensorflow` itself."""

__all__ = ["LACKING", "LACKING_WHOLE", "PATHS", "SAME_AS"]
