"""Names and arguments that DeepRec's `tf` has and TensorFlow's has not, apart from embedding variables themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.tf1.training.loops import session_settings
from tensorkeep.v1.learning.collective import CollectiveStrategy


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


# Scopes for bfloat16


def test_weights_of_bfloat16_are_kept_wider_and_read_narrow() -> None:
    with tf.variable_scope("dnn").keep_weights(dtype=tf.float32):
        read = tf.get_variable("w", [2], tf.bfloat16, initializer=tf.ones_initializer())
        other = tf.get_variable("b", [2], tf.float64, initializer=tf.ones_initializer())
    kept, plain = tf.global_variables()
    assert (read.name, read.dtype, kept.name) == ("dnn/w/cast:0", tf.bfloat16, "dnn/w:0")
    assert kept.dtype.base_dtype == tf.float32
    assert other is plain


def test_kept_weights_are_trained_in_the_wider_type() -> None:
    """A step of 2 ** -12 is lost in a bfloat16 of 1."""
    x = tf.ones([1, 1], tf.bfloat16)
    with tf.variable_scope("dnn").keep_weights():
        y = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer())
    assert y.dtype == tf.bfloat16
    kernel = tf.global_variables()[0]
    train = tf.train.GradientDescentOptimizer(2.0**-12).minimize(tf.cast(y, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert (kernel.dtype.base_dtype, session.run(kernel).item()) == (tf.float32, 1 - 2.0**-12)


def test_kept_weights_are_shared() -> None:
    for reuse in (None, True):
        with tf.variable_scope("dnn", reuse=reuse).keep_weights():
            tf.get_variable("w", [2], tf.bfloat16)
    assert [variable.name for variable in tf.global_variables()] == ["dnn/w:0"]


# Functions


@pytest.mark.parametrize(
    ("approximate", "wanted"),
    [
        (False, [-0.00404951, -0.15865529, 0.0, 0.8413447, 2.9959507]),
        (True, [-0.00363752, -0.15880796, 0.0, 0.841192, 2.9963627]),
    ],
)
def test_gelu_is_exact_or_approximate(approximate: bool, wanted: list[float]) -> None:
    found = tf.nn.gelu(tf.constant([-3.0, -1.0, 0.0, 1.0, 3.0]), approximate)
    assert tf.gelu is tf.nn.gelu
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(found), wanted, rtol=2e-5, atol=1e-6)


def test_gelu_of_integers_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must be a floating point tensor"):
        tf.nn.gelu(tf.constant([1]))


# Training


def test_target_nodes_are_taken_and_what_is_none_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """DeepRec's smart stage reads ahead for them; results are the same without it."""
    value = tf.get_variable("v", initializer=2.0)
    tf.train.create_global_step()
    doubled = tf.multiply(value, 2.0, name="doubled")
    with caplog.at_level("INFO", "tensorkeep"):
        assert tf.train.mark_target_node([doubled, {"a": value}, [doubled.op]]) == ["doubled:0", "v:0", "doubled"]
        with tf.train.MonitoredTrainingSession(target_nodes_or_tensors=[doubled, "nothing"]) as session:
            assert session.run(doubled) == 4.0
    assert "3 target nodes: nothing is read ahead for them" in caplog.text
    assert "nothing, <class 'str'> is not tensor or operation" in caplog.text


def test_no_optimizer_scales_the_loss() -> None:
    assert tf.train.AdamOptimizer().doing_loss_scaling() is False


def test_multihash_variables_say_how_they_are_synchronized() -> None:
    made = tf.get_multihash_variable(
        "m",
        [[5, 6], [3, 6]],
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.MEAN,
    )
    for table in made.val_list:
        assert table.synchronization == tf.VariableSynchronization.ON_READ
        assert table.aggregation == tf.VariableAggregation.MEAN
        assert not table.trainable


# Options of the first release


