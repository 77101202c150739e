"""Files that commands write beside what they print."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Final

from tensorkeep.checkpoint.finding.file_names import index_path, parse_data_path
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import TemporaryFile, atomic_write, path_text
from tensorkeep.proto.identification import FileKind, kind_of_file

_REPLACEABLE: Final = (FileKind.HTML, FileKind.JSON, FileKind.TEXT, FileKind.EMPTY, FileKind.UNKNOWN)


def written_path(text: str) -> str:
    """The path after an option that has something written, as the option's `type`.

    An empty one, such as that of a variable of the shell that is not set, is refused: it would be as if there were no
    option, and `--output "" --force` would change a model in its own place.
    """
    if not text:
        raise ArgumentTypeError("expected a path, got an empty text")
    return text


def require_free(path: str, overwrite: bool) -> None:
    """AlreadyExistsError if there is a file already that may not be replaced, NotFoundError if there is no folder.

    What holds a model is never replaced by a page, a drawing or a manifest: that would be a slip, and it would be lost.
    """
    path = path_text(path)
    if FILES.is_directory(path):
        raise InvalidArgumentError(f'"{path}" is a folder: name a file in it')
    folder = path.rpartition("/")[0]
    if folder and not FILES.is_directory(folder):
        raise NotFoundError(f'"{path}" cannot be written: there is no folder "{folder}"')
    if not FILES.exists(path):
        return
    if not overwrite:
        raise AlreadyExistsError(f'"{path}" is there already: say --force to replace it')
    data = parse_data_path(path)
    is_data = data is not None and FILES.exists(index_path(data[0]))
    kind = kind_of_file(path, FILES)
    if is_data or kind not in _REPLACEABLE:
        what = "a data file of a checkpoint" if is_data else kind.value
        raise InvalidArgumentError(f'"{path}" is {what}, which is not written over, not even with --force')


def require_writable(path: str) -> None:
    """An error if nothing can be written beside a path, before there is something to write. It leaves nothing."""
    with TemporaryFile(FILES, path_text(path)):
        pass


def write_text(path: str, text: str, *, overwrite: bool) -> None:
    """Writes a text, whole or not at all."""
    require_free(path, overwrite)
    atomic_write(FILES, path_text(path), text.encode("utf-8", "backslashreplace"))
