"""DeepRec's scopes whose embedding columns are looked up together.

    with group_embedding_column_scope("user"):
        columns = [embedding_column(...), embedding_column(...)]

The first `input_layer` that is given one of them builds the lookups of all, in its own variable scope. Every column
keeps a variable of its own, under the name that it has without a group.

DeepRec's `coalesced_embedding_scope` puts the tables of its columns into one variable, and saves that as one tensor for
each column, under the column's name. Here each column has its variable from the start, so checkpoints are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph

if TYPE_CHECKING:
    from tensorkeep.tf1.columns.column import FeatureColumn

_OPENED: ContextVar[tuple[LookupScope, ...]] = ContextVar("lookup scopes", default=())
_NUMBERS: Final = object()  # the key of the number of groups without a name, in `graph.extras`


class LookupScope:
    """Columns that are looked up together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.embedding_columns: list[Any] = []

    def add_column(self, column: FeatureColumn) -> None:
        """One more column, whose name none of the others has."""
        if any(column.name == other.name for other in self.embedding_columns):
            raise InvalidArgumentError(f"column {column.name} already exists in {self.name}: {column}")
        self.embedding_columns.append(column)

    def __repr__(self) -> str:
        return f"<columns looked up together: {self.name}>"


class CoalescedEmbeddingScope(LookupScope):
    """See `coalesced_embedding_scope`."""

    def __init__(self, name: str | None = None, num_partitions: int | None = None) -> None:
        super().__init__(name or "CoalescedEmbedding")
        self.num_partitions = num_partitions


def current_scope() -> LookupScope | None:
    """The innermost scope that columns are made in."""
    opened = _OPENED.get()
    return opened[-1] if opened else None


@contextmanager
def _open_scope(scope: LookupScope) -> Iterator[None]:
    token = _OPENED.set((*_OPENED.get(), scope))
    try:
        yield
    finally:
        _OPENED.reset(token)


@contextmanager
def group_embedding_column_scope(name: str = "") -> Iterator[LookupScope]:
    """Embedding columns made inside are looked up together."""
    if not name:
        extras = current_graph().extras
        number = extras.get(_NUMBERS, 0)
        extras[_NUMBERS] = number + 1
        name = str(number)
    scope = LookupScope(f"group_embedding_column_scope_{name}")
    with _open_scope(scope):
        yield scope


@contextmanager
def coalesced_embedding_scope(
    name: str | None = None, num_partitions: int | None = None
) -> Iterator[CoalescedEmbeddingScope]:
    """Embedding columns made inside are looked up together; see the head of this file for how they are saved."""
    scope = CoalescedEmbeddingScope(name, num_partitions)
    with _open_scope(scope):
        yield scope
