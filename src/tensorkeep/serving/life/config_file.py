"""The file that says which models are served, looked into again and again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.serving.life.configuration import read_configuration

_LOGGER: Final = logging.getLogger("tensorkeep.serving")


class ConfigFile:
    """A configuration file that is read again every `seconds`, for the first time after that: the start has read it."""

    def __init__(self, path: str, seconds: float, fs: FileSystem) -> None:
        self._path = path
        self._seconds = seconds
        self._fs = fs
        self._due: float | None = None
        self._told = ""

    def read_if_due(self, now: float) -> ModelServerConfig | None:
        """What the file says, if it is time to look; None if it is not, or if it does not parse, which is told."""
        if not self._path or self._seconds <= 0:
            return None
        is_due = self._due is not None and now >= self._due
        if is_due or self._due is None:
            self._due = now + self._seconds
        if not is_due:
            return None
        try:
            return read_configuration(ModelServerConfig, self._path, self._fs)
        except TensorKeepError as error:
            self._tell(f"Failed to read ModelServerConfig file: {error}")
            return None

    def apply(self, config: ModelServerConfig, configure: Callable[[ModelServerConfig], object]) -> None:
        """Puts a configuration in force; one that cannot be is told, and the one before stays."""
        try:
            configure(config)
            self._told = ""
        except TensorKeepError as error:
            self._tell(f"The ModelServerConfig in {self._path} cannot come into force: {error}")

    def _tell(self, problem: str) -> None:
        """Says what is wrong once, not at every look."""
        if problem != self._told:
            _LOGGER.error("%s. The configuration in force stays", problem)
        self._told = problem
