"""Names of `tf.contrib` that few programs use: tables, decoders, colors, parts of images, datasets and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

contrib = tf.contrib


def test_tables_are_made_of_a_mapping_and_looked_up_at_once(tmp_path: Any) -> None:
    words = tmp_path / "words"
    words.write_text("a\nb\n")

    def build() -> Any:
        lookup, given = contrib.lookup, tf.constant(["b", "c"])
        return [
            lookup.index_table_from_tensor(mapping=["a", "b"]).lookup(given),
            lookup.string_to_index(given, ["a", "b"], default_value=7),
            lookup.string_to_index_table_from_tensor(["a", "b"], num_oov_buckets=1).lookup(given),
            lookup.string_to_index_table_from_file(str(words)).lookup(given),
            lookup.index_to_string(tf.constant([1, 5], tf.int64), mapping=["a", "b"]),
            lookup.index_to_string_table_from_tensor(mapping=["a", "b"], default_value="?").lookup(
                tf.constant([5], tf.int64)
            ),
        ]

    found = [item.tolist() for item in values(build)[0]]
    assert found == [[1, -1], [1, 7], [1, 2], [1, -1], [b"b", b"UNK"], [b"?"]]


@pytest.mark.parametrize("feeds", [False, True, "tensor"])
def test_a_tied_reader_and_writer_share_rows(feeds: Any) -> None:
    def build() -> Any:
        cell = contrib.rnn.GRUCell(3)
        read = [tf.constant([1, 2]), tf.constant([3, 4])]
        fed = tf.constant(True) if feeds == "tensor" else feeds
        outputs, _ = contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
            read, read, cell, 5, 3, num_decoder_symbols=6, feed_previous=fed, dtype=tf.float32
        )
        return outputs

    outputs, variables = values(build)
    assert [item.shape for item in outputs] == [(2, 6), (2, 6)]
    scope = "embedding_tied_rnn_seq2seq"
    assert set(variables) == {
        f"{scope}/embedding",
        *(
            f"{scope}/combined_tied_rnn_seq2seq/tied_rnn_seq2seq/output_projection_wrapper/{name}"
            for name in (
                "gru_cell/gates/kernel", "gru_cell/gates/bias", "gru_cell/candidate/kernel", "gru_cell/candidate/bias",
                "kernel", "bias",
            )
        ),
    }  # fmt: skip


def test_one_reader_has_several_writers() -> None:
    def build() -> Any:
        cell = contrib.rnn.GRUCell
        read = [tf.constant([1, 2]), tf.constant([3, 4])]
        outputs, states = contrib.legacy_seq2seq.one2many_rnn_seq2seq(
            read, {"en": read, "fr": read[:1]}, cell(3), {"en": cell(3), "fr": cell(3)}, 5, {"en": 6, "fr": 7}, 2
        )
        return outputs, states

    (outputs, states), variables = values(build)
    assert [item.shape for item in outputs["en"]] == [(2, 6), (2, 6)]
    assert [item.shape for item in outputs["fr"]] == [(2, 7)]
    assert states["fr"].shape == (2, 3)
    scope = "one2many_rnn_seq2seq"
    assert variables[f"{scope}/one2many_decoder_fr/embedding_rnn_decoder/embedding"].shape == (7, 2)
    assert variables[f"{scope}/rnn/embedding_wrapper/embedding"].shape == (5, 2)


def test_a_loss_of_one_true_class_is_that_of_a_softmax_over_few() -> None:
    random = np.random.default_rng(3)
    weights, biases, inputs = (random.normal(size=size).astype(np.float32) for size in ((9, 4), (9,), (3, 4)))

    def build() -> Any:
        labels = tf.constant([[0], [5], [8]], tf.int64)
        drawn = tf.nn.log_uniform_candidate_sampler(labels, 1, 4, True, 9, seed=3)
        given = [tf.constant(item) for item in (weights, biases)]
        return [
            loss(*given, labels, tf.constant(inputs), 4, 9, sampled_values=drawn)
            for loss in (contrib.nn.sampled_sparse_softmax_loss, tf.nn.sampled_softmax_loss)
        ]

    sparse, dense = values(build)[0]
    np.testing.assert_allclose(sparse, dense, rtol=1e-5)
    found = values(lambda: [contrib.nn.nth_element([[3.0, 1.0, 2.0]], 1, reverse) for reverse in (False, True)])[0]
    assert [item.tolist() for item in found] == [[2.0], [2.0]]
    assert values(lambda: contrib.nn.nth_element([[3.0, 1.0, 2.0]], 0, True))[0] == [3.0]


def test_colors_are_turned_around_gray() -> None:
    """In YIQ: brightness stays, gray stays gray, and red turned by a third of the circle is greenish."""
    colors = np.random.default_rng(1).uniform(0.2, 0.8, (2, 2, 3)).astype(np.float32)
    adjust = contrib.image.adjust_hsv_in_yiq
    found = values(lambda: [adjust(colors, 0.0, 1.0, 0.5), adjust(colors, 1.0), adjust(colors, 0.0, 0.0)])[0]
    np.testing.assert_allclose(found[0], colors * 0.5, atol=1e-5)
    brightness = np.array([0.299, 0.587, 0.114])
    np.testing.assert_allclose(found[1] @ brightness, colors @ brightness, atol=1e-5)
    np.testing.assert_allclose(found[2], np.repeat((colors @ brightness)[..., None], 3, -1), atol=1e-5)
    there = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
    angle = np.exp(1j * 1.0)
    turned, before = found[1] @ there.T, colors @ there.T
    np.testing.assert_allclose(
        turned[..., 1] + 1j * turned[..., 2], (before[..., 1] + 1j * before[..., 2]) * angle, atol=1e-5
    )
    whole = values(lambda: adjust(np.full([1, 1, 3], 200, np.uint8), 0.5, 2.0, 2.0))[0]
    assert whole.dtype == np.uint8
    assert whole.tolist() == [[[255, 255, 255]]]


def test_colors_are_turned_at_random_within_limits() -> None:
    draw = contrib.image.random_hsv_in_yiq
    image = np.full([2, 2, 3], 0.5, np.float32)
    found = values(lambda: [draw(image, 0.5, 0.5, 1.5, 0.8, 0.9, seed=1), draw(image)])[0]
    assert 0.4 - 1e-4 <= found[0].min() <= found[0].max() <= 0.45 + 1e-4
    np.testing.assert_allclose(found[1], image, atol=1e-5)
    for wrong, said in (({"max_delta_hue": -1}, "non-negative"), ({"lower_value": 2}, "must be <")):
        with pytest.raises(ValueError, match=said):
            draw(image, **wrong)


def test_connected_parts_of_images_are_numbered_as_they_come() -> None:
    snake = np.array([[1, 1, 0, 2], [0, 1, 0, 2], [1, 1, 2, 2], [3, 0, 1, 0]])
    expected = np.array([[1, 1, 0, 2], [0, 1, 0, 2], [1, 1, 2, 2], [3, 0, 4, 0]])
    assert values(lambda: contrib.image.connected_components(snake))[0].tolist() == expected.tolist()
    batch = values(lambda: contrib.image.connected_components(np.stack([snake != 0, snake == 0])))[0]
    assert batch[1].tolist() == [[0, 0, 2, 0], [3, 0, 2, 0], [0, 0, 0, 0], [0, 4, 0, 5]]
    assert batch.dtype == np.int64
    spiral = np.ones([31, 31], bool)
    spiral[1::4, 1:], spiral[3::4, :-1] = False, False
    assert values(lambda: contrib.image.connected_components(spiral))[0].max() == 1
    with pytest.raises(ValueError, match="rank 2"):
        contrib.image.connected_components(np.zeros(3))


def test_weighted_ids_go_into_layers_and_sums() -> None:
    def build() -> Any:
        layers = contrib.layers
        ids = layers.weighted_sparse_column(layers.sparse_column_with_keys("c", ["a", "b"]), "w")
        features = {
            "c": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "b"], [2, 2]),
            "w": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2.0, 3.0, 4.0], [2, 2]),
        }
        ones = tf.ones_initializer()
        embedded = layers.input_from_feature_columns(
            features, [layers.embedding_column(ids, 1, "sum", initializer=ones)]
        )
        sums, _, _ = layers.weighted_sum_from_feature_columns(features, [ids], 1)
        return embedded, sums

    (embedded, sums), variables = values(build)
    assert embedded.tolist() == [[5.0], [4.0]]
    assert sums.tolist() == [[0.0], [0.0]]
    assert "weighted_sum_from_feature_columns/c_weighted_by_w/weights" in variables


def test_bounds_of_tensors_are_kept_and_checked() -> None:
    spec = contrib.framework.BoundedTensorSpec([2, None], tf.float32, [[0.0], [1.0]], 5, name="x")
    assert spec.minimum.tolist() == [[0.0], [1.0]]
    assert spec.maximum == 5
    assert not spec.minimum.flags.writeable
    assert spec == contrib.framework.BoundedTensorSpec.from_spec(spec)
    plain = contrib.framework.BoundedTensorSpec.from_spec(tf.TensorSpec([3], tf.uint8))
    assert (plain.minimum, plain.maximum) == (0, 255)
    with pytest.raises(ValueError, match="minimum is not compatible"):
        contrib.framework.BoundedTensorSpec([2], tf.float32, [1, 2, 3], 5)


def test_datasets_are_reduced_and_checked() -> None:
    def build() -> Any:
        data = contrib.data
        reducer = data.Reducer(lambda _: tf.constant(0, tf.int64), lambda s, x: s + x, lambda s: s * 10)
        total = data.reduce_dataset(tf.data.Dataset.range(4), reducer)
        pairs = tf.data.Dataset.from_tensors((tf.placeholder_with_default(np.ones([2, 3]), None), {"a": 1}))
        checked = pairs.apply(data.assert_element_shape(([2, None], {"a": []})))
        element = checked.make_initializable_iterator()
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, element.initializer)
        assert checked.output_shapes[0].as_list() == [2, None]
        return total, element.get_next()

    (total, (values_of, _)), _ = values(build)
    assert total == 60
    assert values_of.shape == (2, 3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"not compatible|incompatible|expected"):
        tf.data.Dataset.from_tensors(np.ones([2, 3])).apply(contrib.data.assert_element_shape([2, 4]))


def test_what_graphs_use_and_where_summaries_go() -> None:
    with tf.Graph().as_default() as graph:
        tf.square(tf.constant(1.0))
        proto = graph.as_graph_def()
    assert sorted(contrib.util.ops_used_by_graph_def(proto)) == ["Const", "Square"]
    assert [op.name for op in contrib.util.stripped_op_list_for_graph(proto).op] == ["Const", "Square"]
    assert contrib.summary.eval_dir("/m/") == "/m/eval"
    assert contrib.summary.eval_dir("/m", "x") == "/m/eval_x"


def test_loops_of_tpus_run_here() -> None:
    def build() -> Any:
        tpu, total = contrib.tpu, tf.get_variable("total", initializer=0.0)
        with tf.device(tpu.core(0)):
            doubled = tpu.repeat(3, lambda x: x * 2, [tf.constant(1.0)])
        counted = tpu.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x + tf.cast(i, tf.float32)), [0, 1.0])
        with tf.control_dependencies([tpu.repeat(5, lambda: total.assign_add(1.0).op)]):
            return doubled, counted, total.read_value()

    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        built = build()
        session.run(tf.global_variables_initializer())
        doubled, counted, total = session.run(built)
    assert (doubled, counted, total) == ([8.0], [4, 7.0], 5.0)
    with pytest.raises(NotImplementedError, match="no infeed"):
        contrib.tpu.while_loop(lambda: True, lambda: None, infeed_queue=object())
    assert issubclass(contrib.tpu.AsyncCheckpointSaverHook, tf.train.CheckpointSaverHook)
