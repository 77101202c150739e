"""`import_graph_def` beside TensorFlow's: versions, names, devices, replaced inputs, and what is complained of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow

import tensorkeep.v1 as ours
from tensorkeep.errors import TensorKeepError
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.message_edits import strip_default_attrs
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature
from tests.interop.programs import tensorflow_1
from tests.support.golden import ROOT

theirs = tensorflow.compat.v1


@pytest.fixture(autouse=True)
def first_version() -> Iterator[None]:
    with tensorflow_1():
        yield


def graph_of(tf: Any, *nodes: Any, **versions: Any) -> Any:
    """A message of nodes: a name, or a name and a device and those it is to be with."""
    proto = tf.GraphDef()
    for said in nodes:
        name, device, others = said if isinstance(said, tuple) else (said, "", ())
        node = proto.node.add(name=name, op="NoOp", device=device)
        if others:
            node.attr["_class"].list.s.extend(b"loc:@" + other.encode() for other in others)
    for field, value in versions.items():
        if isinstance(value, list):
            proto.versions.bad_consumers.extend(value)
        else:
            setattr(proto.versions, field, value)
    return proto


# ---------------------------------------------------------------------------------------------------- Versions

VERSIONS: list[list[dict[str, Any]]] = [
    [{}],
    [{"producer": 21}],
    [{"producer": 21}, {}],
    [{}, {"producer": 27}],
    [{"producer": 5, "min_consumer": 3}, {"producer": 7, "min_consumer": 2}],
    [{"producer": 5, "min_consumer": -1}],
    [{"bad_consumers": [7, 3, 7]}],
    [{"bad_consumers": [7, 3]}, {"bad_consumers": [4, 3]}],
    [{"producer": 9999}],
    [{"producer": -1}],
    [{"producer": -1, "min_consumer": 9999, "bad_consumers": [2474]}],
    [{"min_consumer": 9999, "bad_consumers": [2474]}],
    [{"bad_consumers": [2474]}],
]


def versions_after(tf: Any, imported: list[dict[str, Any]], made_before: bool) -> list[str]:
    with tf.Graph().as_default() as graph:
        if made_before:
            tf.no_op("before")
        said = []
        for i, versions in enumerate(imported):
            try:
                tf.import_graph_def(graph_of(tf, "a", **versions), name=f"part{i}")
            except ValueError as error:
                said.append(str(error))
        tf.no_op("after")
        assert str(graph.graph_def_versions) == str(graph.as_graph_def().versions)
        meta = tf.train.export_meta_graph(graph=graph).graph_def.versions
        return [*said, str(graph.as_graph_def().versions), str(graph.as_graph_def().HasField("versions")), str(meta)]


@pytest.mark.parametrize("made_before", [False, True])
@pytest.mark.parametrize("imported", VERSIONS, ids=str)
def test_a_graph_has_the_versions_that_it_has_in_tensorflow(imported: list[dict[str, Any]], made_before: bool) -> None:
    assert versions_after(ours, imported, made_before) == versions_after(theirs, imported, made_before)


def old_graph() -> bytes:
    """A graph without versions, with an op that graphs of today may not have."""
    proto = theirs.GraphDef()
    for name in ("x", "mean", "variance", "beta", "gamma"):
        node = proto.node.add(name=name, op="Const")
        node.attr["dtype"].type = 1
        shape = [1, 2, 2, 3] if name == "x" else [3]
        node.attr["value"].tensor.CopyFrom(tensorflow.make_tensor_proto(2.0, tensorflow.float32, shape))
    node = proto.node.add(name="y", op="BatchNormWithGlobalNormalization", input=[other.name for other in proto.node])
    node.attr["T"].type = 1
    node.attr["variance_epsilon"].f = 0.001
    node.attr["scale_after_normalization"].b = True
    return bytes(proto.SerializeToString())


def runs_in_tensorflow(graph_def: Any) -> bool:
    """Whether TensorFlow imports and runs a graph of ours."""
    proto = theirs.GraphDef.FromString(graph_def.SerializeToString())
    with theirs.Graph().as_default(), theirs.Session() as session:
        (y,) = theirs.import_graph_def(proto, return_elements=["y:0"], name="")
        return bool(session.run(y).shape == (1, 2, 2, 3))


def test_an_old_graph_is_still_one_that_tensorflow_runs_after_every_way_through_us(tmp_path: Path) -> None:
    old = ours.GraphDef.FromString(old_graph())
    assert runs_in_tensorflow(old)
    with ours.Graph().as_default() as graph:
        ours.import_graph_def(old, name="")
        y = graph.get_tensor_by_name("y:0")
        with ours.Session() as session:
            frozen = ours.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
            x = graph.get_tensor_by_name("x:0")
            ours.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
        meta = ours.train.export_meta_graph(str(tmp_path / "old.meta"), graph=graph)
    with ours.Graph().as_default() as again, ours.Session() as session:
        ours.train.import_meta_graph(str(tmp_path / "old.meta"))
        loaded = ours.saved_model.loader.load(session, ["serve"], str(tmp_path / "model"), import_scope="loaded")
    stored = SavedModel.FromString((tmp_path / "model" / "saved_model.pb").read_bytes())
    ways = {
        "export": graph.as_graph_def(),
        "freeze": frozen,
        "prune": ours.graph_util.extract_sub_graph(graph.as_graph_def(), ["y"]),
        "meta graph": meta.graph_def,
        "import of a meta graph": ours.graph_util.extract_sub_graph(again.as_graph_def(), ["y"]),
        "SavedModel": stored.meta_graphs[0].graph_def,
        "load of a SavedModel": loaded.graph_def,
        "edit of a SavedModel": strip_default_attrs(stored).meta_graphs[0].graph_def,
        "pruning of a SavedModel": prune_to_signature(stored, "serving_default").meta_graphs[0].graph_def,
    }
    assert {way: made.versions.producer for way, made in ways.items()} == dict.fromkeys(ways, 0)
    for made in ways.values():
        assert runs_in_tensorflow(made)


# ---------------------------------------------------------------------------------------------------- Names


NAMES: list[tuple[list[str], list[str], str]] = [
    (["foo/c"], ["foo"], ""),
    (["foo/c"], ["foo", "foo_1"], ""),
    (["outer/inner/c"], ["outer/inner", "outer/x", "outer/inner/c"], ""),
    (["a/b/c"], ["b"], "a"),
    ([], ["p/x", "p"], ""),
    (["foo/c"], ["Foo", "fo"], ""),
    (["s"], ["s", "s_1"], ""),
    (["foo/c", "foo_1/c"], ["foo"], ""),
]


def names_after(tf: Any, there: list[str], given: list[str], scope: str) -> list[str]:
    with tf.Graph().as_default() as graph:
        for name in there:
            with tf.name_scope(name.rpartition("/")[0] + "/" if "/" in name else None):
                tf.no_op(name.rpartition("/")[2])
        tf.import_graph_def(graph_of(tf, *given, producer=2474), name=scope)
        return [op.name for op in graph.get_operations()] + [tf.no_op("foo").name, tf.no_op("s").name]


@pytest.mark.parametrize(("there", "given", "scope"), NAMES)
def test_nodes_are_named_as_in_tensorflow(there: list[str], given: list[str], scope: str) -> None:
    assert names_after(ours, there, given, scope) == names_after(theirs, there, given, scope)


# ---------------------------------------------------------------------------------------------------- Devices

ZERO, ONE = "/device:CPU:0", "/device:CPU:1"
DEVICES: dict[str, list[Any]] = {
    "after": [("A", ZERO, ()), ("B", "", ["A"])],
    "before": [("B", "", ["A"]), ("A", ZERO, ())],
    "nowhere": [("A", "", ()), ("B", "", ["A"])],
    "chain": [("A", ZERO, ()), ("B", "", ["A"]), ("C", "", ["B"])],
    "two": [("A", "", ()), ("B", ZERO, ()), ("C", "", ["A", "B"])],
    "itself": [("A", "", ["A"]), ("B", "", ["A"])],
}


def devices_after(tf: Any, nodes: list[Any], device: Any, scope: str) -> list[Any]:
    with tf.Graph().as_default() as graph:
        with tf.device(device):
            tf.import_graph_def(graph_of(tf, *nodes, producer=2474), name=scope)
        return [(op.name, op.device, op.colocation_groups()) for op in graph.get_operations()]


def by_name(op: Any) -> str:
    return ONE if op.name.endswith("A") else "/device:CPU:2"


@pytest.mark.parametrize("scope", ["", "part"])
@pytest.mark.parametrize("device", [None, "/job:w/device:CPU:3", by_name], ids=["none", "one", "function"])
@pytest.mark.parametrize("case", DEVICES)
def test_a_node_without_a_device_is_placed_as_in_tensorflow(case: str, device: Any, scope: str) -> None:
    mine, other = (devices_after(tf, DEVICES[case], device, scope) for tf in (ours, theirs))
    assert mine == other


@pytest.mark.parametrize("name", ["g03_v2_sharded3/three.ckpt.meta", "g12_v1_partitioned/many.meta"])
def test_devices_of_a_meta_graph_are_as_in_tensorflow(name: str) -> None:
    def devices(tf: Any) -> dict[str, str]:
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(str(ROOT / name))
            return {op.name: op.device for op in graph.get_operations() if not op.device or "/device" in op.device}

    mine, other = devices(ours), devices(theirs)
    assert {name: mine[name] for name in mine.keys() & other.keys()} == {
        name: other[name] for name in mine.keys() & other.keys()
    }


# ---------------------------------------------------------------------------------------------------- Arguments

KEYS = ["A:2", "A:1", "A:0", "A", "A:00", "A:x", "A:", "A:2:0", "B:0", "B:1", "N:0", "N", "Z", "Z:0", "", ":0", b"A:1"]
ELEMENTS = ["B", "B:0", "B:00", "B:1", "B:x", "B:", "A:B:0", "B:0:0", "Z", "Z:0", ":0", "", "^A", b"B:0", b"B"]


def parts_of_a_value(tf: Any) -> Any:
    with tf.Graph().as_default() as graph:
        first, second = tf.split(tf.zeros([4]), 2, name="A")
        tf.add(first, second, name="B")
        tf.no_op("N")
    return graph.as_graph_def()


def outcome(tf: Any, **arguments: Any) -> Any:
    """What is returned and taken, or what is complained of."""
    with tf.Graph().as_default() as graph:
        mapped = {key: tf.constant([5.0, 6.0], name="mine") for key in arguments.pop("keys", ())}
        try:
            found = tf.import_graph_def(parts_of_a_value(tf), mapped, name="in", **arguments)
        except (ValueError, TensorKeepError) as error:
            return str(error)
        taken = [tensor.name for tensor in graph.get_operation_by_name("in/B").inputs]
        return taken, None if found is None else [element.name for element in found]


@pytest.mark.parametrize("key", KEYS)
def test_an_input_is_replaced_or_not_found_as_in_tensorflow(key: Any) -> None:
    assert outcome(ours, keys=[key]) == outcome(theirs, keys=[key])


@pytest.mark.parametrize("element", ELEMENTS)
def test_an_element_is_returned_or_not_found_as_in_tensorflow(element: Any) -> None:
    assert outcome(ours, return_elements=[element]) == outcome(theirs, return_elements=[element])


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("Add", ["i"], {"T": 3}),
        ("Add", ["i", "i", "i"], {"T": 3}),
        ("Add", ["f"], {"T": 3}),
        ("IdentityN", ["i"], {"T": [3, 1]}),
        ("OneHot", ["i", "i"], {"T": 1, "TI": 3}),
        ("Placeholder", ["i"], {"dtype": 3}),
        ("Assign", ["f"], {"T": 1}),
        ("NoOp", ["i"], {}),
    ],
)
def test_the_wrong_number_of_inputs_is_told_in_tensorflow_s_words(op: str, inputs: list[str], attrs: Any) -> None:
    def complaint(tf: Any) -> str:
        proto = tf.GraphDef()
        for name, number in (("i", 3), ("f", 1)):
            proto.node.add(name=name, op="Placeholder").attr["dtype"].type = number
        node = proto.node.add(name="n", op=op, input=inputs)
        for name, value in attrs.items():
            if isinstance(value, list):
                node.attr[name].list.type.extend(value)
            else:
                node.attr[name].type = value
        with tf.Graph().as_default(), pytest.raises(ValueError, match="inputs specified") as caught:
            tf.import_graph_def(proto, name="")
        return str(caught.value).partition(";")[0]

    assert complaint(ours) == complaint(theirs)
