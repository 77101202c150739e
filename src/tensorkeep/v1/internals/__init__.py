"""What TensorFlow keeps in modules of its own below `tensorflow.python`, and programs use all the same.

The table of paths (`v1.programs.paths`) says which of TensorFlow's modules each name is in.

    arrays             what `array_ops`, `math_ops` and `control_flow_ops` have besides `tf`
    builds             how TensorFlow was built: `build_info`, `sysconfig`
    decorators         `deprecation`, `tf_decorator`, `tf_export` and other decorators of functions
    defined_functions  `function.Defun`
    devices            `device_lib` and `device`
    distribution       the one replica there is: `distribution_strategy_context`
    eager              what `tensorflow.python.eager` says of a world of graphs
    enumerations       the values of enumerations, which modules of messages have by their names
    events             `event_file_writer`
    file_io            `tensorflow.python.lib.io.file_io`
    framework          what `framework.ops` and its neighbours have besides `tf`
    generated_ops      `gen_array_ops` and its like: ops as functions
    graph_tools        what the scripts of `tensorflow.python.tools` do to graphs
    identity           containers by identity
    inspection         `tf_inspect`
    layers             `tensorflow.python.layers.utils`
    nesting            `nest` whole
    recurrent          what `rnn` and `rnn_cell_impl` have besides `tf.nn`
    refused            what is refused with a word
    test_helpers       decorators and functions of `test_util` and `googletest`
    variables          what `variables` and `variable_scope` have besides `tf`
"""
