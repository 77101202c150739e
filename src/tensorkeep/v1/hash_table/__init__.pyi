# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.variables.hash_tables.admission import BloomFilterAdmitStrategy, DistributedBloomFilterAdmitStrategy
from tensorkeep.tf1.variables.hash_tables.lookup import (
    BloomFilterLookupHook, EmbeddingLookupHook, ReadOnlyHook, embedding_lookup, embedding_lookup_sparse,
)
from tensorkeep.tf1.variables.hash_tables.table import (
    DistributedHashTable, FixedSizeHashTablePartitioner, HashTable, HashTableKeyMapperFactory, SimpleHashTable,
    restore_without_clear_scope,
)
from tensorkeep.v1.hash_table import hash_filter

__all__ = [
    "BloomFilterAdmitStrategy", "BloomFilterLookupHook", "DistributedBloomFilterAdmitStrategy", "DistributedHashTable",
    "EmbeddingLookupHook", "FixedSizeHashTablePartitioner", "HashTable", "HashTableKeyMapperFactory", "ReadOnlyHook",
    "SimpleHashTable", "embedding_lookup", "embedding_lookup_sparse", "hash_filter", "restore_without_clear_scope",
]
