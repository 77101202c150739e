from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building, device
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.training.loops.device_setter import ClusterSpec, replica_device_setter
from tensorkeep.tf1.variables.creation import create_variable


def test_variables_go_to_the_servers_in_turn_and_all_else_to_a_worker():
    graph = Graph()
    with building(graph), device(replica_device_setter(ps_tasks=2)):
        made = [create_variable(initial_value=[1.0], name=name) for name in "abc"]
    assert [item.device for item in made] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert graph.operation("a/initial_value").device == "/job:worker"


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
