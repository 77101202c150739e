"""One step of a graph: what is fed, what is computed, and what is updated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.keras.engine.session_values import initialized_session
from tensorkeep.tf1.layers.base import learning_phase


class Step:
    """Runs outputs and updates of a graph, with values for some tensors, and the learning phase."""

    def __init__(self, places: Sequence[Any], outputs: Sequence[Any], updates: Sequence[Any], phase: bool) -> None:
        self._places = list(places)
        self._outputs = list(outputs)
        self._update = group(*updates) if updates else None
        self._phase = phase
        self._learning_phase = learning_phase()

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The outputs."""
        feeds: dict[Any, Any] = {}
        for place, value in zip(self._places, values, strict=True):
            if value is not None:
                feeds[place] = _fed(place, value)
        if isinstance(self._learning_phase, Tensor) and self._learning_phase.op.type == "PlaceholderWithDefault":
            feeds[self._learning_phase] = self._phase
        session = initialized_session()
        found = session.run([self._outputs, self._update] if self._update is not None else [self._outputs], feeds)
        results: list[Any] = found[0]
        return results


def _fed(place: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray) and isinstance(place, Tensor) and value.dtype.kind in "fiub":
        return value.astype(place.dtype.base_dtype.as_numpy_dtype, copy=False)
    if hasattr(value, "tocoo"):  # SciPy's sparse matrices
        matrix = value.tocoo()
        order = np.lexsort((matrix.col, matrix.row))
        places = np.stack([matrix.row[order], matrix.col[order]], axis=1).astype(np.int64)
        if isinstance(place, Tensor):
            return value.toarray()
        return (places, matrix.data[order], np.asarray(matrix.shape, np.int64))
    return value
