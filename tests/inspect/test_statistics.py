"""What the numbers in a checkpoint are like."""

from __future__ import annotations

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.inspect.health import Ailment, examine
from tensorkeep.inspect.statistics import TensorStatistics, checkpoint_statistics, tensor_statistics
from tensorkeep.io.files.memory import MemoryFileSystem


def _statistics(value: object, **options: float) -> TensorStatistics:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"x": value}, fs=fs)  # type: ignore[dict-item]
    with open_checkpoint("m", fs=fs) as reader:
        return tensor_statistics(reader, "x", **options)  # type: ignore[arg-type]


@given(hnp.arrays(np.float32, hnp.array_shapes(min_side=0), elements=st.floats(-1e6, 1e6, width=32)))
def test_sums_agree_with_numpy(array: np.ndarray) -> None:
    found = _statistics(array)
    wide = array.astype(np.float64)
    assert (found.count, found.zeros) == (array.size, int((array == 0).sum()))
    if array.size:
        assert (found.minimum, found.maximum) == (wide.min(), wide.max())
        np.testing.assert_allclose([found.mean, found.deviation], [wide.mean(), wide.std()], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.norm, np.linalg.norm(wide.reshape(-1)), rtol=1e-12)


def test_large_tensors_are_put_together_from_blocks() -> None:
    array = np.random.default_rng(1).normal(3, 2, 3_000_000).astype(np.float32)
    found = _statistics(PartitionedArray.split(array, 3), bins=10)
    wide = array.astype(np.float64)
    np.testing.assert_allclose([found.mean, found.deviation], [wide.mean(), wide.std()], rtol=1e-12)
    assert found.histogram is not None
    counts, edges = np.histogram(wide, 10)
    assert found.histogram.counts == tuple(counts)
    np.testing.assert_allclose(found.histogram.edges, edges)


def test_what_is_not_finite_is_counted_and_left_out() -> None:
    found = _statistics(np.array([1, np.nan, np.inf, -np.inf, 3, np.nan], np.float32), bins=2)
    assert (found.nans, found.infinities, found.minimum, found.maximum, found.mean) == (2, 2, 1, 3, 2)
    assert found.histogram is not None
    assert found.histogram.counts == (1, 1)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.uint64, np.bool_, ml_dtypes.int4])
def test_every_type_of_numbers_is_understood(dtype: type) -> None:
    found = _statistics(np.array([0, 1, 1], dtype))
    assert (found.minimum, found.maximum, found.zeros) == (0, 1, 1)


def test_of_complex_numbers_it_is_the_absolute_values() -> None:
    assert _statistics(np.array([3 + 4j], np.complex64)).maximum == 5


def test_strings_have_no_numbers() -> None:
    found = _statistics(np.array([b"a", b"b"], object))
    assert (found.count, found.minimum, found.is_numeric) == (2, None, False)


@pytest.mark.parametrize("value", [np.zeros((0, 3), np.float32), np.array([np.nan], np.float32)])
def test_without_a_finite_number_there_is_no_range(value: np.ndarray) -> None:
    found = _statistics(value, bins=5)
    assert (found.minimum, found.mean, found.histogram) == (None, None, None)


@pytest.mark.parametrize("value", [0.0, 7.0, -1e300, 1e-300])
def test_a_constant_has_a_histogram_too(value: float) -> None:
    found = _statistics(np.full(4, value), bins=3)
    assert found.is_constant
    assert found.histogram is not None
    assert sum(found.histogram.counts) == 4


def test_the_whole_range_of_doubles_has_one_as_well() -> None:
    found = _statistics(np.array([-1.7e308, 0.0, 1.7e308]), bins=3)
    assert found.histogram is not None
    assert found.histogram.counts == (1, 1, 1)


def test_absurd_is_what_is_beyond_the_limit() -> None:
    assert _statistics(np.array([1e9, -1e9, 1.0])).absurd == 2
    assert _statistics(np.array([5.0, -3.0]), absurd=4).absurd == 1


def test_all_tensors_of_a_checkpoint() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"a": 1.0, "b": [2.0]}, fs=fs)
    with open_checkpoint("m", fs=fs) as reader:
        assert [item.mean for item in checkpoint_statistics(reader)] == [1, 2]
        assert [item.name for item in checkpoint_statistics(reader, ["b"])] == ["b"]


class TestHealth:
    def test_a_checkpoint_with_sensible_numbers_is_healthy(self) -> None:
        fs = MemoryFileSystem()
        save_checkpoint("m", {"w": np.arange(4.0), "bias": np.zeros(3), "step": np.int64(10**12)}, fs=fs)
        report = examine("m", fs=fs)
        assert (report.is_healthy, report.findings, report.tensors) == (True, (), 3)

    def test_every_ailment_is_found(self) -> None:
        fs = MemoryFileSystem()
        tensors = {
            "nan": np.array([1, np.nan]),
            "inf": np.array([1, np.inf]),
            "huge": np.array([1.0, 1e20]),
            "dead": np.zeros((2, 2)),
            "flat": np.full((2, 2), 3.0),
            "zz_lost": np.arange(10.0),
        }
        save_checkpoint("m", tensors, fs=fs)
        data = bytearray(fs.contents()["m.data-00000-of-00001"])
        data[-1] ^= 1
        fs.delete("m.data-00000-of-00001")
        file = fs.create("m.data-00000-of-00001")
        file.write(bytes(data))
        file.close()
        report = examine("m", fs=fs)
        assert {(item.ailment, item.tensor) for item in report.findings} == {
            (Ailment.NOT_A_NUMBER, "nan"),
            (Ailment.INFINITE, "inf"),
            (Ailment.ABSURD, "huge"),
            (Ailment.ALL_ZERO, "dead"),
            (Ailment.CONSTANT, "flat"),
            (Ailment.DAMAGED, "zz_lost"),
        }
        assert not report.is_healthy

    def test_what_may_be_as_it_should_does_not_make_it_ill(self) -> None:
        fs = MemoryFileSystem()
        save_checkpoint("m", {"dead": np.zeros((2, 2)), "huge": np.array([1.0, 1e20])}, fs=fs)
        assert examine("m", fs=fs).is_healthy


_PROGRAM = """
import numpy as np
from tensorkeep.inspect.comparing import chunk_differences
from tensorkeep.inspect.statistics import moments_of
one, other = np.random.default_rng(1).normal(size=(2, 10_007))
print(moments_of(one, 1e30), *chunk_differences([one], [other], 0.0))
"""


@pytest.mark.parametrize("kind", ["Haswell", "Prescott"])
def test_every_kind_of_processor_finds_the_same_to_the_last_bit(kind: str) -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for environment in (os.environ | {"OPENBLAS_CORETYPE": kind}, _without_kind())
    ]
    assert found[0] == found[1] != ""


def _without_kind() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
