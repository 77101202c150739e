"""Examples in buckets, sampled and resampled: what comes out, and that it ends with the input."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, WrongTypeError

training: Any = tf.contrib.training


def range_queue(count: int, epochs: int | None = 1) -> Any:
    return tf.train.range_input_producer(count, num_epochs=epochs, shuffle=False)


def examples(count: int, epochs: int | None = 1) -> Any:
    """The numbers from 0 on, one in each run."""
    return tf.cast(range_queue(count, epochs).dequeue(), tf.int32)


def all_batches(build: Any, until: int = 1000) -> list[Any]:
    """What each run gives until the input is over, with the threads of the graph's queue runners."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        fetched = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found: list[Any] = []
        try:
            while len(found) < until:
                found.append(session.run(fetched))
        except OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=20)
        assert not any(thread.is_alive() for thread in threads)
    return found


# ---------------------------------------------------------------------------------------------------- Buckets


def test_each_batch_is_of_one_bucket_and_in_the_order_of_the_input() -> None:
    def build() -> Any:
        number = examples(20)
        return training.bucket([number, tf.as_string(number)], number % 3, 2, 3)

    batches = all_batches(build)
    for which in range(3):
        mine = [batch for bucket, batch in batches if bucket == which]
        numbers = [number for batch in mine for number in batch[0].tolist()]
        assert numbers == list(range(which, 20, 3))[: len(numbers) // 2 * 2]
        assert all(len(batch[0]) == 2 for batch in mine)
        assert [text for batch in mine for text in batch[1]] == [b"%d" % number for number in numbers]
    # 7, 7 and 6 examples in batches of two: what does not fill one is left out, and nothing else is.
    assert Counter(int(bucket) for bucket, _ in batches) == {0: 3, 1: 3, 2: 3}


def test_the_rest_of_each_bucket_is_a_smaller_batch_if_that_is_wanted() -> None:
    def build() -> Any:
        number = examples(11)
        return training.bucket(
            {"n": number}, number % 2, batch_size=[4, 3], num_buckets=2, allow_smaller_final_batch=True
        )

    batches = all_batches(build)
    found = {which: [batch["n"].tolist() for bucket, batch in batches if bucket == which] for which in (0, 1)}
    assert found == {0: [[0, 2, 4, 6], [8, 10]], 1: [[1, 3, 5], [7, 9]]}


def test_examples_of_a_bucket_are_filled_up_to_the_longest_and_some_are_left_out() -> None:
    def build() -> Any:
        number = examples(8)
        row = tf.fill([number], number)
        return training.bucket_by_sequence_length(
            number, [row], 2, [3, 6], dynamic_pad=True, keep_input=tf.not_equal(number, 1), capacity=4
        )

    batches = sorted((lengths.tolist(), rows.tolist()) for lengths, (rows,) in all_batches(build))
    assert batches == [
        ([0, 2], [[0, 0], [2, 2]]),
        ([3, 4], [[3, 3, 3, 0], [4, 4, 4, 4]]),
        ([6, 7], [[6] * 6 + [0], [7] * 7]),
    ]


def test_sparse_tensors_go_through_buckets() -> None:
    def build() -> Any:
        number = examples(4)
        sparse = tf.SparseTensor([[0, 1]], tf.expand_dims(number, 0), [1, 2])
        _, (plain, taken) = training.bucket([number, sparse], number % 2, 2, 2)
        return plain, tf.sparse_tensor_to_dense(taken)

    for plain, dense in all_batches(build):
        np.testing.assert_array_equal(dense[:, 0], [[0, n] for n in plain])


def test_queues_and_shapes_of_buckets_are_named_as_in_tensorflow() -> None:
    with tf.Graph().as_default() as graph:
        which, (taken,) = training.bucket_by_sequence_length(
            tf.constant(3), [tf.zeros([5])], 8, [2], shared_name="shared"
        )
        queues = {op.name: op.get_attr("shared_name") for op in graph.get_operations() if "FIFOQueueV2" in op.type}
        scope = "bucket_by_sequence_length/bucket"
        assert queues == {
            f"{scope}/bucket_queue_0": b"shared_0",
            f"{scope}/bucket_queue_1": b"shared_1",
            f"{scope}/top_queue": b"shared",
        }
        assert (which.shape.as_list(), taken.shape.as_list()) == ([8], [8, 5])
        assert taken.op.name == f"{scope}/dequeue_top"
        summaries: list[Any] = tf.get_collection(tf.GraphKeys.SUMMARIES)
        tags = [np.asarray(tf.get_static_value(item.op.inputs[0])).item() for item in summaries]
        assert f"{scope}/bucket/{scope}/top_queue/fraction_of_32_full".encode() in tags


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"bucket_boundaries": 3}, WrongTypeError, "list or tuple"),
        ({"bucket_boundaries": []}, InvalidArgumentError, "empty"),
        ({"bucket_boundaries": [1.5, 2]}, WrongTypeError, "integers"),
        ({"bucket_boundaries": [2, 2]}, InvalidArgumentError, "2 before 2"),
        ({"bucket_boundaries": [2], "batch_size": [1, 2, 3]}, InvalidArgumentError, "has 3, not 2"),
        ({"bucket_boundaries": [2], "bucket_capacities": [1]}, InvalidArgumentError, "exactly num_buckets"),
    ],
)
def test_wrong_buckets_are_refused(arguments: dict[str, Any], kind: type[Exception], said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(kind, match=said):
        training.bucket_by_sequence_length(1, [tf.zeros([2])], **{"batch_size": 2, **arguments})


# ---------------------------------------------------------------------------------------------------- Samples


def test_rejected_examples_do_not_come() -> None:
    def build() -> Any:
        numbers = range_queue(12).dequeue_many(3)
        return training.rejection_sample(
            [numbers, numbers * 2],
            lambda example: tf.cast(tf.equal(example[0] % 2, 0), tf.float32),
            batch_size=2,
            enqueue_many=True,
            runtime_checks=True,
        )

    batches = all_batches(build)
    assert [batch[0].tolist() for batch in batches] == [[0, 2], [4, 6], [8, 10]]
    assert [batch[1].tolist() for batch in batches] == [[0, 4], [8, 12], [16, 20]]


def test_a_probability_above_one_is_refused_when_it_is_run() -> None:
    def build() -> Any:
        two = tf.placeholder_with_default(2.0, [])
        return training.rejection_sample([examples(5)], lambda _: two, 2, runtime_checks=True)

    with pytest.raises(InvalidArgumentError, match="did not hold"):
        all_batches(build)


@pytest.mark.parametrize("initial", [None, [0.8, 0.1, 0.1]])
def test_classes_get_the_shares_that_are_wanted(initial: list[float] | None) -> None:
    target = [0.25, 0.75, 0.0]

    def build() -> Any:
        number = examples(100_000, epochs=None)
        label = tf.gather([0, 0, 0, 0, 0, 0, 0, 0, 1, 2], number % 10)
        return training.stratified_sample([tf.stack([number, number])], label, target, 50, initial)

    batches = all_batches(build, until=12)
    labels = np.concatenate([labels for _, labels in batches])
    shares = np.bincount(labels, minlength=3) / len(labels)
    # 600 examples: five standard deviations of a share are 0.09; estimates begin with equal shares.
    np.testing.assert_allclose(shares, target, atol=0.1)
    for (pairs,), _ in batches:
        np.testing.assert_array_equal(pairs[:, 0], pairs[:, 1])


def test_a_class_that_never_comes_can_have_no_share() -> None:
    def build() -> Any:
        return training.stratified_sample([examples(9)], tf.constant(0), [0.5, 0.5], 2, [1.0, 0.0])

    with pytest.raises(InvalidArgumentError, match="zero initial probability"):
        all_batches(build)


def test_labels_that_are_no_class_are_refused() -> None:
    def build() -> Any:
        return training.stratified_sample([examples(9)], examples(9), [0.5, 0.5], 2, [0.5, 0.5])

    with pytest.raises(InvalidArgumentError, match="did not hold"):
        all_batches(build)


def test_shares_that_do_not_fit_are_refused_at_once() -> None:
    sample = training.stratified_sample
    with tf.Graph().as_default():
        data, labels = tf.zeros([4, 2]), tf.zeros([4], tf.int32)
        with pytest.raises(InvalidArgumentError, match="same length: init_probs has 3, target_probs 2"):
            sample([data], labels, [0.5, 0.5], 2, [0.2, 0.3, 0.5], enqueue_many=True)
        with pytest.raises(InvalidArgumentError, match="has 3 examples"):
            sample([data[:3]], labels, [0.5, 0.5], 2, [0.5, 0.5], enqueue_many=True)
        with pytest.raises(InvalidArgumentError, match="one for each example"):
            sample([data], labels, [0.5, 0.5], 2, [0.5, 0.5])
    with tf.Graph().as_default():
        counts = sample([tf.zeros([2])], 1, [0.5, 0.5], 2)
        assert counts[1].shape.as_list() == [2]
        assert [variable.op.name for variable in tf.global_variables()] == ["stratified_sample/class_count"]


# ---------------------------------------------------------------------------------------------------- Resampling


def test_rows_come_as_often_as_their_rates_say() -> None:
    rates = np.array([0.0, 0.5, 3.0, 20.0], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        letters, numbers = training.resample_at_rate([["a", "b", "c", "d"], [0, 1, 2, 3]], rates, seed=1)
        runs = [session.run((letters, numbers)) for _ in range(300)]
    for texts, found in runs:
        assert list(texts) == [b"abcd"[number : number + 1] for number in found]
        assert found.tolist() == sorted(found)
    counts = np.bincount(np.concatenate([found for _, found in runs]), minlength=4) / len(runs)
    np.testing.assert_allclose(counts, rates, atol=5 * np.sqrt(20 / 300), rtol=0.15)
    assert counts[0] == 0


def test_weights_become_rates_by_an_average_over_the_runs() -> None:
    decay = 0.9
    weights = [np.array([1.0, 3.0], np.float32), np.array([8.0, 4.0], np.float32)]
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [2])
        (kept,), rates = training.weighted_resample([[0, 1]], given, 40.0, mean_decay=decay, seed=2)
        session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        runs = [session.run((kept, rates), {given: values}) for values in weights]
        assert [variable.op.name for variable in tf.local_variables()] == ["estimate_mean/estimated_mean"]
    biased = 0.0
    for step, (values, (numbers, found)) in enumerate(zip(weights, runs, strict=True), 1):
        biased = decay * biased + (1 - decay) * values.mean()
        mean = biased / (1 - decay**step)
        np.testing.assert_allclose(found, (values * 40.0 / mean)[numbers], rtol=1e-5)
        assert len(numbers) > 20
