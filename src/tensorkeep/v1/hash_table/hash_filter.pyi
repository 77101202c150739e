# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.training.savers.hash_table_filters import (
    BlackListAdmit, GlobalStepFilter, HashFilterBase, HashFilterHook, L2WeightFilter, check, filter_once, filter_op,
    update_op,
)

__all__ = [
    "BlackListAdmit", "GlobalStepFilter", "HashFilterBase", "HashFilterHook", "L2WeightFilter", "check", "filter_once",
    "filter_op", "update_op",
]
