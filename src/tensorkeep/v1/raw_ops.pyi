# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.op_functions import RawOp

def __getattr__(name: str) -> RawOp: ...
