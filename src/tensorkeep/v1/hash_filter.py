"""`tf.hash_table.hash_filter`: dropping keys of hash tables, which DeepRec has in a module that it does not export."""

from __future__ import annotations

from tensorkeep.tf1.training.savers.hash_table_filters import (
    BlackListAdmit,
    GlobalStepFilter,
    HashFilterBase,
    HashFilterHook,
    L2WeightFilter,
    check,
    filter_once,
    filter_op,
    update_op,
)

__all__ = [
    "BlackListAdmit",
    "GlobalStepFilter",
    "HashFilterBase",
    "HashFilterHook",
    "L2WeightFilter",
    "check",
    "filter_once",
    "filter_op",
    "update_op",
]
