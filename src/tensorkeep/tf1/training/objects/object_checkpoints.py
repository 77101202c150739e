"""Object-based checkpoints: `tf.train.Checkpoint` for trees of variables and arrays.

    checkpoint = Checkpoint(model=model, optimizer=optimizer, step=step)
    path = checkpoint.save("run/ckpt", session)                  # run/ckpt-1, run/ckpt-2, ...
    checkpoint.restore(path).assert_consumed().run_restore_ops(session)

If there is no variable of a graph among the objects, but arrays only, no session is needed: they are written and filled
at once.
"""

from __future__ import annotations

import inspect
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.files import open_prefix
from tensorkeep.checkpoint.finding.state_file import write_checkpoint_state
from tensorkeep.checkpoint.objects.graph import reachable_objects
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, MissingFileError, UnimplementedError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import colocate_with, current_graph, device, init_scope, is_building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.runtime.session import Session
from tensorkeep.saving.save_order import begin_save
from tensorkeep.tf1.training.objects.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
)
from tensorkeep.tf1.training.objects.object_saver import ObjectSaver, Restoration, in_graph, save_arrays
from tensorkeep.tf1.training.objects.trackable import AutoTrackable, GraphView, is_trackable, tracked_value
from tensorkeep.tf1.variables.variable import Changed, Variable

LoadStatus = CheckpointLoadStatus | InitializationOnlyStatus | NameBasedSaverStatus

_COUNTER: Final = "save_counter"
_SAVED_MODEL_FILES: Final = ("saved_model.pb", "saved_model.pbtxt")


@dataclass
class CheckpointOptions:
    """How objects are saved and restored.

    Callbacks are called after a checkpoint was written, with its path if they take an argument. Asynchronous saving of
    graphs is not there in TensorFlow either: it is accepted, and saving is synchronous.
    """

    experimental_io_device: str | None = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: list[Callable[..., Any]] | None = None
    enable_async: bool = False
    experimental_skip_slot_variables: bool = False
    experimental_sharding_callback: object = None

    def __post_init__(self) -> None:
        if self.experimental_sharding_callback is not None:
            raise UnimplementedError("a sharding callback for objects; save arrays with ShardBySize or ShardByName")

    def call_back(self, path: str) -> None:
        """Tells whoever wanted to know that a checkpoint was written."""
        for callback in self.experimental_write_callbacks or ():
            count = len(inspect.signature(callback).parameters)
            if count > 1:
                raise UnimplementedError(
                    "Callback functions with multiple arguments not supported: one, the path, or none"
                )
            callback(*[path][:count])


