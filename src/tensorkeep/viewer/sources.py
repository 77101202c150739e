"""What is looked at: paths, and what is open of each.

Nothing is read before it is asked for, and of tensors never more than is asked for. What is damaged is no error here:
a source says what is wrong with it, and shows what is left.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any, Final, TypeVar

from tensorkeep.checkpoint.finding.file_names import index_path, meta_path, prefix_of_file
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.variable_names import named_variables
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.convert.converting import open_tensors
from tensorkeep.convert.hub import TensorSource
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.inspect.graphs import read_graphs
from tensorkeep.inspect.identifying import Identification, identify
from tensorkeep.inspect.inlining import ShownGraph, shown_graph
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor, list_checkpoint
from tensorkeep.inspect.reader_listing import list_opened, list_variables
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, path_text
from tensorkeep.proto.identification import FileKind
from tensorkeep.proto.messages import MetaGraphDef, NodeDef
from tensorkeep.saved_model.files.layout import contains_saved_model, variables_path
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.saved_model.show.flag_values import DEFAULT_LIMITS

Item = TypeVar("Item")

_MODEL_FILES: Final = ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb")
_FOLDERS: Final = ("checkpoint folder", "folder", "folder of SavedModels")
_WITH_GRAPHS: Final = (FileKind.GRAPH.value, FileKind.META_GRAPH.value, FileKind.SAVED_MODEL.value)


class OpenedGraph:
    """A graph of a source: the message, its nodes with functions written out, and each node's message."""

    def __init__(self, label: str, meta_graph: MetaGraphDef) -> None:
        self.label = label
        self.meta_graph = meta_graph
        self.shown: ShownGraph = shown_graph(meta_graph.graph_def)
        self.numbers = {node.name: number for number, node in enumerate(self.shown.nodes)}
        self._nodes: dict[tuple[str, str], NodeDef] = {("", node.name): node for node in meta_graph.graph_def.node}
        for function in meta_graph.graph_def.library.function:
            name = function.signature.name
            self._nodes.update(((name, node.name), node) for node in function.node_def)

    def message(self, number: int) -> NodeDef:
        """The message of a node, by its number among those that are shown."""
        place = self.shown.nodes[number].place
        return self._nodes[place.function, place.node]


