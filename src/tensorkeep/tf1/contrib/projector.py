"""Which embeddings TensorBoard shows, in the file that it reads beside a checkpoint: `projector_config.pbtxt`."""

from __future__ import annotations

import posixpath
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, PathLike, atomic_write, path_text, prepare_directory
from tensorkeep.proto.reports import ProjectorConfig
from tensorkeep.proto.text import format_text
from tensorkeep.tf1.training.loops.roles import SummaryWriter

PROJECTOR_FILENAME: Final = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: SummaryWriter | PathLike, config: ProjectorConfig) -> None:
    """Writes a configuration to the folder of a summary writer, or to one that is given in its place."""
    folder: Any = summary_writer.get_logdir() if hasattr(summary_writer, "get_logdir") else summary_writer
    if not folder:
        raise InvalidArgumentError("Summary writer must have a logdir")
    logdir = path_text(folder)
    prepare_directory(FILES, logdir, Durability.CACHE)
    atomic_write(FILES, posixpath.join(logdir, PROJECTOR_FILENAME), format_text(config).encode(), Durability.CACHE)