class Checkpoint(AutoTrackable):
    """A group of objects that are saved and restored together.

    They are its attributes; with a `root`, they are that object's as well. Variables, arrays, optimizers, layers,
    other checkpoints, objects of an `AutoTrackable` class, and lists, tuples and dictionaries of all of these will do.
    """

    _tracks_arrays: ClassVar[bool] = True
    _saver: ObjectSaver
    _root: object
    _attached: dict[str, Any]
    _counter: Variable | Array | None
    _count_up: Changed | None

    def __init__(self, root: object = None, **kwargs: object) -> None:
        own_root = self if root is None else tracked_value(root)
        vars(self).update(_saver=ObjectSaver(), _root=own_root, _attached={}, _counter=None, _count_up=None)
        if root is not None:
            kwargs["root"] = self._root
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            self._check_trackable(name, getattr(self, name))
            if root is not None:
                self._attach(name, getattr(self, name))

    def _check_trackable(self, name: str, value: object) -> None:
        if not is_trackable(value, self._tracks_arrays):
            raise InvalidArgumentError(
                "`Checkpoint` was expecting a trackable object (an object derived from `Trackable`), got "
                f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python "
                f"API and manages state), please open an issue. It was given as {name!r}; variables, optimizers, "
                "layers, AutoTrackable objects and containers of them can be saved."
            )

    def _attach(self, name: str, value: object) -> None:
        existing = self._view(None).children(self._root).get(name)
        if existing is None:
            self._attached[name] = value
        elif existing is not value:
            raise InvalidArgumentError(
                f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
            )

    # ------------------------------------------------------------------------------------------------ save

    @property
    def save_counter(self) -> Variable | Array:
        """How many checkpoints were saved: an integer variable, or an array if there are arrays only."""
        return self._get_counter(self._find_graph(None))

    def save(
        self,
        file_prefix: PathLike,
        session: SessionLike | None = None,
        options: CheckpointOptions | None = None,
        *,
        fs: FileSystem = FILES,
    ) -> str:
        """Saves to the prefix with a number after it, makes that the latest of its folder, and returns its path."""
        prefix = path_text(file_prefix)
        folder = posixpath.dirname(prefix)
        files = self.files(session, fs)
        with begin_save(files, folder) as turn:
            number = self.count(session)
            path = self.write_to(f"{prefix}-{number}", session, options, fs)
            with files.locked(folder):
                if not turn.later():
                    write_checkpoint_state(folder or ".", path, [path], relative=True, fs=files)
                turn.path = path
        return path

    def write(
        self,
        file_prefix: PathLike,
        session: SessionLike | None = None,
        options: CheckpointOptions | None = None,
        *,
        fs: FileSystem = FILES,
    ) -> str:
        """Saves to just that prefix, without counting and without making it the latest."""
        return self.write_to(file_prefix, session, options, fs)

    def write_to(
        self, file_prefix: PathLike, session: SessionLike | None, options: CheckpointOptions | None, fs: FileSystem
    ) -> str:
        """What `write` does."""
        chosen = options or CheckpointOptions()
        prefix = path_text(file_prefix)
        graph = self._find_graph(session)
        if graph is None:
            path = save_arrays(self._root, self._view(None), prefix, fs)
        else:
            found = self.find_session(session)
            view = self._view(graph)
            path = self._saver.save(found, self._root, view, prefix, chosen.experimental_io_device)
        chosen.call_back(path)
        return path

    def count(self, session: SessionLike | None = None) -> int:
        """Adds one to the counter, and returns it."""
        graph = self._find_graph(session)
        if graph is None:
            array: Any = self._get_counter(None)
            array += 1
            return int(array)
        counter = self.initialized_counter(session)
        assert isinstance(counter, Variable)
        if self._count_up is None:
            with in_graph(graph), colocate_with(counter):
                vars(self)["_count_up"] = counter.assign_add(1, read_value=True)
        return int(self.find_session(session).run(self._count_up))

    def initialized_counter(self, session: SessionLike | None = None) -> Variable | Array:
        """The counter, which has a value."""
        is_new = self._counter is None
        counter = self._get_counter(self._find_graph(session))
        if is_new and isinstance(counter, Variable):
            self.find_session(session).run(counter.initializer)
        return counter

    def _get_counter(self, graph: Graph | None) -> Variable | Array:
        if self._counter is None:
            vars(self)["_counter"] = np.zeros((), np.int64) if graph is None else _counter_in(graph)
            if self._root is self:
                self._dependencies(self._tracks_arrays)[_COUNTER] = self._counter
            else:
                self._attached[_COUNTER] = self._counter
        assert self._counter is not None
        return self._counter

    # ------------------------------------------------------------------------------------------------ restore

    def read(
        self, save_path: PathLike | None, options: CheckpointOptions | None = None, *, fs: FileSystem = FILES
    ) -> LoadStatus:
        """Begins to restore a checkpoint that `write` wrote; without a path, to initialize."""
        chosen = options or CheckpointOptions()
        graph = self._find_graph(None)
        view = self._view(graph, slots=not chosen.experimental_skip_slot_variables)
        if save_path is None:
            return InitializationOnlyStatus(self._root, view, self.find_session)
        with open_prefix(path_text(save_path), ReadOptions(), fs) as reader:
            if OBJECT_GRAPH_KEY not in reader:
                return NameBasedSaverStatus(self._root, view, reader.path, self.find_session, fs)
            if graph is not None:
                with in_graph(graph):
                    self._saver.prefix_feed()
            restoration = Restoration(self._saver, self._root, view, reader, fs)
        restoration.extend()
        return CheckpointLoadStatus(restoration, view, self.find_session)

    def restore(
        self, save_path: PathLike | None, options: CheckpointOptions | None = None, *, fs: FileSystem = FILES
    ) -> LoadStatus:
        """Begins to restore a checkpoint that `save` wrote, or a Saver, or the variables of a SavedModel.

        Arrays are filled at once; variables when the status that it returns is told to run the restoring operations.
        Objects that are made in between are restored too.
        """
        return self.restore_from(save_path, options, fs)

    def restore_from(self, save_path: PathLike | None, options: CheckpointOptions | None, fs: FileSystem) -> LoadStatus:
        """What `restore` does."""
        path = None if save_path is None else _variables_of(path_text(save_path), fs)
        try:
            status = self.read(path, options, fs=fs)
        except MissingFileError as error:
            raise MissingFileError(
                f"Error when restoring from checkpoint or SavedModel at {path}: {error}\nPlease double-check that "
                "the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1')."
            ) from None
        counter = self._get_counter(self._find_graph(None))
        if isinstance(status, NameBasedSaverStatus):
            status.add_to_optionally_restored(counter)
        elif isinstance(status, CheckpointLoadStatus):
            status.extend()
        return status

    # ------------------------------------------------------------------------------------------------ where

    def _view(self, graph: Graph | None, slots: bool = True) -> GraphView:
        return GraphView(self._root, graph, self._attached, arrays=self._tracks_arrays, slots=slots)

    def _find_graph(self, session: SessionLike | None) -> Graph | None:
        """The graph of the objects; None if there are only arrays."""
        if session is not None:
            return session.graph
        view = self._view(current_graph() if is_building() else None)
        objects: Sequence[Any] = reachable_objects(self._root, view)[0]
        for item in objects:
            if isinstance(item, Variable):
                return item.graph
        return None if self._tracks_arrays else current_graph()

    def find_session(self, session: SessionLike | None = None) -> Session:
        """The session given. There is no other here, but there may be one where there are sessions in force."""
        if session is None:
            raise FailedPreconditionError(
                "Unable to save or restore variables of a graph without a session: give `session`"
            )
        return cast(Session, session)  # what is around one is taken off by who knows of it

    def files(self, session: SessionLike | None = None, fs: FileSystem = FILES) -> FileSystem:
        """Where checkpoints go: the session's files if there is a graph, else those given."""
        if self._find_graph(session) is None:
            return fs
        return self.find_session(session).surroundings.filesystem


def _counter_in(graph: Graph) -> Variable:
    with in_graph(graph), device("/cpu:0"), init_scope():
        return Variable(0, name=_COUNTER, dtype="int64", trainable=False, use_resource=True)


def _variables_of(path: str, fs: FileSystem) -> str:
    """The checkpoint that a path leads to: of a SavedModel's folder, that of its variables."""
    if fs.is_directory(path) and any(fs.exists(posixpath.join(path, name)) for name in _SAVED_MODEL_FILES):
        return posixpath.join(path, "variables", "variables")
    return path
