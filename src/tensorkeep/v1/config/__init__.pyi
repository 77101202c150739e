# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.config import experimental, optimizer, threading
from tensorkeep.v1.settings import (
    get_soft_device_placement, list_logical_devices, list_physical_devices, set_soft_device_placement,
)

__all__ = [
    "experimental", "get_soft_device_placement", "list_logical_devices", "list_physical_devices", "optimizer",
    "set_soft_device_placement", "threading",
]
