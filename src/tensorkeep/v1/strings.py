"""`tf.strings`: text."""

from __future__ import annotations

from tensorkeep.functions.strings import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    substr,
    unsorted_segment_join,
)
from tensorkeep.functions.strings import string_format as format
from tensorkeep.functions.strings import string_join as join
from tensorkeep.functions.strings import string_length as length
from tensorkeep.functions.strings import string_lower as lower
from tensorkeep.functions.strings import string_strip as strip
from tensorkeep.functions.strings import string_to_hash_bucket as to_hash_bucket
from tensorkeep.functions.strings import string_to_hash_bucket_fast as to_hash_bucket_fast
from tensorkeep.functions.strings import string_to_hash_bucket_strong as to_hash_bucket_strong
from tensorkeep.functions.strings import string_to_number as to_number
from tensorkeep.functions.strings import string_upper as upper
from tensorkeep.functions.strings import strings_split as split

__all__ = [
    "as_string",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unsorted_segment_join",
    "upper",
]
