"""Servers of one task, and the optimizer for several replicas, of which there is one."""

from __future__ import annotations

import numpy as np
import pytest

import tensorkeep.v1 as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def test_a_session_of_a_server_has_the_devices_of_its_task() -> None:
    server = tf.train.Server({"worker": ["localhost:2222"]}, job_name="worker", task_index=0)
    assert server.target == "grpc://localhost:2222"
    with tf.device("/job:worker/task:0/cpu:0"):
        x = tf.constant(2.0)
    with tf.Session(server.target) as session:
        assert session.run(x) == 2.0
        assert [device.name for device in session.list_devices()] == ["/job:worker/replica:0/task:0/device:CPU:0"]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="assign a device"):
        session.run(x)


def test_a_monitored_session_takes_the_target_of_a_server() -> None:
    server = tf.train.Server(tf.train.ClusterSpec({"worker": {0: "a:1"}}))
    counted = tf.train.get_or_create_global_step().assign_add(1)
    with tf.train.MonitoredTrainingSession(master=server.target) as session:
        assert session.run(counted) == 1


def test_what_needs_other_processes_is_refused() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=r"the cluster has 3 tasks.*tensorkeep\.cluster"):
        tf.train.Server({"ps": ["a:1"], "worker": ["b:1", "c:1"]}, "worker", 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not 1 of 'worker'"):
        tf.train.Server({"worker": ["a:1"]}, "worker", 1)
    with pytest.raises(tf.errors.FailedPreconditionError, match="nobody to wait for"):
        tf.train.Server.create_local_server().join()
    with pytest.raises(tf.errors.UnimplementedError, match="2 of 2 replicas"):
        tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="there is no target"):
        tf.Session("grpc://elsewhere:1")


def test_one_replica_trains_as_its_optimizer_does() -> None:
    weight = tf.Variable(1.0)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 1, total_num_replicas=1)
    with pytest.raises(tf.errors.FailedPreconditionError, match="after apply_gradients"):
        optimizer.get_init_tokens_op()
    with pytest.raises(ValueError, match="before using the hook"):
        optimizer.make_session_run_hook(True).begin()
    train = optimizer.minimize(weight * weight, global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True)
    assert hook._sync_optimizer is optimizer
    assert optimizer.get_slot_names() == ["momentum"]
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        session.run(train)
        assert np.allclose(session.run([weight, step]), [0.8, 1])
