"""Meta graphs as DeepRec's releases write them: a table with an accumulator, its training, and a saver.

The ops of each release differ in their signatures, which the op list of the meta graph tells. Forms are those of the
releases' op registrations (kv_variable_ops.cc, io_ops.cc) and savers (saver.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, NodeDef, OpDef, VariableDef
from tensorkeep.proto.tensors import tensor_of_array

DIM: Final = 3
_TYPES: Final = {"dtype": "float32", "Tkeys": "int64"}


@dataclass(frozen=True, slots=True)
class Release:
    """The forms that a release's ops have."""

    slot_input: int | None = None
    """Which input of an initializer is the number of slots; that of an import comes behind its own first two."""
    has_one_size: bool = False
    saves_handles: bool = False
    builds_first: bool = False
    """Whether a restore builds a table by its initializer, and then imports; else the import does both."""


RELEASES: Final[Mapping[str, Release]] = {
    "2201": Release(slot_input=2, has_one_size=True, saves_handles=True),
    "2201, the number of slots behind all else": Release(slot_input=4, has_one_size=True, saves_handles=True),
    "2204": Release(has_one_size=True, saves_handles=True),
    "2206 to 2212": Release(saves_handles=True),
    "2302 and 2304": Release(),
    "2306 to 2402": Release(builds_first=True),
}


def meta_graph(release: Release) -> MetaGraphDef:
    """A model: `ids` and `grads` are fed, `rows` is looked up, `train` takes a step, `init` initializes."""
    maker = _Maker(release)
    maker.step()
    maker.table("e", np.ones((4, DIM), np.float32), "e")
    maker.table("e/Adagrad", np.full((1, DIM), 0.1, np.float32), "e")
    maker.node("init", "NoOp", ["^global_step/Assign", "^e/Assign", "^e/Adagrad/Assign"])
    maker.training()
    maker.saving()
    maker.restoring()
    return maker.finished()


