"""`tensorflow.python.client.device_lib` and `framework.device`: the devices there are, and their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.graph.devices import merge_devices
from tensorkeep.runtime.placement import Devices
from tensorkeep.v1.device_specs import DeviceSpec

_MEMORY: Final = 1 << 28  # what TensorFlow says of every processor


@dataclass
class LocalDevice:
    """A device of this process, with the fields of TensorFlow's message `DeviceAttributes`."""

    name: str
    device_type: str = "CPU"
    memory_limit: int = _MEMORY
    physical_device_desc: str = ""
    incarnation: int = 0


def list_local_devices(session_config: Any = None) -> list[LocalDevice]:
    """The devices that sessions have: the processors of this machine, as one device unless the settings say more."""
    counts: Mapping[str, int] = {} if session_config is None else session_config.device_count
    names = Devices({"CPU": counts.get("CPU", 1)}).names()
    return [LocalDevice(name.removeprefix("/job:localhost/replica:0/task:0")) for name in names]


def merge_device(spec: DeviceSpec | str | None) -> Callable[[Any], str]:
    """A device function that fills in what the name of an operation's device leaves open."""
    text = spec.to_string() if isinstance(spec, DeviceSpec) else spec or ""
    return lambda node: merge_devices(text, getattr(node, "device", "") or "")


def check_valid(spec: str) -> None:
    """Raises InvalidArgumentError unless a text is a device's name."""
    DeviceSpec.from_string(spec)


def is_device_spec(obj: object) -> bool:
    """Whether something is a device's name in parts."""
    return isinstance(obj, DeviceSpec)
