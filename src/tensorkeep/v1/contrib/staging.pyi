# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.data.staging_areas import StagingArea

__all__ = [
    "StagingArea",
]
