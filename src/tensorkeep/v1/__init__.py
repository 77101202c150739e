"""TensorFlow 1, as `import tensorflow.compat.v1 as tf` spells it: `import tensorkeep.v1 as tf`.

Graphs, variables, sessions, training. Everything is done by the layers below; here are TensorFlow's names for it, and
the graph and session that are in force when a program names none. Names and namespaces such as `tf.nn` are those of
the tables, imported when they are first asked for; editors know them by the stubs. `app`, `flags`, `logging` and
`resource_loader` are TensorFlow's modules of these names. The others:

    tables/        the names, and where each is defined
    internals/     what TensorFlow keeps in modules of its own below `tensorflow.python`
    learning/      what trains and serves programs: loops, estimators, Keras, servers
    programs/      programs that say `import tensorflow`, run as they are
    stored/        what programs keep on disk: checkpoints, models, graphs, records, files
    __main__       `python -m tensorkeep.v1 train.py`
    absent         names of TensorFlow 1 that are not here, and what does their work
    app            `tf.app`
    basic_flags    the usual kinds of flags, where absl-py is not installed
    compatibility  `tf.compat`
    defaults       the graph and the session in force: the only ambient state of the package
    device_specs   `tf.DeviceSpec`, and the devices there are
    error_codes    the codes of `tf.errors`
    flags          `tf.flags`
    framework      scopes, devices, conversion, collections, gradients, `tf.function`
    graphs         `tf.Graph`
    logging        `tf.logging`
    meta_graph     `tf.train.export_meta_graph`, `import_meta_graph`
    namespaces     modules made of the tables, and what has to be there before any name is used
    op_functions   an op as a function of its inputs and attributes: `tf.raw_ops`
    old_names      names of TensorFlow before 1.0
    profiling      `tf.profiler`, and `slim.model_analyzer`
    sessions       `tf.Session`
    settings       `tf.config`
    test_cases     `tf.test.TestCase`
    testing        `tf.test`
    versions       `tf.VERSION`, how TensorFlow was built, and what needs its own binary
"""

from tensorkeep.v1.namespaces import offer as _offer

__getattr__, __dir__, __all__ = _offer(globals())
