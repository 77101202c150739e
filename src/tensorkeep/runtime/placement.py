"""Whether operations can be placed where their graph wants them. Pure.

All kernels run on the CPU, so a place is only a name; but a name that the session has no device for is an error in
TensorFlow, and one that programs are meant to see, unless placement is soft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.devices import DeviceSpec
from tensorkeep.graph.graph import Operation


@dataclass(frozen=True)
class LocalTask:
    """What this process is called in the names of devices."""

    job: str = "localhost"
    number: int = 0


@dataclass(frozen=True)
class Devices:
    """How many devices of each type there are, and whether an operation may go elsewhere than it says."""

    counts: Mapping[str, int] = field(default_factory=lambda: {"CPU": 1})
    soft: bool = True
    task: LocalTask = LocalTask()

    def names(self) -> list[str]:
        """The full names of all devices."""
        local = DeviceSpec(self.task.job, 0, self.task.number)
        return [
            local.overridden_by(DeviceSpec(device_type=kind, device_index=index)).to_string()
            for kind, count in sorted(self.counts.items())
            for index in range(count)
        ]

    def place(self, device: str) -> str | None:
        """The device that an operation which asks for `device` runs on; None if there is none."""
        wanted = DeviceSpec.from_string(device)
        kind, index = wanted.device_type or "CPU", wanted.device_index or 0
        job, number = self.task.job, self.task.number
        local = wanted.job in (None, job) and not wanted.replica and wanted.task in (None, number)
        if local and index < self.counts.get(kind, 0):
            return DeviceSpec(job, 0, number, kind, index).to_string()
        return DeviceSpec(job, 0, number, "CPU", 0).to_string() if self.soft else None


def check_placement(ops: Iterable[Operation], devices: Devices) -> None:
    """Raises InvalidArgumentError, naming the operation, if one asks for a device that there is not."""
    for op in ops:
        if op.device and devices.place(op.device) is None:
            raise InvalidArgumentError(
                f"Cannot assign a device for operation {op.name}: Could not satisfy explicit device specification "
                f"'{op.device}' because no devices matching that specification are registered in this process; the "
                f"devices there are: [{', '.join(devices.names())}]. Set allow_soft_placement, or clear the devices "
                "of the graph on import"
            )
