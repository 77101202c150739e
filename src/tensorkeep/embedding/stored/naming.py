"""The names under which embeddings are stored.

    <stem>-keys          [N]         int64 or int32    grouped by bucket
    <stem>-values        [N, dim]                      one row for each key
    <stem>-freqs         [N] or [0]  int64
    <stem>-versions      [N] or [0]  int64
    <stem>-partition_offset   [1001] int32             where each bucket begins
    <stem>-keys_filtered, -freqs_filtered, -versions_filtered, -partition_filter_offset     the same for counted keys

A stem is the name of a variable, `/part_<k>` if it is one of several shards, and `/<slot>` for the slot of an
optimizer: `user/part_3/Adagrad`. An incremental checkpoint has, per stem, `-sparse_incr_keys`, `-sparse_incr_values`,
`-sparse_incr_freqs`, `-sparse_incr_versions` and `-incr_partition_offset`; what DeepRec does not have in it, and does
not look for, is named `-tensorkeep_incr_…`. The values of quantised embeddings have `-scales` beside them.
"""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.checkpoint.finding.file_names import RECORDS

KEYS: Final = "-keys"
VALUES: Final = "-values"
FREQS: Final = "-freqs"
VERSIONS: Final = "-versions"
OFFSETS: Final = "-partition_offset"
FILTERED_KEYS: Final = "-keys_filtered"
FILTERED_FREQS: Final = "-freqs_filtered"
FILTERED_VERSIONS: Final = "-versions_filtered"
FILTERED_OFFSETS: Final = "-partition_filter_offset"
SCALES: Final = "-scales"

NINE: Final = (
    FREQS,
    FILTERED_FREQS,
    KEYS,
    FILTERED_KEYS,
    FILTERED_OFFSETS,
    OFFSETS,
    VALUES,
    VERSIONS,
    FILTERED_VERSIONS,
)
"""The nine tensors of a stem, in the order of their names, in which they are written."""

RECORD_FOLDER: Final = "-emb_files"

DELTA_KEYS: Final = "-sparse_incr_keys"
DELTA_VALUES: Final = "-sparse_incr_values"
DELTA_FREQS: Final = "-sparse_incr_freqs"
DELTA_VERSIONS: Final = "-sparse_incr_versions"
DELTA_OFFSETS: Final = "-incr_partition_offset"
DELTA_REMOVED: Final = "-tensorkeep_incr_removed"
DELTA_FILTERED_KEYS: Final = "-tensorkeep_incr_keys_filtered"
DELTA_FILTERED_FREQS: Final = "-tensorkeep_incr_freqs_filtered"
DELTA_FILTERED_VERSIONS: Final = "-tensorkeep_incr_versions_filtered"
DELTA_PRESENCE: Final = "-tensorkeep_incr_presence"

_PART: Final = re.compile(r"part_(0|[1-9][0-9]*)")
_OF: Final = re.compile(r"(?P<name>.+)-(?P<number>[1-9][0-9]*)of(?P<count>[1-9][0-9]*)", re.DOTALL)


def part_stem(name: str, number: int, count: int) -> str:
    """The stem of shard `number` of `count`. A variable in one piece goes by its own name."""
    return name if count == 1 else f"{name}/part_{number}"


def slot_stem(stem: str, column: str) -> str:
    """The stem of a column of the table that is stored as `stem`."""
    return f"{stem}/{column}" if column else stem


def split_parts(stem: str) -> list[tuple[str, int, str]]:
    """Every way to read a stem as (variable, shard, rest), the last `part_<k>` first; the rest begins with a slash.

    Only a whole component counts: "part_time/emb" has none.
    """
    pieces = stem.split("/")
    found = []
    for at in range(len(pieces) - 1, 0, -1):
        number = _PART.fullmatch(pieces[at])
        if number:
            rest = "".join(f"/{piece}" for piece in pieces[at + 1 :])
            found.append(("/".join(pieces[:at]), int(number[1]), rest))
    return found


def split_of(stem: str) -> tuple[str, int, int] | None:
    """Name, number from 0, and count, if the stem is one of TFRA's: "emb-1of2"."""
    found = _OF.fullmatch(stem)
    if found is None or not 1 <= int(found["number"]) <= int(found["count"]):
        return None
    return found["name"], int(found["number"]) - 1, int(found["count"])


def record_path(prefix: str, stem: str) -> str:
    """The prefix of the bundle that says where the records of a stem lie, beside the checkpoint of a prefix."""
    return f"{prefix}-{stem.replace('/', '_')}{RECORDS}"


def record_folder(prefix: str, stem: str) -> str:
    """The folder of the files of records of a stem."""
    return f"{prefix}-{stem.replace('/', '_')}{RECORD_FOLDER}"
