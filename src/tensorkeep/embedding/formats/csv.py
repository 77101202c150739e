"""Text: a row for each key, `id` and the numbers of its row joined by commas, as MaxCompute (ODPS) tables take them.

    id,embedding                        id,embedding,freq,version
    17,"0.25,-1.5"                      17,"0.25,-1.5",3,120

Numbers are the shortest that read back the same.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tensorkeep.embedding.formats.streams import Imported, lines_of, opened_for_export, save_imported, writing_file
from tensorkeep.embedding.stored.rows import Batch
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress, Told

_AT_ONCE = 1 << 14  # lines
_NUMBERS = ("freq", "version")


def export_csv(
    source: PathLike,
    target: PathLike,
    name: str,
    column: str = "",
    *,
    numbers: bool = False,
    header: bool = True,
    separator: str = ",",
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Writes the rows of an embedding, its weights or a slot, as text; with `numbers`, frequencies and versions too.

    A separator other than the comma (a tab, say) makes quotes unnecessary. Keys without rows are left out.
    """
    path = path_text(target)
    if len(separator) != 1 or separator in '"\r\n0123456789.-+einfa':
        raise InvalidArgumentError(f"separator: expected one character that is in no number, got {separator!r}")
    quote = '"' if separator == "," else ""
    with opened_for_export(source, name, column, fs) as found, writing_file(path, fs) as file:
        told = Told(progress, found.column.count)
        if header:
            names = ["id", "embedding", *(_NUMBERS if numbers else ())]
            file.write((separator.join(names) + "\n").encode())
        for batch in found.batches():
            for start in range(0, batch.keys.size, _AT_ONCE):
                lines = _lines(batch.taken(np.arange(start, min(start + _AT_ONCE, batch.keys.size))), numbers)
                text = (separator.join((line[0], f"{quote}{line[1]}{quote}", *line[2:])) for line in lines)
                file.write(("\n".join(text) + "\n").encode())
            told.add(batch.keys.size)
    return path


def read_csv(
    path: PathLike, *, separator: str = ",", progress: Progress | None = None, fs: FileSystem = FILES
) -> ArraySnapshot:
    """Reads a table from text: columns `id` (or `key`) and `embedding`, or without a header the first two.

    `freq` and `version` are read if a header names them.
    """
    text = path_text(path)
    file = fs.open(text)
    told = Told(progress, file.size)
    taken = Imported(f'"{text}"')
    try:
        rows = csv.reader(lines_of(file, told.add), delimiter=separator)
        first = next(rows, None)
        if first is None:
            raise InvalidArgumentError(f'"{text}" is empty')
        first[:1] = [cell.removeprefix("\ufeff") for cell in first[:1]]  # by which some programs tell their encoding
        places = _places(text, first)
        pending = [] if _is_header(first) else [first]
        line = 1
        for row in rows:
            if row:
                pending.append(row)
            if len(pending) >= _AT_ONCE:
                line = _take(text, pending, places, taken, line)
                pending = []
        _take(text, pending, places, taken, line)
    except csv.Error as error:
        raise DataLossError(f'"{text}" cannot be read as text in columns: {error}') from error
    finally:
        file.close()
    return taken.snapshot()


def import_csv(
    path: PathLike,
    target: PathLike,
    name: str,
    *,
    shards: int = 1,
    separator: str = ",",
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Makes a checkpoint with one embedding of what `read_csv` reads, which is in memory for a while."""
    return save_imported(read_csv(path, separator=separator, progress=progress, fs=fs), target, name, shards, fs)


def _lines(batch: Batch, numbers: bool) -> Iterator[tuple[str, ...]]:
    assert batch.values is not None
    columns = [list(map(str, batch.keys.tolist())), list(map(",".join, batch.values.astype("U32").tolist()))]
    if numbers:
        for part, absent in ((batch.freqs, 0), (batch.versions, -1)):
            found = np.full(batch.keys.size, absent) if part is None else part
            columns.append(list(map(str, found.tolist())))
    return zip(*columns, strict=True)


def _is_header(row: Sequence[str]) -> bool:
    try:
        int(row[0])
    except (ValueError, IndexError):
        return True
    return False


def _places(path: str, first: Sequence[str]) -> dict[str, int]:
    """Where in a row each column is."""
    if not _is_header(first):
        return {"id": 0, "embedding": 1}
    names = {name.strip(): at for at, name in enumerate(first)}
    key = next((name for name in ("id", "key") if name in names), None)
    if key is None or "embedding" not in names:
        raise InvalidArgumentError(f'"{path}" has the columns {", ".join(first)}; expected "id" and "embedding"')
    return {"id": names[key], **{name: names[name] for name in ("embedding", *_NUMBERS) if name in names}}


def _take(path: str, rows: list[list[str]], places: dict[str, int], taken: Imported, line: int) -> int:
    if not rows:
        return line
    if short := [at for at, row in enumerate(rows) if len(row) <= max(places.values())]:
        raise DataLossError(f'"{path}": row {line + short[0]} has {len(rows[short[0]])} columns, expected more')
    texts = [row[places["embedding"]] for row in rows]
    widths = [text.count(",") + 1 for text in texts]
    dim = taken.dim or widths[0]
    if wrong := [at for at, width in enumerate(widths) if width != dim]:
        raise DataLossError(
            f'"{path}": row {line + wrong[0]} has an embedding of {widths[wrong[0]]} numbers, expected {dim}'
        )
    columns = (("id", "id"), ("freqs", "freq"), ("versions", "version"))
    numbers = {
        what: _integers(path, [row[places[name]] for row in rows], name, line)
        for what, name in columns
        if name in places
    }
    taken.add(numbers.pop("id"), _values(path, texts, line).reshape(len(rows), dim), **numbers)
    return line + len(rows)


def _integers(path: str, texts: list[str], name: str, line: int) -> npt.NDArray[np.int64]:
    try:
        return np.array([int(text) for text in texts], np.int64)
    except (ValueError, OverflowError):
        at = next(at for at, text in enumerate(texts) if not _is_int64(text))
        raise DataLossError(
            f'"{path}": row {line + at} has {texts[at]!r} for {name}, expected a whole number of at most 64 bits'
        ) from None


def _is_int64(text: str) -> bool:
    try:
        return -(1 << 63) <= int(text) < 1 << 63
    except ValueError:
        return False


def _values(path: str, texts: list[str], line: int) -> npt.NDArray[np.float64]:
    try:
        return np.array(",".join(texts).split(","), np.float64)
    except ValueError as error:
        parts = [(line + at, part) for at, text in enumerate(texts) for part in text.split(",")]
        row, wrong = next((where for where in parts if not _is_number(where[1])), (line, str(error)))
        raise DataLossError(f'"{path}": row {row} has {wrong!r} in its embedding, expected a number') from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
