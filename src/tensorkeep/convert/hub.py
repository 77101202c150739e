"""The middle of all conversions: what can be read as tensors, what tensors can be written to, and how formats are told.

A format is one file of this folder. What it reads is a `TensorSource`, what it writes a `TensorSink`; any source can be
written to any sink, so that formats need not know of each other. An open checkpoint is a source as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box, Part, TensorSlice, whole_box
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import DType
from tensorkeep.edit.plan import Made
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.io.showing.amounts import some_of

if TYPE_CHECKING:  # it takes what is known of graphs
    from tensorkeep.convert.onnx.options import OnnxOptions

Tensors: TypeAlias = Mapping[str, Made]
"""What shall be written: type and shape of every tensor, and its elements as often as they are asked for."""

HEAD: Final = 1 << 12  # bytes of a file that a format may look at to know it
VALID: Final = 5  # chunks: how many more may be asked for before one must have been used
_MOST_LISTED: Final = 10


class TensorSource(Protocol):
    """Something open that holds tensors by name."""

    path: str
    format: str

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str, /) -> TensorInfo: ...

    def read(self, name: str, part: Part | None = None) -> Array:
        """A tensor, or a part of it, in memory."""
        ...

    def source(self, name: str) -> ArraySource:
        """A tensor as something to write elsewhere, read in chunks as it is written; keep copies of these, if any."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> TensorSource: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class StoredArray(Protocol):
    """A tensor where it lies."""

    @property
    def info(self) -> TensorInfo: ...

    def read(self, box: Box) -> Array:
        """The elements of a box, in memory of their own or read-only."""
        ...

    def chunks(self) -> Iterator[Array]:
        """All elements in order, in chunks of a few megabytes, each valid until `VALID` more have been asked for."""
        ...


class OpenTensors(Mapping[str, TensorInfo]):
    """A source made of arrays that lie in files. Closing it closes these."""

    def __init__(
        self,
        path: str,
        format: str,
        arrays: Mapping[str, StoredArray],
        close: Callable[[], None] = lambda: None,
        others: Mapping[str, str] | None = None,
        remarks: tuple[str, ...] = (),
    ) -> None:
        if strange := [name for name in arrays if not is_text(name)]:
            raise DataLossError(f'"{path}" holds {strange[0]!r}, a name that is no text')
        self.path = path
        self.format = format
        self.others = dict(others or {})
        """What is there by name and is no tensor, with what it is."""
        self.remarks = remarks
        """What is to be known of the names, in sentences."""
        self._arrays = arrays
        self._close = close

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, name: str) -> TensorInfo:
        return self._array(name).info

    def read(self, name: str, part: Part | None = None) -> Array:
        array = self._array(name)
        shape = array.info.shape
        return array.read(whole_box(shape) if part is None else TensorSlice.of(part, shape).box(shape))

    def source(self, name: str) -> ArraySource:
        array = self._array(name)
        return ArraySource(array.info.dtype, array.info.shape, array.chunks())

    def close(self) -> None:
        self._close()

    def __enter__(self) -> OpenTensors:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _array(self, name: str) -> StoredArray:
        try:
            return self._arrays[name]
        except KeyError:
            raise NotFoundError(
                f'"{self.path}" holds no tensor "{name}"; it holds {listed_names(self._arrays)}'
            ) from None


class TensorSink(Protocol):
    """Something being written. Nothing of it can be seen before `commit`, and nothing is left after `abort`."""

    @property
    def order(self) -> Sequence[str]:
        """The tensors in the order in which they must be written."""
        ...

    def write(self, name: str, source: ArraySource) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...


@dataclass(frozen=True)
class SinkOptions:
    """How files are written."""

    durability: Durability = Durability.DISK
    shard_bytes: int | None = None
    """Where a format knows several files: how many bytes one may have, unless a single tensor is larger."""


@runtime_checkable
class Format(Protocol):
    """Tensors in files of one kind."""

    @property
    def name(self) -> str: ...

    @property
    def endings(self) -> tuple[str, ...]:
        """How the names of such files end, in lower case. The first is the usual one."""
        ...

    def holds(self, path: str, fs: FileSystem) -> bool:
        """Whether what is at `path` is of this format, by its contents."""
        ...

    def open_source(self, path: str, fs: FileSystem) -> TensorSource: ...


@runtime_checkable
class TensorFormat(Format, Protocol):
    """A format of which tensors alone make a file."""

    def problems(self, tensors: Tensors) -> list[str]:
        """Why the tensors cannot be written, all that is wrong; empty if they can."""
        ...

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        """The files by which somebody finds out that there is something at `path` already."""
        ...

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink: ...


@dataclass(frozen=True)
class ModelOptions:
    """What a model needs beside tensors."""

    graph: str | None = None
    """The file of a graph: a .meta, .pb or .pbtxt file; if there is none, the .meta file beside a checkpoint."""
    outputs: Sequence[str] = ()
    """The nodes that a frozen graph shall compute; all that the signatures of a SavedModel name, if there are none."""
    signatures: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = field(default_factory=dict)
    """The signatures of a SavedModel: of each, the tensors that are inputs and those that are outputs, by name."""
    tags: Sequence[str] = ("serve",)
    table: str | None = None
    """The embedding table that is meant, where a file holds one only."""
    run_initializers: bool = False
    """Whether what restores and initializes a model runs to freeze it; otherwise nothing of it does."""
    onnx: OnnxOptions | None = None
    """How a model is exported to ONNX."""


@runtime_checkable
class ModelFormat(Format, Protocol):
    """A format that holds more than tensors: a graph, or one table of many rows."""

    def make(
        self, source: str, path: str, model: ModelOptions, options: SinkOptions, fs: FileSystem, *, dry_run: bool
    ) -> list[str]:
        """Makes such files of what is at `source`: whole or not at all. The files that were, or would be, written."""
        ...


def head_of(path: str, fs: FileSystem) -> bytes:
    """The first bytes of a file; none if there is no such file."""
    if not fs.exists(path) or fs.is_directory(path):
        return b""
    with closing(fs.open(path)) as file:
        return bytes(file.read(0, min(HEAD, file.size)))


def unholdable(tensors: Tensors, held: Collection[DType], what: str) -> list[str]:
    """What is wrong with tensors of types, or by names, that a format cannot hold."""
    return [
        f'"{name}" is {tensor.dtype} {list(tensor.shape)}, and {what} has no such type'
        for name, tensor in tensors.items()
        if tensor.dtype not in held
    ] + [f"{name!r} is a name with bytes that are no text" for name in tensors if not is_text(name)]


def is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8: bytes of a checkpoint that are no text travel as halves of pairs."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def refuse(what: str, problems: Sequence[str]) -> None:
    """InvalidArgumentError with all problems in it, if there are any."""
    if problems:
        shown = "; ".join(problems[: 5 * _MOST_LISTED])
        more = f"; and {len(problems) - 5 * _MOST_LISTED} more" if len(problems) > 5 * _MOST_LISTED else ""
        raise InvalidArgumentError(f"{what}: {shown}{more}")


def listed_names(names: Collection[str]) -> str:
    """Names for a message, not too many of them."""
    return some_of(names, _MOST_LISTED) or "none at all"
