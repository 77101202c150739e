"""Every operator that rules write, given empty arrays in ONNX Runtime, in processes that it may end.

python -m tests.onnx.engine.empty_walk        prints each operator that ended a process, and by what shapes
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

from tensorkeep.onnx.rules.registry import RULES
from tests.onnx.exported_samples import export_sample
from tests.onnx.walking import to_onnx
from tests.ops.sample import Sample, all_samples
from tests.ops.walking import import_all_ops

OPSET: Final = 20
_MOST: Final = 40  # nodes of one operator that are tried
_PATIENCE: Final = 30.0  # seconds after which a call will never end
_ENOUGH: Final = 3  # times that an operator ended a process
_OPENING: Final = -1  # in the place of the number of a variant: before any of them is run

Case = tuple[bytes, list[Any]]
"""A node as a message, and what it was given when its sample ran; None for an input that is left out."""


def values_of(proto: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, Any]:
    """What ONNX Runtime computes for each value of a model's own graph, with its inputs and constants."""
    opened = onnx.ModelProto()
    opened.CopyFrom(proto)
    known = {item.name for item in opened.graph.output}
    made = (name for node in proto.graph.node for name in node.output if name)
    opened.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made if name not in known)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(opened.SerializeToString(), options, providers=["CPUExecutionProvider"])
    taken = {item.name for item in session.get_inputs()}
    names = [item.name for item in session.get_outputs()]
    found = dict(zip(names, session.run(names, {key: feeds[key] for key in taken}), strict=True))
    constants = {item.name: onnx.numpy_helper.to_array(item) for item in proto.graph.initializer}
    return {**feeds, **constants, **found}


def sample_values(name: str, sample: Sample, shapes: str) -> tuple[Any, dict[str, Any]] | None:
    """The model of one op for the engine, and all its values; None if it has none, or is given nothing."""
    try:
        node, translated = export_sample(name, sample, opset=OPSET, shapes=shapes, for_engine=True)
        feeds = {f"x{number}": to_onnx(node.feeds[tensor], tensor.dtype) for number, tensor in enumerate(node.feeds)}
        if any(not np.size(value) for value in feeds.values()):
            return None
        return translated, values_of(translated.proto(), feeds)
    except Exception:  # refused by the rule, or not run: other tests say what of that is wrong
        return None


def cases() -> list[Case]:
    """The nodes that rules write for the samples of their ops, some of each operator."""
    import_all_ops()
    found: dict[Any, Case] = {}
    counts: Counter[str] = Counter()
    for name in sorted(RULES.keys() & all_samples().keys()):
        for sample in [sample for sample in all_samples()[name] if not sample.fails]:
            made = sample_values(name, sample, "known")
            for node, given in _nodes_with_values(*made) if made is not None else ():
                key = (
                    node.op_type,
                    str(node.attribute),
                    tuple((str(np.dtype(i.dtype)), i.shape) for i in given if i is not None),
                )
                if key not in found and counts[node.op_type] < _MOST:
                    counts[node.op_type] += 1
                    found[key] = (node.SerializeToString(), given)
    return list(found.values())


def _nodes_with_values(translated: Any, values: dict[str, Any]) -> Iterator[tuple[onnx.NodeProto, list[Any]]]:
    for node in translated.proto().graph.node:
        given = [values.get(name) if name else None for name in node.input]
        is_whole = all(isinstance(value, np.ndarray) or not name for value, name in zip(given, node.input, strict=True))
        if is_whole and not any(attr.type == onnx.AttributeProto.GRAPH for attr in node.attribute):
            yield node, given


def emptied(given: list[Any]) -> list[list[Any]]:
    """What a node is given with axes of no size: all of one size, or one axis of one input."""
    shapes = [None if value is None else value.shape for value in given]
    sizes = {size for shape in shapes if shape is not None for size in shape}
    wanted = [[shape and tuple(0 if size == gone else size for size in shape) for shape in shapes] for gone in sizes]
    for at, shape in enumerate(shapes):
        for axis in range(len(shape or ())):
            assert shape is not None
            wanted.append([*shapes[:at], (*shape[:axis], 0, *shape[axis + 1 :]), *shapes[at + 1 :]])
    return [
        [None if value is None else np.array(value[tuple(slice(0, size) for size in shape or ())], value.dtype)
         for value, shape in zip(given, variant, strict=True)]
        for variant in wanted
    ]  # fmt: skip


def run_cases(file: Path, journal: Path, start: int, variant: int) -> None:
    """Runs cases from one on; the journal says which is being run, for whoever finds this process ended."""
    found: list[Case] = pickle.loads(file.read_bytes())
    for number in range(start, len(found)):
        node, given = onnx.NodeProto.FromString(found[number][0]), found[number][1]
        if number > start or variant == _OPENING:
            journal.write_text(f"{number} {_OPENING}")
        session = _session_of(node, given)
        for at, values in enumerate(emptied(given)) if session is not None else ():
            if (number, at) > (start, variant):
                journal.write_text(f"{number} {at}")
                with suppress(Exception):  # an error is an answer
                    session.run(None, {f"in{k}": value for k, value in enumerate(values) if value is not None})
    journal.write_text("done")


def _session_of(node: onnx.NodeProto, given: list[Any]) -> Any:
    inputs = []
    for at, value in enumerate(given):
        if value is not None:
            node.input[at] = f"in{at}"
            kind = onnx.TensorProto.STRING if value.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(value.dtype)
            inputs.append(helper.make_tensor_value_info(f"in{at}", kind, [None] * value.ndim))
    graph = helper.make_graph([node], "one", inputs, [onnx.ValueInfoProto(name=name) for name in node.output if name])
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 4)]
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        model = helper.make_model(graph, opset_imports=versions, ir_version=9).SerializeToString()
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception:
        return None


def walk(found: list[Case]) -> dict[str, set[int]]:
    """The operators that end a process, or never end, and the positions of the empty arrays that did it."""
    ended: dict[str, set[int]] = {}
    times: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file, journal = Path(folder, "cases"), Path(folder, "journal")
        file.write_bytes(pickle.dumps(found))
        start, variant = 0, _OPENING
        while start < len(found) and (stop := _stopped(file, journal, start, variant)) is not None:
            number, at = stop
            node, given = onnx.NodeProto.FromString(found[number][0]), found[number][1]
            if at == _OPENING:  # whatever it is given: no position is to blame
                ended.setdefault(node.op_type, set())
                start, variant = number + 1, _OPENING
                continue
            empty = {k for k, value in enumerate(emptied(given)[at]) if value is not None and not value.size}
            ended.setdefault(node.op_type, set()).update(empty)
            times[node.op_type] += 1
            start, variant = (number, at) if times[node.op_type] < _ENOUGH else (number + 1, _OPENING)
    return ended


def _stopped(file: Path, journal: Path, start: int, variant: int) -> tuple[int, int] | None:
    """Which case ended a process that runs them; None if all were run."""
    journal.write_text("")
    command = [sys.executable, "-m", "tests.onnx.engine.empty_walk", str(file), str(journal), str(start), str(variant)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said, since = "", time.monotonic()
    while process.poll() is None:
        time.sleep(0.1)
        now = journal.read_text()
        if now != said or not now:
            said, since = now, time.monotonic()
        elif time.monotonic() - since > _PATIENCE:
            process.kill()
            process.wait()
    said = journal.read_text()
    assert said, f"the process that runs cases from {start} on ended before it ran one"
    if said == "done":
        return None
    number, at = said.split()
    return int(number), int(at)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_cases(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        for operator, positions in sorted(walk(cases()).items()):
            print(operator, sorted(positions))
