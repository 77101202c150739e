"""Which versions of a model lie below its base path, and what lies in the folder of one.

BASE/00000123/saved_model.pb ...        version 123: the whole name reads as a decimal number of 64 bits
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import NotFoundError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.saved_model.files.layout import contains_saved_model
from tensorkeep.serving.life.configuration import Latest, ModelSettings, Specific

_NUMBER: Final = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t\n\v\f\r]*")
_MOST_DIGITS: Final = 400  # a longer name is no number of 64 bits, however many zeros it begins with
_MOST_FILES: Final = 10_000  # of a folder; more are not looked at
_DEEPEST: Final = 16


@dataclass(frozen=True, slots=True)
class Found:
    """The versions of a model that are wished, with their folders, and what is to be said of them."""

    paths: Mapping[int, str]
    remarks: tuple[str, ...] = ()


Content = tuple[tuple[str, int, float], ...]
"""What lies in a folder: the files with their sizes and times. Equal contents hold the same bytes, if nobody cheats."""


def version_number(name: str) -> int | None:
    """The version that a name stands for; None if it is no decimal number of 64 bits."""
    found = _NUMBER.fullmatch(name) if len(name) <= _MOST_DIGITS else None
    number = int(found[1]) if found else None
    return number if number is not None and -(1 << 63) <= number < 1 << 63 else None


def find_versions(settings: ModelSettings, fs: FileSystem) -> Found:
    """The versions that a model's policy picks of those below its base path.

    NotFoundError if that cannot be listed: then nothing is known, and nothing should change.
    """
    base = settings.base_path.rstrip("/") or "/"
    try:
        names = sorted(fs.list(base))
    except TensorKeepError as error:
        raise NotFoundError(
            f"FileSystemStoragePathSource encountered a filesystem access error: Could not find base path "
            f"{settings.base_path} for servable {settings.name} with error {error}"
        ) from error
    there: dict[int, str] = {}
    remarks = []
    for name in names:
        number = version_number(name)
        if number is None:
            continue
        if number in there:
            remarks.append(
                f'"{there[number]}" and "{name}" below {base} are both version {number} of {settings.name}: the last '
                "is taken"
            )
        there[number] = name
    if not there and contains_saved_model(base, fs):
        return _one_model(settings, base)
    folder = base.rstrip("/")
    chosen, said = _chosen_versions(settings, set(there))
    # In a store a folder is there with its first file: a version is one when its graph is there, which comes last.
    while fs.puts(base) is not None and (
        begun := {number for number in chosen if not contains_saved_model(f"{folder}/{there[number]}", fs)}
    ):
        there = {number: name for number, name in there.items() if number not in begun}
        chosen, said = _chosen_versions(settings, set(there))
    return Found({number: f"{folder}/{there[number]}" for number in sorted(chosen)}, (*remarks, *said))


def _one_model(settings: ModelSettings, base: str) -> Found:
    """A base path that is itself a SavedModel: its version 1. The original does not know such a thing."""
    chosen, said = _chosen_versions(settings, {1})
    return Found(dict.fromkeys(chosen, base), tuple(said))


def _chosen_versions(settings: ModelSettings, there: set[int]) -> tuple[set[int], list[str]]:
    """The versions that a policy picks, and what is to be said of it."""
    policy, name = settings.policy, settings.name
    if isinstance(policy, Specific):
        return _specific(policy, name, there)
    if not there:
        return set(), [
            f"No versions of servable {name} found under base path {settings.base_path}. Did you forget to name your "
            "leaf directory as a number (eg. '/1/')?"
        ]
    return set(sorted(there)[-policy.count :]) if isinstance(policy, Latest) else there, []


def _specific(policy: Specific, name: str, there: set[int]) -> tuple[set[int], list[str]]:
    if not policy.versions:
        return set(), [f"No specific versions requested for servable {name}: all that is loaded of it is unloaded"]
    absent = sorted(set(policy.versions) - there)
    said = [f"Version {version} of servable {name}, which was requested, was not found" for version in absent]
    return set(policy.versions) & there, said


def content_of(path: str, fs: FileSystem) -> Content:
    """What lies in the folder of a version, to be compared with what lies there later. Never raises."""
    return tuple(_below(path.rstrip("/"), "", fs, [_MOST_FILES], _DEEPEST))


def _below(root: str, name: str, fs: FileSystem, left: list[int], levels: int) -> Iterator[tuple[str, int, float]]:
    path = f"{root}{name}"
    try:
        names = list(fs.list(path)) if fs.is_directory(path) else None
        if names is None:
            left[0] -= 1
            yield name, _size(path, fs), fs.modified(path)
            return
    except TensorKeepError:
        yield name, -1, 0.0  # it vanished, or cannot be read
        return
    for item in names if levels else ():
        if left[0] > 0:
            yield from _below(root, f"{name}/{item}", fs, left, levels - 1)


def _size(path: str, fs: FileSystem) -> int:
    file = fs.open(path)
    try:
        return file.size
    finally:
        file.close()