class _Maker:
    def __init__(self, release: Release) -> None:
        self._release = release
        self._graph = GraphDef()
        self._graph.versions.producer = 134
        self._variables: list[VariableDef] = []

    # ------------------------------------------------------------------------------------------ parts of the model

    def step(self) -> None:
        self.node("global_step", "VariableV2", dtype="int64", shape=[], container="", shared_name="")
        self.constant("global_step/zero", np.int64(0))
        self.node("global_step/Assign", "Assign", ["global_step", "global_step/zero"], T="int64")
        self.node("global_step/read", "Identity", ["global_step"], T="int64")
        self._variables.append(
            VariableDef(
                variable_name="global_step:0",
                initializer_name="global_step/Assign",
                initial_value_name="global_step/zero:0",
                snapshot_name="global_step/read:0",
            )
        )

    def table(self, name: str, rows: Any, primary: str) -> None:
        self.node(name, "KvVarHandleOp", container="", shared_name=name, shape=[DIM], **_TYPES)
        self.constant(f"{name}/Initializer", rows)
        self.constant(f"{name}/empty_key", np.int64(2**63 - 1))
        self.constant(f"{name}/slotnum", np.int64(1))
        self._initializer(f"{name}/Assign", name, primary, 131072)
        if self._release.builds_first:
            self._initializer(f"{name}/Build", name, primary, 0)
        self._variables.append(
            VariableDef(
                variable_name=f"{name}:0",
                initializer_name=f"{name}/Assign",
                initial_value_name=f"{name}/Initializer:0",
                is_resource=True,
                trainable=name == primary,
            )
        )

    def _initializer(self, node: str, name: str, primary: str, buckets: int) -> None:
        inputs = [name, primary, f"{name}/Initializer", f"{name}/empty_key"]
        attrs = {**self._settings(name, primary), "initial_num_buckets": buckets}
        if self._release.builds_first:
            self.node(node, "InitializeKvVariableV2Op", inputs, embedding_variable_type=1, slot_num=1, **attrs)
            return
        self.node(node, "InitializeKvVariableOp", self._with_slots(inputs, name, 0), **attrs)

    def _with_slots(self, inputs: list[str], name: str, before: int) -> list[str]:
        if self._release.slot_input is not None:
            inputs.insert(self._release.slot_input + before, f"{name}/slotnum")
        return inputs

    def _settings(self, name: str, primary: str) -> dict[str, Any]:
        size: Any = 1 << 20 if self._release.has_one_size else [1 << 20]
        own = {"slot_index": int(name != primary), "storage_size": size, "counter_type": "uint64"}
        return {"shape": [DIM], **own, **_TYPES}

    def training(self) -> None:
        self.node("ids", "Placeholder", dtype="int64", shape=[-1])
        self.node("grads", "Placeholder", dtype="float32", shape=[-1, DIM])
        self.constant("default", np.float32(1))
        self.constant("lr", np.float32(0.1))
        self.node("rows", "KvResourceGather", ["e", "ids", "default"], **_TYPES)
        inputs = ["e", "e/Adagrad", "lr", "grads", "ids", "global_step/read"]
        self.node("train", "KvResourceSparseApplyAdagrad", inputs, T="float32", Tindices="int64", Tstep="int64")

    # ------------------------------------------------------------------------------------------ the saver

    def saving(self) -> None:
        self.constant("save/default", np.array(b"model", object))
        self.node("save/Const", "PlaceholderWithDefault", ["save/default"], dtype="string", shape=[])
        if self._release.saves_handles:
            self._list("save/SaveV2/tensor_names", ["global_step", "e", "e/Adagrad", "global_step"])
            self._list("save/SaveV2/shape_and_slices", [""] * 4)
            inputs = ["save/Const", "save/SaveV2/tensor_names", "save/SaveV2/shape_and_slices"]
            inputs += ["global_step", "e", "e/Adagrad", "global_step"]
            dtypes = ["int64", "resource", "resource", "int64"]
            self.node("save/Save", "SaveV2", inputs, dtypes=dtypes, has_ev=True, ev_key_types=["int64", "int64"])
        else:
            self._save_by_numbers()
        self.node("save/control_dependency", "Identity", ["save/Const", "^save/Save"], T="string")

    def _save_by_numbers(self) -> None:
        self._list("save/SaveV3/tensor_names", ["global_step", "global_step"])
        self._list("save/SaveV3/shape_and_slices", [""] * 2)
        self._list("save/SaveV3/ev_names", ["e", "e/Adagrad"])
        for number, name in enumerate(("e", "e/Adagrad")):
            self.node(f"save/resource_{number}", "KvResourceLookupResource", [name], **_TYPES)
        self.node("save/resources", "Pack", ["save/resource_0", "save/resource_1"], N=2, T="int64", axis=0)
        inputs = ["save/Const", *(f"save/SaveV3/{what}" for what in ("tensor_names", "shape_and_slices", "ev_names"))]
        inputs += ["save/resources", "global_step", "global_step"]
        self.node("save/Save", "SaveV3", inputs, dtypes=["int64"] * 2, has_ev=True, ev_key_types=["int64"] * 2)

    def restoring(self) -> None:
        self._list("save/RestoreV2/tensor_names", ["global_step"])
        self._list("save/RestoreV2/shape_and_slices", [""])
        inputs = ["save/Const", "save/RestoreV2/tensor_names", "save/RestoreV2/shape_and_slices"]
        self.node("save/RestoreV2", "RestoreV2", inputs, dtypes=["int64"])
        self.node("save/Assign", "Assign", ["global_step", "save/RestoreV2"], T="int64")
        for number, name in enumerate(("e", "e/Adagrad")):
            self._import(f"save/import_{number}", name)
        self.node("save/restore_all", "NoOp", ["^save/Assign", "^save/import_0", "^save/import_1"])

    def _import(self, node: str, name: str) -> None:
        self.constant(f"{node}/name", np.array(name.encode(), object))
        if self._release.builds_first:
            inputs = ["save/Const", name, f"{node}/name", f"{name}/empty_key", "^e/Build", "^e/Adagrad/Build"]
            self.node(node, "KvResourceImportV3", inputs, shape=[DIM], **_TYPES)
            return
        inputs = ["save/Const", name, "e", f"{name}/Initializer", f"{node}/name", f"{name}/empty_key"]
        self.node(node, "KvResourceImportV2", self._with_slots(inputs, name, 2), **self._settings(name, "e"))

    # ------------------------------------------------------------------------------------------ messages

    def constant(self, name: str, value: Any) -> None:
        array = np.asarray(value)
        node = self.node(name, "Const")
        tensor = tensor_of_array(array)
        node.attr["value"].tensor.CopyFrom(tensor)
        node.attr["dtype"].type = tensor.dtype

    def _list(self, name: str, texts: Sequence[str]) -> None:
        self.constant(name, np.array([text.encode() for text in texts], object))

    def node(self, name: str, op: str, inputs: Sequence[str] = (), **attrs: Any) -> NodeDef:
        node: NodeDef = self._graph.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            _set(node, key, value)
        return node

    def finished(self) -> MetaGraphDef:
        proto = MetaGraphDef(graph_def=self._graph)
        proto.meta_info_def.tensorflow_version = "1.15.5"
        for op in sorted({node.op for node in self._graph.node}):
            proto.meta_info_def.stripped_op_list.op.append(self._op_def(op))
        saver = proto.saver_def
        saver.filename_tensor_name, saver.save_tensor_name = "save/Const:0", "save/control_dependency:0"
        saver.restore_op_name, saver.max_to_keep, saver.version = "save/restore_all", 5, 2
        every = [variable.SerializeToString() for variable in self._variables]
        proto.collection_def["variables"].bytes_list.value.extend(every)
        proto.collection_def["trainable_variables"].bytes_list.value.append(every[1])
        proto.collection_def["embedding_variables"].node_list.value.extend(["e:0", "e/Adagrad:0"])
        return proto

    def _op_def(self, name: str) -> OpDef:
        op_def = OpDef()
        op_def.CopyFrom(get_op(name).schema.to_op_def())
        if name in ("InitializeKvVariableOp", "KvResourceImportV2"):
            self._older(op_def)
        if name == "SaveV2":
            keys = OpDef.AttrDef(name="ev_key_types", type="list(type)")
            keys.default_value.list.SetInParent()
            tables = OpDef.AttrDef(name="has_ev", type="bool")
            tables.default_value.b = False
            op_def.attr.extend([keys, tables])
        return op_def

    def _older(self, op_def: OpDef) -> None:
        if self._release.slot_input is not None:
            at = self._release.slot_input + (2 if op_def.name == "KvResourceImportV2" else 0)
            arguments = list(op_def.input_arg)
            arguments.insert(at, OpDef.ArgDef(name="slotnum", type=DType.of("int64").number))
            del op_def.input_arg[:]
            op_def.input_arg.extend(arguments)
        for attr in op_def.attr if self._release.has_one_size else ():
            if attr.name == "storage_size":
                attr.type = "int"
                attr.default_value.i = 0


def _set(node: NodeDef, key: str, value: Any) -> None:
    attr = node.attr[key]
    if key == "shape":
        for size in value:
            attr.shape.dim.add(size=size)
        attr.shape.SetInParent()
    elif isinstance(value, list):
        attr.list.SetInParent()
        for item in value:
            if isinstance(item, str):
                attr.list.type.append(DType.of(item).number)
            else:
                attr.list.i.append(item)
    elif key in ("container", "shared_name"):
        attr.s = value.encode()
    elif isinstance(value, str):
        attr.type = DType.of(value).number
    elif isinstance(value, bool):
        attr.b = value
    else:
        attr.i = value
