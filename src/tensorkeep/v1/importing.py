"""Graphs to files."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.messages import files


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a graph to a file of a folder; gives the file's path."""
    return files.write_graph(graph_or_graph_def, str(logdir), name, as_text)
