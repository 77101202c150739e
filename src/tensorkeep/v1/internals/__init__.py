"""What TensorFlow keeps in modules of its own below `tensorflow.python`, and programs use all the same.

The table of paths (`v1.programs.paths`) says which of TensorFlow's modules each name is in.

    arrays             what `array_ops`, `math_ops` and `control_flow_ops` have besides `tf`
    canned_parts       what `estimator.canned` has for estimators of a program's own: heads, whose losses are sums
    decoding           what the modules of `contrib.seq2seq` have besides its names
    decorators         `deprecation`, `tf_decorator`, `tf_export` and other decorators of functions
    defined_functions  `function.Defun`
    enumerations       the values of enumerations, which modules of messages have by their names
    execution          `eager`, `distribution_strategy_context`, `tpu_function`: graphs, one replica, no TPU
    fetching           how sessions take fetches apart
    file_io            `tensorflow.python.lib.io.file_io`
    framework          what `framework.ops` and its neighbours have besides `tf`
    generated_ops      `gen_array_ops` and its like: ops as functions
    identity           containers by identity
    inplace            `inplace_ops`
    inspection         `tf_inspect`
    keras_parts        what modules below `tensorflow.python.keras` have besides `tf.keras`
    layers             `tensorflow.python.layers.utils`
    nesting            `nest` whole
    private_names      names of tensors and operations that TensorFlow means for itself
    recurrent          what `rnn` and `rnn_cell_impl` have besides `tf.nn`
    test_helpers       decorators and functions of `test_util` and `googletest`
    variables          what `variables` and `variable_scope` have besides `tf`
"""
