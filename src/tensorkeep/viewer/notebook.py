"""The viewer in a notebook: `tensorkeep.view`.

A notebook may run on another machine than the browser that shows it, and is kept after its kernel is gone. So what it
shows is the page as one file, in a frame of its own that can reach nothing of the notebook.
"""

from __future__ import annotations

import posixpath
from html import escape
from typing import Any, Final

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.inspect.page import PageData
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, atomic_write, is_path, path_text
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.opened_graph import OpenedGraph
from tensorkeep.viewer.page import Exported, export_page

_HEIGHT: Final = 640
_MOST_READ: Final = 256 << 20  # bytes of a checkpoint that are read for statistics unless that is asked for


class View:
    """What `view` gives: a page that a notebook shows, and that can be written to a file."""

    def __init__(self, path: str, exported: Exported, height: int) -> None:
        self.path = path
        self._exported = exported
        self._height = height

    @property
    def html(self) -> str:
        """The whole page, which needs no other file and no network."""
        return self._exported.text

    def save(self, path: PathLike, *, fs: FileSystem = FILES) -> None:
        """Writes the page to a file."""
        atomic_write(fs, path_text(path), self.html.encode("utf-8"))

    def __repr__(self) -> str:
        return f'<View of "{self.path}": {self._exported.tensors} tensors, {self._exported.graphs} graphs>'

    def _repr_html_(self) -> str:
        """The page in a frame that can reach nothing of the notebook around it."""
        return (
            f'<iframe title="tensorkeep: {escape(self.path)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self._height}px;border:1px solid #8884" srcdoc="{escape(self.html)}"></iframe>'
        )


def view(
    what: PathLike | CheckpointReader | LoadedModel | OpenedGraph | EmbeddingTable | Graph | PageData,
    *,
    height: int = _HEIGHT,
    checked: bool | None = None,
    fs: FileSystem = FILES,
) -> View:
    """Shows a model, a checkpoint, a graph or an embedding table in a notebook, as `tensorkeep view` does in a browser.

    `what` is a path, or something that is open. With `checked`, all numbers are read, for statistics and checks; by
    default those of what takes up to 256 MiB.
    """
    path, fs = _place(what, fs)
    is_checked = _size(path, fs) <= _MOST_READ if checked is None else checked
    return View(path, export_page([path], fs=fs, checked=is_checked), height)


def _place(what: Any, fs: FileSystem) -> tuple[str, FileSystem]:
    """Where something is; what is in memory alone is written to a file system in memory."""
    if isinstance(what, LoadedModel):
        return what.directory, fs
    if isinstance(what, CheckpointReader):
        return what.path, fs
    if isinstance(what, PageData):
        return what.identification.path, fs
    memory = MemoryFileSystem()
    if isinstance(what, OpenedGraph):
        atomic_write(memory, "graph.meta", what.meta_graph.SerializeToString())
        return "graph.meta", memory
    if isinstance(what, Graph):
        atomic_write(memory, "graph.pb", export_graph(what).SerializeToString())
        return "graph.pb", memory
    if isinstance(what, EmbeddingTable):
        save_checkpoint("table", table_tensors("table", what.snapshot()), fs=memory)
        return "table", memory
    if is_path(what):
        return path_text(what), fs
    raise InvalidArgumentError(
        f"a {type(what).__name__} cannot be viewed: give a path, an open checkpoint, a loaded model, a graph or an "
        "embedding table"
    )


def _size(path: str, fs: FileSystem) -> int:
    """About how many bytes lie at a path: those of files that begin like it, and of a folder's variables."""
    folder = path if fs.is_directory(path) else posixpath.dirname(path) or "."
    total = 0
    pending = [folder, posixpath.join(folder, "variables")]
    for place in pending:
        if not fs.is_directory(place):
            continue
        for name in fs.list(place):
            file = posixpath.join(place, name)
            if not fs.is_directory(file) and (place != folder or folder == path or file.startswith(path)):
                opened = fs.open(file)
                total += opened.size
                opened.close()
    return total
