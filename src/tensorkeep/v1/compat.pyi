# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep import v1
from tensorkeep.io.coding.text_and_bytes import (
    as_bytes, as_text, as_text_of_any as as_str_any, path_to_bytes, path_to_text as path_to_str,
)
from tensorkeep.v1.compatibility import (
    as_str, bytes_or_text_types, complex_types, forward_compatibility_horizon, forward_compatible, integral_types,
    real_types,
)
from tensorkeep.v1.framework import dimension_at_index, dimension_value

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "forward_compatibility_horizon", "forward_compatible", "integral_types", "path_to_bytes",
    "path_to_str", "real_types", "v1",
]
