"""TensorFlow 1, as `import tensorflow.compat.v1 as tf` spells it: `import tensorkeep.v1 as tf`.

Graphs, variables, sessions, training. Everything is done by the layers below; here are TensorFlow's names for it, and
the graph and session that are in force when a program names none. Names and namespaces such as `tf.nn` are those of
the tables, imported when they are first asked for; editors know them by the stubs. `app`, `flags` and `logging` are
TensorFlow's modules of these names. The others:

    tables/        the names, and where each is defined
    absent         names of TensorFlow 1 that are not here, and what does their work
    app            `tf.app`
    basic_flags    the usual kinds of flags, where absl-py is not installed
    checkpoints    `tf.train`'s functions for checkpoints that are there
    compatibility  `tf.compat`
    defaults       the graph and the session in force: the only ambient state of the package
    error_codes    the codes of `tf.errors`
    files          `tf.gfile` and `tf.io.gfile`
    flags          `tf.flags`
    framework      scopes, devices, conversion, collections, gradients, `tf.function`
    graph_defs     `tf.graph_util`, and graphs to files
    graphs         `tf.Graph`
    logging        `tf.logging`
    meta_graph     `tf.train.export_meta_graph`, `import_meta_graph`
    namespaces     modules made of the tables, and what has to be there before any name is used
    objects        `tf.train.Checkpoint` and its like
    op_functions   an op as a function of its inputs and attributes: `tf.raw_ops`
    records        `tf.python_io`, and `tf.TFRecordReader`
    saved_models   `tf.saved_model`
    saving         `tf.train.Saver`
    sessions       `tf.Session`
    training       training loops over TensorFlow 1's sessions and savers
"""

from tensorkeep.v1.namespaces import offer as _offer

__getattr__, __dir__, __all__ = _offer(globals())
