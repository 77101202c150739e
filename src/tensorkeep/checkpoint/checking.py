"""Checking a checkpoint from end to end, and saying everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.errors import NotFoundError, ResourceExhaustedError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.io.showing.progress import Progress

_GROUP: Final = 256 << 20


@dataclass(frozen=True)
class TensorProblem:
    """One thing that is wrong."""

    tensor: str | None
    """The tensor it befell; None if it concerns a file as a whole."""
    error: TensorKeepError

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True)
class CheckpointReport:
    """What a check found."""

    path: str
    intact: tuple[str, ...]
    """The tensors that can be read, and whose checksums are right."""
    problems: tuple[TensorProblem, ...]

    @property
    def is_intact(self) -> bool:
        return not self.problems

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, and what is wrong."""
        problems = [(item.tensor or "", str(item)) for item in self.problems]
        return html_table(str(self).partition("\n")[0], ("tensor", "problem"), problems, len(problems))

    def __str__(self) -> str:
        intact, problems = len(self.intact), len(self.problems)
        if self.is_intact:
            which = "its one tensor is" if intact == 1 else f"all {intact} tensors are"
            return f'"{self.path}": {which} intact'
        tensors = "1 tensor is" if intact == 1 else f"{intact} tensors are"
        lines = [f'"{self.path}": {problems} problem{"s" if problems > 1 else ""}, {tensors} intact']
        return "\n".join((*lines, *(f"  {problem}" for problem in self.problems)))


def check_checkpoint(
    path: PathLike, *, fs: FileSystem = FILES, threads: int | None = None, progress: Progress | None = None
) -> CheckpointReport:
    """Reads every tensor of a checkpoint, compares every checksum, and reports all that is wrong.

    Never raises for damage, however bad: that is what the report is for. A path with nothing there is an error.
    """
    return report_checkpoint(path, lambda reader, names: list(_results(reader, names, threads, progress)), fs)


ProblemFinder = Callable[[CheckpointReader, Sequence[str]], Sequence[TensorProblem | None]]
"""Says for each of these tensors of a checkpoint what is wrong with it; None where nothing is."""


def report_checkpoint(path: PathLike, find_problems: ProblemFinder, fs: FileSystem) -> CheckpointReport:
    """Opens a checkpoint, lets `find_problems` look at its tensors, and reports what it finds beside the damage to the
    files themselves. NotFoundError if nothing is there.
    """
    text = path_text(path)
    try:
        reader = open_checkpoint(text, ReadOptions(checksums=Checksums.ALWAYS), fs=fs)
    except NotFoundError:
        raise
    except TensorKeepError as error:
        return CheckpointReport(text, (), (TensorProblem(None, error),))
    with reader:
        try:
            names = reader.intact_names
        except TensorKeepError as error:
            return CheckpointReport(reader.path, (), (TensorProblem(None, error),))
        results = find_problems(reader, names)
        problems = [TensorProblem(None, error) for error in reader.damage]
        problems += [problem for problem in results if problem is not None]
        intact = tuple(name for name, problem in zip(names, results, strict=True) if problem is None)
        return CheckpointReport(reader.path, intact, tuple(problems))


def tensor_problems(
    reader: CheckpointReader, names: Sequence[str], *, threads: int | None = None
) -> list[TensorProblem | None]:
    """What is wrong with each of these tensors; None where nothing is."""
    return list(_results(reader, names, threads, None))


def _results(
    reader: CheckpointReader, names: Sequence[str], threads: int | None, progress: Progress | None
) -> Iterator[TensorProblem | None]:
    """For each tensor, what is wrong with it, or None. Groups of tensors are verified at once, and one by one only if
    that fails.
    """
    groups = list(_groups(reader, names))
    total, done = sum(size for _, size in groups), 0
    for group, size in groups:
        try:
            reader.verify_many(group, threads=threads)
            yield from [None] * len(group)
        except (TensorKeepError, MemoryError):
            yield from in_parallel(lambda name: _problem(reader, name), group, threads)
        done += size
        if progress is not None:
            progress(done, total)


def _groups(reader: CheckpointReader, names: Sequence[str]) -> Iterator[tuple[list[str], int]]:
    """Names, in order, of tensors that together have some hundred megabytes; and how many bytes these are."""
    group: list[str] = []
    size = 0
    for name in names:
        group.append(name)
        size += readable_size(reader, name)
        if size >= _GROUP:
            yield group, size
            group, size = [], 0
    if group:
        yield group, size


def readable_size(reader: CheckpointReader, name: str) -> int:
    """The bytes of a tensor; none of one that is too damaged to tell."""
    try:
        return reader[name].nbytes
    except TensorKeepError:
        return 0


def _problem(reader: CheckpointReader, name: str) -> TensorProblem | None:
    try:
        reader.verify(name)
    except TensorKeepError as error:
        return TensorProblem(name, error)
    except MemoryError:
        return TensorProblem(name, ResourceExhaustedError(f'tensor "{name}" does not fit in memory'))
    return None
