"""Layers from strings to numbers and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorkeep.dtypes import INT64, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.layers.weights import Sizes, set_fields
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data.lookup_tables import KeyValueTensorInitializer, StaticHashTable
from tensorkeep.tf1.functions.numbers.elementwise import cast


def _strings(values: Sequence[str | bytes], who: str) -> tuple[str | bytes, ...]:
    if isinstance(values, str | bytes):
        raise WrongTypeError(f"{who} takes a list of strings, got one string")
    found = tuple(values)
    if not found or not all(isinstance(item, str | bytes) for item in found):
        raise WrongTypeError(f"{who} takes a list of strings, got {found[:5]!r}")
    return found


@dataclass(frozen=True)
class Lookup:
    """The number of each string, counted from zero in the order of the words; `unknown` for all other strings."""

    words: Sequence[str | bytes]
    unknown: int = -1
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        words = _strings(self.words, "Lookup")
        encoded = [word.encode() if isinstance(word, str) else word for word in words]
        if twice := sorted(
            {word for word in encoded if encoded.count(word) > 1} if len(set(encoded)) < len(encoded) else ()
        ):
            raise InvalidArgumentError(f"Lookup: some words are there more than once: {twice[:10]}")
        set_fields(self, words=words)

    def __call__(self, x: Tensor) -> Tensor:
        if x.dtype is not STRING:
            raise InvalidArgumentError(f"Lookup takes strings, got {x.dtype}")
        with name_scope("lookup"):
            rows = KeyValueTensorInitializer(list(self.words), list(range(len(self.words))), STRING, INT64)
            found: Tensor = StaticHashTable(rows, self.unknown).lookup(x)
            return found


@dataclass(frozen=True)
class Labels:
    """The string of each number, counted from zero: the name of a class, after `ArgMax`."""

    names: Sequence[str | bytes]
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        set_fields(self, names=_strings(self.names, "Labels"))

    def __call__(self, x: Tensor) -> Tensor:
        if not x.dtype.is_integer:
            raise InvalidArgumentError(f"Labels takes integers, got {x.dtype}; put an ArgMax before it")
        with name_scope("labels"):
            return gather(constant(list(self.names), STRING), cast(x, INT64))
