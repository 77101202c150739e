# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.stored.records import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator

__all__ = [
    "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator",
]
