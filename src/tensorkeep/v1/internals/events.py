"""`event_file_writer`: a writer of events without the summaries of a graph around them."""

from __future__ import annotations

from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.training.loops.events import FileWriter


class EventFileWriter(FileWriter):
    """Writes events to a file of a folder."""

    def __init__(
        self, logdir: PathLike, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None
    ) -> None:
        super().__init__(logdir, max_queue=max_queue, flush_secs=flush_secs, filename_suffix=filename_suffix)
