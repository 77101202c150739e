"""Bytes: numbers and strings as they are stored, checksums, compression, files of records.

crc32c          CRC-32C (Castagnoli), the checksum of every table block and every tensor
crc32c_arrays   masked checksums (see crc32c.py), many at a time
highway_hash    HighwayHash: the 64-bit keyed hash that Riegeli files carry
ordered_code    keys that sort, byte by byte, like the values they are made of
records         record files (TFRecord): byte strings one after the other, each with checksums of its own
riegeli         Riegeli files: records in chunks, as TensorFlow's proto splitter writes them
snappy          Snappy decompression, for tables whose blocks were stored compressed
text_and_bytes  text for bytes and bytes for text, wherever a program may give either
varint          variable-length integers: base 128, low group first, high bit set on every byte but the last
varint_arrays   varints (see varint.py) by whole arrays at a time, vectorised
"""
