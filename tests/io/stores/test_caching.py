"""Copies of objects on the local disk are of the version that the store has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tests.support.fault_proxy import fault_proxy
from tests.support.stores import memory_bucket, s3_bucket, s3_endpoint


def test_what_was_read_is_read_from_the_disk_the_second_time(tmp_path: Path) -> None:
    with fault_proxy(s3_endpoint()) as proxy, s3_bucket(proxy.endpoint, cache=tmp_path) as bucket:
        tk.save_checkpoint(f"{bucket}/m", {"a": np.arange(1 << 20)})
        first = tk.load_tensor(f"{bucket}/m", "a")
        proxy.requests.clear()
        np.testing.assert_array_equal(tk.load_tensor(f"{bucket}/m", "a"), first)
        assert {method for method, _, _ in proxy.requests} == {"HEAD"}


def test_another_version_is_fetched_anew(tmp_path: Path) -> None:
    bucket = memory_bucket()
    tk.storage(bucket, cache=tmp_path)
    for number in range(3):
        tk.save_checkpoint(f"{bucket}/m", {"a": np.array(number)})
        assert tk.load_tensor(f"{bucket}/m", "a") == number


def test_a_copy_that_was_cut_short_is_fetched_anew(tmp_path: Path) -> None:
    bucket = memory_bucket()
    tk.storage(bucket, cache=tmp_path)
    tk.save_checkpoint(f"{bucket}/m", {"a": np.arange(1000)})
    tk.load_tensors(f"{bucket}/m")
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    np.testing.assert_array_equal(tk.load_tensor(f"{bucket}/m", "a"), np.arange(1000))


def test_a_view_is_of_a_copy_or_is_refused(tmp_path: Path) -> None:
    bucket = memory_bucket()
    tk.save_checkpoint(f"{bucket}/m", {"a": np.arange(1000)})
    with tk.open_checkpoint(f"{bucket}/m") as reader, pytest.raises(tk.UnimplementedError, match="cache=FOLDER"):
        reader.read("a", copy=False)
    tk.storage(bucket, cache=tmp_path)
    with tk.open_checkpoint(f"{bucket}/m") as reader:
        view = reader.read("a", copy=False)
    assert not view.flags.owndata
    np.testing.assert_array_equal(view, np.arange(1000))


def test_settings_are_those_of_the_longest_url_that_fits(tmp_path: Path) -> None:
    bucket = memory_bucket()
    tk.storage(f"{bucket}/kept", cache=tmp_path)
    for name in ("kept", "other"):
        tk.save_checkpoint(f"{bucket}/{name}/m", {"a": np.arange(10)})
        tk.load_tensors(f"{bucket}/{name}/m")
    assert len(list(tmp_path.iterdir())) == 2  # the index and the data of one


@pytest.mark.parametrize("wrong", [{"retries": -1}, {"timeout": 0}, {"cache": "s3://b/c"}, {"endpoint": None}])
def test_settings_that_make_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(tk.InvalidArgumentError):
        tk.storage("s3://bucket", **wrong)  # type: ignore[arg-type]
