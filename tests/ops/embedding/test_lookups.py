"""Ops of embedding variables: making tables, looking rows up, asking about keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import INT32
from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    WrongTypeError,
)
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.capabilities import Capability, capabilities_of_node
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tests.ops.embedding_graphs import gathered, graph, handle, initializer, keys, session

ROWS = [[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]]
EXTREMES = keys(0, 1, -1, -2, 2**63 - 1, -(2**63))


@pytest.mark.parametrize("is_old", [True, False])
def test_a_new_key_takes_the_default_row_of_its_remainder(is_old: bool) -> None:
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS, is_old=is_old), gathered(emb, EXTREMES)
        count = get_op("KvVariableShape")(emb)
    with session(made) as run:
        run.run(init)
        assert run.run(count).tolist() == [0, 2]
        assert run.run(rows).tolist() == [ROWS[key % 3] for key in EXTREMES.tolist()]
        assert run.run(count).tolist() == [6, 2]


def test_rows_have_the_shape_of_the_keys_before_their_own() -> None:
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS), gathered(emb, EXTREMES.reshape(2, 3))
        fed = placeholder(dtype=get_op("KvVarHandleOp").schema.attr_by_name["Tkeys"].default, shape=None)
        assert rows.static_shape.dims == (2, 3, 2)
        assert gathered(emb, fed).static_shape.dims is None
    with session(made) as run:
        run.run(init)
        assert run.run(rows).shape == (2, 3, 2)


def test_keys_of_32_bits_are_keys_too() -> None:
    with graph() as made:
        emb = handle(key_dtype=INT32)
        init, rows = initializer(emb, ROWS), gathered(emb, np.array([-1, 2**31 - 1], np.int32))
        exported = get_op("KvResourceExport")(emb, Tkeys=INT32, Tvalues=rows.dtype)
    with session(made) as run:
        run.run(init)
        run.run(rows)
        assert run.run(exported.keys).dtype == np.int32


def test_a_lookup_for_inference_inserts_nothing_and_gives_the_same_rows() -> None:
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS), gathered(emb, EXTREMES, is_inference=True)
        count = get_op("KvVariableShape")(emb)
    with session(made) as run:
        run.run(init)
        for _ in range(3):
            assert run.run(rows).tolist() == [ROWS[key % 3] for key in EXTREMES.tolist()]
        assert run.run(count).tolist() == [0, 2]


def test_an_immutable_variable_inserts_nothing() -> None:
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS, embedding_variable_type=0), gathered(emb, EXTREMES)
        count = get_op("KvVariableShape")(emb)
    with session(made) as run:
        run.run(init)
        run.run(rows)
        assert run.run(count).tolist() == [0, 2]


def test_a_key_that_a_filter_has_not_let_in_has_the_row_that_says_so() -> None:
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS, filter_freq=2, default_value_no_permission=0.5)
        rows = gathered(emb, keys(1, 2))
    with session(made) as run:
        run.run(init)
        assert run.run(rows).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_given_rows_are_what_new_keys_begin_as() -> None:
    with graph() as made:
        emb = handle()
        first = np.array([[7.0, 8.0], [9.0, 10.0]], np.float32)
        init, known = initializer(emb, ROWS), gathered(emb, keys(4))
        given = get_op("KvResourceGather")(emb, keys(4, 5), first, is_use_default_value_tensor=True)
        again = gathered(emb, keys(5))
        wrong = get_op("KvResourceGather")(emb, keys(4, 5), first[:1], is_use_default_value_tensor=True)
    with session(made) as run:
        run.run(init)
        run.run(known)
        assert run.run(given).tolist() == [ROWS[1], [9.0, 10.0]]
        assert run.run(again).tolist() == [[9.0, 10.0]]
        with pytest.raises(InvalidArgumentError, match="one for each key"):
            run.run(wrong)


def test_counts_do_not_change_what_a_lookup_gives() -> None:
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS, record_freq=True)
        rows = get_op("KvResourceGatherV1")(emb, keys(1, 2), np.float32(0), np.array([3, 1], np.int32))
        frequencies = get_op("EVGetFrequency")(emb, keys(1, 2))
    with session(made) as run:
        run.run(init)
        assert run.run(rows).tolist() == [ROWS[1], ROWS[2]]
        assert run.run(frequencies).tolist() == [0, 0]  # updates count, lookups do not


@pytest.mark.parametrize("op", ["KvResourceGather", "KvResourceGatherV1"])
def test_the_gradient_of_a_lookup_are_slices_of_the_keys(op: str) -> None:
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS)
        inputs: list[Any] = [emb, keys(5, 6, 5, 8).reshape(2, 2), np.float32(0)]
        if op.endswith("V1"):
            inputs.append(np.ones((2, 2), np.int64))
        rows = get_op(op)(*inputs)
        (slices,) = gradients(reduce_sum(rows * np.float32(3)), [emb])
    with session(made) as run:
        run.run(init)
        assert run.run(slices.indices).tolist() == [5, 6, 5, 8]
        assert run.run(slices.values).tolist() == [[3.0, 3.0]] * 4


def test_what_was_never_initialized_is_named_in_the_error() -> None:
    with graph() as made:
        emb = handle("user/ids")
        rows, initialized = gathered(emb, keys(1)), get_op("KvVarIsInitializedOp")(emb)
    with session(made) as run:
        assert not run.run(initialized)
        with pytest.raises(FailedPreconditionError, match='"user/ids" is not initialized'):
            run.run(rows)


def test_a_table_that_is_built_for_a_restore_is_not_initialized() -> None:
    with graph() as made:
        emb = handle()
        build, rows = initializer(emb, ROWS, buckets=0), gathered(emb, keys(1))
        init, initialized = initializer(emb, ROWS), get_op("KvVarIsInitializedOp")(emb)
        count = get_op("KvVariableShape")(emb)
    with session(made) as run:
        run.run(build)
        assert not run.run(initialized)
        run.run(init)
        run.run(rows)
        assert run.run(initialized)
        run.run(build)  # what is there stays
        assert run.run(count).tolist() == [1, 2]
        run.run(init)  # and begins anew
        assert run.run(count).tolist() == [0, 2]


def test_slots_may_be_initialized_before_their_variable() -> None:
    with graph() as made:
        emb, slot = handle(), handle("emb/Adagrad")
        first, second = initializer(slot, [[0.5, 0.5]], emb), initializer(emb, ROWS)
        rows, slots = gathered(emb, keys(4)), gathered(slot, keys(4, 5), is_inference=True)
    with session(made) as run:
        run.run(first)
        run.run(second)
        assert run.run(rows).tolist() == [ROWS[1]]
        assert run.run(slots).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_a_slot_may_be_initialized_anew_with_other_default_rows() -> None:
    with graph() as made:
        emb, slot = handle(), handle("emb/Adagrad")
        init = initializer(emb, ROWS)
        first, second = initializer(slot, [[2, 2]], emb), initializer(slot, [[3, 4]], emb)
        rows, slots = gathered(emb, keys(4)), gathered(slot, keys(4, 5), is_inference=True)
    with session(made) as run:
        run.run(init)
        run.run(first)
        run.run(rows)
        assert run.run(slots).tolist() == [[2, 2], [2, 2]]
        run.run(second)
        assert run.run(slots).tolist() == [[3, 4], [3, 4]]
        assert run.run(rows).tolist() == [ROWS[1]]


def test_a_block_has_keys_of_its_own_and_a_slot_without_a_number_those_of_its_variable() -> None:
    with graph() as made:
        emb, block, slot = handle(), handle("emb/block1"), handle("emb/Adagrad")
        init = [initializer(emb, ROWS), initializer(block, ROWS, emb, slot_index=0, emb_index=1)]
        init.append(initializer(slot, [[0.5, 0.5]], emb, slot_index=0))
        rows, others = gathered(emb, keys(4)), gathered(block, keys(5, 6))
        counts = [get_op("KvVariableShape")(table) for table in (emb, block, slot)]
    with session(made) as run:
        run.run(init)
        run.run([rows, others])
        assert [count.tolist() for count in run.run(counts)] == [[1, 2], [2, 2], [1, 2]]


def test_default_rows_of_another_width_are_refused() -> None:
    with graph() as made:
        emb = handle(dim=3)
        init = initializer(emb, ROWS)
    with session(made) as run, pytest.raises(InvalidArgumentError, match=r"expected \[rows, 3\]"):
        run.run(init)


def test_a_handle_of_something_else_is_refused() -> None:
    with graph() as made:
        other = get_op("VarHandleOp")(dtype=gathered(handle(), keys(1)).dtype, shape=[2], shared_name="v")
        rows = gathered(other, keys(1))
    with session(made) as run, pytest.raises(WrongTypeError, match="expected an embedding variable"):
        run.run(rows)


def test_an_export_has_keys_rows_versions_and_frequencies_in_order() -> None:
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS, record_freq=True, record_version=True)
        rows = gathered(emb, keys(1001, 1, 3, -1))
        exported = get_op("KvResourceExport")(emb, Tkeys=rows.op.attr("Tkeys"), Tvalues=rows.dtype)
    with session(made) as run:
        run.run(init)
        run.run(rows)
        found = run.run(list(exported))
    assert found[0].tolist() == [1, 1001, 3, -1]
    assert found[1].tolist() == [ROWS[key % 3] for key in (1, 1001, 3, -1)]
    assert found[2].tolist() == [-1] * 4
    assert found[3].tolist() == [0] * 4


def test_versions_and_tiers_of_keys_that_are_not_there() -> None:
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS, record_version=True), gathered(emb, keys(1))
        versions, tiers = (get_op(op)(emb, keys(1, 2)) for op in ("EVGetVersion", "KvResourceLookupTier"))
    with session(made) as run:
        run.run(init)
        run.run(rows)
        assert run.run(versions).tolist() == [-1, -1]
        assert run.run(tiers).tolist() == [0, -1]


def test_the_cache_strategy_is_one_of_two() -> None:
    with graph() as made:
        emb = handle()
        good, bad = (get_op("KvResourceInitCacheStrategyOp")(emb, cache_strategy=number) for number in (0, 7))
    with session(made) as run:
        run.run(good)
        with pytest.raises(InvalidArgumentError, match="LRU"):
            run.run(bad)


@pytest.mark.parametrize("is_old", [True, False])
def test_a_stranger_may_not_have_rows_in_files(is_old: bool, tmp_path: Path) -> None:
    with graph() as made:
        plain, other = handle(), handle("other")
        good = initializer(plain, ROWS, is_old=is_old)
        bad = initializer(other, ROWS, is_old=is_old, storage_type=12, storage_path=str(tmp_path / "rows"))
    with Session(made, allow_io=False) as run:
        run.run(good)
        with pytest.raises(PermissionDeniedError, match="writes files"):
            run.run(bad)
    assert not list(tmp_path.iterdir())
    initializers = [node for node in export_graph(made).node if "Initialize" in node.op]
    assert [Capability.WRITES_FILES in capabilities_of_node(node) for node in initializers] == [False, True]


def test_a_destroyed_variable_is_gone() -> None:
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS), gathered(emb, keys(1))
        destroy = get_op("DestroyKvResourceOp")(emb, ignore_lookup_error=False)
    with session(made) as run:
        run.run(init)
        run.run(destroy)
        with pytest.raises(FailedPreconditionError):
            run.run(rows)
        with pytest.raises(NotFoundError):
            run.run(destroy)
