"""Device names: "/job:worker/replica:0/task:1/device:CPU:0", in full or in part, and how they merge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tensorkeep.errors import InvalidArgumentError

_MOST_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A device name in parts; None where the name says nothing."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    def from_string(cls, text: str) -> DeviceSpec:
        return _parse(text)

    def to_string(self) -> str:
        parts = []
        if self.job is not None:
            parts.append(f"/job:{self.job}")
        if self.replica is not None:
            parts.append(f"/replica:{self.replica}")
        if self.task is not None:
            parts.append(f"/task:{self.task}")
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def overridden_by(self, other: DeviceSpec) -> DeviceSpec:
        """This name, with every part that the other has taken from there."""
        return DeviceSpec(
            self.job if other.job is None else other.job,
            self.replica if other.replica is None else other.replica,
            self.task if other.task is None else other.task,
            self.device_type if other.device_type is None else other.device_type,
            self.device_index if other.device_index is None else other.device_index,
        )

    make_merged_spec = overridden_by

    def replace(self, **parts: str | int | None) -> DeviceSpec:
        return replace(self, **parts)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _parse(text: str) -> DeviceSpec:
    job: str | None = None
    numbers: dict[str, int | None] = {"replica": None, "task": None}
    device_type: str | None = None
    device_index: int | None = None
    for piece in filter(None, text.split("/")):
        key, *rest = piece.split(":")
        if key == "job" and len(rest) == 1:
            job = rest[0]
        elif key in numbers and len(rest) == 1 and _is_number(rest[0]):
            numbers[key] = int(rest[0])
        elif key.upper() in ("CPU", "GPU", "TPU") and len(rest) <= 1:
            device_type, device_index = key.upper(), _index(rest[0] if rest else "*", text)
        elif key == "device" and len(rest) in (1, 2):
            device_type, device_index = rest[0], _index(rest[1] if len(rest) == 2 else "*", text)
        else:
            raise InvalidArgumentError(f"Unknown attribute: '{key}' in '{text}'")
    return DeviceSpec(job, numbers["replica"], numbers["task"], device_type, device_index)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _index(text: str, whole: str) -> int | None:
    if text == "*":
        return None
    if not _is_number(text):
        raise InvalidArgumentError(f"the index of the device in '{whole}' is no number")
    return int(text)


def canonical_device(text: str) -> str:
    """The long form of a device name, as it stands in graphs."""
    return _parse(text).to_string()


@lru_cache(maxsize=4096)
def merge_devices(outer: str, inner: str) -> str:
    """What an operation under `outer` is placed on that is under `inner` already."""
    return _parse(outer).overridden_by(_parse(inner)).to_string()
