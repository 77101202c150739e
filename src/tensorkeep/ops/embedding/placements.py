"""Where the tables of embedding variables are, if not in their session.

A variable says by a mark of its handle (`_placement`) which placement its table has; a session finds the placement by
that name among those that this process knows. The first that initializes such a variable makes its table; all others,
in other sessions and processes, find it, with the rows that it has by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from tensorkeep.dtypes import DType
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.errors import NotFoundError
from tensorkeep.ops.shared.kernel_types import Array

if TYPE_CHECKING:
    from tensorkeep.ops.embedding.session_tables import TableSettings

MARK: Final = "_placement"


class TablePlacement(Protocol):
    """Makes the tables of variables, or finds them, somewhere else than in a session."""

    @property
    def key(self) -> str:
        """The name that graphs know the placement by."""
        ...

    def table(
        self, name: str, settings: TableSettings, matrix: Array, key_dtype: DType, value_dtype: DType
    ) -> EmbeddingTable:
        """The table of a variable; something that has the methods of one."""
        ...


_KNOWN: Final[dict[str, TablePlacement]] = {}


def register_placement(placement: TablePlacement) -> str:
    """Makes a placement known to the sessions of this process, and returns its name."""
    _KNOWN[placement.key] = placement
    return placement.key


def placement_of(variable: str, key: str) -> TablePlacement | None:
    """The placement of that name; none for a variable whose table is in its session."""
    if key and key not in _KNOWN:
        raise NotFoundError(
            f'the table of "{variable}" has the placement "{key}", which this process does not know: make it anew '
            "here, and give it to register_placement (tensorkeep.cluster.TablesOnRay(...).register())"
        )
    return _KNOWN[key] if key else None
