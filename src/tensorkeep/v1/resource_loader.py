"""`tf.resource_loader`: files that lie beside the program."""

from __future__ import annotations

import inspect
from typing import Any

from tensorkeep.errors import NotFoundError
from tensorkeep.io.coding.text_and_bytes import as_bytes
from tensorkeep.io.files.gfile import exists, join
from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.io.files.paths import absolute_path, with_slashes


def load_resource(path: str) -> bytes:
    """What a file holds, by its path from the folder of the calling module or from here."""
    with GFile(_find_file(path, _folder(inspect.currentframe())), "rb") as file:
        return as_bytes(file.read())


def get_data_files_path() -> str:
    """The folder of the calling module."""
    return _folder(inspect.currentframe())


def get_root_dir_with_all_resources() -> str:
    """The folder of the calling module."""
    return _folder(inspect.currentframe())


def get_path_to_datafile(path: str) -> str:
    """The path of a file that lies beside the calling module."""
    return str(join(_folder(inspect.currentframe()), path))


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself: nothing is read ahead."""
    return path


def _folder(frame: Any) -> str:
    """The folder of the module that called the function of a frame."""
    file = with_slashes(absolute_path(frame.f_back.f_code.co_filename))
    return file.rpartition("/")[0]


def _find_file(path: str, folder: str) -> str:
    candidates = [str(join(folder, path)), path]
    for candidate in candidates:
        if exists(candidate):
            return candidate
    raise NotFoundError(f"there is no file {path!r}: looked for {', '.join(candidates)}")
