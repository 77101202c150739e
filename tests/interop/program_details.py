"""What libraries and programs do that no page of TensorFlow's speaks of: each a function of `tf` and of its modules.

`module` gives a module of `tensorflow` by its path: `module("python.ops.variable_scope")`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np


def variables_of_a_view_are_trained(tf: Any, module: Any) -> Any:
    weights = {"b": tf.Variable(1.0, name="b"), "a": tf.Variable(2.0, name="a")}
    loss = weights["a"] * weights["b"]
    pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss, var_list=weights.values())
    return [variable.name for _, variable in pairs]


def views_are_structures(tf: Any, module: Any) -> Any:
    nest = module("python.util.nest")
    named = {"b": [1, 2], "a": 3}
    return [nest.flatten(named.values()), nest.is_nested(named.values()), tf.group({"a": tf.constant(1)}.values()).name]


def arrays_of_numbers_are_cast(tf: Any, module: Any) -> Any:
    small, whole = tf.constant([1, 2], tf.uint8), tf.constant([1, 2])
    tensors = [
        small * np.array([0.5, 1.0]),
        whole + np.array([1.0, 2.5]),
        tf.maximum(whole, np.array([1.0, 3.0])),
        tf.convert_to_tensor(np.array([1.5]), preferred_dtype=tf.uint8),
        tf.convert_to_tensor(np.array([1.5, -1.5]), tf.int32),
        tf.constant(np.array([True, False]), tf.float32),
        tf.constant(np.array([0.0, 2.0]), tf.bool),
        tf.reshape(tf.range(4), np.array([2.0, 2.0])),
        tf.constant(np.float64(2.5), tf.int64),
    ]
    return [*tf.Session().run(tensors), [tensor.dtype.name for tensor in tensors]]


def sparse_values_are_sparse_tensors(tf: Any, module: Any) -> Any:
    labels = tf.SparseTensorValue(
        np.array([[0, 0], [1, 0]], np.int64), np.array([0, 1], np.int64), np.array([2, 1], np.int64)
    )
    _, recall = tf.metrics.recall_at_k(labels, [[0.3, 0.7], [0.2, 0.8]], 1)
    converted = tf.convert_to_tensor_or_sparse_tensor(labels)
    union = tf.sets.set_union(labels, labels)
    session = tf.Session()
    session.run(tf.local_variables_initializer())
    return session.run([recall, converted.values, tf.sets.set_size(labels), union.values])


def sparse_values_are_fed(tf: Any, module: Any) -> Any:
    fed = tf.sparse_placeholder(tf.float32)
    value = tf.SparseTensorValue([[0, 1]], [1.0], [1, 2])
    return tf.Session().run(tf.sparse_tensor_to_dense(fed), {fed: value})


def names_of_devices_can_be_changed(tf: Any, module: Any) -> Any:
    spec = tf.DeviceSpec(job="worker", device_type="CPU")
    spec.job, spec.task = "ps", 1
    other = tf.DeviceSpec().parse_from_string("/job:w/gpu:1")
    other.merge_from(tf.DeviceSpec(job="ps"))
    with tf.device(spec):
        placed = tf.constant(1.0).device
    again = tf.DeviceSpec.from_string(spec.to_string())
    return [spec.to_string(), other.to_string(), placed, again == spec, str(spec)]


def savers_tell_what_they_save(tf: Any, module: Any) -> Any:
    tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    saver = tf.train.Saver()
    saver.saver_def.max_to_keep = 3
    chosen = tf.train.Saver({"c": tf.global_variables()[0]})
    return [[item.name for item in saver._var_list], saver.saver_def.max_to_keep, sorted(chosen._var_list)]


def scopes_without_names(tf: Any, module: Any) -> Any:
    scopes = module("python.ops.variable_scope")
    with tf.variable_scope("a"), scopes._pure_variable_scope("b") as inner:
        variable, inside = tf.get_variable("v", [1]), tf.constant(1.0)
    with scopes._pure_variable_scope("b"):
        outside = tf.constant(1.0)
    with tf.variable_scope(None, "b") as numbered:
        pass
    names = [variable.name, inside.name, outside.name, inner.name, inner.original_name_scope, numbered.name]
    return [*names, scopes.get_variable_scope().name]


def variables_of_metrics(tf: Any, module: Any) -> Any:
    metrics = module("python.ops.metrics_impl")
    count = metrics.metric_variable([2], tf.float32, name="count")
    values, _ = metrics._confusion_matrix_at_thresholds([1, 0], tf.constant([0.3, 0.6]), [0.5], includes=("tp", "fp"))
    kept = [sorted(item.name for item in tf.get_collection(key)) for key in ("metric_variables", "local_variables")]
    return [count.name, sorted(values), *kept]


def weights_are_broadcast(tf: Any, module: Any) -> Any:
    broadcasting = module("python.ops.weights_broadcast_ops")
    return tf.Session().run(broadcasting.broadcast_weights([[1.0], [2.0]], tf.zeros([2, 3])))


def collections_are_lists(tf: Any, module: Any) -> Any:
    tf.get_collection_ref("items").append(1)
    tf.Variable(1.0)
    found = [tf.global_variables(), tf.trainable_variables(), tf.get_collection("items"), tf.losses.get_losses()]
    return [[type(item).__name__ for item in found], tf.get_collection("items")]


def devices_that_are_not_there(tf: Any, module: Any) -> Any:
    with tf.device("/gpu:0"):
        x = tf.constant(2.0)
    found = tf.Session(config=tf.ConfigProto(allow_soft_placement=True)).run(x)
    try:
        tf.Session().run(x)
    except tf.errors.InvalidArgumentError as error:
        return [found, "assign a device" in str(error)]
    return found


def internal_functions_of_graphs(tf: Any, module: Any) -> Any:
    ops, shapes, util = (module(f"python.framework.{name}") for name in ("ops", "tensor_shape", "tensor_util"))
    with ops.name_scope("outer"):
        scope = ops.get_name_scope()
        names = [ops.convert_to_tensor(1.0, name="x").name]
    stripped = [ops.strip_name_scope(name, "a") for name in ("a/b", "^a/b", "loc:@a/b", "b/a")]
    prepended = [ops.prepend_name_scope(name, "a") for name in ("b", "^b", "loc:@b")]
    sizes = [shapes.as_shape([2, None]).as_list(), shapes.unknown_shape(2).as_list()]
    known = util.constant_value_as_shape(tf.stack([2, tf.placeholder(tf.int32, [])])).as_list()
    return [scope, names, stripped, prepended, sizes, known, util.constant_value(tf.constant([1, 2])).tolist()]


def functions_of_nest(tf: Any, module: Any) -> Any:
    nest = module("python.util.nest")
    tree = {"b": [1, (2, 3)], "a": 4}
    shallow = {"b": [0, 0], "a": 0}
    doubled = nest.map_structure_up_to(shallow, lambda part: part, tree)
    return [
        nest.flatten(tree),
        nest.flatten_up_to(shallow, tree),
        sorted(doubled),
        [path for path, _ in nest.flatten_with_joined_string_paths(tree)],
        nest.map_structure_with_paths(lambda path, leaf: f"{path}={leaf}", {"a": [1, 2]}),
        nest.flatten_dict_items({(4, 5): (1, 2)}),
        nest.is_nested([1]),
    ]


def ops_by_position(tf: Any, module: Any) -> Any:
    arrays, maths = module("python.ops.gen_array_ops"), module("python.ops.gen_math_ops")
    tensors = [
        maths.mat_mul([[1.0, 2.0]], [[3.0], [4.0]], name="product"),
        arrays.concat_v2([[1], [2]], 0),
        maths.select(tf.constant([True, False]), [1, 2], [3, 4]),
    ]
    return [tensors[0].op.name, *tf.Session().run(tensors)]


def files_by_their_oldest_names(tf: Any, module: Any) -> Any:
    files, folder = module("python.lib.io.file_io"), tf.test.get_temp_dir()
    path = f"{folder}/program_details.txt"
    files.write_string_to_file(path, "text")
    found = [files.file_exists(path), files.read_file_to_string(path), files.is_directory(folder)]
    matching = [item.rpartition("/")[2] for item in files.get_matching_files(f"{folder}/program_det*")]
    files.delete_file(path)
    return [*found, matching, files.file_exists(path)]


def arguments_of_functions(tf: Any, module: Any) -> Any:
    inspect = module("python.util.tf_inspect")

    def function(a: Any, b: int = 2, *rest: Any, **named: Any) -> Any: ...

    spec = inspect.getfullargspec(function)
    return [list(spec.args), spec.varargs, spec.varkw, list(spec.defaults), inspect.isfunction(function)]


def gradients_are_checked(tf: Any, module: Any) -> Any:
    x = tf.placeholder(tf.float64, [2])
    with tf.Session():
        y = tf.reduce_sum(x * x * x)
        start = np.array([1.0, 2.0])
        exact, measured = tf.test.compute_gradient(x, [2], y, [], x_init_value=start)
        return [exact, np.round(measured, 4), tf.test.compute_gradient_error(x, [2], y, [], start) < 1e-4]


def tensors_and_operations_take_attributes(tf: Any, module: Any) -> Any:
    x = tf.constant([[1.0, 2.0]], name="x")
    x.own, x.op.own, x.assign = "tensor", "operation", len
    return [x.own, x.op.own, x.assign([1]), x._shape_as_list(), x._rank(), tf.identity(x).op._original_op]


def operations_are_changed_by_private_names(tf: Any, module: Any) -> Any:
    x, y = tf.constant(1.0, name="x"), tf.constant(2.0, name="y")
    doubled = tf.multiply(x, 2.0, name="doubled")
    doubled.op._add_control_input(y.op)
    waiting = [op.name for op in doubled.op.control_inputs]
    doubled.op._remove_all_control_inputs()
    doubled.op._update_input(0, y)
    doubled.op._set_attr("own", tf.AttrValue(b=True))
    graph = tf.get_default_graph()
    with graph._attr_scope({"mark": tf.AttrValue(s=b"inside")}):
        marked = tf.identity(x)
    found = tf.Session().run(doubled)
    return [waiting, found, doubled.op.get_attr("own"), marked.op.get_attr("mark"), graph._get_control_flow_context()]


def graphs_of_functions_are_graphs(tf: Any, module: Any) -> Any:
    told = []

    def function(x: Any) -> Any:
        graph = tf.get_default_graph()
        tf.summary.scalar("inside", tf.cast(x, tf.float32))
        told.extend([isinstance(graph, tf.Graph), graph.get_operations()[0].type, graph.building_function])
        told.append([len(tf.get_collection(tf.GraphKeys.SUMMARIES)), graph._get_control_flow_context()])
        return x + 1

    tf.summary.scalar("outside", 1.0)
    tf.data.Dataset.range(3).map(function)
    return [*told, [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]]


def own_gradients_of_functions_that_use_variables(tf: Any, module: Any) -> Any:
    outer = tf.get_variable("outer", [2], initializer=tf.ones_initializer(), use_resource=True)
    fixed = tf.get_variable("fixed", [2], initializer=tf.ones_initializer(), use_resource=True, trainable=False)
    told = []

    @tf.custom_gradient
    def function(x: Any) -> Any:
        def gradient(dy: Any, variables: Any = None) -> Any:
            told.append([variable.name for variable in variables])
            return dy * 10.0, [dy * 100.0 for _ in variables]

        return x * outer * fixed, gradient

    x = tf.constant([1.0, 2.0])
    found = tf.gradients(function(x), [x, outer, fixed])
    again = tf.gradients(tf.recompute_grad(lambda z: tf.tanh(z * outer))(x), [x, outer])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return [told, found[2], session.run([found[0], found[1], *again])]


def own_gradients_that_do_not_fit(tf: Any, module: Any) -> Any:
    table = tf.get_variable("table", [2], use_resource=True)
    x, said = tf.constant([1.0, 2.0]), []

    def two(dy: Any, variables: Any = None) -> Any:
        return dy, [dy, dy]

    for gradient in (lambda dy: dy, two):
        try:
            tf.gradients(tf.custom_gradient(lambda z, g=gradient: (z * table, g))(x), x)
        except (TypeError, ValueError) as error:
            said.append([isinstance(error, TypeError), str(error)[:55]])
    return said


def functions_that_are_defined_give_one_result_itself(tf: Any, module: Any) -> Any:
    function = module("python.framework.function")

    @function.Defun(tf.float32, python_grad_func=lambda op, dy: dy * 3)
    def same(x: Any) -> Any:
        return (tf.identity(x),)

    x = tf.constant(2.0)
    y = same(x)
    return tf.Session().run([y, tf.gradients(y, x)[0]])


def rows_are_changed_in_place(tf: Any, module: Any) -> Any:
    inplace, x = module("python.ops.inplace_ops"), tf.placeholder(tf.float32, [3, 2])
    changed = [
        inplace.alias_inplace_update(x + 1, 1, [5.0, 6.0]),
        inplace.alias_inplace_add(x + 2, [0, 2], [[1.0, 1.0], [2.0, 2.0]]),
        inplace.inplace_sub(x + 3, None, tf.ones([3, 2])),
    ]
    session, zeros = tf.Session(), np.zeros([3, 2])
    return [*[session.run(item, {x: zeros}) for item in changed], inplace.empty_like(x).shape.as_list()]


def confusions_are_counted_over_batches(tf: Any, module: Any) -> Any:
    counted, update = module("python.ops.metrics_impl")._streaming_confusion_matrix(
        tf.constant([0, 1, 1]), tf.constant([0, 1, 0]), 2, tf.constant([1.0, 2.0, 3.0])
    )
    session = tf.Session()
    session.run(tf.local_variables_initializer())
    return [counted.name, counted.dtype.base_dtype.name, session.run(update), session.run(update)]


def summaries_are_named_by_a_scope(tf: Any, module: Any) -> Any:
    util = module("python.ops.summary_op_util")
    with util.summary_scope("a", "family", values=[tf.constant(1.0)]) as (tag, scope):
        made = tf.constant(1.0, name=scope)
    util.collect(made, None, [tf.GraphKeys.SUMMARIES])
    return [tag, scope, made.op.name, [item.op.name for item in tf.get_collection(tf.GraphKeys.SUMMARIES)]]


def scopes_are_told_to_reuse_by_a_private_name(tf: Any, module: Any) -> Any:
    with tf.variable_scope("s") as scope:
        first = tf.get_variable("v", [1])
        tf.get_variable_scope()._reuse = True
        again = tf.get_variable("v", [1])
        tf.get_variable_scope()._reuse = False
    return [first is again, scope._reuse, scope._name_scope]


def values_are_merged(tf: Any, module: Any) -> Any:
    flow = module("python.ops.control_flow_ops")
    image, chosen = tf.placeholder(tf.float32, [None, 4, 3]), tf.constant(1)
    ways = [flow.switch(image, tf.equal(chosen, case)).output_true * float(case) for case in range(2)]
    merged = flow.merge(ways)
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([3, 1]))
    off, on = flow.switch(slices, tf.constant(True))
    rows = flow.merge([off, on])
    dense = flow.merge(
        [tf.zeros([3, 1]), tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([3, 1]))]
    )[0]
    found = tf.Session().run([merged.output, merged.value_index, rows[0].values, rows[1]], {image: np.ones((2, 4, 3))})
    known = [list(tensor.shape.as_list()) for tensor in (merged.output, flow.merge([ways[0], tf.zeros([2, 4, 3])])[0])]
    return [*found, known, type(dense).__name__, type(merged).__name__]


def variables_are_read_again_behind_branches(tf: Any, module: Any) -> Any:
    """A reference is the memory of its variable: what was read before an update is what is there after it."""
    results, session = [], tf.Session()
    for number, update in enumerate((tf.assign_add, tf.assign, lambda v, x: tf.scatter_add(v, [0], x[:1]))):
        variable = tf.get_variable(f"v{number}", initializer=tf.ones([3]), use_resource=False)
        session.run(variable.initializer)
        is_on = tf.placeholder_with_default(True, [])
        changed = tf.cond(is_on, lambda: tf.group(update(variable, tf.fill([3], 5.0))), tf.no_op)  # noqa: B023
        with tf.control_dependencies([changed]):
            behind = [variable * 1.0, tf.identity(variable), tf.reduce_sum(variable)]
        results += [session.run(behind), session.run(behind, {is_on: False})]

    def doubled(x: Any) -> Any:
        with tf.control_dependencies([counter.assign(counter * 2.0)]):
            return x * counter

    counter = tf.get_variable("counter", initializer=1.0, use_resource=False)
    session.run(counter.initializer)
    return [*results, session.run(tf.map_fn(doubled, tf.ones([4]), parallel_iterations=1))]


def programs_keep_things_at_tensors(tf: Any, module: Any) -> Any:
    tensor = tf.ones([1, 2])
    kept = [tensor, tensor.op, tensor.shape, tf.IndexedSlices(tensor, [0]), tf.SparseTensor([[0]], [1.0], [1])]
    for number, item in enumerate(kept):
        item.mine = number
    functions = [tf.tanh, tf.exp, tf.multiply, tf.minimum, tf.segment_sum, tf.cholesky, tf.nn.relu, tf.nn.tanh]
    return [[item.mine for item in kept], [function.__name__ for function in functions]]


def functions_are_pickled(tf: Any, module: Any) -> Any:
    functions = [
        tf.tanh,
        tf.exp,
        tf.nn.relu,
        tf.nn.elu,
        tf.reduce_sum,
        tf.multiply,
        tf.nn.softmax,
        tf.concat,
        tf.matmul,
    ]
    return [pickle.loads(pickle.dumps(function)) is function for function in functions]


def names_that_tensorflow_means_for_itself(tf: Any, module: Any) -> Any:
    x = tf.zeros([2, 3], name="x")
    y = tf.add(x, 1.0, name="y")
    other = tf.no_op("other")
    y.op._add_control_input(other)
    y.op._set_attr("_mine", tf.AttrValue(b=True))
    found = [x._shape_tuple(), x._rank(), x.op.name, y.op.get_attr("_mine"), [op.name for op in y.op.control_inputs]]
    return [*found, y.op._get_control_flow_context(), [tensor.name for tensor in y.op.outputs]]


def fractions_are_fed_to_whole_numbers(tf: Any, module: Any) -> Any:
    step, on = tf.placeholder(tf.int32), tf.placeholder(tf.bool)
    session = tf.Session()
    return [session.run([step + 1, on], {step: value, on: value}) for value in (0.5, 2.75, 3.0)]


def sizes_repeat_lists(tf: Any, module: Any) -> Any:
    size = tf.ones([2, 3]).shape[1]
    return [[0] * size, size * [0], (1,) * size, "a" * size, int(size * 2), int(2 * size)]


def sessions_take_fetches_apart(tf: Any, module: Any) -> Any:
    session_module, monitored = module("python.client.session"), module("python.training.monitored_session")

    class Holder:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

    session_module.register_session_run_conversion_functions(
        Holder, lambda held: ([held.tensor], lambda values: values[0]), lambda held, value: [(held.tensor, value)]
    )
    held, done = Holder(tf.placeholder_with_default(2.0, [])), tf.no_op("done")
    handler = session_module._FetchHandler(tf.get_default_graph(), {"a": held, "b": [done, held.tensor]}, {})
    hooked = monitored._HookedSession(tf.Session(), [])
    run = [hooked.run([held, held.tensor * 3.0]), tf.Session().run(held.tensor * 2.0, {held: 5.0})]
    run.append(list(hooked.run({"a": held, "b": held.tensor * 2.0}).values()))
    return [*run, [tensor.name for tensor in handler.fetches()], [op.name for op in handler.targets()]]


def graphs_are_walked(tf: Any, module: Any) -> Any:
    select = module("python.ops.op_selector")
    a = tf.constant(1.0, name="a")
    b = tf.add(a, 1.0, name="b")
    c = tf.multiply(b, tf.to_float(tf.constant(2, name="two"), name="cast"), name="c")
    back = [select.get_backward_walk_ops([c.op], stop_at_ts=[a], only_differentiable=only) for only in (False, True)]
    return [sorted(op.name for op in ops) for ops in back]


def options_that_are_none(tf: Any, module: Any) -> Any:
    x = tf.reshape(tf.range(8.0), [1, 1, 2, 4])
    return np.round(tf.Session().run(tf.nn.lrn(x, depth_radius=None, bias=None, alpha=None, beta=None)), 5)


def cores_of_a_tpu(tf: Any, module: Any) -> Any:
    return [module("python.tpu.tpu_function").get_tpu_context().number_of_shards, tf.ones([2]).shape.as_list()]


BEFORE_2 = {function.__name__: function for function in (values_are_merged, variables_are_read_again_behind_branches)}
"""Those of control flow and variables as TensorFlow 1 has them unless told otherwise."""

DETAILS: dict[str, Callable[..., Any]] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and name not in ("Any", "Callable", *BEFORE_2)
}
