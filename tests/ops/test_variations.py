"""Variations of samples: the same ones for a seed, and calls that the signature allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.graph.registry.opspec import get_op
from tests.ops.sample import all_samples, sample
from tests.ops.variations import CHANGES, Variation, variations
from tests.ops.walking import import_all_ops

import_all_ops()
SAMPLES = [sample(np.float32([[1, 2], [3, 4]]), np.float32([5, 6]))]


def arrays(variation: Variation) -> list[Any]:
    return [np.asarray(array) for array in variation.sample.inputs]


def test_a_seed_draws_the_same_variations_again_and_another_seed_others() -> None:
    first, again, other = (str(variations("Mul", SAMPLES, 40, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_more_variations_begin_with_the_same_ones() -> None:
    few, many = variations("Mul", SAMPLES, 5, 1), variations("Mul", SAMPLES, 20, 1)
    assert str(many[: len(few)]) == str(few)


def test_every_change_is_drawn() -> None:
    labels = " ".join(variation.label for variation in variations("BiasAdd", all_samples()["BiasAdd"], 100, 1))
    assert all(change.__name__ in labels for change in CHANGES)


def test_awkward_numbers_nothing_and_other_shapes_are_among_the_inputs() -> None:
    given = [array for variation in variations("Mul", SAMPLES, 200, 1) for array in arrays(variation)]
    numbers = np.concatenate([array.astype(np.complex128).reshape(-1).real for array in given])
    assert np.isnan(numbers).any()
    assert np.isinf(numbers).any()
    assert (np.signbit(numbers) & (numbers == 0)).any()
    assert any(array.shape[:1] == (0,) for array in given)
    assert len({array.shape for array in given}) > 5


@pytest.mark.parametrize("name", ["Mul", "BitwiseAnd", "QuantizedRelu", "Cast", "GatherV2"])
def test_inputs_of_one_type_attribute_stay_of_one_type_that_it_allows(name: str) -> None:
    schema = get_op(name).schema
    types = set()
    for variation in variations(name, all_samples()[name], 60, 1):
        by_attr: dict[str, set[DType]] = {}
        for arg, array in zip(schema.inputs, arrays(variation), strict=True):
            if arg.type_attr:
                by_attr.setdefault(arg.type_attr, set()).add(dtype_of_array(array.dtype))
        for attr, found in by_attr.items():
            allowed = schema.attr_by_name[attr].allowed
            assert len(found) == 1
            assert not allowed or found <= set(allowed)
            types |= found
    assert len(types) > 3


def test_an_op_whose_samples_cannot_be_compared_has_no_variations() -> None:
    assert variations("Mul", [sample(np.float32(1), np.float32(2), fails=True)], 10, 1) == []
