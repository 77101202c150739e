# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.data.queues import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from tensorkeep.tf1.functions.data.readers import matching_files, read_file, write_file
from tensorkeep.tf1.functions.images.files import (
    decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, decode_webp, encode_jpeg,
    encode_png, extract_jpeg_shape, is_jpeg,
)
from tensorkeep.tf1.functions.parsing.decoding import (
    decode_csv, decode_json_example, decode_proto, decode_raw, deserialize_many_sparse, encode_proto, parse_tensor,
    serialize_many_sparse, serialize_sparse, serialize_tensor,
)
from tensorkeep.tf1.functions.parsing.examples import (
    parse_example, parse_sequence_example, parse_single_example, parse_single_sequence_example,
)
from tensorkeep.tf1.functions.parsing.feature_configs import (
    FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature,
)
from tensorkeep.tf1.functions.ragged.dispatch import decode_base64, decode_compressed, encode_base64
from tensorkeep.tf1.training.inputs.input_producers import match_filenames_once
from tensorkeep.v1.io import gfile
from tensorkeep.v1.stored.graph_defs import write_graph
from tensorkeep.v1.stored.records import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RaggedFeature",
    "RandomShuffleQueue", "SparseFeature", "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed", "decode_csv",
    "decode_gif", "decode_image", "decode_jpeg", "decode_json_example", "decode_png", "decode_proto", "decode_raw",
    "decode_webp", "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "encode_proto",
    "extract_jpeg_shape", "gfile", "is_jpeg", "match_filenames_once", "matching_files", "parse_example",
    "parse_sequence_example", "parse_single_example", "parse_single_sequence_example", "parse_tensor", "read_file",
    "serialize_many_sparse", "serialize_sparse", "serialize_tensor", "tf_record_iterator", "write_file", "write_graph",
]
