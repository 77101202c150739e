"""Every operator that rules write, given empty arrays in ONNX Runtime, in processes that it may end.

python -m tests.onnx.engine.empty_walk        prints each operator that ended a process, and which of its inputs did it

Operators that ONNX Runtime itself puts in the place of several neighbours are among them, by the neighbours.
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
from typing import Any, Final, NamedTuple

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


class Case(NamedTuple):
    """Something to be run with empty arrays."""

    operator: str
    """What runs it in ONNX Runtime."""
    model: bytes
    """A model whose inputs are called "in" and a number."""
    given: list[Any]
    """What the inputs were when a sample ran; None for one that is left out."""


class Stop(NamedTuple):
    """A case that ended a process, or never ended, and which of its inputs were empty; all if it did so in any case."""

    case: Case
    empty: frozenset[int]


_ROWS: Final = "float[A, B, 4] in0, float[A, B, 4] in1"
_IMAGE: Final = "float[A, 16, B, C] in0"
_WEIGHTS: Final = f"w = Constant <value = float[16, 16, 1, 1] {{{', '.join(['0.1'] * 256)}}}> ()"
_FOUR: Final = "f = Constant <value = float[4] {1, 1, 1, 1}> ()"

NEIGHBOURS: Final[dict[str, tuple[str, str, list[tuple[int, ...]]]]] = {
    "FusedConv": (
        "float[A, B, C, D] in0, float[E, B, F, G] in1, float[E] in2",
        "c = Conv <pads = [1, 1, 1, 1]> (in0, in1, in2) y = Relu(c)",
        [(2, 3, 8, 8), (4, 3, 3, 3), (4,)],
    ),
    "nchwc.Conv": (
        f"{_IMAGE}, float[A, 16, B, C] in1",
        f"{_WEIGHTS} c = Conv(in0, w) d = Conv(in1, w) s = Add(c, d) r = Relu(s) y = Conv(r, w)",
        [(2, 16, 8, 8), (2, 16, 8, 8)],
    ),
    "nchwc.MaxPool": (_IMAGE, f"{_WEIGHTS} c = Conv(in0, w) y = MaxPool <kernel_shape = [2, 2]> (c)", [(2, 16, 8, 8)]),
    "nchwc.AveragePool": (
        _IMAGE,
        f"{_WEIGHTS} c = Conv(in0, w) y = AveragePool <kernel_shape = [2, 2]> (c)",
        [(2, 16, 8, 8)],
    ),
    "nchwc.GlobalAveragePool": (_IMAGE, f"{_WEIGHTS} c = Conv(in0, w) y = GlobalAveragePool(c)", [(2, 16, 8, 8)]),
    "nchwc.GlobalMaxPool": (_IMAGE, f"{_WEIGHTS} c = Conv(in0, w) y = GlobalMaxPool(c)", [(2, 16, 8, 8)]),
    "FusedGemm": (
        "float[A, B] in0, float[B, C] in1, float[C] in2",
        "c = Gemm(in0, in1, in2) y = Relu(c)",
        [(3, 6), (6, 4), (4,)],
    ),
    "FusedMatMul": (
        "float[A, B, C] in0, float[A, D, C] in1",
        "t = Transpose <perm = [0, 2, 1]> (in1) m = MatMul(in0, t) h = Constant <value = float {0.5}> () y = Mul(m, h)",
        [(2, 3, 6), (2, 4, 6)],
    ),
    "SkipLayerNormalization": (
        f"{_ROWS}, float[A, B, 4] in2",
        f"{_FOUR} a = Add(in0, in1) b = Add(a, in2) y = LayerNormalization <axis = -1> (b, f, f)",
        [(2, 3, 4), (2, 3, 4), (2, 3, 4)],
    ),
    "BiasGelu": ("float[A, B, 4] in0", f"{_FOUR} a = Add(in0, f) y = Gelu(a)", [(2, 3, 4)]),
    "FastGelu": ("float[A, B, 4] in0", f'{_FOUR} a = Add(in0, f) y = Gelu <approximate = "tanh"> (a)', [(2, 3, 4)]),
    "QuickGelu": ("float[A, B, 4] in0", "s = Sigmoid(in0) y = Mul(in0, s)", [(2, 3, 4)]),
    "QLinearMatMul": (
        "float[A, 6] in0",
        f"""w = Constant <value = int8[6, 4] {{{", ".join(["1"] * 24)}}}> () h = Constant <value = float {{0.5}}> ()
        z = Constant <value = int8 {{0}}> () q = QuantizeLinear(in0, h, z) d = DequantizeLinear(q, h, z)
        v = DequantizeLinear(w, h, z) m = MatMul(d, v) r = QuantizeLinear(m, h, z) y = DequantizeLinear(r, h, z)""",
        [(3, 6)],
    ),
}
"""What ONNX Runtime puts in the place of which neighbours: inputs, nodes, and sizes of what they are given."""


def neighbour_cases() -> list[Case]:
    """The neighbours that ONNX Runtime makes one operator of."""
    found = []
    for operator, (inputs, nodes, shapes) in NEIGHBOURS.items():
        head = f'<ir_version: 9, opset_import: ["": {OPSET}]>'
        model = onnx.parser.parse_model(f"{head} g ({inputs}) => (y) {{ {nodes} }}")
        found.append(Case(operator, model.SerializeToString(), [np.ones(shape, np.float32) for shape in shapes]))
    return found


def operators_after_optimizing(case: Case, folder: Path) -> set[str]:
    """The operators that ONNX Runtime runs a case by."""
    options = ort.SessionOptions()
    options.log_severity_level, options.optimized_model_filepath = 4, str(folder / "optimized.onnx")
    ort.InferenceSession(case.model, options, providers=["CPUExecutionProvider"])
    nodes = onnx.load(folder / "optimized.onnx").graph.node
    return {f"{node.domain}.{node.op_type}".removeprefix("com.microsoft.").removeprefix(".") for node in nodes}


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
                    found[key] = case_of(node, given)
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


def case_of(node: onnx.NodeProto, given: list[Any]) -> Case:
    """The case of one node."""
    inputs = []
    for at, value in enumerate(given):
        if value is not None:
            node.input[at] = f"in{at}"
            kind = onnx.TensorProto.STRING if value.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(value.dtype)
            inputs.append(helper.make_tensor_value_info(f"in{at}", kind, [None] * value.ndim))
    graph = helper.make_graph([node], "one", inputs, [onnx.ValueInfoProto(name=name) for name in node.output if name])
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 4)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=9)
    return Case(node.op_type, model.SerializeToString(), given)


def run_cases(file: Path, journal: Path, start: int, variant: int) -> None:
    """Runs cases from one on; the journal says which is being run, for whoever finds this process ended."""
    found: list[Case] = pickle.loads(file.read_bytes())
    for number in range(start, len(found)):
        if number > start or variant == _OPENING:
            journal.write_text(f"{number} {_OPENING}")
        session = _session_of(found[number])
        for at, values in enumerate(emptied(found[number].given)) if session is not None else ():
            if (number, at) > (start, variant):
                journal.write_text(f"{number} {at}")
                with suppress(Exception):  # an error is an answer
                    session.run(None, {f"in{k}": value for k, value in enumerate(values) if value is not None})
    journal.write_text("done")


def _session_of(case: Case) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        return ort.InferenceSession(case.model, options, providers=["CPUExecutionProvider"])
    except Exception:
        return None


def walk(found: list[Case]) -> list[Stop]:
    """The cases that end a process, or never end, with each choice of empty arrays that did it."""
    stops: list[Stop] = []
    times: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file, journal = Path(folder, "cases"), Path(folder, "journal")
        file.write_bytes(pickle.dumps(found))
        start, variant = 0, _OPENING
        while start < len(found) and (stop := _stopped(file, journal, start, variant)) is not None:
            number, at = stop
            case = found[number]
            if at == _OPENING:  # whatever it is given
                stops.append(Stop(case, frozenset(range(len(case.given)))))
                start, variant = number + 1, _OPENING
                continue
            given = emptied(case.given)[at]
            stops.append(Stop(case, frozenset(k for k, v in enumerate(given) if v is not None and not v.size)))
            times[case.operator] += 1
            start, variant = (number, at) if times[case.operator] < _ENOUGH else (number + 1, _OPENING)
    return stops


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
        for stop in walk([*cases(), *neighbour_cases()]):
            print(stop.case.operator, sorted(stop.empty), [np.shape(value) for value in stop.case.given])