def test_keys_are_dropped_by_steps_or_by_weight_in_the_old_words() -> None:
    assert tf.EvictOption(steps_to_live=5) == tf.GlobalStepEvict(5)
    assert tf.EvictOption(l2_weight_threshold=0.5) == tf.L2WeightEvict(0.5)
    assert tf.EvictOption() is None
    with pytest.raises(InvalidArgumentError, match="can't be enabled at same time"):
        tf.EvictOption(5, 0.5)
    with pytest.raises(InvalidArgumentError, match="l2reg_theta: rows are dropped by"):
        tf.EvictOption(l2reg_theta=0.1)


# Names that are not here


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("kv_resource_export", "tf.raw_ops.KvResourceExport"),
        ("kv_var_is_initialized_op", "tf.raw_ops.KvVarIsInitializedOp"),
    ],
)
def test_a_name_that_is_not_here_is_told_with_what_to_use_instead(name: str, wanted: str) -> None:
    with pytest.raises(AttributeError, match=wanted):
        getattr(tf, name)


def test_an_unknown_name_has_no_advice() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'no_such_thing'$"):
        tf.no_such_thing  # noqa: B018 - asked for its error


# Settings


def test_settings_that_change_no_result_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    session_settings._tell.cache_clear()
    config = tf.ConfigProto()
    options = config.graph_options.optimizer_options
    options.do_smart_stage = options.do_op_fusion = options.do_async_embedding = config.tensor_fuse = True
    config.inter_op_parallelism_threads = 4
    config.executor_policy = tf.ExecutorPolicy.USE_INLINE_EXECUTOR
    config.session_stage_subgraph_thread_pool.add().inter_op_threads_num = 8
    with caplog.at_level("INFO", "tensorkeep"):
        for _ in range(2):
            tf.Session(config=config).close()
    told = [line for line in caplog.messages if "has no effect on its results" in line]
    words = (
        "do_smart_stage",
        "do_async_embedding",
        "do_op_fusion",
        "inter_op",
        "executor_policy",
        "thread_pool",
        "tensor_fuse",
    )
    assert [any(word in line for line in told) for word in words] == [True] * len(told) == [True] * 7


def test_devices_and_threads_can_be_asked_for() -> None:
    (device,) = tf.config.experimental.list_physical_devices()
    assert tuple(device) == ("/physical_device/device:CPU:0", "CPU")
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_logical_devices("CPU")[0].name == "/device:CPU:0"
    for change in (tf.config.experimental.set_memory_growth, tf.config.experimental.get_memory_growth):
        with pytest.raises(InvalidArgumentError, match="no accelerators"):
            change(device, *([True] if change is tf.config.experimental.set_memory_growth else []))
    tf.config.threading.set_inter_op_parallelism_threads(3)
    tf.config.threading.set_intra_op_parallelism_threads(2)
    tf.config.set_soft_device_placement(True)
    assert tf.config.threading.get_inter_op_parallelism_threads() == 3
    assert tf.config.threading.get_intra_op_parallelism_threads() == 2
    tf.config.threading.set_intra_op_parallelism_threads(0)
    assert tf.config.get_soft_device_placement() is True
    tf.config.experimental.enable_distributed_strategy("parameter_server")


def test_a_collective_group_of_one_process_trains_as_without_and_more_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tf.config.experimental.enable_distributed_strategy(strategy="collective")
    strategy = CollectiveStrategy()
    assert (strategy.world_size, strategy.world_size(), strategy.rank, strategy.rank()) == (1, 1, 0, 0)  # type: ignore[operator]

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        with strategy.embedding_scope():
            table = tf.get_variable("table", [4, 1], partitioner=tf.fixed_size_partitioner(strategy.world_size))
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, features["id"]) - 1.0))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(({"id": [0, 3]}, [0])).repeat(20)

    with strategy.scope():
        estimator = strategy.estimator(model_fn, str(tmp_path))
        found, _ = estimator.train_and_evaluate(
            tf.estimator.TrainSpec(input_fn, max_steps=20), tf.estimator.EvalSpec(input_fn, steps=1)
        )
    assert found["loss"] < 0.1
    for name, told in (("WORLD_SIZE", "2"), ("TF_CONFIG", '{"cluster": {"chief": ["a:1"], "worker": ["b:1"]}}')):
        with monkeypatch.context() as patch:
            patch.setenv(name, told)
            with pytest.raises(UnimplementedError, match="a collective group has one process"):
                CollectiveStrategy()