class Source:
    """One path that is looked at. May be asked from several threads."""

    def __init__(self, path: str, fs: FileSystem = FILES) -> None:
        given = path_text(path)
        self.path = posixpath.dirname(given) or "." if posixpath.basename(given) in _MODEL_FILES else given
        self.fs = fs
        self.error = ""
        """What keeps it from being known; empty if it is known."""
        self.found = self._identify_path()
        self._lock = RLock()
        self._kept: dict[str, Any] = {}
        self._making: dict[str, RLock] = {}
        self._closing: list[Callable[[], None]] = []

    def _identify_path(self) -> Identification:
        try:
            return identify(self.path, fs=self.fs)
        except TensorKeepError as error:
            self.error = str(error)
            return Identification(self.path, "damaged or not there", "")

    @property
    def name(self) -> str:
        """What it is called on a page: the end of its path."""
        return posixpath.basename(self.path.rstrip("/")) or self.path

    @property
    def is_model(self) -> bool:
        return self.fs.is_directory(self.path) and contains_saved_model(self.path, self.fs)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of checkpoints or of models, or of anything else."""
        return self.found.kind in _FOLDERS

    @property
    def is_checkpoint(self) -> bool:
        """Whether its tensors are those of a checkpoint, that of a SavedModel among them."""
        return self._checkpoint_path() is not None

    def _once(self, key: str, make: Callable[[], Item]) -> Item:
        """What is made when it is first asked for, and kept. Who asks for something else does not wait for it."""
        with self._lock:
            making = self._making.setdefault(key, RLock())
        with making:
            if key not in self._kept:
                self._kept[key] = make()
            found: Item = self._kept[key]
            return found

    # ---------------------------------------------------------------------------------------------------- tensors

    def _checkpoint_path(self) -> str | None:
        """What `open_checkpoint` opens here; None if there is no checkpoint."""
        variables = variables_path(self.path)
        if self.fs.is_directory(self.path) and self.fs.exists(index_path(variables)):
            return variables
        if self.found.kind in ("checkpoint", "checkpoint folder"):
            return self.path
        prefix = prefix_of_file(self.path)
        for path in (self.path, prefix):
            if path is not None and self.fs.exists(index_path(path)):
                return path
        return None

    @property
    def reader(self) -> CheckpointReader:
        """The checkpoint by the keys of its tensors; NotFoundError if there is none."""
        return self._once("reader", self._open_reader)

    def _open_reader(self) -> CheckpointReader:
        path = self._checkpoint_path()
        if path is None:
            raise NotFoundError(f'"{self.path}" is {self.found.kind}, and no checkpoint')
        reader = open_checkpoint(path, fs=self.fs)
        self._closing.append(reader.close)
        return reader

    @property
    def tensors(self) -> TensorSource:
        """All tensors, open: variables of an object-based checkpoint by their names, each once."""
        return self._once("tensors", self._open_tensors)

    def _open_tensors(self) -> TensorSource:
        if self.is_checkpoint:
            with suppress(TensorKeepError):  # their names cannot be told: they go by their keys
                return named_variables(self.reader)
            return self.reader
        opened = open_tensors(self.path, fs=self.fs)
        self._closing.append(opened.close)
        return opened

    @property
    def listing(self) -> CheckpointListing:
        """What tensors there are. Of a damaged checkpoint, those that its sound parts list, with remarks."""
        return self._once("listing", self._list_tensors)

    def _list_tensors(self) -> CheckpointListing:
        if not self.is_checkpoint:
            return list_opened(self.tensors, fs=self.fs)
        try:
            return list_variables(list_checkpoint(self.reader.path, fs=self.fs), fs=self.fs)
        except TensorKeepError as error:
            return self._left_over(error)

    def _left_over(self, error: TensorKeepError) -> CheckpointListing:
        """What is left of a checkpoint whose index is damaged."""
        reader = self.reader
        names = sorted(reader.intact_names)
        infos = [(name, reader[name]) for name in names]
        stored = [
            StoredTensor(name, info.dtype, info.shape, None if info.dtype.is_object else info.nbytes)
            for name, info in infos
        ]
        remark = f"the index is damaged, and the tensors in its sound parts are listed: {error}"
        return CheckpointListing(reader.path, reader.format, {}, tuple(stored), (remark,))

    # ----------------------------------------------------------------------------------------------------- graphs

    @property
    def has_graph(self) -> bool:
        """Whether there is a graph, as far as names and first bytes tell."""
        if self.is_model or self.found.kind in _WITH_GRAPHS:
            return True
        path = self._checkpoint_path()
        if path is None:
            return False
        with suppress(TensorKeepError):
            return self.fs.exists(meta_path(self.reader.path))
        return False

    @property
    def graphs(self) -> Sequence[OpenedGraph]:
        """Its graphs: of a SavedModel one for each set of tags."""
        return self._once("graphs", lambda: [OpenedGraph(*item) for item in read_graphs(self.path, fs=self.fs)])

    def graph(self, number: int) -> OpenedGraph:
        """One of its graphs."""
        graphs = self.graphs
        if not 0 <= number < len(graphs):
            raise InvalidArgumentError(f'"{self.path}" has {len(graphs)} graphs, and {number} is none of their numbers')
        return graphs[number]

    # ------------------------------------------------------------------------------------------------------ model

    @property
    def model(self) -> LoadedModel:
        """The SavedModel, loaded. It may compute, and do nothing else, for as long as `saved-model run` lets it."""
        return self._once("model", self._load_model)

    def _load_model(self) -> LoadedModel:
        model = load_saved_model(self.path, fs=self.fs, limits=DEFAULT_LIMITS)
        self._closing.append(model.close)
        return model

    def kept(self, key: str, make: Callable[[], Item]) -> Item:
        """What an answer keeps for the next question."""
        return self._once(f"answer {key}", make)

    def close(self) -> None:
        """Gives files back, when what is being made is made."""
        with self._lock:
            pending = list(self._making.items())
        for key, making in pending:
            with making:
                self._kept.pop(key, None)
        while self._closing:
            self._closing.pop()()


class Sources:
    """All that a viewer looks at, in order."""

    def __init__(self, paths: Iterable[str], fs: FileSystem = FILES) -> None:
        self._lock = RLock()
        self._fs = fs
        self._sources = [Source(path, fs) for path in paths]

    def __iter__(self) -> Iterator[Source]:
        return iter(tuple(self._sources))

    def __len__(self) -> int:
        return len(self._sources)

    def __getitem__(self, number: int) -> Source:
        if not 0 <= number < len(self._sources):
            raise InvalidArgumentError(f"{number} is none of the {len(self._sources)} things that are looked at")
        return self._sources[number]

    def add(self, parent: int, name: str) -> int:
        """Looks at something in the folder of a source, too; gives its number. Nothing else can be added."""
        folder = self[parent]
        if not folder.is_folder or posixpath.basename(name) != name or name in ("", ".", ".."):
            raise InvalidArgumentError(f'"{name}" is not in a folder that is looked at')
        path = posixpath.join(folder.path, name)
        with self._lock:
            for number, source in enumerate(self._sources):
                if source.path == path:
                    return number
            self._sources.append(Source(path, self._fs))
            return len(self._sources) - 1

    def close(self) -> None:
        """Gives all files back."""
        for source in self:
            source.close()
