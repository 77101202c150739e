"""MaxCompute (ODPS) tables, by the client pyodps (the extra `maxcompute`).

    odps://project/tables/users                          a table
    odps://project/tables/users/ds=20261116/hour=08      a partition of one

    id BIGINT, embedding STRING | ARRAY<FLOAT>, freq BIGINT, version BIGINT          the last two if they are wanted

As text, an embedding is its numbers joined by commas, each the shortest that reads back the same. Rows go up in blocks
and appear all at once when the last has arrived, or not at all. A table that is not there is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.embedding.formats.streams import Exported, opened_for_export
from tensorkeep.embedding.stored.rows import Batch
from tensorkeep.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    TensorKeepError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.machine.resources import environment_variable
from tensorkeep.io.showing.progress import Progress, Told

_KEYS: Final = ("id", "key")
_NUMBERS: Final = ("freq", "version")
_FORMS: Final = {"text": "string", "array": "array<float>"}
_URL: Final = re.compile(r"odps://([^/]+)/tables/([^/]+)((?:/[^/=]+=[^/]+)*)/?")


@dataclass(frozen=True, slots=True)
class MaxComputeTable:
    """A table of a project, or a partition of it: pairs of column and value, the outermost first."""

    project: str
    name: str
    partition: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, url: str) -> MaxComputeTable:
        """What `odps://project/tables/name`, with or without a partition, stands for."""
        found = _URL.fullmatch(url)
        if found is None:
            raise InvalidArgumentError(
                f'"{url}" names no table: expected odps://PROJECT/tables/NAME, or that with a partition, /ds=20261116'
            )
        pairs = [part.partition("=") for part in found[3].split("/") if part]
        return cls(found[1], found[2], tuple((column, value) for column, _, value in pairs))

    @property
    def spec(self) -> str | None:
        """The partition as the client takes it; None for the whole table."""
        return ",".join(f"{column}={value}" for column, value in self.partition) or None

    def __str__(self) -> str:
        return "/".join(
            [f"odps://{self.project}/tables/{self.name}", *(f"{column}={value}" for column, value in self.partition)]
        )


@dataclass(frozen=True, slots=True)
class MaxComputeReport:
    """How many rows of an embedding went to a table, and how many keys without rows did not."""

    table: MaxComputeTable
    rows: int
    left_out: int
    was_made: bool

    def __str__(self) -> str:
        counted = f", {self.left_out} counted keys without rows left out" if self.left_out else ""
        return f"{self.rows} rows to {'the new table ' if self.was_made else ''}{self.table}{counted}"


def export_maxcompute(
    source: PathLike,
    target: str | MaxComputeTable,
    name: str,
    column: str = "",
    *,
    numbers: bool = False,
    form: str = "text",
    overwrite: bool = False,
    client: Any = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> MaxComputeReport:
    """Writes the rows of an embedding, its weights or a slot, to a MaxCompute table. Keys without rows are left out.

    `form` says what an embedding is in a table that is made: "text" or "array". A table that is there says that by its
    own columns. What is there already is replaced only if `overwrite` says so. `client` is an `odps.ODPS`; without one
    the environment says where the service is (ODPS_ENDPOINT) and who asks: ALIBABA_CLOUD_ACCESS_KEY_ID and
    ALIBABA_CLOUD_ACCESS_KEY_SECRET, or what pyodps takes for tokens.
    """
    source = path_text(source)  # a place that is not served is told before anybody is asked
    table = target if isinstance(target, MaxComputeTable) else MaxComputeTable.of(target)
    if form not in _FORMS:
        raise InvalidArgumentError(f"form is {form!r}, expected one of {', '.join(_FORMS)}")
    odps = _pyodps()
    client = _client(odps, table) if client is None else client
    with opened_for_export(source, name, column, fs) as found, _explained_errors(odps, table):
        known = _found_table(client, table, overwrite)
        stored = known or _made_table(odps, client, table, numbers, form)
        columns = _checked_columns(stored, table, numbers)
        session = odps.tunnel.TableTunnel(client, project=table.project).create_upload_session(
            stored, partition_spec=table.spec, create_partition=bool(table.partition), overwrite=overwrite
        )
        rows = _upload(session, found, columns, Told(progress, found.column.count))
        return MaxComputeReport(table, rows, found.column.filtered_count, known is None)


def _upload(session: Any, found: Exported, columns: Sequence[tuple[str, str]], told: Told) -> int:
    """Sends all rows in blocks, and has them appear."""
    rows = 0
    with session.open_record_writer() as writer:
        for batch in found.batches():
            parts = [_values(batch, name, kind) for name, kind in columns]
            for values in zip(*parts, strict=True):
                record = session.new_record()
                for (name, _), value in zip(columns, values, strict=True):
                    record[name] = value
                writer.write(record)
            rows += batch.keys.size
            told.add(batch.keys.size)
    session.commit(writer.get_blocks_written())
    return rows


def _values(batch: Batch, name: str, kind: str) -> list[Any]:
    """A column of the table, for the rows of a batch."""
    if name in _KEYS:
        return list(batch.keys.tolist())
    if name in _NUMBERS:
        part, absent = (batch.freqs, 0) if name == "freq" else (batch.versions, -1)
        return list((np.full(batch.keys.size, absent) if part is None else part).tolist())
    assert batch.values is not None
    if kind == _FORMS["text"]:
        return list(map(",".join, batch.values.astype("U32").tolist()))
    return list(batch.values.astype(np.float64 if "double" in kind else np.float32).tolist())


# ------------------------------------------------------------------------------------------------- Tables


def _found_table(client: Any, table: MaxComputeTable, overwrite: bool) -> Any | None:
    """The table, if it is there and may be written to; None if it is to be made."""
    if not client.exist_table(table.name, project=table.project):
        return None
    found = client.get_table(table.name, project=table.project)
    wanted = [column for column, _ in table.partition]
    own = [str(column.name) for column in found.table_schema.partitions]
    if wanted != own:
        raise InvalidArgumentError(
            f'"{table}": the table is partitioned by {", ".join(own) or "nothing"}, and the partition names '
            f"{', '.join(wanted) or 'nothing'}"
        )
    if not overwrite and (not own or found.exist_partition(table.spec)):
        raise AlreadyExistsError(f'"{table}" is there already: say overwrite=True (--force) to replace its rows')
    return found


def _made_table(odps: Any, client: Any, table: MaxComputeTable, numbers: bool, form: str) -> Any:
    columns = {"id": "bigint", "embedding": _FORMS[form], **dict.fromkeys(_NUMBERS if numbers else (), "bigint")}
    own = [odps.models.Column(name=name, type=kind) for name, kind in columns.items()]
    parts = [odps.models.Partition(name=column, type="string") for column, _ in table.partition]
    schema = odps.models.TableSchema(columns=own, partitions=parts)
    return client.create_table(table.name, schema, project=table.project)


def _checked_columns(stored: Any, table: MaxComputeTable, numbers: bool) -> list[tuple[str, str]]:
    """The columns of a table in its order, if an embedding can be written to it."""
    found = [(str(column.name), str(column.type).lower()) for column in stored.table_schema.simple_columns]
    kinds: dict[str, tuple[str, ...]] = dict.fromkeys((*_KEYS, *_NUMBERS), ("bigint",))
    kinds["embedding"] = (*_FORMS.values(), "array<double>")
    unfit = [f"{name} {kind}" for name, kind in found if kind not in kinds.get(name, ())]
    names = [name for name, _ in found]
    wanted = ["embedding", *(_NUMBERS if numbers else ())]
    missing = [name for name in wanted if name not in names]
    if unfit or missing or sum(name in names for name in _KEYS) != 1:
        raise InvalidArgumentError(
            f'"{table}" has the columns {", ".join(f"{name} {kind}" for name, kind in found)}; expected id bigint, '
            "embedding string or array<float>, and, if they are wanted, freq bigint and version bigint, and no others"
        )
    return found


# ------------------------------------------------------------------------------------------------- The client


def _pyodps() -> Any:
    try:
        import odps
        import odps.accounts
        import odps.models
        import odps.tunnel
    except ImportError as error:
        raise UnimplementedError(
            f"MaxCompute needs the package pyodps, which cannot be imported ({error}): pip install "
            '"tensorkeep[maxcompute]"'
        ) from error
    return odps


def _client(odps: Any, table: MaxComputeTable) -> Any:
    """The client of whom the environment names; pyodps itself reads tokens there (STS, bearer), and no access keys."""
    endpoint, tunnel = environment_variable("ODPS_ENDPOINT"), environment_variable("ODPS_TUNNEL_ENDPOINT")
    name, secret = (environment_variable(f"ALIBABA_CLOUD_ACCESS_KEY_{what}") for what in ("ID", "SECRET"))
    if endpoint and name and secret:
        return odps.ODPS(name, secret, table.project, endpoint=endpoint, tunnel_endpoint=tunnel)
    account = odps.accounts.from_environments()
    if not endpoint or account is None:
        raise UnauthenticatedError(
            "MaxCompute: nobody says who asks, or where: set ODPS_ENDPOINT, ALIBABA_CLOUD_ACCESS_KEY_ID and "
            "ALIBABA_CLOUD_ACCESS_KEY_SECRET, and ODPS_TUNNEL_ENDPOINT if it is needed, or give a client"
        )
    return odps.ODPS(account=account, project=table.project, endpoint=endpoint, tunnel_endpoint=tunnel)


@contextmanager
def _explained_errors(odps: Any, table: MaxComputeTable) -> Iterator[None]:
    """Errors of the service and of the network as errors of our own."""
    try:
        yield
    except TensorKeepError:
        raise
    except odps.errors.ODPSError as error:
        kinds: list[tuple[Any, Callable[[str], TensorKeepError]]] = [
            (odps.errors.NoPermission, PermissionDeniedError),
            (odps.errors.Unauthorized, UnauthenticatedError),
            (odps.errors.NoSuchObject, NotFoundError),
        ]
        kind = next((ours for theirs, ours in kinds if isinstance(error, theirs)), UnavailableError)
        raise kind(f'"{table}": {error}') from error
    except OSError as error:
        raise UnavailableError(f'"{table}": the service cannot be reached: {error}') from error
