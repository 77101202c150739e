"""Meta graphs with embedding variables: of ours, and of releases whose ops have other attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.proto.messages import MetaGraphDef


def trained(folder: Path) -> tuple[str, Any, Any]:
    """A checkpoint with its meta graph; the rows that were saved, and those after one more step."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("emb", 3, initializer=tf.ones_initializer())
        rows = tf.identity(tf.nn.embedding_lookup(table, tf.constant([1, 2, 1001], tf.int64)), name="rows")
        step = tf.train.get_or_create_global_step()
        tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), global_step=step, name="train")
        session.run(tf.global_variables_initializer())
        session.run("train")
        prefix = tf.train.Saver().save(session, folder / "m")
        saved = session.run(rows)
        session.run("train")
        return prefix, saved, session.run(rows)


def test_a_meta_graph_has_the_ops_and_the_collections_of_the_variables(tmp_path: Path) -> None:
    prefix, _, _ = trained(tmp_path)
    proto = read_meta_graph_file(f"{prefix}.meta")
    kinds = {node.name: node.op for node in proto.graph_def.node if node.op.startswith("Kv")}
    assert [name for name, kind in kinds.items() if kind == "KvVarHandleOp"] == ["emb", "emb/Adagrad"]
    assert {"KvResourceGather", "KvResourceSparseApplyAdagrad", "KvResourceImportV3"} <= set(kinds.values())
    known = {op.name for op in proto.meta_info_def.stripped_op_list.op}
    assert {"KvVarHandleOp", "InitializeKvVariableV2Op", "SaveV3", "KvResourceLookupResource"} <= known
    assert len(proto.collection_def["variables"].bytes_list.value) == 3
    assert len(proto.collection_def["embedding_variables"].bytes_list.value) == 2  # the slot too


def older(proto: MetaGraphDef) -> None:
    """The graph of a release with the first initializer, and with an attribute that is not known here."""
    for node in proto.graph_def.node:
        if node.op == "InitializeKvVariableV2Op":
            node.op = "InitializeKvVariableOp"
            del node.attr["embedding_variable_type"]
            node.attr["multi_level_prefetch"].b = True
    for op in proto.meta_info_def.stripped_op_list.op:
        if op.name == "InitializeKvVariableV2Op":
            op.name = "InitializeKvVariableOp"
            kept = [attr for attr in op.attr if attr.name != "embedding_variable_type"]
            del op.attr[:]
            op.attr.extend(kept)
            op.attr.add(name="multi_level_prefetch", type="bool").default_value.b = False


def bare(proto: MetaGraphDef) -> None:
    """The graph without attributes that have their defaults, and without the collection of its own."""
    for node in proto.graph_def.node:
        if node.op.startswith(("Kv", "InitializeKv")):
            for name in ("storage_type", "record_freq", "layout", "use_locking", "validate_indices", "ht_type"):
                node.attr.pop(name, None)
    del proto.collection_def["embedding_variables"]


@pytest.mark.parametrize("change", [lambda proto: None, older, bare])
@pytest.mark.parametrize("scope", ["", "imported"])
def test_an_imported_graph_is_restored_trained_and_saved(change: Any, scope: str, tmp_path: Path) -> None:
    prefix, saved, wanted = trained(tmp_path)
    proto = read_meta_graph_file(f"{prefix}.meta")
    change(proto)
    below = f"{scope}/" if scope else ""
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(proto, import_scope=scope)
        saver.restore(session, prefix)
        assert session.run(f"{below}rows:0").tolist() == saved.tolist()
        session.run(f"{below}train")
        assert session.run(f"{below}rows:0").tolist() == wanted.tolist()
        (table,) = [item for item in tf.trainable_variables() if isinstance(item, tf.EmbeddingVariable)]
        assert (table.dim, table.op.name) == (3, f"{below}emb")
        again = saver.save(session, tmp_path / "again")
    assert tf.train.load_variable(again, "emb-values").tolist() == wanted[[0, 2, 1]].tolist()


def test_a_new_saver_is_made_for_an_imported_graph(tmp_path: Path) -> None:
    prefix, saved, _ = trained(tmp_path)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(f"{prefix}.meta")
        before = len(export_graph(graph).node)
        tf.train.Saver(name="second").restore(session, prefix)
        assert len(export_graph(graph).node) > before
        assert session.run("rows:0").tolist() == saved.tolist()


@pytest.mark.parametrize("key_dtype", ["int64", "int32"])
def test_an_imported_table_is_trained_by_another_optimizer(key_dtype: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("emb", 2, key_dtype=key_dtype, initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        session.run(tf.nn.embedding_lookup(table, tf.constant([3, -4], key_dtype)))
        prefix = tf.train.Saver().save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta")
        (table,) = tf.trainable_variables()
        rows = tf.nn.embedding_lookup(table, tf.constant([3], key_dtype))
        train = tf.train.FtrlOptimizer(0.1).minimize(tf.reduce_sum(rows))
        saver.restore(session, prefix)
        session.run(tf.variables_initializer([item for item in tf.global_variables() if item is not table]))
        session.run(train)
        exported = session.run(table.export())
    assert dict(zip(exported.keys.tolist(), (row[0] < 1 for row in exported.values), strict=True)) == {
        3: True,
        -4: False,
    }


def test_a_saved_model_holds_its_tables_and_does_not_grow_by_use(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("emb", 3, initializer=tf.ones_initializer())
        ids = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, ids)
        session.run(tf.global_variables_initializer())
        session.run(rows, {ids: [1, 2]})
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"ids": ids}, {"rows": rows})
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "model"))
        signature = loaded.signature_def["serving_default"]
        names = signature.outputs["rows"].name, signature.inputs["ids"].name
        assert session.run(names[0], {names[1]: [1, 2, 3]}).tolist() == [[1.0] * 3] * 3
        table, *_ = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
        assert session.run(table.total_count()).tolist() == [2, 3]
