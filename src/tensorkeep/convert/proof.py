"""The proof of a conversion: a digest of every tensor as it was stored, as it was written, and as it is read back.

    report = {"format": 1, "source": path, "target": path,
              "tensors": {name: {"dtype": text, "shape": [..], "made_of": {stored name: digest}, "sha256": digest}}}

A digest is the SHA-256 of the elements in row-major order, little-endian; of strings, of their lengths (8) and bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.formats import format_of_source
from tensorkeep.convert.hub import TensorSource, listed_names
from tensorkeep.convert.shards import parsed_object
from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text

_FORMAT: Final = 1
_MOST_REPORT: Final = 1 << 30


class Digest:
    """The digest of a tensor whose elements come in chunks."""

    def __init__(self, dtype: DType) -> None:
        self._dtype = dtype
        self._hash = hashlib.sha256()

    def add(self, chunk: Array) -> None:
        if self._dtype.is_object:
            for item in chunk.reshape(-1):
                data = item.encode() if isinstance(item, str) else bytes(item)
                self._hash.update(len(data).to_bytes(8, "little") + data)
            return
        for buffer in ArraySource(self._dtype, chunk.shape, (chunk,)).buffers():
            self._hash.update(buffer)

    def of(self, chunks: Iterable[Array]) -> Iterator[Array]:
        """The same chunks, which are added to the digest as they pass."""
        for chunk in chunks:
            self.add(chunk)
            yield chunk

    def text(self) -> str:
        return self._hash.hexdigest()


def digest_of(dtype: DType, chunks: Iterable[Array]) -> str:
    """The digest of a tensor."""
    digest = Digest(dtype)
    for chunk in chunks:
        digest.add(chunk)
    return digest.text()


@dataclass(frozen=True)
class ProvenTensor:
    """A tensor of the result."""

    dtype: str
    shape: tuple[int, ...]
    made_of: Mapping[str, str]
    """The digests of the stored tensors that it was made of, by name."""
    sha256: str
    """The digest of the tensor itself, as it was written and read back."""


@dataclass(frozen=True)
class Proof:
    """What a result holds, tensor by tensor."""

    source: str
    target: str
    tensors: Mapping[str, ProvenTensor] = field(default_factory=dict)

    def to_json(self) -> str:
        found = {"format": _FORMAT, "source": self.source, "target": self.target}
        return json.dumps(found | {"tensors": {name: asdict(item) for name, item in self.tensors.items()}}, indent=1)


def write_proof(proof: Proof, path: str, fs: FileSystem) -> None:
    """Writes the report."""
    atomic_write(fs, path, (proof.to_json() + "\n").encode(), Durability.CACHE)


def read_proof(path: PathLike, *, fs: FileSystem = FILES) -> Proof:
    """Reads a report."""
    name = path_text(path)
    with closing(fs.open(name)) as file:
        if file.size > _MOST_REPORT:
            raise DataLossError(f'"{name}" is too large for a report')
        found = parsed_object(name, bytes(file.read(0, file.size)))
    try:
        if found["format"] != _FORMAT:
            raise DataLossError(f'"{name}" is a report of format {found["format"]}, expected {_FORMAT}')
        tensors = {key: _proven(item) for key, item in found["tensors"].items()}
        return Proof(str(found["source"]), str(found["target"]), tensors)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DataLossError):
            raise
        raise DataLossError(f'"{name}" is no report of a conversion: {error!r}') from None


def _proven(item: Mapping[str, Any]) -> ProvenTensor:
    return ProvenTensor(str(item["dtype"]), tuple(item["shape"]), dict(item["made_of"]), str(item["sha256"]))


def check_proof(path: PathLike, target: PathLike | None = None, *, fs: FileSystem = FILES) -> Proof:
    """Reads the result of a conversion again and compares it with the report; DataLossError names what differs."""
    proof = read_proof(path, fs=fs)
    check_tensors(proof, proof.target if target is None else path_text(target), fs)
    return proof


def check_tensors(proof: Proof, path: str, fs: FileSystem) -> None:
    """Compares what is at a path with a proof; DataLossError with all names that are wrong."""
    with closing(format_of_source(path, fs).open_source(path, fs)) as opened:
        wrong = [name for name, item in proof.tensors.items() if not _is_as_proven(opened, name, item)]
    if wrong:
        raise DataLossError(f'"{path}" does not hold what was proven: {listed_names(wrong)} differ')


def _is_as_proven(opened: TensorSource, name: str, item: ProvenTensor) -> bool:
    if name not in set(opened):
        return False
    info = opened[name]
    if (info.dtype.name, info.shape) != (item.dtype, item.shape):
        return False
    return digest_of(info.dtype, map(np.asarray, opened.source(name).chunks)) == item.sha256
