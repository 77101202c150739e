"""Every op that the installed TensorFlow registers was looked at, and its stateful ones with a reason."""

from __future__ import annotations

from tensorkeep.graph.registry.capabilities import asked_attributes, classed_ops
from tensorkeep.graph.registry.op_families import OP_FAMILIES
from tensorkeep.graph.registry.stateful_ops import STATEFUL_OPS
from tools import compile_known_ops

OPS = {proto.name: proto for proto in compile_known_ops.tensorflow_op_list().op}
OF_OTHERS = tuple(  # families of ops that DeepRec, tensorflow_addons and contrib register, and TensorFlow does not
    family
    for family in OP_FAMILIES
    if family.startswith("embedding.")
    or family in ("control.memory", "data.buffers", "data.dataset_parquet", "data.work_queues", "images.addons")
)


def test_every_op_that_tensorflow_registers_has_one_class() -> None:
    assert OPS.keys() - classed_ops().keys() == set()


def test_every_op_that_has_a_class_is_one_of_tensorflow_or_of_a_family_named_here() -> None:
    of_others = {name for family in OF_OTHERS for name in OP_FAMILIES[family].split()}
    assert classed_ops().keys() - OPS.keys() - of_others == set()


def test_every_op_that_tensorflow_calls_stateful_does_more_than_compute_or_has_a_reason() -> None:
    explained = {name for names in STATEFUL_OPS.values() for name in names.split()}
    stateful = {name for name, proto in OPS.items() if proto.is_stateful}
    assert {name for name in stateful if not classed_ops()[name]} - explained == set()


def test_attributes_that_are_asked_are_those_that_tensorflow_has() -> None:
    for name in OPS:
        if asked := asked_attributes(name):
            assert asked & {attr.name for attr in OPS[name].attr}, name
