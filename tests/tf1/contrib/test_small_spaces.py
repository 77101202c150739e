"""What `tf.contrib.data`, `nn`, `compiler` and other small namespaces have of their own; words for what is not here."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.v1.absent import IN_PLACE_OF_OTHERS, INSTEAD

contrib = tf.contrib


def rows(dataset: Any) -> list[Any]:
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_batches_that_are_full_and_windows_that_slide() -> None:
    numbers = tf.data.Dataset.range(7)
    assert [row.tolist() for row in rows(numbers.apply(contrib.data.batch_and_drop_remainder(3)))] == [
        [0, 1, 2],
        [3, 4, 5],
    ]
    padded = numbers.map(lambda n: tf.fill([n % 3], n)).apply(contrib.data.padded_batch_and_drop_remainder(3, [None]))
    assert [row.tolist() for row in rows(padded)] == [[[0, 0], [1, 0], [2, 2]], [[0, 0], [4, 0], [5, 5]]]
    slid = numbers.apply(contrib.data.sliding_window_batch(3, window_shift=2, window_stride=2))
    assert [row.tolist() for row in rows(slid)] == [[0, 2, 4], [2, 4, 6]]
    pairs = tf.data.Dataset.zip((numbers, numbers)).apply(contrib.data.sliding_window_batch(6))
    assert [[part.tolist() for part in row] for row in rows(pairs)] == [
        [[0, 1, 2, 3, 4, 5]] * 2,
        [[1, 2, 3, 4, 5, 6]] * 2,
    ]
    mixed = contrib.data.sloppy_interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(2), 2)
    assert sorted(int(row) for row in rows(numbers.take(2).apply(mixed))) == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="both"):
        contrib.data.sliding_window_batch(2, 1, 1)


def test_dropout_keeps_mean_and_variance_of_selu() -> None:
    x = np.random.default_rng(0).normal(size=40000).astype(np.float32)
    with tf.Session() as session:
        found = session.run(contrib.nn.alpha_dropout(tf.constant(x), 0.9, seed=1))
        assert session.run(contrib.nn.alpha_dropout(x, 1.0)) is not None
        steep = session.run(contrib.nn.scaled_softplus([-1.0, 0.0, 5.0], 2.0, clip=3.0))
        flipped = contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits([[1.0, 2.0]], [[0.0, 1.0]])
        plain = tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[1.0, 2.0]])
        np.testing.assert_array_equal(*session.run([flipped, plain]))
    assert (found.mean(), found.std()) == pytest.approx((0, 1), abs=0.02)
    low = np.unique(found.round(4), return_counts=True)
    assert low[1].max() == pytest.approx(4000, rel=0.1)
    np.testing.assert_allclose(steep, np.minimum(2 * np.log1p(np.exp(np.array([-0.5, 0, 2.5]))), 3), rtol=1e-5)
    with pytest.raises(ValueError, match="keep_prob"):
        contrib.nn.alpha_dropout(x, 0.0)


def test_compiled_computations_and_clusters_that_are_told() -> None:
    with contrib.compiler.jit.experimental_jit_scope(), tf.Session() as session:
        assert session.run(contrib.compiler.xla.compile(lambda a, b: a + b, [1, 2])) == 3
    resolver = contrib.cluster_resolver.SimpleClusterResolver({"worker": ["a:1", "b:2"]}, rpc_layer="grpc")
    assert resolver.master("worker", 1) == "grpc://b:2"
    assert (resolver.master(), resolver.cluster_spec().as_dict()) == ("", {"worker": ["a:1", "b:2"]})


def test_memory_is_that_of_the_process() -> None:
    stats = contrib.memory_stats
    with tf.Session() as session:
        before, limit = session.run([stats.BytesInUse(), stats.BytesLimit()])
        held = np.ones(64 << 20, np.uint8)
        after, most = session.run([stats.BytesInUse(), stats.MaxBytesInUse()])
    assert 0 < before < after <= most < limit
    assert after - before > held.nbytes // 2


def test_points_between_pixels_have_values_of_the_four_around_them() -> None:
    image = np.arange(6.0, dtype=np.float32).reshape(1, 2, 3, 1)
    points = np.array([[[0.0, 0.0], [0.5, 0.5], [2.0, 1.0], [9.0, 9.0]]], np.float32)
    with tf.Session() as session:
        found = session.run(contrib.resampler.resampler(image, points))
    np.testing.assert_allclose(found[0, :, 0], [0, 2, 5, 0])


def test_old_names_lead_to_what_took_their_place() -> None:
    assert contrib.signal.stft is tf.signal.stft
    assert contrib.signal.linear_to_mel_weight_matrix is tf.signal.linear_to_mel_weight_matrix
    assert contrib.stateless.stateless_random_uniform is tf.random.stateless_uniform
    assert contrib.keras.layers.Dense is tf.keras.layers.Dense
    assert contrib.framework.nest.is_sequence([1])
    assert not contrib.eager.in_eager_mode()
    assert not contrib.eager.executing_eagerly()


def projected(row: Any) -> Any:
    """The nearest point whose numbers are not negative and add up to one, by bisection for what is taken off."""
    low, high = row.min() - 1.0, row.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - low, 0)


def test_sparsemax_is_the_nearest_point_and_its_loss_leads_there() -> None:
    scores = np.array([[1, 2, 3], [0.1, 0, -1], [5, 5, 5], [-1, -1e3, 0]], np.float64)
    wanted = np.eye(3)[[2, 0, 1, 2]]
    logits = tf.constant(scores)
    found = contrib.sparsemax.sparsemax(logits)
    loss = contrib.sparsemax.sparsemax_loss(logits, found, tf.constant(wanted))
    points, losses, slopes = tf.Session().run([found, loss, tf.gradients(loss, logits)[0]])
    expected = np.stack([projected(row) for row in scores])
    np.testing.assert_allclose(points, expected, atol=1e-12)
    np.testing.assert_allclose(slopes, expected - wanted, atol=1e-12)
    own = [p @ (z - p / 2) - y @ (z - y / 2) for p, z, y in zip(expected, scores, wanted, strict=True)]
    np.testing.assert_allclose(losses, own, atol=1e-12)


def test_functional_networks_are_dynamic_ones() -> None:
    inputs = tf.random_normal([2, 4, 5], seed=1)
    cell = tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.ones_initializer())
    with tf.variable_scope("a"):
        outputs, state = contrib.recurrent.functional_rnn(cell, inputs, [2, 4], dtype=tf.float32)
    with tf.variable_scope("b"):
        both, _ = contrib.recurrent.bidirectional_functional_rnn(
            *(tf.nn.rnn_cell.GRUCell(3) for _ in range(2)), inputs, dtype=tf.float32, sequence_length=[2, 4]
        )
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    steps, last, forth, back = session.run([outputs, state, *both])
    np.testing.assert_array_equal(last, [steps[0, 1], steps[1, 3]])
    assert not steps[0, 2:].any()
    assert forth.shape == back.shape == (2, 4, 3)


@pytest.mark.parametrize("path", sorted(INSTEAD))
def test_what_is_out_says_what_to_use(path: str) -> None:
    """At the name itself, or, where it is a module that can be imported, at each of its names."""
    with pytest.raises(AttributeError) as told:
        operator.attrgetter(f"{path}.something")(tf)
    assert INSTEAD[path] in str(told.value)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: contrib.distributions.estimator_head_distribution_regression, "log_prob"),
        (lambda: contrib.eager.implicit_gradients, "no eager mode"),
        (lambda: contrib.learn.LogisticRegressor, "tf.estimator has it"),
        (lambda: contrib.training.FeedingQueueRunner, "tf.train.batch"),
    ],
)
def test_names_that_programs_use_and_that_are_out(use: Any, said: str) -> None:
    with pytest.raises(AttributeError, match=said):
        use()


@pytest.mark.parametrize("space", sorted(IN_PLACE_OF_OTHERS))
def test_a_name_that_a_namespace_lacks_says_what_does_its_work(space: str) -> None:
    with pytest.raises(AttributeError) as told:
        _ = operator.attrgetter(f"{space}.NoSuchName")(tf)
    assert str(told.value).endswith(f"(tf.{space}.NoSuchName): {IN_PLACE_OF_OTHERS[space]}")
