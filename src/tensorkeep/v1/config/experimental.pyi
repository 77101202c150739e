# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.learning.collective import enable_distributed_strategy
from tensorkeep.v1.settings import get_memory_growth, list_logical_devices, list_physical_devices, set_memory_growth

__all__ = [
    "enable_distributed_strategy", "get_memory_growth", "list_logical_devices", "list_physical_devices",
    "set_memory_growth",
]
