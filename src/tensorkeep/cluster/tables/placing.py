"""The tables of a graph's embedding variables, in parts on a Ray cluster: what `placement=` takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

from tensorkeep.arrays import Array
from tensorkeep.cluster.ray_start import connect
from tensorkeep.cluster.tables.sharded_table import ShardedEmbeddingTable
from tensorkeep.dtypes import DType
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.errors import AlreadyExistsError, NotFoundError
from tensorkeep.ops.embedding.placements import register_placement
from tensorkeep.ops.embedding.session_tables import TableSettings

_IN_PROCESS: Final[dict[tuple[str, str], ShardedEmbeddingTable]] = {}  # by placement and name, those without Ray


@dataclass(frozen=True)
class TablesOnRay:
    """Has the tables of embedding variables in parts on a Ray cluster, where all processes of a program use them.

    `home` is a folder that all machines reach. The first process that initializes a variable makes its table, the
    others find it. `in_process` keeps the parts in this process, for a program that is run by itself.
    """

    home: str
    partitions: int = 1
    processors: float = 1
    memory: int | None = None
    in_process: bool = False
    address: str | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """The name that graphs know the placement by."""
        return f"ray:{self.home}"

    def register(self) -> TablesOnRay:
        """Makes the placement known to the sessions of this process, for graphs that are imported."""
        register_placement(self)
        return self

    def table(
        self, name: str, settings: TableSettings, matrix: Array, key_dtype: DType, value_dtype: DType
    ) -> EmbeddingTable:
        """The table of a variable, made or found. It has the methods of an EmbeddingTable."""
        return cast(EmbeddingTable, self.sharded_table(name, settings, matrix, key_dtype, value_dtype))

    def sharded_table(
        self, name: str, settings: TableSettings, matrix: Array, key_dtype: DType, value_dtype: DType
    ) -> ShardedEmbeddingTable:
        """The same, as what it is."""
        known = self.known_table(name)
        if known is not None:
            return known
        try:
            made = ShardedEmbeddingTable(
                matrix.shape[1],
                name=name,
                partitions=self.partitions,
                initial=matrix,
                home=self.home,
                form=settings.form(key_dtype),
                processors=self.processors,
                memory=self.memory,
                address=self.address,
                in_process=self.in_process,
                key_dtype=key_dtype.array_dtype,
                value_dtype=value_dtype.array_dtype,
                admission=settings.admission,
                eviction=settings.eviction,
                keeps_frequencies=settings.keeps_frequencies,
                keeps_versions=settings.keeps_versions,
                no_permission=settings.no_permission,
                storage=settings.storage,
            )
        except AlreadyExistsError:  # another process was quicker
            return ShardedEmbeddingTable.attached(name, address=self.address)
        if self.in_process:
            _IN_PROCESS[self.key, name] = made
        return made

    def known_table(self, name: str) -> ShardedEmbeddingTable | None:
        """The table of that name, if somebody has made it."""
        if self.in_process:
            return _IN_PROCESS.get((self.key, name))
        connect(self.address)
        try:
            return ShardedEmbeddingTable.attached(name)
        except NotFoundError:
            return None

    def forget(self) -> None:
        """Drops the tables that are in this process."""
        for key in [key for key in _IN_PROCESS if key[0] == self.key]:
            del _IN_PROCESS[key]
