"""Links in the folder of a model that lead out of it: whoever copies what one leads to gives away somebody's file.

Loading and scanning follow those of the model's own file and of its variables, of which caches of models are made; a
model is read as such and nothing else. What is copied as it is, is copied from the folder itself only.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable

from tensorkeep.errors import PermissionDeniedError
from tensorkeep.io.files.filesystem import FileSystem


def leads_out(path: str, directory: str, fs: FileSystem) -> bool:
    """Whether what a path leads to, all links followed, is elsewhere than in a folder."""
    root = fs.canonical(directory)
    return root != "." and not f"{fs.canonical(path)}/".startswith(root.rstrip("/") + "/")


def links_out(directory: str, fs: FileSystem, without: Collection[str] = ()) -> list[str]:
    """The files and folders that lead out of a folder, by names relative to it; but not the names in `without`."""
    leading: list[str] = []
    pending, seen = [""], {fs.canonical(directory)}
    while pending:
        prefix = pending.pop()
        for name in sorted(fs.list(posixpath.join(directory, prefix) if prefix else directory)):
            inner = posixpath.join(prefix, name)
            path = posixpath.join(directory, inner)
            if inner in without:
                continue
            if leads_out(path, directory, fs):
                leading.append(inner)
            elif fs.is_directory(path) and (place := fs.canonical(path)) not in seen:
                seen.add(place)
                pending.append(inner)
    return leading


def require_own_files(directory: str, fs: FileSystem, without: Collection[str] = ()) -> None:
    """PermissionDeniedError, with all names, if files of a model that are to be copied are links out of it."""
    _refuse(links_out(directory, fs, without), directory)


def require_own_assets(directory: str, paths: Iterable[str], fs: FileSystem) -> None:
    """PermissionDeniedError, with all names, if some of these files of a model are links out of it."""
    _refuse([path for path in paths if leads_out(path, directory, fs)], directory)


def _refuse(names: list[str], directory: str) -> None:
    if names:
        listed = ", ".join(f'"{name}"' for name in names[:10]) + (", ..." if names[10:] else "")
        raise PermissionDeniedError(
            f'the model in "{directory}" has links that lead out of it: {listed}. What they lead to is not copied; if '
            "you trust the model, put copies in their place first (cp -rL)"
        )
