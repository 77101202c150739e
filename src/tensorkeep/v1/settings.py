"""`tf.config`: the devices there are, how many threads runs use, and settings that have no effect here."""

from __future__ import annotations

from typing import Final, NamedTuple

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.v1.device_specs import list_local_devices


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that operations run on."""

    name: str
    device_type: str


_SETTINGS: Final = {"inter_op_threads": 0, "intra_op_threads": 0, "jit": 0, "log_placement": 0, "soft_placement": 0}
_OPTIMIZERS: Final[dict[str, bool]] = {}


def _list_devices(
    kind: type[PhysicalDevice] | type[LogicalDevice], prefix: str, device_type: str | None
) -> list[object]:
    found = [kind(f"{prefix}{device.name}", device.device_type) for device in list_local_devices()]
    return [device for device in found if device_type in (None, device.device_type)]


def list_physical_devices(device_type: str | None = None) -> list[object]:
    """The devices of this machine, of one kind or all: its processors, as one. There are no others here."""
    return _list_devices(PhysicalDevice, "/physical_device", device_type)


def list_logical_devices(device_type: str | None = None) -> list[object]:
    """The devices that operations run on, of one kind or all."""
    return _list_devices(LogicalDevice, "", device_type)


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Raises: it is asked of accelerators, and there are none."""
    raise InvalidArgumentError(f"Cannot get memory growth of {device}: there are no accelerators here")


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Raises: it is said of accelerators, and there are none. Programs say it of each that is listed."""
    raise InvalidArgumentError(f"Cannot set memory growth of {device}: there are no accelerators here")


def get_soft_device_placement() -> bool:
    """What `set_soft_device_placement` was told. Sessions are told by their `tf.ConfigProto`, as in TensorFlow 1."""
    return bool(_SETTINGS["soft_placement"])


def set_soft_device_placement(enabled: bool) -> None:
    """Keeps a setting for `get_soft_device_placement`."""
    _SETTINGS["soft_placement"] = int(enabled)


def get_log_device_placement() -> bool:
    """What `set_log_device_placement` was told. Sessions are told by their `tf.ConfigProto`, as in TensorFlow 1."""
    return bool(_SETTINGS["log_placement"])


def set_log_device_placement(enabled: bool) -> None:
    """Keeps a setting for `get_log_device_placement`."""
    _SETTINGS["log_placement"] = int(enabled)


def get_jit() -> bool:
    """What `set_jit` was told. All runs are compiled, whatever it was."""
    return bool(_SETTINGS["jit"])


def set_jit(enabled: bool) -> None:
    """Keeps a setting for `get_jit`."""
    _SETTINGS["jit"] = int(enabled)


def get_experimental_options() -> dict[str, bool]:
    """What `set_experimental_options` was told. Graphs run as they are, whatever it was."""
    return dict(_OPTIMIZERS)


def set_experimental_options(options: dict[str, bool]) -> None:
    """Keeps settings of TensorFlow's graph optimizers for `get_experimental_options`."""
    _OPTIMIZERS.update(options)


def get_inter_op_parallelism_threads() -> int:
    """What `set_inter_op_parallelism_threads` was told. A run is one thread of Python here."""
    return _SETTINGS["inter_op_threads"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Keeps a number for `get_inter_op_parallelism_threads`."""
    _SETTINGS["inter_op_threads"] = num_threads


def get_intra_op_parallelism_threads() -> int:
    """What `set_intra_op_parallelism_threads` was told; 0 if nothing, which leaves it to the machine."""
    return _SETTINGS["intra_op_threads"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Says how many threads the runs of sessions use at most that are made from now on without a `tf.ConfigProto`.

    That goes for our own threads and for those of an engine. The linear algebra library of NumPy has its own number,
    which the environment tells it before Python starts (`OPENBLAS_NUM_THREADS`).
    """
    _SETTINGS["intra_op_threads"] = num_threads
