"""Embeddings in the formats of others. An export streams by bucket; an import holds the table in memory."""
