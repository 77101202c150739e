"""Bytes and text: Examples, messages, strings.

composite_features  sparse and ragged tensors that several features of an Example make up
decoding            bytes decoded: numbers, records, compressed bytes, JSON, serialized tensors and messages
examples            Examples and SequenceExamples, parsed as features describe
feature_configs     what to parse of an Example: one description for each feature
feature_params      the descriptions of features as the inputs and attributes of the ops that parse them
strings             strings: joined, split, matched, converted
"""
