"""Variables that are made of others and are looked up as one: DeepRec's multi-hash and dynamic-dimension variables.

They are variables: savers, optimizers and initializers take them and mean their parts, which alone are in collections
and in checkpoints. They have no value as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.variable import Changed, Variable

Part: TypeAlias = Variable | PartitionedVariable


class ComposedVariable(Variable):
    """Several variables by one name."""

    def __init__(self, name: str, parts: Sequence[Part], shape: ShapeLike) -> None:
        self._name = name
        self._parts = list(parts)
        self._static_shape = TensorShape(shape)
        self._save_slice_info = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def parts(self) -> list[Part]:
        """The variables that it is made of; some may be partitioned."""
        return list(self._parts)

    @property
    def _flat(self) -> list[Variable]:
        """All variables that hold values: a partitioned part is replaced by its own parts."""
        return [item for part in self._parts for item in ([part] if isinstance(part, Variable) else part)]

    @property
    def op(self) -> Operation:
        """The operation of the first part."""
        return self._flat[0].op

    @property
    def dtype(self) -> DType:
        return self._parts[0].dtype

    @property
    def shape(self) -> TensorShape:
        return self._static_shape

    @property
    def trainable(self) -> bool:
        return all(part.trainable for part in self._flat)

    @property
    def initializer(self) -> list[Changed]:  # type: ignore[override]
        """The initializers of all parts: a list, unlike that of other variables."""
        return [part.initializer for part in self._flat]

    def to_proto(self, export_scope: str | None = None) -> None:
        """None: a meta graph has the parts."""
        return

    def _unsupported(self, what: str) -> UnimplementedError:
        return UnimplementedError(
            f'variable "{self._name}" has no {what}: it is made of {len(self._parts)} variables and has no value as a '
            "whole. Look rows up with tf.nn.embedding_lookup, or use its parts"
        )

    def value(self) -> Tensor:
        raise self._unsupported("value()")

    def read_value(self) -> Tensor:
        raise self._unsupported("read_value()")

    def _ref(self) -> Tensor:
        raise self._unsupported("value")

    def _as_graph_element(self) -> Tensor:
        raise self._unsupported("value")

    def assign(
        self, value: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> NoReturn:
        raise self._unsupported("assign()")

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> NoReturn:
        raise self._unsupported("assign_add()")

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> NoReturn:
        raise self._unsupported("assign_sub()")

    def __repr__(self) -> str:
        return f"<tf.Variable '{self._name}' of {len(self._parts)} variables, rows of {self.shape}>"
