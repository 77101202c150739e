"""A server's models without models, threads or time: versions are folders in memory, loads end when the test says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import Durability, atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.proto.text import parse_configuration
from tensorkeep.serving.life.options import LifeOptions, ModelExtras
from tensorkeep.serving.life.served_models import ServedModels
from tensorkeep.serving.models import ModelAsked, State


class FakeServable:
    """Something that can be closed, once."""

    runner = None

    def __init__(self, name: str, version: int) -> None:
        self.name = name
        self.version = version
        self.is_closed = False

    def close(self) -> None:
        assert not self.is_closed, f"{self.name} {self.version} is closed twice"
        self.is_closed = True


class World:
    """A file system, a clock, a loader that does as it is told, and the models of a server over them."""

    def __init__(self, options: LifeOptions | None = None, **more: Any) -> None:
        self.fs = MemoryFileSystem()
        self.now = 0.0
        self.jobs: list[Callable[[], None]] = []
        self.runs_at_once = False
        self.loaded: list[FakeServable] = []
        self.tries: list[tuple[str, int]] = []
        self.broken: dict[tuple[str, int], Exception] = {}
        self.while_loading: Callable[[], None] = lambda: None
        self.models = ServedModels(
            self._load,
            options or LifeOptions(),
            fs=self.fs,
            clock=lambda: self.now,
            run=self._run,
            collect=lambda: None,
            **more,
        )
        self.told: list[tuple[str, int, State]] = []
        self.models.on_change(lambda name, status: self.told.append((name, status.version, status.state)))

    def _load(self, name: str, version: int, path: str, extras: ModelExtras) -> Any:
        self.tries.append((name, version))
        self.while_loading()
        if (name, version) in self.broken:
            raise self.broken[name, version]
        if not self.fs.exists(f"{path}/saved_model.pb"):
            raise DataLossError(f"{path} is not complete")
        made = FakeServable(name, version)
        self.loaded.append(made)
        return made

    def _run(self, job: Callable[[], None]) -> None:
        if self.runs_at_once:
            job()
        else:
            self.jobs.append(job)

    # What happens outside

    def put(self, path: str, data: bytes = b"model") -> None:
        folder = path.rpartition("/")[0]
        self.fs.make_directory(folder)
        atomic_write(self.fs, path, data, Durability.CACHE)

    def version(self, name: str, version: int | str) -> None:
        """A whole version appears."""
        self.put(f"/models/{name}/{version}/saved_model.pb")

    def base(self, name: str) -> None:
        self.fs.make_directory(f"/models/{name}")

    def vanish(self, name: str, version: int | str) -> None:
        folder = f"/models/{name}/{version}"
        for path in [path for path in self.fs.contents() if path.startswith(f"{folder}/")]:
            self.fs.delete(path)
        self.fs.remove_directory(folder)

    def configure(self, *names: str, more: str = "") -> list[str]:
        return self.models.configure(config(*names, more=more))

    # What the server does

    def tick(self, seconds: float = 1.0, *, finish: bool = True) -> None:
        """Time passes, and what is due is done; what was begun is finished, unless said."""
        self.now += seconds
        self.models.tick(self.now)
        if finish:
            self.finish()

    def finish(self) -> None:
        """All that was begun ends, and what follows from it as well."""
        while self.jobs:
            self.jobs.pop(0)()
            self.models.tick(self.now)

    # What can be seen

    def states(self, name: str) -> dict[int, State]:
        try:
            return {status.version: status.state for status in self.models.statuses(ModelAsked(name))}
        except LookupError:
            return {}

    def answers(self, name: str, version: int | None = None, label: str | None = None) -> int:
        with self.models.hold(ModelAsked(name, version, label)) as servable:
            return servable.version


def config(*names: str, more: str = "") -> ModelServerConfig:
    """The configuration of models of these names; `more` is said of each."""
    models = "".join(
        f'config {{ name: "{name}" base_path: "/models/{name}" model_platform: "tensorflow" {more} }}\n'
        for name in names
    )
    return parse_configuration(ModelServerConfig, f"model_config_list {{ {models} }}".encode())
