"""What all parts of a loaded model share: its files, its functions, what they may do, and runs of arrays of any shapes.

Servers must take arrays of any shapes, whatever a model says of its inputs. What is compiled for the shapes that a
graph speaks of is faster, and wrong for others. So there are two of it: the one that trusts the graph is for arrays
that have these shapes; the other one is made when the first comes that has not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Final

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.arguments import Fetches
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.messages import AssetFileDef, MetaGraphDef
from tensorkeep.runtime.limits import NO_LIMITS, Limits
from tensorkeep.runtime.partitions.engines import Engine, Split
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session import Session, fits_shape
from tensorkeep.saved_model.files.layout import asset_path, variables_path
from tensorkeep.saved_model.load.function_library import FunctionLibrary
from tensorkeep.saved_model.load.permissions import Permissions
from tensorkeep.saved_model.load.signature import Run

_CLOSED: Final = "the model is closed"


@dataclass
class ModelSurroundings:
    """A model's meta graph and directory, and the sessions opened for it."""

    meta_graph: MetaGraphDef
    directory: str
    fs: FileSystem
    permissions: Permissions
    library: FunctionLibrary
    variables: CheckpointReader | None = None
    """The stored variables, as they were opened when the model was loaded; None if it has none."""
    limits: Limits = NO_LIMITS
    mapped: bool = False
    """Whether values of variables are views of the stored ones, as long as nobody assigns others."""
    engine: Engine | None = None
    """What runs parts of it in the place of our kernels."""
    resources: ResourceManager = field(default_factory=ResourceManager)
    lock: RLock = field(default_factory=RLock)
    is_closed: bool = False
    _sessions: list[Session] = field(default_factory=list)

    @property
    def variables_prefix(self) -> str:
        return variables_path(self.directory)

    def asset_path(self, asset: AssetFileDef) -> str:
        """Where the file of an asset is."""
        return asset_path(self.directory, asset.filename)

    def open_session(self, graph: Graph, resources: ResourceManager | None, *, trusts_shapes: bool = True) -> Session:
        """A session with a graph of the model, which may do what the model may; without resources, with its own."""
        self.require_open()
        session = self.session_in(self.directory, graph, resources, trusts_shapes=trusts_shapes)
        self._sessions.append(session)
        return session

    def session_in(
        self, directory: str, graph: Graph, resources: ResourceManager | None, *, trusts_shapes: bool = True
    ) -> Session:
        """A session with a graph of the model that reads the files of one directory. The caller closes it."""
        return Session(
            graph,
            resources=resources,
            filesystem=self.permissions.files(self.fs, directory),
            write_line=self.permissions.write_line,
            allowed=self.permissions.in_sessions,
            files_of=self.permissions.files_of(self.fs, directory),
            limits=self.limits,
            trusts_shapes=trusts_shapes,
            engine=self.engine,
        )

    @property
    def splits(self) -> list[dict[str, Split]]:
        """Of each session, which parts of what it has compiled the engine runs."""
        return [session.splits for session in self._sessions]

    def reader(self) -> CheckpointReader | None:
        """The stored variables; None if the model has none. Stays open as long as the model."""
        self.require_open()
        return self.variables

    def require_open(self) -> None:
        if self.is_closed:
            raise FailedPreconditionError(f'{_CLOSED}: "{self.directory}". Load it again')

    def close(self) -> None:
        with self.lock:
            self.is_closed = True
            for session in self._sessions:
                session.close()
            self._sessions.clear()
            self.resources.clear()
            if self.variables is not None:
                self.variables.close()


def run_of_any_shapes(
    fetches: Fetches,
    feeds: Sequence[Tensor],
    session: Session,
    open_doubting: Callable[[], Session],
    captured: Sequence[Any] = (),
) -> Run:
    """What computes `fetches` from arrays for `feeds`, of their types, which are not checked, and of any shapes.

    `open_doubting` gives a session of the same graph and resources that does not trust its shapes. The last of `feeds`
    are always given the values of `captured`.
    """
    checked = [(tensor.dtype.base_dtype, tensor.static_shape) for tensor in feeds]
    dims = [shape.dims for _, shape in checked[: len(feeds) - len(captured)]]
    trusting = session.make_callable(fetches, feeds, checked=checked, compiles=True, captured=captured)
    doubting: Callable[..., Any] | None = None

    def run(arrays: Sequence[Any]) -> Any:
        nonlocal doubting
        for array, known in zip(arrays, dims, strict=True):
            if known is not None and not fits_shape(array.shape, known):
                break
        else:
            return trusting(*arrays, *captured)
        if doubting is None:
            doubting = open_doubting().make_callable(fetches, feeds)
        return doubting(*arrays, *captured)

    return run
