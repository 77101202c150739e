"""`tf.strings`: text."""

from __future__ import annotations

from tensorkeep.functions.ragged_dispatch import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    substr,
    unicode_script,
    unicode_transcode,
)
from tensorkeep.functions.ragged_dispatch import string_join as join
from tensorkeep.functions.ragged_dispatch import string_length as length
from tensorkeep.functions.ragged_dispatch import string_lower as lower
from tensorkeep.functions.ragged_dispatch import string_strip as strip
from tensorkeep.functions.ragged_dispatch import string_to_hash_bucket as to_hash_bucket
from tensorkeep.functions.ragged_dispatch import string_to_hash_bucket_fast as to_hash_bucket_fast
from tensorkeep.functions.ragged_dispatch import string_to_hash_bucket_strong as to_hash_bucket_strong
from tensorkeep.functions.ragged_dispatch import string_to_number as to_number
from tensorkeep.functions.ragged_dispatch import string_upper as upper
from tensorkeep.functions.ragged_strings import (
    bytes_split,
    ngrams,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
)
from tensorkeep.functions.ragged_strings import strings_split as split
from tensorkeep.functions.strings import string_format as format
from tensorkeep.functions.strings import unsorted_segment_join

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "ngrams",
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
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "unsorted_segment_join",
    "upper",
]
