"""Signatures of a model's files by a key, made and verified by the package `model-signing` where it is installed.

The package reads and writes files itself, so all paths are of the local file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, TemporaryFile


def sign_files(
    path: str,
    names: Iterable[str] | None,
    signature: str,
    private_key: str,
    *,
    password: bytes | None = None,
    ignored: Sequence[str] = (),
) -> None:
    """Signs the file at `path`, or what is in the folder there: all of it, or only the files of these names.

    `private_key` is a file with the key of an elliptic curve. The signature appears whole, or not at all.
    """
    signing, hashing = _module("signing"), _module("hashing")
    files = None if names is None else [Path(path, name) for name in names]
    _require_files(private_key)
    try:
        signer = signing.Config().use_elliptic_key_signer(private_key=private_key, password=password)
    except Exception as error:
        raise InvalidArgumentError(f'"{private_key}" cannot be used to sign: {_error_text(error)}') from error
    try:  # before there is any file of ours, which could lie among those that are signed
        found = hashing.Config().set_ignored_paths(paths=ignored).hash(path, files_to_hash=files)
    except Exception as error:
        raise InvalidArgumentError(f'"{path}" cannot be signed: {_error_text(error)}') from error
    with TemporaryFile(FILES, signature) as temporary:
        signer.set_hashing_config(_Known(found)).sign(path, temporary.path)
        temporary.commit(Durability.DISK)


def verified_statement(signature: str, public_key: str) -> Mapping[str, Any]:
    """What a signature says of a model, if the key that belongs to `public_key` made it; else DataLossError.

    Whether the files are what it says, is not looked at.
    """
    verifying = _module("verifying")
    _require_files(signature, public_key)
    try:
        verifier = verifying.Config().use_elliptic_key_verifier(public_key=public_key)
    except Exception as error:
        raise InvalidArgumentError(f'"{public_key}" cannot be used to verify: {_error_text(error)}') from error
    caught = _Caught()
    try:
        verifier.set_hashing_config(caught).verify("", signature)
    except Exception as error:
        raise DataLossError(
            f'"{signature}" is no signature by the key of "{public_key}": {_error_text(error)}'
        ) from error
    found = caught.manifest
    resources = [
        {"name": item.identifier, "algorithm": item.digest.algorithm, "digest": item.digest.digest_hex}
        for item in found.resource_descriptors()
    ]
    return {"name": found.model_name, "resources": resources, "serialization": found.serialization_type}


def _require_files(*paths: str) -> None:
    """InvalidArgumentError if one of them is something else than a file: the package would wait for a pipe for ever."""
    for path in paths:
        if FILES.exists(path):
            with closing(FILES.open(path)) as file:
                if not file.size:
                    raise InvalidArgumentError(f'"{path}" is empty')


class _Known:
    """Stands in for the settings by which model-signing computes digests of files, where these are known already."""

    def __init__(self, manifest: Any) -> None:
        self._manifest = manifest

    def hash(self, model_path: str) -> Any:
        return self._manifest


class _Caught:
    """Stands in for the digests that model-signing compares a signature with: it is equal to all of them, and keeps the
    last that it was compared with.
    """

    manifest: Any = None

    def add_ignored_paths(self, *, model_path: str, paths: Iterable[str]) -> None:
        """Nothing is looked at, so nothing need be ignored."""

    def hash(self, model_path: str, *, files_to_hash: Iterable[str] | None = None) -> _Caught:
        return self

    def __eq__(self, other: object) -> bool:
        self.manifest = other
        return True

    __hash__ = None  # type: ignore[assignment]


def _module(name: str) -> Any:
    try:
        return import_module(f"model_signing.{name}")
    except ImportError as error:
        raise UnimplementedError(
            f"signatures by a key need the package model-signing, which cannot be imported ({error}): pip install "
            '"tensorkeep[sign]"'
        ) from None


def _error_text(error: Exception) -> str:
    """What the package, or one that it uses, says; some say nothing but their name."""
    return " ".join(str(error).split()) or type(error).__name__
