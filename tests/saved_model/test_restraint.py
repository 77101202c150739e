"""A loaded model that is allowed nothing does nothing but compute, whatever its ops and their attributes ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tensorkeep
from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.errors import PermissionDeniedError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.graph.registry.opspec import get_op, op
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.signature_defs import predict_signature_def
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.saved_model.builder import GraphOptions, SavedModelBuilder

Attack = Callable[[Path], Operation | Tensor]

private = op("TestPrivate(x: float) -> y: float")
private.kernel(lambda x: x)
known = op("TestKnown(x: float) -> y: float", needs=())
known.kernel(lambda x: x)


def rows_in_files(storage_type: int) -> Attack:
    def attack(folder: Path) -> Operation | Tensor:
        table = get_op("KvVarHandleOp")(dtype=FLOAT32, shape=[4], Tkeys=INT64, shared_name="e")
        return get_op("InitializeKvVariableV2Op")(
            table,
            table,
            constant(np.ones((8, 4), np.float32)),
            constant(np.int64(-1)),
            shape=[4],
            storage_type=storage_type,
            storage_path=str(folder / "rows"),
        )

    return attack


def imported_rows(folder: Path) -> Operation | Tensor:
    table = get_op("KvVarHandleOp")(dtype=FLOAT32, shape=[4], Tkeys=INT64, shared_name="e")
    return get_op("KvResourceImportV2")(
        constant("x"),
        table,
        table,
        constant(np.ones((8, 4), np.float32)),
        constant("names"),
        constant(np.int64(-1)),
        shape=[4],
        storage_type=12,
        storage_path=str(folder / "rows"),
    )


ATTACKS: dict[str, tuple[str, Attack]] = {
    **{f"rows in files of kind {kind}": ("writes-files", rows_in_files(kind)) for kind in (4, 5, 12, 14, 101, 102)},
    "rows read into files": ("writes-files", imported_rows),
    "a file written": ("writes-files", lambda folder: get_op("WriteFile")(str(folder / "x"), "text")),
    "a file printed to": (
        "writes-files",
        lambda folder: get_op("PrintV2")("text", output_stream=f"file://{folder / 'x'}"),
    ),
    "a console printed to": ("prints", lambda folder: get_op("PrintV2")("text")),
    "a debugger's file": (
        "writes-files",
        lambda folder: get_op("DebugIdentity")(constant(1.0), debug_urls=[f"file://{folder}"]),
    ),
    "a debugger's server": (
        "uses-network",
        lambda folder: get_op("DebugIdentity")(constant(1.0), debug_urls=["grpc://127.0.0.1:1"]),
    ),
    "events written": (
        "writes-files",
        lambda folder: get_op("CreateSummaryFileWriter")(
            get_op("SummaryWriter")(shared_name="w"), str(folder / "x"), 10, 1, ".events"
        ),
    ),
    "a checkpoint written": (
        "writes-files",
        lambda folder: get_op("SaveV2")(str(folder / "x"), ["a"], [""], [constant(1.0)]),
    ),
    "an op of nobody knows whom": ("runs-unknown-code", lambda folder: private(constant(1.0))),
}


def export(folder: Path, attack: Callable[[], Operation | Tensor]) -> Path:
    """A model whose one signature does something before it gives its input back."""
    with building(Graph()) as graph, Session(graph) as session:
        x = placeholder(FLOAT32, [], "x")
        done = attack()
        with control_dependencies([done.op if isinstance(done, Tensor) else done]):
            y = get_op("Identity")(x, name="y")
        builder = SavedModelBuilder(str(folder / "model"))
        signatures = {"serving_default": predict_signature_def({"x": x}, {"y": y})}
        builder.add_meta_graph_and_variables(session, ["serve"], signatures, GraphOptions())
        builder.save()
    return folder / "model"


@pytest.mark.parametrize("case", ATTACKS)
def test_what_a_model_may_not_do_is_refused_and_scan_says_the_same(case: str, tmp_path: Path) -> None:
    rule, attack = ATTACKS[case]
    model = export(tmp_path, lambda: attack(tmp_path / "outside"))
    with tensorkeep.load_saved_model(model) as loaded, pytest.raises(PermissionDeniedError, match="Nothing was run"):
        loaded.signatures["serving_default"](x=1.0)
    assert not (tmp_path / "outside").exists()
    assert rule in {finding.rule for finding in scan_model(str(model)).findings}


def test_what_is_allowed_by_type_is_done(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    model = export(tmp_path, lambda: rows_in_files(12)(tmp_path / "outside"))
    with tensorkeep.load_saved_model(model, allow=["InitializeKvVariableV2Op"]) as loaded:
        assert loaded.signatures["serving_default"](x=1.0)["y"] == 1.0
    with tensorkeep.load_saved_model(model, allow=[Capability.WRITES_FILES]) as loaded:
        assert loaded.signatures["serving_default"](x=1.0)["y"] == 1.0


def test_allowing_one_type_does_not_allow_others_of_its_class(tmp_path: Path) -> None:
    model = export(tmp_path, lambda: get_op("WriteFile")(str(tmp_path / "x"), "text"))
    with tensorkeep.load_saved_model(model, allow=["SaveV2"]) as loaded, pytest.raises(PermissionDeniedError):
        loaded.signatures["serving_default"](x=1.0)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("allow", ["PrintV2", "prints", "WriteFile", "writes files", "MatchingFiles"])
@pytest.mark.parametrize("reader", ["ReadFile", "TextLineReaderV2"])
def test_what_is_allowed_to_others_lets_nothing_read_outside_of_the_model(
    allow: str, reader: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")

    def attack() -> Tensor:
        if reader == "ReadFile":
            content: Tensor = get_op("ReadFile")(str(tmp_path / "secret"))
            return content
        queue = get_op("FIFOQueueV2")(component_types=[STRING], shapes=[[]])
        with control_dependencies([get_op("QueueEnqueueV2")(queue, [str(tmp_path / "secret")])]):
            _, line = get_op("ReaderReadV2")(get_op("TextLineReaderV2")(), queue)
        return line  # type: ignore[no-any-return]

    model = export(tmp_path, attack)
    refused = pytest.raises(PermissionDeniedError, match="not in its directory")
    with tensorkeep.load_saved_model(model, allow=[allow]) as loaded, refused:
        loaded.signatures["serving_default"](x=1.0)
    with tensorkeep.load_saved_model(model, allow=[reader]) as loaded:
        assert loaded.signatures["serving_default"](x=1.0)["y"] == 1.0


def test_an_op_of_ones_own_runs_in_a_model_if_it_says_that_it_only_computes(tmp_path: Path) -> None:
    model = export(tmp_path, lambda: known(constant(1.0)))
    with tensorkeep.load_saved_model(model) as loaded:
        assert loaded.signatures["serving_default"](x=1.0)["y"] == 1.0


def test_an_op_of_ones_own_can_be_allowed_by_name(tmp_path: Path) -> None:
    model = export(tmp_path, lambda: private(constant(1.0)))
    with tensorkeep.load_saved_model(model, allow=["TestPrivate"]) as loaded:
        assert loaded.signatures["serving_default"](x=1.0)["y"] == 1.0
