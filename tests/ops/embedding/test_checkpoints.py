"""Saving and restoring embedding variables by single ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.embedding.stored.naming import NINE
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.tf1.functions.arrays.shapes import stack
from tests.ops.embedding_graphs import gathered, graph, handle, initializer, keys, session

ROWS = np.array([[0.5, -1.0], [1.5, 2.0], [-2.5, 3.0]], np.float32)
SIX = keys(0, 1, 2, 1000, 1001, 1002)


def saving(
    tables: dict[str, Tensor], names: list[str] | None = None, tensors: Any = (), step: int = 0, prefix: str = "m"
) -> Operation:
    addresses = [get_op("KvResourceLookupResource")(table) for table in tables.values()]
    listed = ["global_step", *(names or [])]
    found: Operation = get_op("SaveV3")(
        prefix,
        listed,
        [""] * len(listed),
        list(tables),
        stack(addresses),
        [np.int64(step), *tensors],
        ev_key_types=[table.op.attr("Tkeys") for table in tables.values()],
        has_ev=True,
    )
    return found


def restoring(table: Tensor, stem: str, prefix: str = "m", **attrs: Any) -> Operation:
    found: Operation = get_op("KvResourceImportV3")(
        prefix, table, stem, np.int64(-1), shape=table.op.attr("shape"), dtype=table.op.attr("dtype"), **attrs
    )
    return found


def test_a_table_is_nine_tensors_beside_the_plain_ones() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle()
        init, rows = initializer(emb, ROWS), gathered(emb, SIX)
        save = saving({"emb": emb}, ["w"], [np.arange(3)])
    with session(made, files) as run:
        run.run(init)
        run.run(rows)
        run.run(save)
    with open_checkpoint("m", fs=files) as reader:
        assert sorted(reader) == sorted(["w", *("emb" + suffix for suffix in NINE)])
        assert reader.read("emb-keys").tolist() == [0, 1000, 1, 1001, 2, 1002]
        assert reader.read("emb-partition_offset").tolist() == [0, 2, 4] + [6] * 998
        assert reader.read("emb-values").tolist() == ROWS[[0, 1, 1, 2, 2, 0]].tolist()
        assert reader.read("w").tolist() == [0, 1, 2]


def test_an_empty_table_is_nine_tensors_too() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle()
        init, save = initializer(emb, ROWS), saving({"emb": emb})
    with session(made, files) as run:
        run.run(init)
        run.run(save)
    with open_checkpoint("m", fs=files) as reader:
        shapes = {name: reader[name].shape for name in reader}
    offsets = {"emb-partition_offset": (1001,), "emb-partition_filter_offset": (1001,)}
    empty = {"emb" + suffix: (0,) for suffix in NINE}
    assert shapes == empty | offsets | {"emb-values": (0, 2)}


def test_saving_what_was_never_initialized_names_it() -> None:
    with graph() as made:
        save = saving({"emb": handle("user/emb")})
    with session(made) as run, pytest.raises(NotFoundError, match='"user/emb"'):
        run.run(save)


def test_a_save_drops_keys_that_have_not_been_updated_for_long() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS, steps_to_live=2)
        steps = [
            get_op("KvResourceSparseApplyGradientDescent")(
                emb, np.float32(0.1), np.ones((len(ids), 2), np.float32), ids, np.int64(step)
            )
            for step, ids in enumerate([keys(1, 2, 3), keys(2, 3), keys(2, 3), keys(2, 3)])
        ]
        save = saving({"emb": emb}, step=4)
        count = get_op("KvVariableShape")(emb)
    with session(made, files) as run:
        run.run(init)
        for step in steps:
            run.run(step)
        run.run(save)
        assert run.run(count).tolist() == [2, 2]
    with open_checkpoint("m", fs=files) as reader:
        assert reader.read("emb-keys").tolist() == [2, 3]
        assert reader.read("emb-versions").tolist() == [3, 3]


def test_l2_eviction_keeps_a_row_whose_half_squares_reach_the_threshold() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle(dim=3)
        init = initializer(emb, [[0.7927] * 3, [0.7] * 3], l2_weight_threshold=0.9)
        rows, save = gathered(emb, keys(0, 1, 2)), saving({"emb": emb})
    with session(made, files) as run:
        run.run(init)
        run.run(rows)
        run.run(save)
    with open_checkpoint("m", fs=files) as reader:
        assert reader.read("emb-keys").tolist() == [0, 2]


def test_a_restore_replaces_what_was_there() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle()
        init, six, other = initializer(emb, ROWS), gathered(emb, SIX), gathered(emb, keys(5, 7))
        save, restore = saving({"emb": emb}), restoring(emb, "emb")
        exported = get_op("KvResourceExport")(emb, Tkeys=six.op.attr("Tkeys"), Tvalues=six.dtype)
    with session(made, files) as run:
        run.run(init)
        run.run(six)
        run.run(save)
        run.run(init)
        run.run(other)
        run.run(restore)
        assert run.run(exported.keys).tolist() == [0, 1000, 1, 1001, 2, 1002]


@pytest.mark.parametrize("is_old", [True, False])
def test_a_part_of_a_table_is_restored_by_its_buckets(is_old: bool) -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb, part = handle(), handle("other/part_1")
        init, rows, save = initializer(emb, ROWS), gathered(emb, keys(*range(5, 10))), saving({"other": emb})
        build = initializer(part, ROWS, buckets=0)
        if is_old:
            build = get_op("NoOp")()
            restore = get_op("KvResourceImportV2")(
                "m", part, part, ROWS, "other/part_1", np.int64(-1), shape=part.op.attr("shape"),
                partition_id=1, partition_num=4,
            )  # fmt: skip
        else:
            restore = restoring(part, "other/part_1", partition_id=1, partition_num=4)
        exported = get_op("KvResourceExport")(part, Tkeys=rows.op.attr("Tkeys"), Tvalues=rows.dtype)
        initialized = get_op("KvVarIsInitializedOp")(part)
    with session(made, files) as run:
        run.run(init)
        run.run(rows)
        run.run(save)
        run.run(build)
        run.run(restore)
        assert run.run(exported.keys).tolist() == [5, 9]
        assert run.run(exported.values).tolist() == ROWS[[2, 0]].tolist()
        assert run.run(initialized)


def test_versions_are_reset_if_asked_for() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS, record_version=True)
        step = get_op("KvResourceSparseApplyGradientDescent")(
            emb, np.float32(0.1), np.ones((1, 2), np.float32), keys(1), np.int64(9)
        )
        save, plain = saving({"emb": emb}), restoring(emb, "emb")
        reset = restoring(emb, "emb", reset_version=True)
        versions = get_op("EVGetVersion")(emb, keys(1))
    with session(made, files) as run:
        run.run(init)
        run.run(step)
        run.run(save)
        run.run(plain)
        assert run.run(versions).tolist() == [9]
        run.run(reset)
        assert run.run(versions).tolist() == [0]


@pytest.mark.parametrize(("is_initialized", "rest"), [(True, [8.0, 9.0]), (False, [0.0, 0.0])])
def test_longer_rows_are_filled_by_the_initializer_if_it_has_run(is_initialized: bool, rest: list[float]) -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb, wide = handle(), handle("wide", dim=4)
        init, rows, save = initializer(emb, ROWS), gathered(emb, keys(1)), saving({"emb": emb})
        default = [[6.0, 7.0, 8.0, 9.0]]
        first = initializer(wide, default, buckets=131072 if is_initialized else 0)
        restore, found = restoring(wide, "emb"), gathered(wide, keys(1))
    with session(made, files) as run:
        run.run(init)
        run.run(rows)
        run.run(save)
        run.run(first)
        for _ in range(2):  # a restore does not count as an initializer
            run.run(restore)
            assert run.run(found).tolist() == [[*ROWS[1].tolist(), *rest]]


def test_a_table_that_is_not_stored_is_an_error_that_says_what_is() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        emb = handle()
        init, save, restore = initializer(emb, ROWS), saving({"emb": emb}), restoring(emb, "user")
    with session(made, files) as run:
        run.run(init)
        run.run(save)
        with pytest.raises(NotFoundError, match='no embedding "user"; it holds "emb"'):
            run.run(restore)


def test_a_number_that_no_table_has_is_refused() -> None:
    with graph() as made:
        save = get_op("SaveV3")(
            "m", ["global_step"], [""], ["emb"], np.array([123], np.int64), [np.int64(0)], has_ev=True
        )
    with session(made) as run, pytest.raises(InvalidArgumentError, match="number 123"):
        run.run(save)
