"""Embeddings in the formats of others. An export streams by bucket; an import holds the table in memory.

csv         text: a row for each key, `id` and the numbers of its row joined by commas
maxcompute  MaxCompute (ODPS) tables, by the client pyodps (the extra `maxcompute`)
npz         NumPy's `.npz`: keys, values, and what else is stored
parquet     parquet, by pyarrow (the extra `tables`)
resp        RESP, the protocol of Redis: a file of commands that `redis-cli --pipe` takes in
streams     what the formats have in common
"""
