"""Files that commands write beside what they print."""

from __future__ import annotations

from tensorkeep.errors import AlreadyExistsError
from tensorkeep.io.filesystem import atomic_write
from tensorkeep.io.local import LOCAL


def require_free(path: str, overwrite: bool) -> None:
    """AlreadyExistsError if there is a file already that may not be replaced."""
    if not overwrite and LOCAL.exists(path):
        raise AlreadyExistsError(f'"{path}" is there already: say --force to replace it')


def write_text(path: str, text: str, *, overwrite: bool) -> None:
    """Writes a text, whole or not at all."""
    require_free(path, overwrite)
    atomic_write(LOCAL, path, text.encode("utf-8", "backslashreplace"))


__all__ = ["require_free", "write_text"]
