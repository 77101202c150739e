"""Training by several processes comes to what one process comes to, whatever dies on the way."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep import cluster
from tensorkeep import v1 as tf
from tensorkeep.cluster.training.servers import TrainingServer, begin_run
from tensorkeep.cluster.training.workers import TrainingWorker
from tests.cluster.crafting import assert_same_tensors, random_batches, two_tower_program


def options(folder: str, name: str, **changes: Any) -> cluster.TrainingOptions:
    return cluster.TrainingOptions(f"{folder}/{name}", **{"workers": 2, "save_every": 4, **changes})


def serial(folder: str, batches: Any, name: str = "serial", **changes: Any) -> cluster.Trained:
    program = two_tower_program(f"{folder}/{name}-home", in_process=True, partitions=2)
    return cluster.train_serially(program, batches, options(folder, name, **changes))


def test_two_workers_at_a_barrier_come_to_what_one_program_with_whole_batches_comes_to(folder: str) -> None:
    batches = random_batches(12)
    trained = serial(folder, batches)
    graph = tf.Graph()
    with graph.as_default():
        program = two_tower_program(f"{folder}/plain", in_process=True, partitions=1)()
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            for first, second in zip(batches[::2], batches[1::2], strict=True):
                feeds = {tensor: np.concatenate([first[name], second[name]]) for name, tensor in program.inputs.items()}
                session.run(program.train_op, feeds)
            [weights] = [
                session.run(variable.read_value()) for _, variable in program.gradients if variable.op.name == "weights"
            ]
    with tk.open_checkpoint(trained.checkpoint) as reader:
        np.testing.assert_allclose(reader.read("weights"), weights, rtol=1e-5)
        assert reader.read("global_step") == trained.steps == 6


def test_a_training_that_was_ended_goes_on_from_its_last_checkpoint(folder: str) -> None:
    batches = random_batches(16)
    whole = serial(folder, batches)
    serial(folder, batches[:8], "ended")
    again = serial(folder, batches, "ended")
    assert again.steps == whole.steps
    assert_same_tensors(whole.checkpoint, again.checkpoint)


def test_a_run_that_another_has_taken_over_from_saves_nothing(folder: str) -> None:
    batches = random_batches(8)
    chosen = options(folder, "shared", save_every=2, workers=1)
    program = two_tower_program(f"{folder}/home", in_process=True)
    first = TrainingServer(program, chosen, begin_run(chosen))
    worker = TrainingWorker(program, first, 0, 1)
    epoch = first.begin(0).epoch
    assert first.push(epoch, 0, 0, worker.gradients(batches[0]))
    begin_run(chosen)
    with pytest.raises(tk.FailedPreconditionError, match="taken"):
        first.push(epoch, 0, 1, worker.gradients(batches[1]))
    assert tk.latest_checkpoint(f"{folder}/shared") == f"{folder}/shared/model-0"
    assert not any("parts" in name for name in tk.LocalFileSystem().list(f"{folder}/shared"))


def test_only_the_newest_checkpoints_are_kept(folder: str) -> None:
    serial(folder, random_batches(24), keep=2)
    indexes = [name for name in tk.LocalFileSystem().list(f"{folder}/serial") if name.endswith(".index")]
    assert sorted(indexes) == ["model-12.index", "model-8.index"]


def test_programs_that_need_a_batch_to_update_are_refused(folder: str) -> None:
    def program() -> cluster.TrainingProgram:
        given = tf.placeholder(tf.float32, [2], name="given")
        weights = tf.get_variable("weights", [2], initializer=tf.constant_initializer(1.0))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        gradients = optimizer.compute_gradients(tf.reduce_sum(weights * given))
        train = optimizer.apply_gradients([(gradient * given, variable) for gradient, variable in gradients])
        return cluster.TrainingProgram({"given": given}, gradients, train)

    with pytest.raises(tk.InvalidArgumentError, match="need given besides gradients"):
        cluster.train_serially(program, [], options(folder, "refused"))


def test_wrong_options_and_batches_are_refused(folder: str) -> None:
    with pytest.raises(tk.InvalidArgumentError, match="mode"):
        cluster.TrainingOptions(folder, mode="sometimes")  # type: ignore[arg-type]
    with pytest.raises(tk.InvalidArgumentError, match="workers"):
        cluster.TrainingOptions(folder, workers=0)
    with pytest.raises(tk.WrongTypeError, match="several times"):
        serial(folder, iter(random_batches(2)))
    with pytest.raises(tk.InvalidArgumentError, match="no labels"):
        serial(folder, [{"ids": np.arange(3)}], "labels")


def test_a_placement_and_a_partitioner_exclude_each_other(folder: str) -> None:
    with tf.Graph().as_default(), pytest.raises(tk.InvalidArgumentError, match="partitioner"):
        tf.get_embedding_variable(
            "user",
            4,
            placement=cluster.TablesOnRay(folder, in_process=True),
            partitioner=tf.fixed_size_partitioner(2),
        )


def test_a_saver_saves_and_restores_a_placed_table(folder: str) -> None:
    batches = random_batches(3)
    with tf.Graph().as_default():
        program = two_tower_program(f"{folder}/home", in_process=True)()
        saver = tf.train.Saver(sharded=True)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for batch in batches:
                session.run(program.train_op, {program.inputs[name]: value for name, value in batch.items()})
            path = saver.save(session, f"{folder}/model")
    with tf.Graph().as_default():
        program = two_tower_program(f"{folder}/other", in_process=True, partitions=3)()
        saver = tf.train.Saver(sharded=True)
        with tf.Session() as session:
            saver.restore(session, path)
            again = saver.save(session, f"{folder}/again")
    assert_same_tensors(path, again)


# ---------------------------------------------------------------------------------------------------- On Ray


@pytest.mark.slow
def test_workers_on_a_cluster_come_to_the_same_bytes(ray_cluster: Any, folder: str) -> None:
    batches = random_batches(16)
    expected = serial(folder, batches)
    program = two_tower_program(f"{folder}/home", partitions=2)
    found = cluster.train(program, batches, options(folder, "ray"), processors=0.3)
    assert (found.steps, found.losses) == (expected.steps, {})
    assert_same_tensors(expected.checkpoint, found.checkpoint)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 6))])
def test_whatever_dies_at_random_moments_the_tables_are_those_of_a_serial_run(
    ray_cluster: Any, folder: str, seed: int
) -> None:
    batches = random_batches(60)
    expected = serial(folder, batches, save_every=3)
    program = two_tower_program(f"{folder}/home", partitions=2)
    chosen = options(folder, "ray", save_every=3)
    random = np.random.default_rng(seed)
    with cluster.Training(program, batches, chosen, processors=0.3) as training:
        server = cluster.training.running.RemoteServer(training.server)
        for victim in random.permutation(["part", "worker", "server", "part"]):
            _wait_for_steps(ray_cluster, server, int(random.integers(1, 4)))
            if victim == "part":
                name = f"table user {random.integers(2)}"
                ray_cluster.kill(ray_cluster.get_actor(name, "tensorkeep"), no_restart=False)
            elif victim == "worker":
                ray_cluster.kill(training.workers[random.integers(2)], no_restart=False)
            else:
                ray_cluster.kill(training.server, no_restart=False)
        found = training.wait()
    assert found.steps == expected.steps
    assert_same_tensors(expected.checkpoint, found.checkpoint)


def _wait_for_steps(ray: Any, server: Any, count: int) -> None:
    """Waits until a training has gone on by some steps, or is over, or something is on its way back."""
    from tensorkeep.cluster.training.workers import ServerLost

    try:
        first = server.ask("steps")
        while not server.ask("is_done") and first <= server.ask("steps") < first + count:
            time.sleep(0.02)  # asking without a pause takes the processors from those who are waited for
    except ServerLost:
        return


@pytest.mark.slow
def test_asynchronous_workers_apply_every_batch_once(ray_cluster: Any, folder: str) -> None:
    """Sums of whole numbers do not depend on their order: so the result is known, though the order is not."""

    def program() -> cluster.TrainingProgram:
        placement = cluster.TablesOnRay(f"{folder}/home", partitions=2, processors=0.1)
        ids = tf.placeholder(tf.int64, [None], name="ids")
        table = tf.get_embedding_variable("count", 1, initializer=tf.zeros_initializer(), placement=placement)
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids)) + total
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        gradients = optimizer.compute_gradients(loss)
        train = optimizer.apply_gradients(gradients, tf.train.get_or_create_global_step())
        return cluster.TrainingProgram({"ids": ids}, gradients, train)

    batches = [{"ids": batch["ids"]} for batch in random_batches(20)]
    chosen = options(folder, "ray", mode="asynchronous")
    with cluster.Training(program, batches, chosen, processors=0.3) as training:
        server = cluster.training.running.RemoteServer(training.server)
        _wait_for_steps(ray_cluster, server, 2)
        ray_cluster.kill(training.workers[0], no_restart=False)
        found = training.wait()
    occurred = np.bincount(np.concatenate([batch["ids"] for batch in batches]), minlength=60)
    table = tk.EmbeddingTable(1)
    with tk.open_checkpoint(found.checkpoint) as reader:
        assert reader.read("total") == -20
        tk.embedding.restore_table(table, reader, "count")
    np.testing.assert_array_equal(table.lookup(np.arange(60))[:, 0], -occurred)
