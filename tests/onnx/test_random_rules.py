"""Random numbers of exported files: other numbers than TensorFlow's, of the same distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.onnx.graphs import CannotTranslateError
from tests.onnx.exported_samples import export_sample, nodes_of, own_results
from tests.onnx.exported_samples import run_sample as run_by_opset
from tests.ops.sample import Sample, sample

SHAPE = np.array([200, 100], np.int32)
MEDIAN_ERROR = 0.03


def run_sample(name: str, given: Sample, *, opset: int = 21, shapes: str = "known") -> list[Any]:
    """What ONNX Runtime computes, by the newest operators of those that draw numbers that it has."""
    return run_by_opset(name, given, opset=opset, shapes=shapes)


@pytest.mark.parametrize("constant", [(0,), ()])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("opset", [13, 21])
def test_uniform_numbers_fill_the_range_from_0_to_1(constant: Any, dtype: Any, opset: int) -> None:
    (found,) = run_sample("RandomUniform", sample(SHAPE, dtype=dtype, constant=constant, seed=3), opset=opset)
    assert found.shape == (200, 100)
    assert found.dtype == dtype
    assert 0 <= found.min() < 0.01
    assert 0.99 < found.max() < 1
    assert abs(float(found.astype(np.float64).mean()) - 0.5) < MEDIAN_ERROR


@pytest.mark.parametrize("constant", [(0,), ()])
def test_normal_numbers_have_their_mean_and_deviation(constant: Any) -> None:
    (found,) = run_sample("RandomStandardNormal", sample(SHAPE, dtype=np.float32, constant=constant, seed2=5))
    assert found.shape == (200, 100)
    assert found.dtype == np.float32
    assert abs(found.mean()) < MEDIAN_ERROR
    assert abs(found.std() - 1) < MEDIAN_ERROR


def test_truncated_normal_numbers_end_at_two_deviations() -> None:
    (found,) = run_sample("TruncatedNormal", sample(SHAPE, dtype=np.float32, constant=(0,), seed=1))
    assert found.shape == (200, 100)
    assert 1.99 < np.abs(found).max() <= 2
    assert abs(found.mean()) < MEDIAN_ERROR
    assert abs(found.std() - 0.8796) < MEDIAN_ERROR


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_whole_numbers_are_drawn_from_all_of_their_range(dtype: Any) -> None:
    given = sample(SHAPE, dtype(-3), dtype(4), constant=(0,), seed=7)
    (found,) = run_sample("RandomUniformInt", given)
    assert found.dtype == dtype
    assert sorted(set(found.reshape(-1).tolist())) == list(range(-3, 4))


def test_classes_are_drawn_by_their_shares() -> None:
    logits = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]], np.float32))
    (found,) = run_sample("Multinomial", sample(logits, np.int32(4000), constant=(1,), seed=2))
    assert found.shape == (2, 4000)
    assert found.dtype == np.int64
    assert np.abs(np.bincount(found[0], minlength=3) / 4000 - [0.7, 0.2, 0.1]).max() < MEDIAN_ERROR
    assert np.abs(np.bincount(found[1], minlength=3) / 4000 - [0.1, 0.1, 0.8]).max() < MEDIAN_ERROR


@pytest.mark.parametrize("shapes", ["known", "rank"])
def test_shuffled_rows_are_all_there(shapes: str) -> None:
    rows = np.arange(60, dtype=np.float32).reshape(30, 2)
    (found,) = run_sample("RandomShuffle", sample(rows, seed=2), shapes=shapes)
    assert found.tolist() != rows.tolist()
    assert sorted(found.tolist()) == rows.tolist()


def test_a_seed_of_the_graph_is_one_of_the_file() -> None:
    given = sample(SHAPE, dtype=np.float32, constant=(0,), seed=3)
    np.testing.assert_array_equal(run_sample("RandomUniform", given)[0], run_sample("RandomUniform", given)[0])


def test_numbers_of_a_known_seed_are_tensorflows() -> None:
    given = sample(np.array([3, 4], np.int32), np.array([1, 2], np.int64), dtype=np.float32, constant=(0, 1))
    assert set(nodes_of("StatelessRandomUniform", given)) == {"Identity"}
    np.testing.assert_array_equal(
        run_sample("StatelessRandomUniform", given)[0], own_results("StatelessRandomUniform", given)[0]
    )


def test_numbers_of_a_computed_seed_are_others() -> None:
    given = sample(SHAPE, np.array([1, 2], np.int64), dtype=np.float32, constant=(0,))
    (found,) = run_sample("StatelessRandomUniform", given)
    assert found.shape == (200, 100)
    assert found.min() >= 0
    assert found.max() < 1


@pytest.mark.parametrize("name", ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_the_engine_draws_no_numbers(name: str) -> None:
    with pytest.raises(CannotTranslateError, match="draws other numbers"):
        export_sample(name, sample(SHAPE, dtype=np.float32, constant=(0,)), for_engine=True)


def test_what_onnx_runtime_could_not_draw_is_refused_with_the_opset_to_ask_for() -> None:
    with pytest.raises(CannotTranslateError, match="ask for opset 21"):
        export_sample("RandomUniform", sample(SHAPE, dtype=np.float32, constant=(0,)), opset=22)
