"""Lookup tables need several nodes: tests show them."""

from __future__ import annotations

WHERE = "tests/interop/test_lookup_functions.py"

ELSEWHERE = dict.fromkeys(
    (
        "HashTable",
        "HashTableV2",
        "MutableHashTable",
        "MutableHashTableV2",
        "MutableHashTableOfTensors",
        "MutableHashTableOfTensorsV2",
        "MutableDenseHashTable",
        "MutableDenseHashTableV2",
        "AnonymousHashTable",
        "AnonymousMutableHashTable",
        "AnonymousMutableHashTableOfTensors",
        "AnonymousMutableDenseHashTable",
        "LookupTableFind",
        "LookupTableFindV2",
        "LookupTableInsert",
        "LookupTableInsertV2",
        "LookupTableRemoveV2",
        "LookupTableSize",
        "LookupTableSizeV2",
        "LookupTableExport",
        "LookupTableExportV2",
        "LookupTableImport",
        "LookupTableImportV2",
        "InitializeTable",
        "InitializeTableV2",
        "InitializeTableFromTextFile",
        "InitializeTableFromTextFileV2",
    ),
    WHERE,
)
