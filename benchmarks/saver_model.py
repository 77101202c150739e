"""A model to save and restore, for whichever module builds it; also as a process that does so when it is told to."""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from pathlib import Path
from typing import Any

VARIABLES = 8
_MODULES = {"tensorflow": "tensorflow.compat.v1", "tensorkeep": "tensorkeep.v1"}


class Model:
    """Variables of some sizes in a session of their own, with a saver."""

    def __init__(self, tf: Any, count: int, elements: int, **options: Any) -> None:
        self.tf = tf
        self.graph = tf.Graph()
        with self.graph.as_default():
            zeros = tf.zeros_initializer()
            self.variables = [
                tf.get_variable(f"layer_{i}/kernel", [elements], initializer=zeros, use_resource=False)
                for i in range(count)
            ]
            self.initialize = tf.global_variables_initializer()
            self.step = [tf.assign_add(v, tf.ones([elements])) for v in self.variables] if count <= VARIABLES else []
            self.saver = tf.train.Saver(**options)
        self.session = tf.Session(graph=self.graph)
        self.session.run(self.initialize)

    def save(self, folder: Path, **options: Any) -> Any:
        with self.graph.as_default():
            return self.saver.save(self.session, str(folder / "m"), write_meta_graph=False, **options)

    def restore(self, path: Path) -> None:
        with self.graph.as_default():
            self.saver.restore(self.session, str(path / "m"))

    def restart(self) -> None:
        """A session in which no variable has a value."""
        self.session.close()
        self.session = self.tf.Session(graph=self.graph)


def _serve(name: str, folder: Path, count: int) -> None:
    """Reads "save" or "restore" line by line, does it, and prints the seconds it took."""
    tf = importlib.import_module(_MODULES[name])
    options = {}
    if name == "tensorkeep":
        options["durability"] = importlib.import_module("tensorkeep.io.files.filesystem").Durability.CACHE
    model = Model(tf, count, 4, **options)
    for line in sys.stdin:
        work = line.strip()
        if work == "save":
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        start = time.perf_counter()
        getattr(model, work)(folder)
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
