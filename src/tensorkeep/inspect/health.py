"""Whether a checkpoint, or another file of tensors, is fit to be used: whole, and with numbers that make sense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tensorkeep.checkpoint.checking import check_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.comparing import OpenedTensors, Tensors
from tensorkeep.inspect.statistics import ABSURD, TensorStatistics, tensor_statistics
from tensorkeep.inspect.watching import Watched, bytes_of, phase
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.io.showing.progress import Progress, Told
from tensorkeep.saved_model.files.layout import contains_saved_model, variables_path


class Ailment(Enum):
    """What may be wrong with a checkpoint."""

    DAMAGED = "damaged"
    NOT_A_NUMBER = "not a number"
    INFINITE = "infinite"
    ABSURD = "absurdly large"
    ALL_ZERO = "all zero"
    CONSTANT = "constant"

    @property
    def is_error(self) -> bool:
        """Whether the checkpoint should not be used; else it may be as it should."""
        return self in (Ailment.DAMAGED, Ailment.NOT_A_NUMBER, Ailment.INFINITE)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may be."""

    ailment: Ailment
    tensor: str | None
    """The tensor it befell; None if it concerns a file as a whole."""
    detail: str


@dataclass(frozen=True)
class HealthReport:
    """What an examination found."""

    path: str
    tensors: int
    """How many could be looked at."""
    findings: tuple[Finding, ...]

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, and what was found."""
        verdict = "healthy" if self.is_healthy else "not fit for use"
        rows = [(item.ailment.value, item.tensor or "", item.detail) for item in self.findings]
        return html_table(f"{self.path}: {verdict}", ("what", "tensor", "detail"), rows, len(rows))

    @property
    def is_healthy(self) -> bool:
        return not any(finding.ailment.is_error for finding in self.findings)


def examine(
    path: PathLike, *, absurd: float = ABSURD, progress: Progress | None = None, fs: FileSystem = FILES
) -> HealthReport:
    """Looks at all of a checkpoint, or of a SavedModel's: at checksums first, then at the numbers of what is intact."""
    given = path_text(path)
    prefix = variables_path(given) if contains_saved_model(given, fs) else given
    checked = check_checkpoint(prefix, fs=fs, progress=phase(progress, 0, 2))
    findings = [Finding(Ailment.DAMAGED, problem.tensor, str(problem)) for problem in checked.problems]
    if checked.intact:
        with open_checkpoint(checked.path, ReadOptions(checksums=Checksums.OFF), fs=fs) as reader:
            statistics, more = look_at(reader, checked.intact, absurd=absurd, progress=phase(progress, 1, 2))
            return HealthReport(checked.path, len(statistics), tuple(findings + more))
    return HealthReport(checked.path, 0, tuple(findings))


def examine_tensors(
    tensors: OpenedTensors, *, absurd: float = ABSURD, progress: Progress | None = None
) -> HealthReport:
    """Looks at all numbers of tensors that are open, of whatever format: of `tensorkeep.convert.open_tensors`."""
    statistics, findings = look_at(tensors, sorted(tensors), absurd=absurd, progress=progress)
    return HealthReport(tensors.path, len(statistics), tuple(findings))


def look_at(
    tensors: Tensors, names: Sequence[str], *, bins: int = 0, absurd: float = ABSURD, progress: Progress | None = None
) -> tuple[list[TensorStatistics], list[Finding]]:
    """The statistics of tensors, and what is wrong with them; one that cannot be read has none, and is damaged."""
    watched = Watched(tensors, Told(progress, bytes_of(tensors, names) * (2 if bins else 1)))
    statistics: list[TensorStatistics] = []
    findings: list[Finding] = []
    for name in names:
        try:
            statistics.append(tensor_statistics(watched, name, bins=bins, absurd=absurd))
        except TensorKeepError as error:
            findings.append(Finding(Ailment.DAMAGED, name, str(error)))
        else:
            findings += findings_of(statistics[-1], absurd)
    return statistics, findings


def findings_of(item: TensorStatistics, absurd: float) -> list[Finding]:
    """What the numbers of a tensor give rise to."""
    found: list[Finding] = []
    if item.nans:
        found.append(Finding(Ailment.NOT_A_NUMBER, item.name, f"{item.nans:,} of {item.count:,} numbers"))
    if item.infinities:
        found.append(Finding(Ailment.INFINITE, item.name, f"{item.infinities:,} of {item.count:,} numbers"))
    if item.absurd and item.dtype.is_floating:
        what = "1 number is" if item.absurd == 1 else f"{item.absurd:,} numbers are"
        found.append(Finding(Ailment.ABSURD, item.name, f"{what} beyond {absurd:g}"))
    if item.is_constant and item.dtype.is_floating and len(item.shape) > 1:
        if item.minimum == 0:
            found.append(Finding(Ailment.ALL_ZERO, item.name, f"all {item.count:,} numbers"))
        else:
            found.append(Finding(Ailment.CONSTANT, item.name, f"all {item.count:,} numbers are {item.minimum:g}"))
    return found
