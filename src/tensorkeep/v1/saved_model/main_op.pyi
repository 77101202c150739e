# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.saved_model.builder import main_op, main_op_with_restore

__all__ = [
    "main_op", "main_op_with_restore",
]
