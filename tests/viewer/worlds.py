"""Things to look at: runs, embedding tables, large graphs and checkpoints, sounds, names that are scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.proto.messages import GraphDef, MetaGraphDef

HOSTILE = (
    "<script>window.hit=1</script>",
    '"><img src=x onerror=window.hit=1>',
    "</style></script><b>bold",
    "' onmouseover='window.hit=1",
    "javascript:window.hit=1",
    "<svg onload=window.hit=1>",
    "{{constructor.constructor('window.hit=1')()}}",
    "\u202egnp.exe",
)


def layered_graph(layers: int, width: int = 20, *, scoped: bool = True, extra: str = "") -> GraphDef:
    """A graph of layers, each of some matrix products with weights; in scopes that are alike, or in none."""
    graph = GraphDef()
    graph.versions.producer = 1994
    source = "input"
    _node(graph, "input", "Placeholder", dtype=1, shape=(-1, 8))
    for layer in range(layers):
        sums = []
        scope = f"block_{layer // 10}/layer_{layer}/" if scoped else f"layer_{layer}_"
        for branch in range(max(width // 4, 1)):
            at = f"{scope}branch_{branch}/" if scoped else f"{scope}branch_{branch}_"
            _constant(graph, f"{at}kernel", np.zeros((8, 8), np.float32))
            _node(graph, f"{at}MatMul", "MatMul", source, f"{at}kernel", T=1)
            _node(graph, f"{at}Relu", "Relu", f"{at}MatMul", T=1)
            sums.append(f"{at}Relu")
        added = _node(graph, f"{scope}sum{extra}", "AddN", *sums, T=1)
        added.attr["N"].i = len(sums)
        source = f"{scope}sum{extra}"
    _node(graph, "output", "Identity", source, T=1)
    return graph


def _node(graph: GraphDef, name: str, op: str, *inputs: str, shape: tuple[int, ...] | None = None, **types: int) -> Any:
    node = graph.node.add(name=name, op=op, input=inputs)
    for key, value in types.items():
        node.attr[key].type = value
    if shape is not None:
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)
    return node


def _constant(graph: GraphDef, name: str, array: np.ndarray[Any, Any]) -> None:
    node = _node(graph, name, "Const", dtype=1)
    node.attr["value"].tensor.dtype = 1
    for size in array.shape:
        node.attr["value"].tensor.tensor_shape.dim.add(size=size)
    node.attr["value"].tensor.tensor_content = array.tobytes()


def write_graph(path: Path, graph: GraphDef) -> Path:
    path.write_bytes(graph.SerializeToString())
    return path


def write_run(folder: Path, steps: int = 5) -> Path:
    """A folder of checkpoints with metrics, one of them damaged, each with a graph beside it."""
    random = np.random.default_rng(3)
    kernel = random.standard_normal((24, 16)).astype(np.float32)
    saved = tk.CheckpointFolder(str(folder), tk.KeepAll())
    for number in range(1, steps + 1):
        kernel = kernel + random.standard_normal(kernel.shape).astype(np.float32) / (number + 1)
        tensors = {"dense/kernel": kernel, "dense/bias": np.zeros(16, np.float32), "step": np.int64(number)}
        prefix = folder / f"model-{100 * number}"
        tk.save_checkpoint(str(prefix), tensors)
        saved.add(str(prefix), step=100 * number, metrics={"loss": 1 / number, "accuracy": 1 - 0.4 / number})
        graph = layered_graph(number, 4, extra="_tuned" if number == steps else "")
        meta = MetaGraphDef(graph_def=graph)
        prefix.with_suffix(".meta").write_bytes(meta.SerializeToString())
    return folder


def write_tables(prefix: Path, keys: int = 300) -> Path:
    """A checkpoint with an embedding table in which keys 0 to 2 are near each other."""
    random = np.random.default_rng(5)
    table = tk.EmbeddingTable(8)
    table.lookup_or_create(np.arange(keys, dtype=np.int64) * 1_000_003)
    rows = random.standard_normal((keys, 8)).astype(np.float32)
    rows[1], rows[2] = rows[0] * 1.01, rows[0] * 0.98
    table.assign(np.arange(keys, dtype=np.int64) * 1_000_003, rows)
    tk.save_checkpoint(str(prefix), table_tensors("users", table.snapshot()))
    return prefix


def write_sounds(folder: Path) -> Path:
    """A SavedModel of sounds: "loudness" takes a second of 8,000 samples, "forever" does not end."""
    with tf.Graph().as_default(), tf.Session() as session:
        sound = tf.placeholder(tf.float32, [None, 8000], name="sound")
        loudness = tf.reduce_max(tf.abs(sound), 1)
        _, forever = tf.while_loop(lambda _, y: True, lambda i, y: (i + 1, y * 0.5), (0, loudness))
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder))
        takes = {"sound": tf.saved_model.build_tensor_info(sound)}
        signatures = {
            name: tf.saved_model.build_signature_def(takes, {"out": tf.saved_model.build_tensor_info(out)}, "predict")
            for name, out in (("loudness", loudness), ("forever", forever))
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    return folder
