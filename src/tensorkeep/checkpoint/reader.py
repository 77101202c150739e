"""What every checkpoint looks like when it is read: names and arrays, whatever the format on disk."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tensorkeep._lazy import provided_module
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import Part, TensorSlice, box_shape
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.storage import Linkable, Place, StoredBytes
from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.io.showing.amounts import amount_of, some_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.shapes import element_count

Reader = TypeVar("Reader", bound="CheckpointReader")


class Checksums(Enum):
    """When the stored checksums of tensors are compared. (Those of the index always are.)

    A checksum covers a stored tensor, or a stored slice of one, as a whole.
    """

    ALWAYS = "always"
    """Whenever a stored tensor or slice is read whole. Reading a part of one reads that part only, unchecked."""

    ONCE = "once"
    """Before the first use of a stored tensor or slice, whole or in part; not again in the life of the reader."""

    OFF = "off"
    """Never."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a reader reads unless a call says otherwise."""

    checksums: Checksums = Checksums.ALWAYS
    copy: bool = True
    """Whether arrays own their memory. If not, they are read-only views of the file, mapped into memory, wherever the
    stored bytes are the array's bytes, and each tensor is checked once rather than at every read."""

    def __post_init__(self) -> None:
        if not isinstance(self.checksums, Checksums):
            raise InvalidArgumentError(
                f"checksums: expected one of {', '.join(map(str, Checksums))}, got {self.checksums!r}"
            )


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """What a checkpoint says about a tensor without reading it."""

    dtype: DType
    shape: tuple[int, ...]
    slices: tuple[TensorSlice, ...] = ()
    """The slices it is stored in; empty if it is stored whole."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return element_count(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of its elements in memory; for strings, those of the pointers to them."""
        return self.size * self.dtype.array_dtype.itemsize

    def __str__(self) -> str:
        text = f"{self.dtype} {list(self.shape)}"
        return f"{text} in {len(self.slices)} slices" if self.slices else text


def local_path(path: str, fs: FileSystem) -> str:
    """Where another process finds what a reader reads; UnimplementedError if that is not on the local file system."""
    if fs is not FILES and fs is not LOCAL:
        raise UnimplementedError(
            f'the reader of "{path}" cannot be pickled: it reads from {type(fs).__name__}, not from local files; '
            "pass its path on, and open it there"
        )
    folder, slash, name = path.rpartition("/")
    return f"{fs.canonical(folder + slash if slash else '.').rstrip('/')}/{name}"


