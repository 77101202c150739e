"""Changes of some rows or elements of a variable, as methods: stated once for both kinds of variable.

Each kind says what one change is: of a reference the op "ScatterAdd", of a resource "ResourceScatterAdd", and so on.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import IndexedSlices

Result = TypeVar("Result")


class RowChanges(Generic[Result]):
    """What can be done with rows of a variable. `Result` is what a change gives: a reference, or a later reader."""

    def _scatter(self, change: str, sparse_delta: IndexedSlices, use_locking: bool, name: str | None) -> Result:
        """Changes rows: `change` is Update, Add, Sub, Mul, Div, Min or Max."""
        raise NotImplementedError

    def _scatter_nd(self, change: str, indices: TensorLike, updates: TensorLike, name: str | None) -> Result:
        """Changes elements or slices by their coordinates: `change` is Update, Add, Sub, Min or Max."""
        raise NotImplementedError

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Subtracts rows of updates from the rows of a variable at some indices."""
        return self._scatter("Sub", sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Adds rows of updates to the rows of a variable at some indices."""
        return self._scatter("Add", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Raises rows to the updates where these are greater."""
        return self._scatter("Max", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Lowers rows to the updates where these are less."""
        return self._scatter("Min", sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Multiplies the rows of a variable at some indices by rows of updates."""
        return self._scatter("Mul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Divides the rows of a variable at some indices by rows of updates."""
        return self._scatter("Div", sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Result:
        """Replaces the rows of a variable at some indices by rows of updates."""
        return self._scatter("Update", sparse_delta, use_locking, name)

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Result:
        """Subtracts from elements or slices."""
        return self._scatter_nd("Sub", indices, updates, name)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Result:
        """Adds to elements or slices."""
        return self._scatter_nd("Add", indices, updates, name)

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Result:
        """Replaces elements or slices of a variable at some places by updates."""
        return self._scatter_nd("Update", indices, updates, name)

    def scatter_nd_max(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Result:
        """Raises elements or slices to the updates where these are greater."""
        return self._scatter_nd("Max", indices, updates, name)

    def scatter_nd_min(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Result:
        """Lowers elements or slices to the updates where these are less."""
        return self._scatter_nd("Min", indices, updates, name)
