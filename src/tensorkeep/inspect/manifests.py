"""A model's files and their digests, as one document that can be kept, compared and signed.

The document is an in-toto statement with the predicate of OpenSSF's model signing: what a signature made by
`model-signing` holds, without the signature. Such signatures are read too, for the digests in them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.checkpoint.finding import checkpoint_exists
from tensorkeep.checkpoint.naming import meta_path
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.inspect.listing import list_checkpoint
from tensorkeep.io.directories import file_size, files_below
from tensorkeep.io.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.io.local import LOCAL
from tensorkeep.io.parallel import in_parallel
from tensorkeep.io.progress import Progress, Told

_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_PREDICATE: Final = "https://model_signing/signature/v1.0"
_IGNORED: Final = (".git", ".gitattributes", ".github", ".gitignore")
_BLOCK: Final = 4 << 20
_LARGEST: Final = 256 << 20  # no honest manifest comes near
_DIGEST_LENGTH: Final = hashlib.sha256().digest_size * 2


@dataclass(frozen=True)
class Manifest:
    """The files of a model, and the SHA-256 digest of each."""

    name: str
    """What the model is called; it means nothing."""
    digests: Mapping[str, str]
    """In hexadecimal digits, by paths relative to the model."""
    ignored: Sequence[str] = _IGNORED
    """Files and folders of the model that do not count."""

    @property
    def root_digest(self) -> str:
        """One digest for all files together."""
        together = b"".join(bytes.fromhex(self.digests[name]) for name in sorted(self.digests))
        return hashlib.sha256(together).hexdigest()

    def to_json(self) -> str:
        """The document: an in-toto statement."""
        statement = {
            "_type": _STATEMENT,
            "subject": [{"name": self.name, "digest": {"sha256": self.root_digest}}],
            "predicateType": _PREDICATE,
            "predicate": {
                "resources": [
                    {"name": name, "algorithm": "sha256", "digest": self.digests[name]} for name in sorted(self.digests)
                ],
                "serialization": {
                    "method": "files",
                    "hash_type": "sha256",
                    "allow_symlinks": False,
                    "ignore_paths": list(self.ignored),
                },
            },
        }
        return json.dumps(statement, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, what: str = "manifest") -> Manifest:
        """What a statement says, or a signature that holds one. The signature itself is not checked."""
        try:
            document = json.loads(text)
            if isinstance(document, dict) and "dsseEnvelope" in document:
                document = json.loads(base64.b64decode(document["dsseEnvelope"]["payload"], validate=True))
            return _parsed(document, what)
        except (KeyError, TypeError, IndexError, ValueError, RecursionError, binascii.Error) as error:
            raise DataLossError(f"{what} is not a statement of a model's digests: {error!r}") from None


def _parsed(document: Any, what: str) -> Manifest:
    if document["_type"] != _STATEMENT or document["predicateType"] != _PREDICATE:
        raise DataLossError(
            f"{what} is a statement of another kind: {document['_type']!r} with {document['predicateType']!r}, "
            f"expected {_STATEMENT!r} with {_PREDICATE!r}"
        )
    predicate = document["predicate"]
    serialization = predicate["serialization"]
    if serialization["method"] != "files" or serialization["hash_type"] != "sha256":
        raise DataLossError(
            f"{what} has digests of kind {serialization['hash_type']!r} by {serialization['method']!r}; only SHA-256 "
            "of whole files is understood"
        )
    digests: dict[str, str] = {}
    for item in predicate["resources"]:
        name, digest = item["name"], item["digest"]
        if not _is_inside(name) or name in digests:
            raise DataLossError(f"{what} lists {name!r}, which is not one path inside the model")
        if not isinstance(digest, str) or len(digest) != _DIGEST_LENGTH or not set(digest) <= set("0123456789abcdef"):
            raise DataLossError(f"{what} lists {name!r} with {digest!r}, which is not a SHA-256 digest")
        digests[name] = digest
    subject = document["subject"][0]
    found = Manifest(str(subject["name"]), digests, tuple(map(str, serialization.get("ignore_paths", ()))))
    if not digests or found.root_digest != subject["digest"]["sha256"]:
        raise DataLossError(f"{what} contradicts itself: its files do not give the digest that it has for all together")
    return found


def _is_inside(name: object) -> bool:
    return (
        isinstance(name, str)
        and bool(name)
        and posixpath.normpath(name) == name
        and not name.startswith(("/", "../"))
        and name not in (".", "..")
    )


def make_manifest(
    path: PathLike,
    *,
    ignore: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    fs: FileSystem = LOCAL,
) -> Manifest:
    """The manifest of a model: of a folder with all in it, of a checkpoint by its prefix, or of one file."""
    text = path_text(path)
    ignored = (*_IGNORED, *ignore)
    base, names = _files(text, ignored, fs)
    if not names:
        raise NotFoundError(f'"{text}" has no files')
    sizes = {name: file_size(fs, posixpath.join(base, name)) for name in names}
    told = Told(progress, sum(sizes.values()))
    largest_first = sorted(names, key=lambda name: -sizes[name])
    digests = in_parallel(lambda name: _digest(posixpath.join(base, name), told, fs), largest_first, threads)
    found = dict(zip(largest_first, digests, strict=True))
    name = posixpath.basename(fs.canonical(text).rstrip("/")) or "model"
    return Manifest(name, {item: found[item] for item in sorted(found)}, ignored)


def _files(path: str, ignored: Sequence[str], fs: FileSystem) -> tuple[str, list[str]]:
    """The folder that paths are relative to, and the files of a model in it."""
    if fs.is_directory(path):
        return path, [name for name in files_below(fs, path) if not _is_ignored(name, ignored)]
    base = posixpath.dirname(path)
    if fs.exists(path):
        return base, [posixpath.basename(path)]
    if not checkpoint_exists(path, fs=fs):
        raise NotFoundError(f'there is no folder, file or checkpoint "{path}"')
    files = [*list_checkpoint(path, fs=fs).files, meta_path(path)]
    return base, [posixpath.basename(file) for file in files if fs.exists(file)]


def _is_ignored(name: str, ignored: Sequence[str]) -> bool:
    return any(name == item or name.startswith(f"{item}/") for item in ignored)


def _digest(path: str, told: Told, fs: FileSystem) -> str:
    found = hashlib.sha256()
    file = fs.open(path)
    try:
        for at in range(0, file.size, _BLOCK):
            block = file.read(at, min(_BLOCK, file.size - at))
            found.update(block)
            told.add(len(block))
    finally:
        file.close()
    return found.hexdigest()


@dataclass(frozen=True)
class ManifestReport:
    """How a model differs from its manifest."""

    path: str
    same: tuple[str, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    """Files that the manifest does not list."""
    manifest: Manifest = field(repr=False)

    @property
    def is_same(self) -> bool:
        return not (self.changed or self.missing or self.extra)

    def __str__(self) -> str:
        if self.is_same:
            return f'"{self.path}": all {len(self.same)} files are as the manifest says'
        parts = ((self.changed, "changed"), (self.missing, "missing"), (self.extra, "not in the manifest"))
        lines = [f"  {name}: {what}" for names, what in parts for name in names]
        return "\n".join((f'"{self.path}": {len(lines)} files are not as the manifest says', *lines))


def write_manifest(manifest: Manifest, path: PathLike, *, overwrite: bool = False, fs: FileSystem = LOCAL) -> None:
    """Writes a manifest as a file."""
    text = path_text(path)
    if not overwrite and fs.exists(text):
        raise InvalidArgumentError(f'"{text}" exists already; say so if it shall be replaced')
    atomic_write(fs, text, manifest.to_json().encode(), Durability.DISK)


def read_manifest(path: PathLike, *, fs: FileSystem = LOCAL) -> Manifest:
    """A manifest from a file, or from a signature that `model-signing` made. The signature itself is not checked."""
    text = path_text(path)
    file = fs.open(text)
    try:
        if file.size > _LARGEST:
            raise DataLossError(f'"{text}" has {file.size:,} bytes: that is not a manifest')
        return Manifest.from_json(bytes(file.read(0, file.size)), f'"{text}"')
    finally:
        file.close()


def check_manifest(
    manifest: Manifest,
    path: PathLike,
    *,
    ignore: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    fs: FileSystem = LOCAL,
) -> ManifestReport:
    """Compares a model with its manifest: every digest, and that no file is missing or was added."""
    text = path_text(path)
    now = make_manifest(text, ignore=(*manifest.ignored, *ignore), threads=threads, progress=progress, fs=fs).digests
    listed = manifest.digests
    return ManifestReport(
        text,
        tuple(name for name in listed if now.get(name) == listed[name]),
        tuple(name for name in listed if name in now and now[name] != listed[name]),
        tuple(name for name in listed if name not in now),
        tuple(name for name in now if name not in listed),
        manifest,
    )
