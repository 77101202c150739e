"""Embedding variables made of single ops, for tests of their kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64, DType
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.ops.embedding.lookups import initialize_kv_variable, initialize_kv_variable_v2, kv_var_handle
from tensorkeep.runtime.session import Session
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant


def keys(*values: int) -> Any:
    return np.array(values, np.int64)


def handle(name: str = "emb", dim: int = 2, key_dtype: DType = INT64) -> Tensor:
    found: Tensor = kv_var_handle(shape=Shape((dim,)), dtype=FLOAT32, shared_name=name, Tkeys=key_dtype, name=name)
    return found


def initializer(
    variable: Tensor,
    rows: Any,
    primary: Tensor | None = None,
    *,
    buckets: int = 131072,
    is_old: bool = False,
    **attrs: Any,
) -> Operation:
    """An operation that initializes a variable, or a slot of `primary`."""
    spec = initialize_kv_variable if is_old else initialize_kv_variable_v2
    if not is_old:
        attrs.setdefault("embedding_variable_type", 1)
    found: Operation = spec(
        variable,
        variable if primary is None else primary,
        np.asarray(rows, np.float32),
        constant(2**63 - 1 if variable.op.attr("Tkeys") is INT64 else -1, variable.op.attr("Tkeys")),
        shape=variable.op.attr("shape"),
        initial_num_buckets=buckets,
        **{"slot_index": 0 if primary is None else 1, **attrs},
    )
    return found


def gathered(variable: Tensor, ids: Any, **attrs: Any) -> Tensor:
    found: Tensor = get_op("KvResourceGather")(variable, ids, np.float32(0), **attrs)
    return found


@contextmanager
def graph() -> Iterator[Graph]:
    made = Graph()
    with building(made):
        yield made


def session(made: Graph, files: MemoryFileSystem | None = None) -> Session:
    return Session(made, filesystem=files or MemoryFileSystem())
