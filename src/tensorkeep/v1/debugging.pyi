# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.control.assertions import (
    assert_equal, assert_greater, assert_greater_equal, assert_integer, assert_less, assert_less_equal, assert_near,
    assert_negative, assert_non_negative, assert_non_positive, assert_none_equal, assert_positive,
    assert_proper_iterable, assert_rank, assert_rank_at_least, assert_rank_in, assert_same_float_dtype, assert_scalar,
    assert_shapes, is_non_decreasing, is_numeric_tensor, is_strictly_increasing,
)
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.logging import verify_tensor_all_finite as assert_all_finite
from tensorkeep.tf1.functions.ragged.dispatch import assert_type, check_numerics, is_finite, is_inf, is_nan
from tensorkeep.v1.settings import get_log_device_placement, set_log_device_placement

__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive",
    "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type", "check_numerics",
    "get_log_device_placement", "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "set_log_device_placement",
]
