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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tensorkeep.checkpoint.finding.file_names import meta_path
from tensorkeep.checkpoint.finding.files import checkpoint_or_parts_exist
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.inspect.listing import list_checkpoint
from tensorkeep.io.files.directories import file_size, files_below
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.io.files.model_signatures import sign_files, verified_statement
from tensorkeep.io.files.paths import stays_inside
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.io.showing.progress import Progress, Told

_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_PREDICATE: Final = "https://model_signing/signature/v1.0"
_ITSELF: Final = "."  # the name of the only file of a model that is no folder
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
    """In hexadecimal digits, by paths relative to the model; by "." if it is one file."""
    ignored: Sequence[str] = _IGNORED
    """Files and folders of the model that do not count."""
    is_signed: bool = field(default=False, compare=False)
    """Whether it comes from a signature; verified, if `read_signature` gave it."""

    @property
    def root_digest(self) -> str:
        """One digest for all files together."""
        return _together(self.digests[name] for name in _in_order(self.digests))

    def to_json(self) -> str:
        """The document: an in-toto statement."""
        statement = {
            "_type": _STATEMENT,
            "subject": [{"name": self.name, "digest": {"sha256": self.root_digest}}],
            "predicateType": _PREDICATE,
            "predicate": {
                "resources": [
                    {"name": name, "algorithm": "sha256", "digest": self.digests[name]}
                    for name in _in_order(self.digests)
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
            is_signed = isinstance(document, dict) and "dsseEnvelope" in document
            if is_signed:
                document = json.loads(base64.b64decode(document["dsseEnvelope"]["payload"], validate=True))
            return replace(_parsed_statement(document, what), is_signed=is_signed)
        except DataLossError:
            raise
        except (KeyError, TypeError, IndexError, ValueError, RecursionError, binascii.Error) as error:
            is_json = not isinstance(error, UnicodeDecodeError | json.JSONDecodeError)
            why = repr(error) if is_json else "it is not JSON"
            raise DataLossError(f"{what} is not a statement of a model's digests: {why}") from None


def _parsed_statement(document: Any, what: str) -> Manifest:
    if document["_type"] != _STATEMENT or document["predicateType"] != _PREDICATE:
        raise DataLossError(
            f"{what} is a statement of another kind: {document['_type']!r} with {document['predicateType']!r}, "
            f"expected {_STATEMENT!r} with {_PREDICATE!r}"
        )
    predicate, subject = document["predicate"], document["subject"][0]
    found = _of_predicate(str(subject["name"]), predicate["resources"], predicate["serialization"], what)
    if _together(found.digests.values()) != subject["digest"]["sha256"]:
        raise DataLossError(f"{what} contradicts itself: its files do not give the digest that it has for all together")
    return found


def _of_predicate(name: str, resources: Any, serialization: Any, what: str) -> Manifest:
    if serialization["method"] != "files" or serialization["hash_type"] != "sha256":
        raise DataLossError(
            f"{what} has digests of kind {serialization['hash_type']!r} by {serialization['method']!r}; only SHA-256 "
            "of whole files is understood"
        )
    digests: dict[str, str] = {}
    for item in resources:
        file, digest = item["name"], item["digest"]
        if file in digests or not (_is_inside(file) or (file == _ITSELF and len(resources) == 1)):
            raise DataLossError(f"{what} lists {file!r}, which is not one path inside the model")
        if not isinstance(digest, str) or len(digest) != _DIGEST_LENGTH or not set(digest) <= set("0123456789abcdef"):
            raise DataLossError(f"{what} lists {file!r} with {digest!r}, which is not a SHA-256 digest")
        digests[file] = digest
    if not digests:
        raise DataLossError(f"{what} lists no files")
    return Manifest(name, digests, tuple(map(str, serialization.get("ignore_paths", ()))))


def _in_order(names: Iterable[str]) -> list[str]:
    """By folders, as the layout wants it: what is in "a" comes before what is in "a-b"."""
    return sorted(names, key=lambda name: name.split("/"))


def _together(digests: Iterable[str]) -> str:
    return hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()


def _is_inside(name: object) -> bool:
    return (
        isinstance(name, str) and bool(name) and posixpath.normpath(name) == name and stays_inside(name) and name != "."
    )


def make_manifest(
    path: PathLike,
    *,
    ignore: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
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
    if fs.exists(text) and not fs.is_directory(text):
        return Manifest(name, {_ITSELF: digests[0]}, ignored)
    return Manifest(name, {item: found[item] for item in _in_order(found)}, ignored)


def _files(path: str, ignored: Sequence[str], fs: FileSystem) -> tuple[str, list[str]]:
    """The folder that paths are relative to, and the files of a model in it."""
    if fs.is_directory(path):
        return path, [name for name in files_below(fs, path) if not _is_ignored(name, ignored)]
    base = posixpath.dirname(path)
    if fs.exists(path):
        return base, [posixpath.basename(path)]
    if not checkpoint_or_parts_exist(path, fs=fs):
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

    @property
    def _differences(self) -> list[tuple[str, str]]:
        """The files that are not as they should be, by name, and what is wrong with each."""
        parts = ((self.changed, "changed"), (self.missing, "missing"), (self.extra, "not in the manifest"))
        itself = posixpath.basename(self.path)
        return [(itself if name == _ITSELF else name, what) for names, what in parts for name in names]

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, and the files that differ."""
        found = self._differences
        return html_table(str(self).partition("\n")[0], ("file", "what"), found, len(found))

    def __str__(self) -> str:
        if self.is_same:
            files = "the file is" if len(self.same) == 1 else f"all {len(self.same)} files are"
            return f'"{self.path}": {files} as the manifest says'
        lines = [f"  {name}: {what}" for name, what in self._differences]
        files = "1 file is" if len(lines) == 1 else f"{len(lines)} files are"
        return "\n".join((f'"{self.path}": {files} not as the manifest says', *lines))


def write_manifest(manifest: Manifest, path: PathLike, *, overwrite: bool = False, fs: FileSystem = FILES) -> None:
    """Writes a manifest as a file."""
    text = path_text(path)
    if not overwrite and fs.exists(text):
        raise InvalidArgumentError(f'"{text}" exists already; say so if it shall be replaced')
    atomic_write(fs, text, manifest.to_json().encode(), Durability.DISK)


def read_manifest(path: PathLike, *, fs: FileSystem = FILES) -> Manifest:
    """A manifest from a file, or from a signature that `model-signing` made. The signature itself is not checked."""
    text = path_text(path)
    file = fs.open(text)
    try:
        if file.size > _LARGEST:
            raise DataLossError(f'"{text}" has {file.size:,} bytes: that is not a manifest')
        return Manifest.from_json(bytes(file.read(0, file.size)), f'"{text}"')
    finally:
        file.close()


def sign_model(
    path: PathLike,
    signature: PathLike,
    private_key: PathLike,
    *,
    password: bytes | None = None,
    ignore: Sequence[str] = (),
    overwrite: bool = False,
) -> Manifest:
    """Signs a model by the key of an elliptic curve, a PEM file, as `model_signing sign key` does. What was signed.

    It takes the package `model-signing`, and files on the local disk. Of a checkpoint, given by its prefix, its own
    files are signed; `model_signing verify key` then needs the folder and `--ignore_unsigned_files`.
    """
    text, target = path_text(path), path_text(signature)
    if not overwrite and FILES.exists(target):
        raise InvalidArgumentError(f'"{target}" exists already; say so if it shall be replaced')
    base, names = _files(text, (*_IGNORED, *ignore), FILES)
    if not names:
        raise NotFoundError(f'"{text}" has no files')
    for name in names:
        FILES.open(posixpath.join(base, name)).close()  # which refuses pipes, for which the package would wait for ever
    is_checkpoint = not FILES.exists(text)
    where, only = (base or ".", names) if is_checkpoint else (text, None)
    ignored = (*ignore, *itself_inside(text, target))
    sign_files(where, only, target, path_text(private_key), password=password, ignored=ignored)
    return read_manifest(target)


def itself_inside(model: PathLike, target: PathLike, *, fs: FileSystem = FILES) -> tuple[str, ...]:
    """What a manifest has to ignore if it is to be written to `target`: itself, in case that is within the model."""
    folder, file = path_text(model), path_text(target)
    if not fs.is_directory(folder):
        return ()
    above, name = fs.canonical(posixpath.dirname(file) or "."), posixpath.basename(file)
    inside = posixpath.relpath(posixpath.join(above, name), fs.canonical(folder))
    return () if inside.startswith("../") else (inside,)


def read_signature(path: PathLike, public_key: PathLike) -> Manifest:
    """The manifest in a signature by a key, verified by its public half, a PEM file. DataLossError if it is not.

    It takes the package `model-signing`, and files on the local disk.
    """
    text = path_text(path)
    found = verified_statement(text, path_text(public_key))
    manifest = _of_predicate(str(found["name"]), found["resources"], found["serialization"], f'"{text}"')
    return replace(manifest, is_signed=True)


def check_manifest(
    manifest: Manifest,
    path: PathLike,
    *,
    ignore: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
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
