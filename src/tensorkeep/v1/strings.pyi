# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.parsing.strings import string_format as format, unsorted_segment_join
from tensorkeep.tf1.functions.ragged.dispatch import (
    as_string, reduce_join, regex_full_match, regex_replace, string_join as join, string_length as length,
    string_lower as lower, string_strip as strip, string_to_hash_bucket as to_hash_bucket,
    string_to_hash_bucket_fast as to_hash_bucket_fast, string_to_hash_bucket_strong as to_hash_bucket_strong,
    string_to_number as to_number, string_upper as upper, substr, unicode_script, unicode_transcode,
)
from tensorkeep.tf1.functions.ragged.ragged_strings import (
    bytes_split, ngrams, strings_split as split, unicode_decode, unicode_decode_with_offsets, unicode_encode,
    unicode_split, unicode_split_with_offsets,
)

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong",
    "to_number", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_script", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper",
]