def test_a_server_of_one_task_is_where_deeprec_has_it() -> None:
    server = tf.distribute.Server({"worker": ["localhost:0"]}, job_name="worker", task_index=0, protocol="grpc++")
    three = tf.constant(3)
    with tf.train.MonitoredTrainingSession(master=server.target) as session:
        assert session.run(three) == 3


# Columns, as programs use what is below them


def test_columns_give_their_ids_to_a_builder() -> None:
    builder = tf.python.feature_column.feature_column._LazyBuilder({"x": tf.constant([["a", "b"], ["a", ""]])})
    column = tf.feature_column.sequence_categorical_column_with_vocabulary_list("x", ["a", "b"], default_value=0)
    ids, weights = column._get_sparse_tensors(builder)
    lengths = tf.python.feature_column.utils.sequence_length_from_sparse_tensor(ids)
    table = tf.get_variable("t", initializer=[[1.0], [2.0]])
    rows = tf.python.ops.embedding_ops.fused_safe_embedding_lookup_sparse(embedding_weights=table, sparse_ids=ids)
    number = tf.feature_column.numeric_column("n")
    dense = number._get_dense_tensor(tf.python.feature_column.feature_column._LazyBuilder({"n": [1.0, 2.0]}))
    assert (weights, column._num_buckets) == (None, 2)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert session.run(lengths).tolist() == [2, 1]
        assert session.run(rows).tolist() == [[[1.0], [2.0]], [[1.0], [0.0]]]
        assert session.run(dense).tolist() == [[1.0], [2.0]]
    assert tf.array_ops.transpose is tf.transpose


def test_sequences_of_keys_have_an_embedding_variable_and_stay_out_of_lookups_of_groups() -> None:
    with tf.feature_column.group_embedding_column_scope(name="all"):
        flat = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_embedding("a"), 2)
        column = tf.feature_column.sequence_categorical_column_with_embedding("s", dtype=tf.string)
        steps = tf.feature_column.embedding_column(column, 2)
    features = {"a": tf.constant(["x", "y"]), "s": tf.sparse.from_dense([["p", "q"], ["p", ""]])}
    tf.feature_column.input_layer(features, [flat])
    rows, lengths = tf.contrib.feature_column.sequence_input_layer(features, [steps])
    made = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
    assert [variable.op.name for variable in made] == [
        "input_layer/a_embedding/embedding_weights",
        "sequence_input_layer/s_embedding/embedding_weights",
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, counts = session.run([rows, lengths])
    assert (found.shape, counts.tolist()) == ((2, 2, 2), [2, 1])
    assert found[0, 0].tolist() == found[1, 0].tolist() != found[0, 1].tolist()


def test_counters_of_filters_may_be_called_signed_as_in_the_modelzoo() -> None:
    ids = tf.sparse.from_dense(tf.constant([[1, 2], [2, 0]], tf.int64))
    tables, trained = [], []
    for kind in (tf.uint64, tf.int64):
        option = tf.CBFFilter(2, 64, 0.01, counter_type=kind)
        tables.append(
            tf.get_embedding_variable(
                kind.name,
                2,
                initializer=tf.ones_initializer(),
                ev_option=tf.EmbeddingVariableOption(filter_option=option),
            )
        )
        rows = tf.nn.embedding_lookup_sparse(tables[-1], ids, None, combiner="sum")
        trained.append(tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(rows)))
    known = [table.total_count() for table in tables]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        counts = []
        for _ in range(3):
            session.run(trained)
            counts.append([int(count[0]) for count in session.run(known)])
    assert [first for first, _ in counts] == [second for _, second in counts]
    assert counts[-1][0] > 0
    with pytest.raises(tf.errors.OpError, match="counter_type is float32"):
        tf.CBFFilter(counter_type=tf.float32)
