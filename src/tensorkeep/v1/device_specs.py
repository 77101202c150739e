"""Devices: their names, and which there are.

`tf.DeviceSpec` is a device's name in parts, which programs of TensorFlow 1 assign to. The functions are those of
`tensorflow.python.client.device_lib` and `framework.device`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.graph import devices
from tensorkeep.runtime.placement import Devices

if TYPE_CHECKING:
    from tensorkeep.proto.session_config import ConfigProto

_MEMORY: Final = 1 << 28  # what TensorFlow says of every processor


class DeviceSpec:
    """A device's name in parts; None where it says nothing. Parts can be changed: `spec.job = "ps"`."""

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The parts of a name such as "/job:worker/task:1/device:GPU:0"."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Takes over what a name says, and nothing else."""
        self._take(devices.DeviceSpec.from_string(spec))
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over the parts that another name says."""
        self._take(self.parts.overridden_by(dev.parts))

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new name of the parts of this one, where another does not say otherwise."""
        merged = DeviceSpec()
        merged._take(self.parts.overridden_by(dev.parts))
        return merged

    def replace(self, **kwargs: str | int | None) -> DeviceSpec:
        """A new name with some other parts."""
        made = DeviceSpec()
        made._take(self.parts.replace(**kwargs))
        return made

    def to_string(self) -> str:
        """The name as text, such as "/job:worker/task:1/device:GPU:0"."""
        return self.parts.to_string()

    @property
    def parts(self) -> devices.DeviceSpec:
        """The same as a value."""
        return devices.DeviceSpec(self.job, self.replica, self.task, self.device_type, self.device_index)

    def _take(self, parts: devices.DeviceSpec) -> None:
        self.job, self.replica, self.task = parts.job, parts.replica, parts.task
        self.device_type, self.device_index = parts.device_type, parts.device_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"<DeviceSpec({said})>"


@dataclass
class LocalDevice:
    """A device of this process, with the fields of TensorFlow's message `DeviceAttributes`."""

    name: str
    device_type: str = "CPU"
    memory_limit: int = _MEMORY
    physical_device_desc: str = ""
    incarnation: int = 0


def list_local_devices(session_config: ConfigProto | None = None) -> list[LocalDevice]:
    """The devices that sessions have: the processors of this machine, as one device unless the settings say more."""
    counts: Mapping[str, int] = {} if session_config is None else session_config.device_count
    names = Devices({"CPU": counts.get("CPU", 1)}).names()
    return [LocalDevice(name.removeprefix("/job:localhost/replica:0/task:0")) for name in names]


def merge_device(spec: DeviceSpec | str | None) -> Callable[[Any], str]:
    """A device function that fills in what the name of an operation's device leaves open."""
    text = spec.to_string() if isinstance(spec, DeviceSpec) else spec or ""
    return lambda node: devices.merge_devices(text, getattr(node, "device", "") or "")


def check_valid(spec: str) -> None:
    """Raises InvalidArgumentError unless a text is a device's name."""
    DeviceSpec.from_string(spec)


def is_device_spec(obj: object) -> bool:
    """Whether something is a device's name in parts."""
    return isinstance(obj, DeviceSpec)
