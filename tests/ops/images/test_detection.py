"""Boxes: what no single node shows."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.images import detection
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder


def test_proposals_have_a_shape_but_no_kernel() -> None:
    graph = Graph()
    with building(graph):
        scores = placeholder(np.float32, [2, 5, 5, 3])
        rest = [np.zeros((2, 5, 5, 12), np.float32), np.zeros((2, 5), np.float32), np.zeros((5, 5, 12), np.float32)]
        found = detection.generate_bounding_box_proposals(scores, *rest, 0.7, 6, 1.0, post_nms_topn=4)
    assert found.rois.static_shape.dims == (2, 4, 4)
    assert found.roi_probabilities.static_shape.dims == (2, 4)
    with pytest.raises(UnimplementedError, match="GenerateBoundingBoxProposals"):
        Session(graph).run(found.rois, {scores: np.zeros((2, 5, 5, 3), np.float32)})


@pytest.mark.parametrize("attrs", [{}, {"uniform_noise": False, "noise": "gaussian"}])
def test_noise_around_a_glimpse_is_no_brighter_than_the_image(attrs: dict[str, object]) -> None:
    image = np.linspace(3, 7, 50, dtype=np.float32).reshape(1, 5, 10, 1)
    graph = Graph()
    with building(graph):
        glimpse = get_op("ExtractGlimpse")(image, [11, 12], [[0.0, 0.0]], **attrs)
    seen = Session(graph).run(glimpse)
    assert seen.shape == (1, 11, 12, 1)
    assert seen.min() >= 3
    assert seen.max() <= 7
    np.testing.assert_array_equal(seen[0, 3:8, 1:11], image[0])
    assert len(np.unique(seen)) > 60
