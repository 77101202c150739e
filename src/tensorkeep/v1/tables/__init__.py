"""The names of TensorFlow 1, and where each is defined: the only list of them.

A table has, by module, the names that are taken from it (`tensorkeep._lazy` says how it is written). A new name is a
word in the row of its module; `tools/write_stubs.py` then tells editors of it.

    contrib       `tf.contrib`: layers, slim, rnn, seq2seq and others
    estimators    `tf.estimator`, `tf.tpu`, and the parts of `tf.contrib` beside them
    inputs        `tf.data`: datasets and iterators
    keras         `tf.keras`: layers and models, and all of its namespaces
    keras_parts   `tf.keras` besides layers and models: backend, losses, metrics, optimizers, networks and others
    learning      `tf.nn`, `tf.layers`, `tf.losses`, `tf.metrics`, `tf.train`, `tf.image` and other namespaces of models
    numbers       `tf.math`, `tf.linalg`, `tf.random`, `tf.sparse`, `tf.strings` and others of numbers and text
    surroundings  `tf.io`, `tf.saved_model`, `tf.errors`, `tf.compat` and others of what is around a model
    top           the names at the top of `tf`
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table
from tensorkeep.v1.tables.contrib import ABOUT_CONTRIB, CONTRIB
from tensorkeep.v1.tables.estimators import ABOUT_ESTIMATORS, ESTIMATORS
from tensorkeep.v1.tables.inputs import INPUTS
from tensorkeep.v1.tables.keras import ABOUT_KERAS, KERAS
from tensorkeep.v1.tables.learning import LEARNING
from tensorkeep.v1.tables.numbers import NUMBERS
from tensorkeep.v1.tables.surroundings import SURROUNDINGS
from tensorkeep.v1.tables.top import TOP

SPACES: Final[dict[str, Table]] = {
    "": TOP,
    **CONTRIB,
    **ESTIMATORS,
    **INPUTS,
    **KERAS,
    **NUMBERS,
    **LEARNING,
    **SURROUNDINGS,
}
"""By namespace, as it is spelled below `tf`, its table."""

ABOUT: Final = {
    **ABOUT_CONTRIB,
    **ABOUT_ESTIMATORS,
    **ABOUT_KERAS,
    "audio": "sounds",
    "bitwise": "bits",
    "compat": "text and bytes, types of numbers, and the two versions of the API, of which there is one",
    "config": "the devices there are, and where operations may be put",
    "config.experimental": "what TensorFlow calls experimental of the devices",
    "config.optimizer": "how graphs are compiled, which is told and kept",
    "config.threading": "how many threads runs may use",
    "contrib.distribute": "strategies with one replica",
    "contrib.distributions": "distributions, with many that `tf.distributions` lacks",
    "contrib.distributions.bijectors": "functions with inverses, by which distributions are made of others",
    "data": "datasets, and iterators over them",
    "data.experimental": "datasets and their transformations that TensorFlow calls experimental",
    "debugging": "checks",
    "distribute": "servers of one task, and the one replica there is",
    "distributions": "probabilities, draws and moments of the usual distributions",
    "dtypes": "types of the elements of tensors",
    "errors": "the classes that sessions raise, under TensorFlow's names, with its codes",
    "feature_column": "features of models as columns, first layers and linear models of them",
    "gfile": "files and folders, under the names of TensorFlow 1",
    "graph_util": "graphs made from graphs",
    "hash_table": "DeepRec's older tables by key",
    "hash_table.hash_filter": "dropping keys of hash tables, which DeepRec has in a module that it does not export",
    "image": "images",
    "initializers": "initial values",
    "io": "files and examples",
    "io.gfile": "files and folders, under the names of TensorFlow 2",
    "kv_variable_ops": "functions of embedding variables, in DeepRec's module of this name",
    "layers": "layers",
    "linalg": "linear algebra",
    "lookup": "tables",
    "lookup.experimental": "tables that change while the graph runs",
    "losses": "losses",
    "manip": "moving elements about",
    "math": "functions on numbers",
    "math.special": "special functions",
    "metrics": "measures of a model over a stream of batches",
    "mixed_precision": "loss scaling",
    "mixed_precision.experimental": "scales of losses",
    "nest": "nested structures",
    "nn": "neural networks",
    "nn.rnn_cell": "recurrent cells",
    "nn.seq2seq": "decoders unrolled over lists of steps, as they were before `tf.contrib`",
    "profiler": "how large a graph is, by scopes and by types of operations",
    "python_io": "record files",
    "quantization": "quantization",
    "queue": "queues",
    "ragged": "ragged tensors",
    "random": "random numbers",
    "random.experimental": "generators whose state is a variable",
    "raw_ops": "every op as a function of its inputs and attributes, all by keyword",
    "saved_model": "models in directories, with graphs, variables, signatures and files",
    "saved_model.builder": "what makes a model",
    "saved_model.constants": "names of the files of a model, and of the collections in its graph",
    "saved_model.loader": "models into sessions",
    "saved_model.main_op": "what is run when a model has been loaded",
    "saved_model.signature_constants": "keys and methods of signatures",
    "saved_model.signature_def_utils": "signatures",
    "saved_model.tag_constants": "tags of meta graphs",
    "saved_model.utils": "descriptions of tensors",
    "sets": "sets",
    "signal": "signals",
    "sparse": "sparse tensors",
    "spectral": "spectra",
    "strings": "text",
    "summary": "summaries",
    "test": "test cases with sessions, and comparisons of arrays",
    "train": "training",
    "train.experimental": "loss scaling",
    "train.queue_runner": "threads that keep queues filled",
    "version": "the TensorFlow that this follows",
    "xla": "compiled runs, which all are here",
    "xla.experimental": "computations that are compiled, and scopes of operations that are",
}
"""What the namespaces are for, for `help`."""
