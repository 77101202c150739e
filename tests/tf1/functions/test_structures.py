"""Nested structures: leaves in order, and back."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.structures import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)

Pair = namedtuple("Pair", "left right")


def test_leaves_come_in_order_and_those_of_mappings_by_key() -> None:
    assert flatten({"b": [1, (2,)], "a": Pair(3, {"x": 4})}) == [3, 4, 1, 2]
    assert flatten(5) == [5]
    assert flatten([]) == []


def test_packing_gives_the_same_form() -> None:
    structure = [1, Pair(2, (3,)), OrderedDict([("z", 4), ("a", 5)])]
    packed = pack_sequence_as(structure, [10, 20, 30, 40, 50])
    assert packed == [10, Pair(20, (30,)), OrderedDict([("z", 50), ("a", 40)])]
    assert list(packed[2]) == ["z", "a"]


def test_a_default_dict_keeps_its_factory() -> None:
    packed = pack_sequence_as(defaultdict(list, a=1), [2])
    assert packed.default_factory is list
    assert packed == {"a": 2}


def test_packing_wants_as_many_leaves() -> None:
    with pytest.raises(InvalidArgumentError, match="2 atoms"):
        pack_sequence_as([1, 2], [3])
    with pytest.raises(WrongTypeError):
        pack_sequence_as([1], 3)  # type: ignore[arg-type]


def test_composites_are_leaves_unless_they_are_expanded() -> None:
    slices: Any = IndexedSlices("values", "indices")  # type: ignore[arg-type]
    with building(Graph()):
        parts = [constant([[0]], "int64"), constant([7]), constant([3], "int64")]
        sparse = SparseTensor(*parts)
    assert flatten([slices, sparse]) == [slices, sparse]
    assert flatten([slices, sparse], expand_composites=True) == ["values", "indices", *parts]
    packed = pack_sequence_as(slices, ["a", "b"], expand_composites=True)
    assert (packed.values, packed.indices, packed.dense_shape) == ("a", "b", None)


def test_mapping_over_several_structures() -> None:
    assert map_structure(lambda a, b: a + b, {"x": (1, 2)}, {"x": (10, 20)}) == {"x": (11, 22)}


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ([1], 1, InvalidArgumentError),
        ([1, 2], [1], InvalidArgumentError),
        ({"a": 1}, {"b": 1}, InvalidArgumentError),
        ([1], (1,), WrongTypeError),
        (Pair(1, 2), (1, 2), WrongTypeError),
    ],
)
def test_structures_of_another_form_are_refused(first: Any, second: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="don't have the same nested structure"):
        assert_same_structure(first, second)


def test_types_of_containers_matter_only_if_asked() -> None:
    assert_same_structure([1, (2,)], (1, [2]), check_types=False)
    assert_same_structure({"a": 1}, OrderedDict(a=2))


def test_what_is_nested() -> None:
    assert is_nested([])
    assert is_nested({})
    assert not is_nested("text")
    assert not is_nested(None)
