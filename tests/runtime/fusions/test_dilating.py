"""Convolutions by filters with gaps, written as convolutions of what SpaceToBatchND cuts, as one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.fusions import fused_lines
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant

space_to_batch, batch_to_space, conv2d = (get_op(name) for name in ("SpaceToBatchND", "BatchToSpaceND", "Conv2D"))
expand_dims, squeeze = get_op("ExpandDims"), get_op("Squeeze")
FILTERS = np.random.default_rng(2).standard_normal((2, 3, 4, 5)).astype(np.float32)
LINE = np.random.default_rng(3).standard_normal((1, 2, 4, 5)).astype(np.float32)


def _images(x: Tensor, block: Any, paddings: Any, crops: Any, **attrs: Any) -> tuple[Any, Any]:
    cut = space_to_batch(x, constant(block), constant(paddings))
    seen = conv2d(cut, constant(FILTERS), strides=[1, 1, 1, 1], **{"padding": b"VALID", **attrs})
    return batch_to_space(seen, constant(block), constant(crops)), seen


def _lines(x: Tensor, block: int, padding: Any, crop: Any) -> Any:
    cut = expand_dims(space_to_batch(x, constant([block]), constant([padding])), constant(1))
    seen = squeeze(conv2d(cut, constant(LINE), strides=[1, 1, 1, 1], padding=b"VALID"), squeeze_dims=[1])
    return batch_to_space(seen, constant([block]), constant([crop]))


def _run(make: Callable[[Tensor], Any], given: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, Any, Any]:
    """Whether they are one call, what that gives, and what the operations give one by one."""
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", name="x")
        result = make(x)
    session = Session(graph)
    found = session.run(result, {x: given})
    text = session._programs.compiled[-1].text
    monkeypatch.setattr(fused_lines, "find_dilations", lambda block, names: [])
    return "is None" in text, found, Session(graph).run(result, {x: given})


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize(
    ("block", "paddings", "crops"),
    [([2, 3], [[1, 2], [3, 1]], [[0, 1], [2, 0]]), ([2, 1], [[0, 1], [0, 0]], [[0, 0], [0, 0]])],
)
def test_images_are_convolved_at_once(
    batch: int, block: Any, paddings: Any, crops: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = np.random.default_rng(1).standard_normal((batch, 9, 11, 4)).astype(np.float32)
    is_one, found, expected = _run(lambda x: _images(x, block, paddings, crops)[0], given, monkeypatch)
    assert is_one
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("block", [2, 3])
def test_lines_are_convolved_at_once(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.random.default_rng(1).standard_normal((2, 12, 4)).astype(np.float32)
    is_one, found, expected = _run(lambda x: _lines(x, block, [block, 0], [0, 0]), given, monkeypatch)
    assert is_one
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: _images(x, [1, 1], [[0, 0], [0, 0]], [[0, 0], [0, 0]], padding=b"SAME")[0],
        lambda x: list(_images(x, [1, 1], [[0, 0], [0, 0]], [[0, 0], [0, 0]])),  # others see the convolution
    ],
    ids=["padded by itself", "seen"],
)
def test_others_run_one_by_one(make: Callable[[Tensor], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.ones((1, 9, 11, 4), np.float32)
    is_one, found, expected = _run(make, given, monkeypatch)
    assert not is_one
    np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize(
    ("shape", "crops"),
    [((1, 8, 11, 4), [[0, 0], [0, 0]]), ((1, 9, 11, 4), [[9, 9], [0, 0]]), ((1, 9, 11, 3), [[0, 0], [0, 0]])],
    ids=["not divisible", "cropped away", "other channels"],
)
def test_errors_are_those_of_the_operations(
    shape: tuple[int, ...], crops: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        _run(lambda x: _images(x, [2, 3], [[1, 2], [3, 1]], crops)[0], np.ones(shape, np.float32), monkeypatch)
    assert any(name in str(caught.value) for name in ("SpaceToBatchND", "BatchToSpaceND", "Conv2D"))
