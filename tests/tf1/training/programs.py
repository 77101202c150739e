"""What training tests share: a model that counts, and a saver that keeps its checkpoints in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.checkpoint.finding.state_file import write_checkpoint_state
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.tf1.variables.global_step import get_or_create_global_step
from tensorkeep.tf1.variables.listing import global_variables


class MemorySaver:
    """A saver as training loops use one: the values of all variables by path, and a state file."""

    saver_def = None

    def __init__(self, graph: Graph, fs: FileSystem) -> None:
        self._graph = graph
        self._fs = fs
        self.checkpoints: dict[str, dict[str, Any]] = {}
        self.recovered: list[str] = []

    def build(self) -> None: ...

    def save(self, sess: Any, save_path: str, global_step: Any = None, write_meta_graph: bool = True) -> str:
        step = int(sess.run(global_step)) if hasattr(global_step, "op") else global_step
        path = save_path if step is None else f"{save_path}-{step}"
        with building(self._graph):
            self.checkpoints[path] = {v.op.name: sess.run(v) for v in global_variables()}
        folder = save_path.rpartition("/")[0]
        self._fs.make_directory(folder)
        write_checkpoint_state(folder, path, list(self.checkpoints), fs=self._fs)
        return path

    def restore(self, sess: Any, save_path: str) -> None:
        values: Mapping[str, Any] = self.checkpoints[save_path]
        with building(self._graph):
            for variable in global_variables():
                variable.load(values[variable.op.name], sess)

    def recover_last_checkpoints(self, paths: Sequence[str]) -> None:
        self.recovered = list(paths)


class Counting:
    """A graph whose only variable is the global step, an operation that counts it up, and a saver."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.fs = MemoryFileSystem()
        with building(self.graph):
            self.step = get_or_create_global_step()
            self.count: Operation = self.step.assign_add(1)
        self.saver = MemorySaver(self.graph, self.fs)
