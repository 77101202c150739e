"""Bytes that hold structure: Examples, messages, records and serialized tensors, parsed and written.

csv_records               records of comma-separated values, as TensorFlow reads them
decoding                  bytes read as numbers, as records, as compressed bytes, as JSON
example_bytes             Examples as bytes: what TensorFlow's parser finds in them, one value at a time
_example_columns          Examples parsed all at once: the same step of every one of them in one NumPy operation
_example_rows             Examples parsed one after the other
example_tensors           features as an op describes them, and columns of values as the tensors it returns
examples                  Examples, as bytes, parsed into tensors
_json_examples            Examples written as JSON, turned into the bytes that TensorFlow makes of them
_proto_values             fields of messages as arrays
protos                    messages as tensors: fields read out of serialized protocol buffers, and written into
                          them
_sequence_example_bytes   SequenceExamples as bytes: what TensorFlow's parser finds in them
sequence_examples         SequenceExamples, as bytes, parsed into tensors
serialization             tensors and sparse tensors turned into bytes, and back
single_sequence_examples  one SequenceExample, as bytes, parsed into tensors by the op of TensorFlow's first
                          years
stored_tensors            tensors and sparse tensors as serialized messages, with TensorFlow's bytes
"""
