"""Savers: variables of a session to checkpoints and back, by the graph's own operations.

A save is a snapshot, then files, in this order: the checkpoint, the graph beside it, the state file, which makes it
the latest, and only then what is to be deleted. Whenever that is interrupted, the state file names a whole checkpoint.

A restore looks first: whether the checkpoint has everything, of the right types and shapes. If not, nothing is changed,
and one error says all that is wrong. See `tensorkeep.checkpoint.restore.planning` for what may be done about it.
"""

from __future__ import annotations

import logging
import posixpath
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from threading import RLock
from typing import Final

from tensorkeep.checkpoint.background import Background, SaveHandle
from tensorkeep.checkpoint.finding.file_names import index_path, meta_path
from tensorkeep.checkpoint.finding.files import checkpoint_exists, checkpoint_modified, what_else_is_there
from tensorkeep.checkpoint.finding.state_file import STATE_FILE, write_checkpoint_state
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.wanted_tensors import OnMismatch, Policy, policy_of
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.embedding.stored.leftovers import remove_parts_of
from tensorkeep.embedding.stored.record_files import remove_checkpoint_with_records
from tensorkeep.embedding.stored.record_writing import make_way_for_records
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError, WrongTypeError
from tensorkeep.graph.building import operation_of
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text, prepare_directory
from tensorkeep.io.machine.resources import collector_paused
from tensorkeep.metagraph.exporting import ExportedGraph, GraphExports
from tensorkeep.metagraph.files import write_debug_info
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess
from tensorkeep.proto.messages import SaverDef
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session import Session
from tensorkeep.saving.folder import CheckpointFolder
from tensorkeep.saving.restore_nodes import RestoreNodes, all_before
from tensorkeep.saving.retention import History, KeepRecent, Record, RetentionPolicy, checked_metrics, checked_policy
from tensorkeep.saving.save_order import SaveTurn, begin_save, do_alone
from tensorkeep.saving.session_restoring import restore_variables

LOG: Final = logging.getLogger("tensorkeep")


_FIVE: Final = KeepRecent()
_HANDLE: Final = "KvVarHandleOp"


@dataclass(frozen=True)
class StepNaming:
    """How the step becomes part of a checkpoint's name."""

    digits: int = 0
    """Shorter numbers are filled up with zeros."""

    def prefix(self, path: str, step: int | None) -> str:
        return path if step is None else f"{path}-{step:0{self.digits}d}" if self.digits else f"{path}-{step}"


@dataclass(frozen=True)
class GraphFile:
    """The graph that is saved along with a checkpoint."""

    suffix: str = "meta"
    strip_default_attrs: bool = False
    debug_info: bool = False
    is_written: bool = True
    """If not, the suffix still says what is deleted along with a checkpoint."""


@dataclass(frozen=True)
class SaverOptions:
    """What a saver does besides saving."""

    retention: RetentionPolicy = _FIVE
    naming: StepNaming = StepNaming()
    relative_paths: bool = False
    """Whether the state file names checkpoints relative to its own folder even if they are given by absolute paths."""
    durability: Durability = Durability.DISK
    clock: Callable[[], float] = time.time