class CheckpointReader(Mapping[str, TensorInfo]):
    """An open checkpoint: a mapping from tensor names to what is known of them, in order of name.

    `read` gives the arrays. Readers may be shared between threads, and should be closed, best by `with`.
    """

    path: str
    """The prefix or pattern that was opened."""

    format: str
    """"V1", "V2", or "Orbax"."""

    options: ReadOptions

    remarks: Sequence[str] = ()
    """What is to be known of the names, in sentences: which are left out, or could not be told."""

    @property
    @abstractmethod
    def damage(self) -> Sequence[TensorKeepError]:
        """What is wrong with whole files or whole parts of an index. Empty unless something is.

        Listing such a checkpoint is an error; tensors in the sound parts can be read all the same.
        """

    @property
    @abstractmethod
    def intact_names(self) -> Sequence[str]:
        """The tensors listed in the sound parts: all of them, unless there is damage."""

    def infos(self) -> dict[str, TensorInfo]:
        """What is known of every tensor: the mapping as a dict, made at once."""
        return dict(self)

    @overload
    def read(self, name: str, part: Part | None = None, *, copy: bool | None = None) -> Array: ...
    @overload
    def read(self, name: str, part: Part | None = None, *, to: str, device: object = None) -> Any: ...
    def read(
        self,
        name: str,
        part: Part | None = None,
        *,
        copy: bool | None = None,
        to: str | None = None,
        device: object = None,
    ) -> Any:
        """The tensor, or a part of it: a TensorSlice, or Python slices such as `np.s_[10:20, :]`.

        Strings and variants come as arrays of `bytes`, quantised types as their integers, everything else as the
        NumPy or ml_dtypes type of the same name. Scalars are arrays of no dimensions. With `to` ("jax", "torch" or
        "cupy") it comes as an array of that library, on a device, as by `tensorkeep.load_arrays`.
        """
        if to is not None or device is not None:
            return self._read_to_device(name, part, copy, to, device)
        info = self[name]
        copy = self.options.copy if copy is None else copy
        try:
            if part is None:
                return self._read_whole(name, info, copy)
            wanted = TensorSlice.of(part, info.shape)
            wanted.box(info.shape)
            return self._read_part(name, info, wanted, copy)
        except MemoryError:
            raise ResourceExhaustedError(f'"{self.path}": tensor "{name}" ({info}) does not fit in memory') from None

    def _read_to_device(
        self, name: str, part: Part | None, copy: bool | None, to: str | None, device: object
    ) -> object:
        if to is None:
            raise InvalidArgumentError(
                f'"{name}" is to go to the device {device!r}: of which library, say `to="jax"`, "torch" or "cupy"'
            )
        if copy is not None:
            raise InvalidArgumentError(f'"{name}": `copy` is for arrays of NumPy, and `to={to!r}` was asked for')
        return provided_module("arrays on devices").read_array(self, name, part, to=to, device=device)

    def read_rows(self, name: str, rows: npt.ArrayLike) -> Array:
        """The given indices along the first axis, in the given order, repeated ones repeatedly: `tensor[rows]`."""
        info = self[name]
        try:
            wanted = np.asarray(rows)
        except ValueError as error:
            raise InvalidArgumentError(f'rows of "{name}": expected a list of integers: {error}') from None
        if not info.shape or wanted.ndim != 1 or (wanted.dtype.kind not in "iu" and wanted.size):
            raise InvalidArgumentError(
                f'rows of "{name}" ({info}): expected a list of integers (np.flatnonzero makes one of a mask) and a '
                "tensor of at least one dimension"
            )
        if wanted.size and (int(wanted.min()) < -info.shape[0] or int(wanted.max()) >= info.shape[0]):
            raise InvalidArgumentError(
                f'rows of "{name}": {wanted.min()}..{wanted.max()} asked for, the tensor has {info.shape[0]}'
            )
        wanted = wanted.astype(np.int64)  # after the comparison: a large unsigned number would become a negative one
        return self._read_rows(name, info, np.where(wanted < 0, wanted + info.shape[0], wanted))

    def read_many(
        self, names: Iterable[str] | None = None, *, threads: int | None = None, copy: bool | None = None
    ) -> dict[str, Array]:
        """Many tensors at once (all, unless named), by several threads (as many as help, unless said)."""
        wanted = list(self if names is None else names)
        self.require(wanted)
        try:
            return self._read_many(wanted, threads, self.options.copy if copy is None else copy)
        except MemoryError:
            raise ResourceExhaustedError(f'"{self.path}": {len(wanted)} tensors do not fit in memory') from None

    def read_into(self, name: str, array: Array) -> None:
        """Fills an array of the tensor's shape and type, which is writable and contiguous."""
        info = self[name]
        if array.shape != info.shape or array.dtype != info.dtype.array_dtype:
            raise InvalidArgumentError(f'cannot read "{name}" ({info}) into an array of {array.dtype} {array.shape}')
        if not (array.flags.c_contiguous and array.flags.writeable):
            raise InvalidArgumentError(f'cannot read "{name}" into an array that is not contiguous and writable')
        self._read_into(name, info, array)

    def require(self, names: Sequence[str]) -> None:
        """NotFoundError, which lists them, if the checkpoint has not all of these tensors."""
        if missing := self._missing(list(names)):
            raise self._not_found(*missing)

    def verify_many(self, names: Iterable[str], *, threads: int | None = None) -> None:
        """Verifies tensors, by several threads."""
        in_parallel(self.verify, names, threads)

    # How the tensors lie in the files, as far as there is something to tell

    @property
    def files(self) -> Sequence[str]:
        """The paths of its files, those among them that are missing or damaged too."""
        return [self.path]

    @property
    def shard_count(self) -> int:
        """The number of data files that the tensors are spread over."""
        return 1

    @property
    def names_as_stored(self) -> Sequence[str]:
        """The tensors in the order in which the files list them."""
        return list(self)

    def places(self, names: Iterable[str] | None = None) -> Iterator[tuple[str, tuple[Place, ...]]]:
        """Where each tensor (all, unless named) lies: in one place or, if stored in slices, in one for each of these.

        None at all where their bytes lie in no place of their own, as in formats that compress them.
        """
        return ((name, ()) for name in (self if names is None else names))

    def stored_bytes(self, name: str) -> StoredBytes | None:
        """A tensor to be read in stretches; None unless it is stored in one piece and just as it is in memory."""
        return None

    def linkable(self) -> Linkable | None:
        """What another checkpoint can share, so that nothing is written anew; None if there is no such thing."""
        return None

    def check_extents(self) -> None:
        """DataLossError unless the bytes of every tensor are there, and as many as its shape asks for. Reads none."""

    def file_problems(self) -> list[TensorKeepError]:
        """Each data file that is missing, or ends before what the index has in it: a copy that broke off looks so.

        Only lengths are looked at. A damaged index is the only problem that is told of it.
        """
        return []

    @abstractmethod
    def source(self, name: str) -> ArraySource:
        """The tensor as something to write elsewhere, read in chunks as it is written, its exact type kept."""

    def slice_sources(self, name: str) -> list[tuple[TensorSlice, ArraySource]]:
        """The slices that a tensor is stored in, each as something to write elsewhere; none if it is stored whole."""
        info = self[name]
        return [(part, self._slice_source(name, info, part)) for part in info.slices]

    def _slice_source(self, name: str, info: TensorInfo, part: TensorSlice) -> ArraySource:
        chunks = (self._read_part(name, info, part, copy=True) for _ in range(1))  # read when it is asked for
        return ArraySource(info.dtype, box_shape(part.box(info.shape)), chunks)

    @abstractmethod
    def verify(self, name: str) -> None:
        """Reads all that is stored of a tensor and compares its checksums, in little memory. DataLossError if wrong."""

    def hold(self) -> None:
        """Opens the files that are yet to be opened: what becomes of their names makes no difference afterwards.

        FailedPreconditionError if others have their names by now. What cannot be opened is told to who asks for it.
        """

    @abstractmethod
    def close(self) -> None:
        """Gives files back. Arrays read before stay valid, mapped ones included."""

    @abstractmethod
    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array: ...

    def _read_into(self, name: str, info: TensorInfo, array: Array) -> None:
        np.copyto(array, self._read_whole(name, info, copy=False))

    @abstractmethod
    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array: ...

    @abstractmethod
    def _read_rows(self, name: str, info: TensorInfo, rows: npt.NDArray[np.int64]) -> Array: ...

    def _missing(self, names: list[str]) -> list[str]:
        """Which of these names the checkpoint does not have."""
        return [name for name in names if name not in self]

    @abstractmethod
    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]: ...

    def _raise_damage(self, consequence: str) -> None:
        if self.damage:
            listed = "; ".join(str(error) for error in self.damage[:3]) + (" ..." if self.damage[3:] else "")
            raise DataLossError(f"{consequence}: {listed}")

    def _not_found(self, *names: object) -> NotFoundError:
        """The error for names that are not there, with a few that are, nearest first."""
        known = list(self)
        wanted = str(names[0])
        if len(names) == 1:
            known.sort(key=lambda candidate: (wanted not in candidate, candidate not in wanted, candidate))
        there = some_of(known, 5) or "none at all"
        return NotFoundError(f'"{self.path}" holds no tensor {some_of(names, 5)}; it holds {there}')

    def __enter__(self: Reader) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'<{type(self).__name__} "{self.path}">'

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled is where the checkpoint is. Unpickling opens it anew, and refuses if it is another one by then."""
        return _reopen_pickled, (type(self), self._reopening(), self._identity())

    def _reopening(self) -> tuple[object, ...]:
        """The arguments with which another process makes a reader of the same checkpoint."""
        raise UnimplementedError(
            f"a {type(self).__name__} cannot be pickled: pass the path of its checkpoint on, and make it there"
        )

    def _identity(self) -> object:
        """A value that is another one if a different checkpoint has taken the place of this."""
        return None

    @property
    def index_size(self) -> int:
        """How many bytes that file has that says where tensors lie; 0 if there is none."""
        return 0

    def index_bytes(self) -> memoryview | None:
        """The bytes of the file that says where tensors lie, as it is open; None if there is no such file."""
        return None

    def _repr_html_(self) -> str:
        """What a notebook shows: the first tensors with their types and shapes."""
        names = self.intact_names
        rows = ((name, self[name].dtype, list(self[name].shape)) for name in names)
        caption = f"{type(self).__name__} {self.path} ({self.format}): {amount_of(len(names), 'tensor')}"
        return html_table(caption, ("name", "type", "shape"), rows, len(names))

    def _ipython_key_completions_(self) -> list[str]:
        """What a notebook offers after `reader["`."""
        return list(self.intact_names)


def _reopen_pickled(kind: type[Reader], arguments: Sequence[Any], identity: object) -> Reader:
    """The reader that was pickled: FailedPreconditionError if another checkpoint is in the place of its own."""
    reader = kind(*arguments)
    if reader._identity() != identity:
        path = reader.path
        reader.close()
        raise FailedPreconditionError(f'"{path}" was replaced after its reader was pickled; open it anew')
    return reader
