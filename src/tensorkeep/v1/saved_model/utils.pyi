# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.saved_model.files.tensor_info import build_tensor_info
from tensorkeep.v1.stored.saved_models import get_tensor_from_tensor_info

__all__ = [
    "build_tensor_info", "get_tensor_from_tensor_info",
]
