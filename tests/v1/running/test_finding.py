"""TensorFlow's module paths: the table says where each name is, and what TensorFlow has and we lack can be imported."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import UnimplementedError
from tensorkeep.v1.programs.finding import is_lacking, is_there, module_at, path_of
from tensorkeep.v1.programs.paths import LACKING, LACKING_WHOLE, PATHS


@pytest.mark.parametrize("path", sorted(PATHS))
def test_every_name_of_a_row_is_where_it_says(path: str) -> None:
    module = module_at(path)
    for home, row in PATHS[path].items():
        offered = importlib.import_module(home)
        assert row == "*" or [name for name in module.__all__ if not hasattr(module, name)] == []  # type: ignore[union-attr]
        assert offered is not None


def test_a_path_is_either_there_or_lacking() -> None:
    lacking = {f"{package}.{name}" for package, row in LACKING.items() for name in row.split()}
    assert sorted(path for path in lacking if is_there(path)) == []
    assert sorted(path for path in PATHS if is_lacking(path)) == []
    assert [path for path in LACKING_WHOLE if module_at(path) is None] == []


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("tensorflow", ""),
        ("tensorflow.compat.v1", ""),
        ("tensorflow.compat.v1.nn", "nn"),
        ("tensorflow_core.python.ops", "python.ops"),
        ("tensorflow._api.v1.train", "train"),
        ("tensorflow_estimator.python.estimator.estimator", "estimator.estimator"),
        ("tensorflow.python.keras.layers", "keras.layers"),
        ("tensorflow.python.training.checkpointable.tracking", "python.training.tracking.tracking"),
        ("tensorflow.python.ops.hash_table.hash_filter", "hash_table.hash_filter"),
        ("tensorflow.contrib.slim.python.slim.nets.vgg", "contrib.slim.nets.vgg"),
        ("tensorflow.contrib.slim.python.slim.data.dataset", "contrib.slim.dataset"),
        ("tensorflow_probability", None),
        ("numpy", None),
    ],
)
def test_a_module_has_one_path_whatever_it_is_called(name: str, path: str | None) -> None:
    assert path_of(name) == path


def test_namespaces_are_the_modules_themselves() -> None:
    assert module_at("") is tf
    assert module_at("nn") is tf.nn
    assert module_at("python.ops.nn").relu is tf.nn.relu  # type: ignore[union-attr]
    assert tf.python.framework.ops is module_at("python.framework.ops")
    assert tf.python.framework.ops.Graph is tf.Graph


def test_what_tensorflow_does_not_have_is_not_found() -> None:
    assert module_at("python.ops.nonsense_ops") is None
    with pytest.raises(AttributeError, match=r"module 'tensorflow\.python\.ops' has no attribute 'nonsense_ops'"):
        _ = tf.python.ops.nonsense_ops


def test_a_name_of_a_module_that_is_not_here_says_what_to_use() -> None:
    module = module_at("lite.python.convert")
    with pytest.raises(AttributeError, match=r"tf\.lite\.python\.convert\.x\): graphs are frozen by"):
        _ = module.x
    assert not hasattr(module, "__wrapped__")
    with pytest.raises(tf.errors.UnimplementedError, match=r"tensorflow\.lite\.python\.convert is not here: graphs"):
        module()  # type: ignore[operator]
    with pytest.raises(tf.errors.UnimplementedError, match="is not here: graphs are frozen"):

        class Converted(module): ...  # type: ignore[valid-type, misc]


def test_a_module_that_nobody_replaces_says_that_it_is_not_here() -> None:
    with pytest.raises(
        AttributeError, match=r"tensorkeep has nothing of tensorflow\.python\.grappler\.item, and so no"
    ):
        _ = module_at("python.grappler.item").Item  # type: ignore[union-attr]


def test_messages_have_their_classes_and_enumerations() -> None:
    types = module_at("core.framework.types_pb2")
    assert types.DT_FLOAT == 1
    assert module_at("core.protobuf.config_pb2").ConfigProto is tf.ConfigProto  # type: ignore[union-attr]
    assert module_at("core.framework.graph_pb2").GraphDef is tf.GraphDef  # type: ignore[union-attr]


def test_modules_of_deeprec_have_what_its_programs_take_from_them() -> None:
    options: Any = module_at("core.framework.embedding.config_pb2")
    assert options.StorageType.DRAM_SSDHASH == options.DRAM_SSDHASH == tf.StorageType.DRAM_SSDHASH == 12
    assert options.CacheStrategy.LFU == options.LFU == 1
    tables: Any = module_at(path_of("tensorflow.python.ops.hash_table.hash_table") or "")
    assert tables.HashTable is tf.hash_table.HashTable
    lookups: Any = module_at("python.ops.group_embedding_lookup_ops")
    assert lookups.group_embedding_lookup_sparse is tf.nn.group_embedding_lookup_sparse
    generated: Any = module_at("python.ops.gen_kv_variable_ops")
    assert generated.kv_resource_gather is not None


def test_ops_are_functions_of_positions_in_modules_of_ops() -> None:
    ops = module_at("python.ops.gen_math_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        product = ops.mat_mul([[1.0, 2.0]], [[3.0], [4.0]], False, name="product")  # type: ignore[union-attr]
        assert product.op.name == "product"
        assert session.run(product).tolist() == [[11.0]]
    with pytest.raises(AttributeError, match="has no attribute 'not_an_op'"):
        _ = ops.not_an_op  # type: ignore[union-attr]


def test_modules_inside_of_contrib_offer_what_their_package_does() -> None:
    assert tf.contrib.layers.python.layers.layers.fully_connected is tf.contrib.layers.fully_connected
    # The function, although a module has that name: slim's own networks import it so.
    assert tf.contrib.framework.python.ops.arg_scope is tf.contrib.framework.arg_scope
    module: Any = module_at("contrib.framework.python.ops.arg_scope")
    assert module.arg_scope is tf.contrib.framework.arg_scope
    package = module_at("contrib.framework.python.ops")
    setattr(package, "arg_scope", module)  # noqa: B010 - as `import` does, when the module is imported
    assert package.arg_scope is tf.contrib.framework.arg_scope  # type: ignore[union-attr]
    utils: Any = module_at("contrib.layers.python.layers.utils")
    assert utils.convert_collection_to_dict is tf.contrib.layers.utils.convert_collection_to_dict
    assert module_at(path_of("tensorflow.contrib.slim.python.slim.learning") or "") is tf.contrib.slim.learning
    assert module_at("python.feature_column.feature_column").numeric_column is tf.feature_column.numeric_column  # type: ignore[union-attr]


def test_a_module_that_offers_another_one_whole_lists_its_names() -> None:
    cells, operations = module_at("python.ops.rnn_cell"), module_at("python.ops.math_ops")
    assert {"GRUCell", "RNNCell", "linear"} <= set(cells.__all__)  # type: ignore[union-attr]
    assert "reduce_sum" in operations.__all__  # type: ignore[union-attr]
    assert not {"range", "abs", "__version__"} & set(operations.__all__)  # type: ignore[union-attr]


def test_modules_of_python_are_attributes_of_it() -> None:
    package: Any = module_at("python")
    assert package.math_ops is module_at("python.ops.math_ops")
    assert package.ops is module_at("python.ops")


def test_a_class_that_is_not_here_says_so_where_it_is_asked_for() -> None:
    missing_class: Any = module_at("python.tpu.tpu_feed")
    with pytest.raises(UnimplementedError, match=r"tensorflow.python.tpu.tpu_feed is not here"):
        isinstance(1, missing_class)


def test_heads_of_canned_estimators_sum_their_losses() -> None:
    heads: Any = module_at("estimator.canned.head")
    assert heads._binary_logistic_head_with_sigmoid_cross_entropy_loss().loss_reduction == tf.losses.Reduction.SUM
    assert heads._binary_logistic_or_multi_class_head(3, None, None, "weighted_sum").logits_dimension == 3
    assert heads._regression_head(label_dimension=2).logits_dimension == 2
    assert (heads._summary_key("a", "loss"), heads._summary_key(None, "loss")) == ("loss/a", "loss")
    assert heads._linear_learning_rate(10**6) == 1e-3
    assert issubclass(type(heads._poisson_regression_head()), heads._Head)


def test_parts_of_keras_are_where_programs_look_for_them() -> None:
    utils: Any = module_at("keras.utils.tf_utils")

    class Doubling:
        @utils.shape_type_conversion
        def compute_output_shape(self, input_shape: Any) -> Any:
            assert input_shape == (None, 3)
            return [input_shape, (2,)]

    found = Doubling().compute_output_shape(tf.TensorShape([None, 3]))
    assert [shape.as_list() for shape in found] == [[None, 3], [2]]
    with tf.Graph().as_default():
        a = tf.constant(1.0)
        b, c = a + 1.0, tf.constant(2.0)
        assert b in utils.get_reachable_from_inputs([a], targets=[b])
        assert c not in utils.get_reachable_from_inputs([a])
        assert utils.count_params([tf.Variable(tf.zeros([2, 3]))]) == 6


def test_a_graph_tells_keras_its_device() -> None:
    class Device:
        told: Any = None

        def _set_device(self, device: Any) -> None:
            self.told = device

    outside, inside = Device(), Device()
    graph: Any = tf.Graph()
    graph._apply_device_functions(outside)
    with graph.device("/job:a"), graph.device("/cpu:0"):
        graph._apply_device_functions(inside)
    assert outside.told is None
    assert (inside.told.job, inside.told.device_type) == ("a", "CPU")
