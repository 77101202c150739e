"""`tf.strings`: text."""

from __future__ import annotations

from tensorkeep.tf1.functions.parsing.strings import string_format as format
from tensorkeep.tf1.functions.parsing.strings import unsorted_segment_join
from tensorkeep.tf1.functions.ragged.dispatch import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    substr,
    unicode_script,
    unicode_transcode,
)
from tensorkeep.tf1.functions.ragged.dispatch import string_join as join
from tensorkeep.tf1.functions.ragged.dispatch import string_length as length
from tensorkeep.tf1.functions.ragged.dispatch import string_lower as lower
from tensorkeep.tf1.functions.ragged.dispatch import string_strip as strip
from tensorkeep.tf1.functions.ragged.dispatch import string_to_hash_bucket as to_hash_bucket
from tensorkeep.tf1.functions.ragged.dispatch import string_to_hash_bucket_fast as to_hash_bucket_fast
from tensorkeep.tf1.functions.ragged.dispatch import string_to_hash_bucket_strong as to_hash_bucket_strong
from tensorkeep.tf1.functions.ragged.dispatch import string_to_number as to_number
from tensorkeep.tf1.functions.ragged.dispatch import string_upper as upper
from tensorkeep.tf1.functions.ragged.ragged_strings import (
    bytes_split,
    ngrams,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
)
from tensorkeep.tf1.functions.ragged.ragged_strings import strings_split as split

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
