"""Targets for graphs and SavedModels: damaged messages are imported, loaded, shown and scanned, and never run."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fuzz.harness import NUMBERS, golden_files
from tensorkeep import MemoryFileSystem, TensorKeepError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.proto.messages import GraphDef, Message, SavedModel, parse, serialize
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.saved_model.scan.model_scan import scan_graph_def, scan_model
from tensorkeep.saved_model.show.tensorflow_text import everything_text, model_data, tag_sets_text
from tests.checkpoint.crafting import store_of
from tests.support.golden import ROOT


def graph(data: bytes) -> None:
    """Any bytes for a graph: what can be imported can be exported."""
    with suppress(TensorKeepError):
        graph_def = parse(GraphDef, data, "fuzz")
        assert scan_graph_def(graph_def).to_sarif()
        made = Graph()
        import_graph(graph_def, made, name="")
        export_graph(made)


def saved_model(data: bytes) -> None:
    """Any bytes for the file of a SavedModel."""
    fs = store_of({"m/saved_model.pb": data})
    with suppress(TensorKeepError):
        model = read_saved_model("m", fs)
        with suppress(TensorKeepError):
            everything_text(model)
        with suppress(TensorKeepError):
            model_data(model)
        tag_sets_text(model)
    with suppress(TensorKeepError), load_saved_model("m", fs=fs) as loaded:
        loaded.describe()
        for signature in loaded.signatures.values():
            repr(signature)


def scan(data: bytes) -> None:
    """Any bytes for a file of any name, which a scan reports on whatever it is."""
    fs: MemoryFileSystem = store_of(
        {"d/x": data, "m/saved_model.pb": data, "m/assets/x": data, "m/keras_metadata.pb": data}
    )
    for path in ("d/x", "m"):
        report = scan_model(path, fs=fs)
        assert str(report)
        assert report.to_json()
        assert report.to_sarif()


def mutate_message(data: bytes, max_size: int, seed: int, change: Callable[[bytes, int], bytes]) -> bytes:
    """Another message: with a few fields changed where it is one, otherwise with other bytes."""
    generator = random.Random(seed)
    kinds = [SavedModel, GraphDef]
    generator.shuffle(kinds)
    for kind in kinds:
        if generator.random() < 0.9:
            with suppress(TensorKeepError, ValueError, RecursionError):
                message = parse(kind, data, "fuzz")
                for _ in range(generator.randrange(1, 5)):
                    edit_message(message, generator)
                out = serialize(message)
                return out if len(out) <= max_size else data[:max_size]
    return change(data, max_size)


def edit_message(message: Message, generator: random.Random) -> None:
    """Changes a field, or one of a message within; strings become others of the model, so that names meet."""
    fields = [field for field, _ in message.ListFields()]
    if not message.DESCRIPTOR.fields:
        return
    field = generator.choice(fields if fields and generator.random() < 0.8 else message.DESCRIPTOR.fields)
    item = getattr(message, field.name)
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    if is_map:
        value = field.message_type.fields_by_name["value"]
        key = generator.choice([*item, "new"]) if field.message_type.fields[0].cpp_type == 9 else generator.randrange(4)
        if value.message_type is None:
            item[key] = _value(value, generator)
        elif generator.random() < 0.1 and key in item:
            del item[key]
        else:
            edit_message(item[key], generator)
    elif field.message_type is not None:
        _edit_inner(field, item, generator)
    elif field.is_repeated:
        item.extend([_value(field, generator)] * generator.randrange(3))
    else:
        setattr(message, field.name, _value(field, generator))


def _edit_inner(field: Any, item: Any, generator: random.Random) -> None:
    if not field.is_repeated:
        edit_message(item, generator)
    elif not item or generator.random() < 0.1:
        edit_message(item.add(), generator)
    elif generator.random() < 0.1:
        del item[generator.randrange(len(item))]
    elif generator.random() < 0.1:
        item.add().CopyFrom(generator.choice(item))
    else:
        edit_message(generator.choice(item), generator)


WORDS = [
    "",
    "x",
    "serve",
    "^x",
    "x:1",
    "ReadFile",
    "PyFunc",
    "If",
    "NoOp",
    "StatefulPartitionedCall",
    "a/b",
    "..",
    "\u20ac",
]


def _value(field: Any, generator: random.Random) -> Any:
    number = generator.choice(NUMBERS) if generator.random() < 0.5 else generator.randrange(40)
    if field.type == field.TYPE_BYTES:
        return generator.choice(WORDS).encode()
    if field.cpp_type == field.CPPTYPE_STRING:
        return generator.choice(WORDS)
    return bool(number & 1) if field.cpp_type == field.CPPTYPE_BOOL else number


def graphs() -> list[bytes]:
    """The graphs of small meta graphs, and those of small models."""
    found = golden_files("g24*/*/frozen*.pb", "g24*/*/sub*.pb")
    for path in sorted(ROOT.glob("*/model/saved_model.pb")):
        model = parse(SavedModel, path.read_bytes(), str(path))
        found += [serialize(item.graph_def) for item in model.meta_graphs]
    return [data for data in found if len(data) < 30_000]


def models() -> list[bytes]:
    return golden_files("*/model/saved_model.pb", most=60_000)


MODEL_TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "graph": (graph, graphs),
    "saved_model": (saved_model, models),
    "scan": (scan, models),
}