class Saver:
    """Saves and restores what the operations that a SaverDef names save and restore."""

    def __init__(self, graph: Graph, saver_def: SaverDef, options: SaverOptions = SaverOptions()) -> None:
        checked_policy(options.retention)
        self.saver_def = saver_def
        self.options = options
        self.graph = graph
        """The graph that it was made for. A session may be of another one that has operations of the same names."""
        self._history: History = options.retention.start(options.clock())
        self._folders: dict[tuple[str, str, str], CheckpointFolder] = {}
        self._background = Background()
        self._nodes: tuple[Graph, RestoreNodes] | None = None
        self._saved: tuple[Graph, SavedEmbeddings] | None = None
        self._exports = GraphExports()
        self.turn: Final = RLock()
        """Held while a save is asked for: threads that share a saver save one after the other, in that order."""

    # ------------------------------------------------------------------------------------------------ save

    def save(
        self,
        session: Session,
        path: PathLike,
        *,
        step: int | None = None,
        state_file: str | None = STATE_FILE,
        graph_file: GraphFile = GraphFile(),
        metrics: Mapping[str, float] | None = None,
        wait: bool = True,
    ) -> str | SaveHandle:
        """Saves to `path`, with the step after it if there is one, and gives the prefix of the checkpoint.

        With `wait=False` it gives a handle as soon as the values are held fast; the rest happens in the background.
        A save that is under way is waited for first, whichever thread asked for it; if it failed in the background,
        and nobody was told, that is raised here. `metrics` are for retention by metrics. Rows of an SSD tier that are
        not in memory lie beside a new checkpoint, as with DeepRec; all rows are in one that is saved over another, and
        in one without a state file, such as that of a model.
        """
        measured = self._checked_metrics(metrics)
        with self.turn, ExitStack() as failing:
            text = path_text(path)
            prefix = self.options.naming.prefix(text, step)
            fs = session.surroundings.filesystem
            turn = begin_save(fs, posixpath.dirname(text), state_file or STATE_FILE)
            failing.callback(turn.end)
            self._background.wait()
            jobs: list[Callable[[], None]] = []
            with collector_paused():
                saved = self._run_save(session, prefix, jobs.append, may_leave_records=state_file is not None)
            if graph_file.is_written:
                exported = self._exports.get(session.graph, self.saver_def, graph_file.strip_default_attrs)
                jobs.append(partial(self._write_graph, exported, meta_path(prefix, graph_file.suffix), graph_file, fs))
            if state_file is not None:
                record = Record(saved, 0.0, step, measured)
                jobs.append(partial(self._record, text, record, state_file, graph_file.suffix, fs, turn))
            if wait:
                with collector_paused():
                    self._do(jobs, fs, prefix)
                return saved
            handle = SaveHandle(saved)
            self._background.start(handle, partial(self._do, jobs, fs, prefix, turn))
            failing.pop_all()
            return handle

    def _do(
        self, jobs: Sequence[Callable[[], None]], fs: FileSystem, prefix: str, turn: SaveTurn | None = None
    ) -> None:
        """Runs the jobs that are left after the snapshot, and ends the turn if one is given."""
        with turn or nullcontext():
            if self.saver_def.sharded:
                do_alone(jobs, fs, prefix, self.options.durability)
                return
            for job in jobs:
                job()

    def _checked_metrics(self, metrics: Mapping[str, float] | None) -> dict[str, float]:
        checked = checked_metrics(metrics)
        if checked and isinstance(self.options.retention, KeepRecent):
            raise InvalidArgumentError(
                "metrics have no effect on what `max_to_keep` keeps: give the saver a policy that looks at them, "
                f'such as retention=KeepLatest(5) | KeepBest("{next(iter(checked))}", 1)'
            )
        return checked

    def wait(self) -> None:
        """Waits for a save under way; what went wrong there is raised, unless somebody was told already."""
        self._background.wait()

    def _run_save(
        self, session: Session, prefix: str, submit: Callable[[Callable[[], None]], None], may_leave_records: bool
    ) -> str:
        """Takes the snapshot: what is to be written is handed to `submit`, what has to be out of its way first."""
        self._check_graph(session, self.saver_def.filename_tensor_name)
        tables = self._saved_embeddings(session.graph)
        tables.check(session.resources)
        fs = session.surroundings.filesystem
        if tables.stems:
            submit(partial(make_way_for_records, prefix, tables.stems, self.options.durability, fs=fs))
        if self.saver_def.sharded:
            submit(partial(remove_parts_of, prefix, fs))
        # A checkpoint and its records cannot be replaced in one step: one that is saved over another has all its rows.
        records = may_leave_records and not fs.exists(index_path(prefix))
        access = CheckpointAccess(self.options.durability, submit, records)
        feeds = {self.saver_def.filename_tensor_name: prefix}
        saved: bytes = session.run(self.saver_def.save_tensor_name, feeds, checkpoints=access)
        return saved.decode()

    def _saved_embeddings(self, graph: Graph) -> SavedEmbeddings:
        """The embedding variables that are saved, found in the session's graph, which may be another one with
        operations of the same names.
        """
        if self._saved is None or self._saved[0] is not graph:
            saving = operation_of(graph.element(self.saver_def.save_tensor_name))
            self._saved = graph, SavedEmbeddings.of(saving)
        return self._saved[1]

    def _check_graph(self, session: Session, name: str) -> None:
        if name.partition(":")[0] not in session.graph:
            raise WrongTypeError(
                f"'sess' must be a Session of the graph that the saver was made for; this one's has no \"{name}\". "
                "Make the saver while that graph is the default (`with graph.as_default():`), or the session with "
                "`Session(graph=graph)`"
            )

    def _write_graph(self, exported: ExportedGraph, path: str, options: GraphFile, fs: FileSystem) -> None:
        prepare_directory(fs, posixpath.dirname(path) or ".", self.options.durability)
        atomic_write(fs, path, exported.data, self.options.durability)
        if options.debug_info:
            write_debug_info(path, fs=fs)

    # ------------------------------------------------------------------------------------------- retention

    def _record(self, path: str, record: Record, state_file: str, suffix: str, fs: FileSystem, turn: SaveTurn) -> None:
        """Makes a checkpoint the latest, but for those asked for later, and deletes what is not kept any longer."""
        policy = self.options.retention
        directory, name = posixpath.split(path)
        folder = directory or "."
        with fs.locked(directory):
            if isinstance(policy, KeepRecent):
                dated = Record(record.path, self.options.clock(), record.step)
                self._history, doomed = policy.advance(self._history, dated)
                if not turn.later():
                    self._write_state(folder, record.path, state_file, fs)
            else:
                doomed = ()
                also = [posixpath.basename(meta_path(record.path, suffix))]
                kept = self._folder(folder, name, state_file, fs)
                kept.add(record.path, step=record.step, metrics=record.metrics, also=also, before=turn.later)
            turn.path = record.path
        for item in doomed:
            self._delete(item.path, suffix, fs)

    def _write_state(self, folder: str, latest: str, state_file: str, fs: FileSystem) -> None:
        write_checkpoint_state(
            folder,
            latest,
            [item.path for item in self._history.kept],
            relative=self.options.relative_paths,
            filename=state_file,
            durability=self.options.durability,
            fs=fs,
        )

    def _delete(self, path: str, suffix: str, fs: FileSystem) -> None:
        format = CheckpointFormat.V1 if self.saver_def.version == SaverDef.V1 else CheckpointFormat.V2
        try:
            remove_checkpoint_with_records(path, format, meta_suffix=suffix, fs=fs)
        except TensorKeepError as error:  # the checkpoint was saved: that is what counts
            LOG.warning('"%s" stays for now, it could not be deleted: %s', path, error)

    def _folder(self, folder: str, name: str, state_file: str, fs: FileSystem) -> CheckpointFolder:
        """Where the checkpoints of that name are kept. Names that differ in their numbers only are a series.

        By it, and by the scope of its operations, a saver is known again after a restart.
        """
        writer = " ".join([posixpath.dirname(self.saver_def.save_tensor_name), re.sub("[0-9]+", "#", name)])
        key = (fs.canonical(folder), state_file, writer)
        found = self._folders.get(key)
        if found is None:
            options = self.options
            found = self._folders[key] = CheckpointFolder(
                folder,
                options.retention,
                writer=writer,
                filename=state_file,
                clock=options.clock,
                durability=options.durability,
                fs=fs,
            )
        return found

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that this saver saved and keeps, oldest first."""
        if not self._folders:
            return [record.path for record in self._history.kept]
        return [record.path for folder in self._folders.values() for record in folder.records]

    def set_last_checkpoints(self, checkpoints: Sequence[tuple[str, float]]) -> None:
        """Has the saver take checkpoints, with the times when they were saved, for ones that it keeps."""
        self._history = self._history.with_records(Record(path, moment) for path, moment in checkpoints)

    def recover_last_checkpoints(self, paths: Sequence[str], fs: FileSystem = FILES) -> None:
        """Has the saver take those of the checkpoints that exist for ones that it keeps, by the times of the files."""
        self.set_last_checkpoints(existing_with_times(paths, fs))

    # --------------------------------------------------------------------------------------------- restore

    def restore(
        self,
        session: Session,
        path: PathLike,
        *,
        mapping: Mapping[str, str] | None = None,
        on_mismatch: Policy = OnMismatch.STRICT,
    ) -> RestoreOutcome:
        """Sets the variables to what a checkpoint holds, and says which were set and which were not.

        `mapping` gives, for names that the graph asks for, the names that the checkpoint has. An object-based one is
        asked by the names that its variables had in a graph.
        """
        policy_of(on_mismatch)  # what is no policy is told even if none is needed
        self._background.wait()
        text = path_text(path)
        fs = session.surroundings.filesystem
        if not checkpoint_exists(text, fs=fs):
            there = what_else_is_there(text, fs)
            raise InvalidArgumentError(f"The passed save_path is not a valid checkpoint: {text}{there}")
        self._check_graph(session, self.saver_def.restore_op_name)
        LOG.info("Restoring parameters from %s", text)
        nodes = self._restore_nodes(session.graph)
        outcome = restore_variables(session, self.saver_def, nodes, text, mapping, on_mismatch)
        outcome.log()
        return outcome

    def _restore_nodes(self, graph: Graph) -> RestoreNodes:
        if self._nodes is None or self._nodes[0] is not graph:
            self._nodes = graph, RestoreNodes.of(graph.operation(self.saver_def.restore_op_name))
        return self._nodes[1]


@dataclass(frozen=True)
class SavedEmbeddings:
    """The handles of the embedding variables that are saved."""

    handles: tuple[Operation, ...]

    @classmethod
    def of(cls, saving: Operation) -> SavedEmbeddings:
        """Follows an operation back to all that it saves: by numbers, or by handles in graphs of DeepRec up to 2212."""
        handles = []
        for op in all_before(saving):
            if op.type == "KvResourceLookupResource":
                handles.append(op.inputs[0].op)
            elif op.type == "SaveV2":
                handles += [tensor.op for tensor in op.inputs[3:] if tensor.op.type == _HANDLE]
        return cls(tuple(handles))

    def check(self, resources: ResourceManager) -> None:
        """Says which of them have no rows to save: they were neither initialized nor restored."""
        missing = [handle.name for handle in self.handles if not _is_there(handle, resources)]
        if missing:
            names = ", ".join(f'"{name}"' for name in missing)
            raise NotFoundError(
                f"nothing can be saved: these embedding variables have neither been initialized nor restored: {names}. "
                "Run their initializers (tf.global_variables_initializer()) or restore them first"
            )

    @property
    def stems(self) -> list[str]:
        """The names under which they are saved, unless the saver has others."""
        return [_names_of(handle)[1] for handle in self.handles if handle.type == _HANDLE]


def _is_there(handle: Operation, resources: ResourceManager) -> bool:
    if handle.type != _HANDLE:
        return True  # its own operation will say
    found = resources.find(*_names_of(handle))
    return bool(getattr(found, "is_initialized", False))


def _names_of(handle: Operation) -> tuple[str, str]:
    """The container that a variable is in, and its name there. It is saved under that, unless a saver has another."""
    container, name = (handle.attr(attr).decode() for attr in ("container", "shared_name"))
    return container, name or handle.name


def existing_with_times(paths: Sequence[str], fs: FileSystem = FILES) -> list[tuple[str, float]]:
    """Those of the checkpoints that exist, with the times of their files."""
    times = [(path, checkpoint_modified(path, fs=fs)) for path in paths]
    return [(path, moment) for path, moment in times if moment is not None]


__all__ = ["GraphFile", "SaveHandle", "Saver", "SaverOptions", "StepNaming", "existing_with_times"]
