"""Device names: parsing, writing, merging."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.devices import DeviceSpec, canonical_device, merge_devices


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("/cpu:0", "/device:CPU:0"),
        ("/gpu:1", "/device:GPU:1"),
        ("/device:CPU:0", "/device:CPU:0"),
        ("/CPU", "/device:CPU:*"),
        ("/job:ps/task:3", "/job:ps/task:3"),
        ("/job:worker/replica:1/task:2/device:TPU:5", "/job:worker/replica:1/task:2/device:TPU:5"),
        ("/task:2/job:w", "/job:w/task:2"),
    ],
)
def test_a_name_has_one_long_form(text: str, canonical: str) -> None:
    assert canonical_device(text) == canonical
    assert canonical_device(canonical) == canonical


@pytest.mark.parametrize(
    "text", ["/banana:0", "banana", "/cpu:x", "/job", "/task:one", "/device:CPU:0:1:2", f"/cpu:{'9' * 5000}"]
)
def test_what_is_no_device_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError):
        canonical_device(text)


@pytest.mark.parametrize(
    ("outer", "inner", "merged"),
    [
        ("/cpu:0", "", "/device:CPU:0"),
        ("/cpu:0", "/gpu:1", "/device:GPU:1"),
        ("/job:ps/cpu:0", "/task:1", "/job:ps/task:1/device:CPU:0"),
        ("/job:ps", "/job:worker/gpu:0", "/job:worker/device:GPU:0"),
    ],
)
def test_the_inner_name_wins_part_by_part(outer: str, inner: str, merged: str) -> None:
    assert merge_devices(outer, inner) == merged


def test_parts_can_be_replaced() -> None:
    assert DeviceSpec.from_string("/job:a/cpu:0").replace(job="b").to_string() == "/job:b/device:CPU:0"
