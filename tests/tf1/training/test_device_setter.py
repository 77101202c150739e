from __future__ import annotations

from hashlib import md5

import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building, device
from tensorkeep.graph.graph import Graph
from tensorkeep.proto.session_config import ClusterDef
from tensorkeep.tf1.training.loops.device_setter import (
    ClusterSpec,
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
    replica_device_setter,
)
from tensorkeep.tf1.variables.creation import create_variable


def test_variables_go_to_the_servers_in_turn_and_all_else_to_a_worker():
    graph = Graph()
    with building(graph), device(replica_device_setter(ps_tasks=2)):
        made = [create_variable(initial_value=[1.0], name=name) for name in "abc"]
    assert [item.device for item in made] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert graph.operation("a/initial_value").device == "/job:worker"


def test_variables_go_to_the_server_that_has_the_least():
    sizes = {"a": 4, "b": 1, "c": 1, "d": 1}
    with (
        building(Graph()),
        device(replica_device_setter(ps_tasks=2, ps_strategy=GreedyLoadBalancingStrategy(2, byte_size_load_fn))),
    ):
        made = [create_variable(initial_value=[1.0] * size, name=name) for name, size in sizes.items()]
    assert [item.device[-1] for item in made] == ["0", "1", "1", "1"]


def test_variables_go_to_servers_by_their_names():
    with building(Graph()), device(replica_device_setter(ps_tasks=3, ps_strategy=RandomStrategy(3, seed=1))):
        made = [create_variable(initial_value=[1.0], name=name) for name in "abcd"]
    # the remainder by three of the MD5 of a_1, b_1 and so on, as TensorFlow 1.15 places them
    assert [item.device[-1] for item in made] == [str(int(md5(f"{n}_1".encode()).hexdigest(), 16) % 3) for n in "abcd"]


def test_a_cluster_is_a_message_and_back():
    cluster = ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "d:4"}})
    message = cluster.as_cluster_def()
    assert isinstance(message, ClusterDef)
    assert {job.name: dict(job.tasks) for job in message.job} == {"ps": {3: "d:4"}, "worker": {0: "a:1", 1: "b:2"}}
    assert ClusterSpec(message) == cluster


def test_without_servers_there_is_nothing_to_set():
    assert replica_device_setter() is None
    assert replica_device_setter(cluster={"worker": ["a:1"]}) is None


def test_a_cluster_knows_its_tasks():
    cluster = ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "d:4", 0: "c:3"}})
    assert cluster.jobs == ["worker", "ps"]
    assert cluster.as_dict() == {"worker": ["a:1", "b:2"], "ps": {0: "c:3", 3: "d:4"}}
    assert cluster.job_tasks("ps") == ["c:3", None, None, "d:4"]
    assert (cluster.num_tasks("ps"), cluster.task_indices("ps"), cluster.task_address("ps", 3)) == (2, [0, 3], "d:4")
    assert cluster == ClusterSpec(cluster)
    assert repr(cluster) == "ClusterSpec({'ps': {0: 'c:3', 3: 'd:4'}, 'worker': ['a:1', 'b:2']})"
    with pytest.raises(InvalidArgumentError, match="No such job in cluster: 'chief'"):
        cluster.num_tasks("chief")
    with pytest.raises(InvalidArgumentError, match="No task with index 1 in job 'ps'"):
        cluster.task_address("ps", 1)


@pytest.mark.parametrize("cluster", ["a:1", {"ps": "a:1"}, 3])
def test_what_is_no_cluster_is_refused(cluster):
    with pytest.raises(WrongTypeError):
        ClusterSpec(cluster)
