"""fingerprint.pb: what TensorFlow 2, and `save` here, say of a model when they have written it.

    saved_model_checksum        Fingerprint64 of the SavedModel message, in canonical form
    checkpoint_hash             Fingerprint64 of the file variables/variables.index
    graph_def_program_hash, signature_def_hash, saved_object_graph_hash
                                hashes of parts, without what differs from run to run: see program_hashes.py
    uuid                        of this one export; it says if we wrote it: see `marked_uuid`

The canonical form is that of `canonical`. The index holds the checksums of all tensors, so that a changed or exchanged
variable shows in its hash. Of all these, the first two are compared when a model is loaded: they cover the others.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from enum import Enum
from typing import Final
from uuid import UUID, uuid4

from tensorkeep._version import __version__
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write
from tensorkeep.proto.messages import FingerprintDef, SavedModel, parse
from tensorkeep.saved_model.files.canonical_bytes import canonical_bytes
from tensorkeep.saved_model.files.constants import FINGERPRINT_FILENAME
from tensorkeep.saved_model.files.layout import join, read_file, variables_path
from tensorkeep.saved_model.files.long_hashes import fingerprint64
from tensorkeep.saved_model.files.program_hashes import UnhashableError, objects_hash, program_hash, signatures_hash

_LARGEST: Final = 1 << 18  # bytes of an index that loading hashes by itself
_PRODUCER: Final = 4  # the version of fingerprints whose checksum of the message is known to be made as here
_NAME: Final = int.from_bytes(b"tkeep", "big")  # the first bytes of the number of our exports
_RANDOM: Final = (1 << 62) - 1


class OnFingerprint(Enum):
    """What to do when a model is not the one that its fingerprint was made of."""

    IGNORE = "ignore"
    WARN = "warn"
    """Compares the variables only, and leaves large indexes alone, of which the hash takes long."""
    RAISE = "raise"
    """Compares variables and graph, whatever it takes."""


def read_fingerprint(directory: PathLike, fs: FileSystem = FILES) -> FingerprintDef | None:
    """The fingerprint in a directory; None if there is none, as in exports before TensorFlow 2.10."""
    path = join(directory, FINGERPRINT_FILENAME)
    return parse(FingerprintDef, read_file(path, fs), path) if fs.exists(path) else None


def checkpoint_hash(directory: PathLike, fs: FileSystem = FILES) -> int | None:
    """The hash of the index of a model's variables; None if it has none."""
    path = index_path(variables_path(directory))
    return fingerprint64(read_file(path, fs)) if fs.exists(path) else None


def hash_of_variables(variables: CheckpointReader | None) -> int | None:
    """The hash of the index of variables that are open; None if there are none, or no index."""
    index = None if variables is None else variables.index_bytes()
    return None if index is None else fingerprint64(bytes(index))


def model_checksum(model: SavedModel) -> int | None:
    """The hash of a model's message in canonical form; None if it has parts that only a later version knows."""
    data = canonical_bytes(model)
    return None if data is None else fingerprint64(data)


def checked_fingerprint(
    directory: PathLike,
    model: SavedModel,
    variables: CheckpointReader | None,
    action: OnFingerprint = OnFingerprint.WARN,
    fs: FileSystem = FILES,
) -> FingerprintDef | None:
    """The fingerprint, compared with the model, whose variables are open if it has any."""
    found = read_fingerprint(directory, fs)
    if found is None or action is OnFingerprint.IGNORE:
        return found
    problems = []
    if found.checkpoint_hash and (action is OnFingerprint.RAISE or _index_size(variables) <= _LARGEST):
        problems += _differing("variables", hash_of_variables(variables), found.checkpoint_hash)
    if action is OnFingerprint.RAISE and found.version.producer == _PRODUCER:
        problems += _differing("graph", model_checksum(model), found.saved_model_checksum)
    if problems:
        text = f'"{join(directory, FINGERPRINT_FILENAME)}": the model is not as it was exported: {"; ".join(problems)}'
        if action is OnFingerprint.RAISE:
            raise DataLossError(text)
        warnings.warn(text, stacklevel=3)
    return found


def marked_uuid(version: str = __version__) -> UUID:
    """A number for an export that says which version of tensorkeep made it, and is like no other.

    TensorFlow takes a random UUID (version 4) for that number, so that no two exports have the same bytes there anyhow.
    We take one of version 8, which RFC 9562 leaves to whoever makes it:

        uuid = "tkeep" (40 bits) major (8) | version 8 (4 bits) minor (6) patch (6) | variant (2 bits) random (62)

    All other bytes of a model stay those that TensorFlow would write.
    """
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    assert found is not None, version
    major, minor, patch = (min(int(number), most) for number, most in zip(found.groups(), (255, 63, 63), strict=True))
    high = _NAME << 24 | major << 16 | 8 << 12 | minor << 6 | patch
    return UUID(int=high << 64 | 0b10 << 62 | uuid4().int & _RANDOM)


def fingerprint_of(
    model: SavedModel, directory: PathLike, fs: FileSystem = FILES, uuid: Callable[[], UUID] = marked_uuid
) -> FingerprintDef | None:
    """The fingerprint of a model whose variables are in a directory; None if TensorFlow makes none for such a model."""
    checksum = model_checksum(model)
    if checksum is None or not model.meta_graphs:
        return None
    meta_graph = model.meta_graphs[0]
    try:
        found = FingerprintDef(
            saved_model_checksum=checksum,
            graph_def_program_hash=program_hash(meta_graph.graph_def),
            signature_def_hash=signatures_hash(meta_graph.signature_def),
            saved_object_graph_hash=objects_hash(meta_graph.object_graph_def),
            checkpoint_hash=checkpoint_hash(directory, fs) or 0,
            uuid=str(uuid().int),
        )
    except UnhashableError:
        return None
    found.version.producer = _PRODUCER
    return found


def write_fingerprint(
    model: SavedModel, directory: PathLike, durability: Durability = Durability.DISK, fs: FileSystem = FILES
) -> None:
    """Writes the fingerprint of a model beside its variables, if it has one."""
    found = fingerprint_of(model, directory, fs)
    if found is not None:
        atomic_write(fs, join(directory, FINGERPRINT_FILENAME), found.SerializeToString(), durability)


def _differing(what: str, actual: int | None, expected: int) -> list[str]:
    if actual is None or actual == expected:
        return []
    return [f"the hash of its {what} is {actual}, expected {expected}"]


def _index_size(variables: CheckpointReader | None) -> int:
    return 0 if variables is None else variables.index_size


def writer_of(fingerprint: FingerprintDef | None) -> str:
    """What wrote a model, by its fingerprint: "tensorkeep 0.2.0"; nothing if that does not say it."""
    if fingerprint is None or not fingerprint.uuid.isdecimal() or int(fingerprint.uuid) >> 128:
        return ""
    high = int(fingerprint.uuid) >> 64
    if high >> 24 != _NAME or high >> 12 & 0xF != 8:
        return ""
    return f"tensorkeep {high >> 16 & 0xFF}.{high >> 6 & 0x3F}.{high & 0x3F}"
