"""What training loops ask of the sessions, savers and writers that they are given, as protocols.

The core's classes and those of the facade both fit; so does a class of a program's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tensorkeep.graph.arguments import Fetches, SessionLike
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import MetaGraphDef, SaverDef, SessionLog, Summary
from tensorkeep.tf1.variables.global_step import Step

if TYPE_CHECKING:
    from tensorkeep.proto.session_config import ConfigProto, RunMetadata, RunOptions

Config: TypeAlias = "ConfigProto | None"
Options: TypeAlias = "RunOptions | None"
Metadata: TypeAlias = "RunMetadata | None"


class TrainingSession(SessionLike, Protocol):
    """A session that runs operations until it is closed."""

    def make_callable(self, fetches: Fetches, /) -> Callable[..., Any]: ...

    def close(self) -> None: ...


class GraphSaver(Protocol):
    """What saves and restores the variables of a session: `tf.train.Saver`."""

    saver_def: SaverDef | None

    def build(self) -> None: ...

    def save(
        self,
        sess: TrainingSession,
        save_path: str,
        global_step: int | Step | None = None,
        *,
        write_meta_graph: bool = True,
        metrics: Mapping[str, float] | None = None,
    ) -> object: ...

    def incremental_save(self, sess: TrainingSession, save_path: str, global_step: int | None = None) -> str: ...

    def restore(self, sess: TrainingSession, save_path: PathLike) -> object: ...

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None: ...

    def recover_incr_checkpoints(self, sess: TrainingSession, checkpoint_dir: PathLike) -> None: ...


class SummaryWriter(Protocol):
    """What takes the reports of training: `tf.summary.FileWriter`."""

    def add_summary(self, summary: Summary | bytes, global_step: int | None = None) -> None: ...

    def add_session_log(self, session_log: SessionLog, global_step: int | None = None) -> None: ...

    def add_graph(self, graph: Graph) -> None: ...

    def add_meta_graph(self, meta_graph_def: MetaGraphDef) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def reopen(self) -> None: ...
