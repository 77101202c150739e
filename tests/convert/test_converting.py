"""`convert`: sources, targets, options, proofs; memory that does not grow with the file."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.checkpoint.casting import CastLossError
from tensorkeep.checkpoint.finding.opening import load_tensors, open_checkpoint
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.convert import CastTo, ConvertOptions, ModelOptions, check_proof, convert, open_tensors, read_proof
from tensorkeep.convert.rules import Fitting
from tensorkeep.convert.steps import Transpose
from tensorkeep.edit import RenamePattern, Selection
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    TensorKeepError,
)
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.metagraph.files import read_meta_graph_file
from tests.support.golden import golden

TENSORS = {"a/kernel": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(3)}


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    save_checkpoint("in/m", TENSORS, fs=made)
    return made


def test_the_functions_are_found_from_the_package() -> None:
    assert tk.convert.convert is convert


def test_what_was_done_is_said(fs: MemoryFileSystem) -> None:
    done = convert("in/m", "out/x.npz", ["dense-transpose"], fs=fs)
    assert str(done) == '"in/m" (checkpoint) was converted to "out/x.npz" (npz): 2 tensors, 48 bytes'
    assert done.files == ["out/x.npz"]
    assert [str(item) for item in done.explanation.tensors] == [
        "a/kernel float32 [3, 2]; transposed [2, 3] -> [3, 2]",
        "b int64 [3]",
    ]
    planned = convert("in/m", "out/y.npz", options=ConvertOptions(dry_run=True), fs=fs)
    assert "would be converted" in str(planned)


def test_numpy_reads_an_npz_without_a_pickle(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {**TENSORS, "s": np.float64(2.5)})
    convert(tmp_path / "m", tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as found:
        assert sorted(found.files) == ["a/kernel", "b", "s"]
        np.testing.assert_array_equal(found["a/kernel"], TENSORS["a/kernel"])
        assert found["s"].shape == ()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_of_numpy_is_read_whatever_its_order_and_packing(tmp_path: Path, save: Any) -> None:
    whole = np.arange(24.0).reshape(2, 3, 4)
    arrays = {"c": whole, "fortran": np.asfortranarray(whole), "big": whole.astype(">f4"), "flags": whole > 5}
    save(tmp_path / "x.npz", **arrays)
    with open_tensors(tmp_path / "x.npz") as found:
        for name, array in arrays.items():
            np.testing.assert_array_equal(found.read(name), array, err_msg=name)
            np.testing.assert_array_equal(found.read(name, np.s_[1:, :2, 1:3]), array[1:, :2, 1:3], err_msg=name)
            np.testing.assert_array_equal(found.source(name).gather(), array.reshape(-1), err_msg=name)
        assert found["big"].dtype == "float32"


def test_a_pickle_in_an_npz_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.array([{}], object))
    with pytest.raises(TensorKeepError, match="pickle"):
        open_tensors(tmp_path / "x.npz")


def test_the_global_step_and_scalars_keep_their_types(fs: MemoryFileSystem) -> None:
    save_checkpoint("in/s", {"global_step": np.int64(9), "lr": np.float32(0.1)}, fs=fs)
    for ending in ("safetensors", "npz", "pt", "h5"):
        convert("in/s", f"out/x.{ending}", fs=fs)
        convert(f"out/x.{ending}", f"back/{ending}", fs=fs)
        found = load_tensors(f"back/{ending}", fs=fs)
        assert (found["global_step"].shape, found["global_step"].dtype) == ((), np.int64)
        assert (found["lr"].shape, found["lr"].dtype) == ((), np.float32)


def test_partitioned_variables_become_whole(fs: MemoryFileSystem) -> None:
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    save_checkpoint("in/p", {"table": PartitionedArray.split(table, 3)}, fs=fs)
    convert("in/p", "out/x.safetensors", options=ConvertOptions(prove=True), fs=fs)
    with open_tensors("out/x.safetensors", fs=fs) as found:
        np.testing.assert_array_equal(found.read("table"), table)


def test_all_types_that_do_not_fit_are_named_and_casting_helps(fs: MemoryFileSystem) -> None:
    tensors = {"half": np.ones(2, ml_dtypes.bfloat16), "eighth": np.ones(2, ml_dtypes.float8_e5m2), "ok": np.ones(2)}
    tensors |= {"fourth": np.ones(2, ml_dtypes.int4), "words": np.array([b"a"], object)}
    save_checkpoint("in/t", tensors, fs=fs)
    with pytest.raises(InvalidArgumentError) as caught:
        convert("in/t", "out/x.npz", fs=fs)
    assert [name for name in tensors if f'"{name}"' in str(caught.value)] == ["half", "eighth", "fourth", "words"]
    assert not fs.exists("out")
    only = Selection(unless=Selection(["words"]))
    convert("in/t", "out/x.npz", [CastTo("float32"), CastTo("int8", ["int4"])], ConvertOptions(only=only), fs=fs)
    with open_tensors("out/x.npz", fs=fs) as found:
        assert {name: str(found[name].dtype) for name in found} == {
            "eighth": "float32",
            "fourth": "int8",
            "half": "float32",
            "ok": "float32",
        }


def test_a_source_that_is_damaged_is_found_out_and_nothing_appears(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {"x": np.arange(1 << 20, dtype=np.float32)})
    data = tmp_path / "m.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[-1] ^= 1
    data.write_bytes(content)
    for rules in ([], [CastTo("float64")]):
        with pytest.raises(DataLossError, match='tensor "x"'):
            convert(tmp_path / "m", tmp_path / "out/x.safetensors", rules)
        assert list((tmp_path / "out").iterdir()) == []


def test_an_error_in_the_middle_leaves_no_thread_behind(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {"x": np.zeros(20 << 20, np.uint8)})

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "m", tmp_path / "out/x.pt", options=ConvertOptions(progress=stop))
    assert set(threading.enumerate()) <= before
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", TENSORS)
    convert(tmp_path / "m", tmp_path / "x.safetensors")
    convert(
        tmp_path / "x.safetensors",
        tmp_path / "x.safetensors",
        [RenamePattern("/", ".")],
        ConvertOptions(overwrite=True, prove=True),
    )
    with open_tensors(tmp_path / "x.safetensors") as found:
        assert sorted(found) == ["a.kernel", "b"]


def test_checkpoints_of_either_format_are_sources_and_targets(fs: MemoryFileSystem) -> None:
    convert("in/m", "one/m", options=ConvertOptions(to="checkpoint-v1"), fs=fs)
    with open_checkpoint("one/m", fs=fs) as reader:
        assert reader.format == "V1"
    done = convert("one/m", "two/m.index", fs=fs)
    assert done.source_format == "checkpoint-v1"
    np.testing.assert_array_equal(load_tensors("two/m", fs=fs)["a/kernel"], TENSORS["a/kernel"])
    save_checkpoint("in/v1", TENSORS, SaveOptions(CheckpointFormat.V1), fs=fs)
    assert convert("in/v1", "out/v1.npz", fs=fs).source_format == "checkpoint-v1"
    convert("in/m.index", "out/dot.npz", fs=fs)
    convert("in", "out/folder.npz", options=ConvertOptions(overwrite=True), fs=fs)


def test_a_checkpoint_in_several_files(fs: MemoryFileSystem) -> None:
    convert("in/m", "out/m", options=ConvertOptions(shard_bytes=10), fs=fs)
    assert [name for name in fs.list("out") if "data" in name] == ["m.data-00000-of-00002", "m.data-00001-of-00002"]


def test_progress_ends_with_all_bytes(fs: MemoryFileSystem) -> None:
    told: list[tuple[int, int]] = []
    convert("in/m", "out/x.safetensors", options=ConvertOptions(progress=lambda *now: told.append(now)), fs=fs)
    assert told == sorted(told)
    assert told[-1] == (48, 48)


# ------------------------------------------------------------------------------------------------------------ proofs


def test_a_proof_has_the_digests_of_what_was_there_and_what_came_of_it(fs: MemoryFileSystem) -> None:
    done = convert("in/m", "out/x.safetensors", ["dense-transpose"], ConvertOptions(prove=True), fs=fs)
    kernel = TENSORS["a/kernel"]
    assert done.proof is not None
    found = done.proof.tensors["a/kernel"]
    assert found.made_of == {"a/kernel": hashlib.sha256(kernel.tobytes()).hexdigest()}
    assert found.sha256 == hashlib.sha256(np.ascontiguousarray(kernel.T).tobytes()).hexdigest()
    assert done.proof.tensors["b"].made_of == {"b": done.proof.tensors["b"].sha256}
    assert read_proof("out/x.safetensors.proof.json", fs=fs) == done.proof
    assert check_proof("out/x.safetensors.proof.json", fs=fs) == done.proof


def test_a_result_that_was_changed_later_does_not_stand_the_proof(fs: MemoryFileSystem) -> None:
    convert("in/m", "out/x.npz", options=ConvertOptions(prove=True), fs=fs)
    save_checkpoint("in/m", {**TENSORS, "b": np.arange(3) + 1}, fs=fs)
    convert("in/m", "out/x.npz", options=ConvertOptions(overwrite=True), fs=fs)
    with pytest.raises(DataLossError, match='"b" differ'):
        check_proof("out/x.npz.proof.json", fs=fs)
    with pytest.raises(DataLossError, match='"b" differ'):
        check_proof("out/x.npz.proof.json", "in/m", fs=fs)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 9}', '{"format": 1, "source": "", "target": "", "tensors": 3}']
)
def test_a_report_that_is_none_is_data_loss(fs: MemoryFileSystem, text: str) -> None:
    file = fs.create("in/r.json")
    file.write(text.encode())
    file.close()
    with pytest.raises(DataLossError):
        read_proof("in/r.json", fs=fs)


# ------------------------------------------------------------------------------------------------- graphs and tables


def test_an_object_based_checkpoint_goes_by_the_names_of_its_variables(tmp_path: Path) -> None:
    source = golden("g34_tf2_checkpoint") / "written"
    done = convert(source, tmp_path / "x.npz", options=ConvertOptions(only=Selection(unless=Selection(["*table-*"]))))
    assert "_CHECKPOINTABLE_OBJECT_GRAPH" in done.explanation.left_out
    names = [item.name for item in done.explanation.tensors]
    assert "sequential/d1/kernel" in names
    assert not [name for name in names if "ATTRIBUTES" in name]
    convert(source, tmp_path / "copy")
    assert sorted(load_tensors(tmp_path / "copy")) == sorted(load_tensors(source))


def test_variables_of_a_saved_model_are_tensors(tmp_path: Path) -> None:
    model = golden("g26_tf1_simple_save") / "model"
    done = convert(model, tmp_path / "x.safetensors", options=ConvertOptions(prove=True))
    assert done.source_format == "saved_model"
    with open_tensors(tmp_path / "x.safetensors") as found:
        expected = load_tensors(model / "variables/variables")
        assert sorted(found) == sorted(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(found.read(name), array)


def test_constants_of_a_frozen_graph_are_tensors(tmp_path: Path) -> None:
    folder = golden("g24_graph_tools") / "res"
    stored = load_tensors(folder / "model.ckpt")
    with open_tensors(folder / "frozen.pb") as found:
        shared = [name for name in found if name in stored and found[name].shape]
        assert shared
        for name in shared:
            np.testing.assert_array_equal(found.read(name), stored[name])
    options = ConvertOptions(only=Selection([shared[0]]), prove=True)
    convert(folder / "frozen.pb", tmp_path / "x.npz", options=options)


@pytest.mark.parametrize("ending", ["pb", "pbtxt"])
def test_a_checkpoint_with_its_graph_becomes_a_frozen_graph(tmp_path: Path, ending: str) -> None:
    folder = golden("g24_graph_tools") / "res"
    with open_tensors(folder / "frozen.pb") as theirs, open_checkpoint(folder / "model.ckpt") as reader:
        expected = {name: theirs.read(name) for name in theirs if name in reader}
    options = ConvertOptions(model=ModelOptions(outputs=["prob"]))
    done = convert(folder / "model.ckpt", tmp_path / f"x.{ending}", options=options)
    assert done.files == [str(tmp_path / f"x.{ending}")]
    with open_tensors(tmp_path / f"x.{ending}") as ours:
        shared = [name for name in expected if name in ours]
        assert {"dense0/kernel", "dense0/bias"} <= set(shared)
        for name in shared:
            array = expected[name]
            np.testing.assert_array_equal(ours.read(name), array)


def test_a_saved_model_becomes_a_frozen_graph_of_its_signatures(tmp_path: Path) -> None:
    model = golden("g26_tf1_simple_save") / "model"
    convert(model, tmp_path / "x.pb")
    with open_tensors(tmp_path / "x.pb") as found:
        for name, array in load_tensors(model / "variables/variables").items():
            np.testing.assert_array_equal(found.read(name), array)


def test_a_checkpoint_with_its_graph_becomes_a_saved_model(tmp_path: Path) -> None:
    folder = golden("g21_meta_mlp_adam")
    with pytest.raises(InvalidArgumentError, match="brings no signature along"):
        convert(folder / "mlp-4", f"{tmp_path}/model/")
    options = ConvertOptions(model=ModelOptions(signatures=_signatures(folder)))
    convert(folder / "mlp-4", f"{tmp_path}/model/", options=options)
    with tk.load_saved_model(tmp_path / "model") as model:
        assert list(model.signatures) == ["serving_default"]
    with pytest.raises(AlreadyExistsError):
        convert(folder / "mlp-4", f"{tmp_path}/model/", options=options)


def _signatures(folder: Path) -> Any:
    graph = read_meta_graph_file(folder / "mlp-4.meta").graph_def
    inputs = [node.name for node in graph.node if node.op == "Placeholder"]
    outputs = [node.name for node in graph.node if node.op in ("Softmax", "BiasAdd", "MatMul", "Relu")]
    return {"serving_default": ({"x": f"{inputs[0]}:0"}, {"y": f"{outputs[0]}:0"})}


def test_a_target_with_a_graph_takes_no_rules_and_says_what_it_lacks(tmp_path: Path) -> None:
    folder = golden("g24_graph_tools") / "res"
    with pytest.raises(InvalidArgumentError, match="made of a model as it is: rules, prove"):
        convert(folder / "model.ckpt", tmp_path / "x.pb", ["dots"], ConvertOptions(prove=True))
    with pytest.raises(InvalidArgumentError, match=r"name the nodes .*outputs="):
        convert(folder / "model.ckpt", tmp_path / "x.pb")
    save_checkpoint(tmp_path / "m", {"x": np.ones(2)})
    with pytest.raises(InvalidArgumentError, match=r"there is no graph .*graph="):
        convert(tmp_path / "m", tmp_path / "x.pb", options=ConvertOptions(model=ModelOptions(outputs=["y"])))


def test_an_embedding_table_goes_to_parquet_and_back(fs: MemoryFileSystem) -> None:
    keys = np.arange(50) * 7
    values = np.arange(200, dtype=np.float32).reshape(50, 4)
    save_embeddings("in/e", {"emb": ArraySnapshot.of(keys, values)}, fs=fs)
    convert("in/e", "out/emb.parquet", fs=fs)
    convert("out/emb.parquet", "back/e", options=ConvertOptions(model=ModelOptions(table="emb")), fs=fs)
    first, second = load_tensors("in/e", fs=fs), load_tensors("back/e", fs=fs)
    np.testing.assert_array_equal(first["emb-values"], second["emb-values"])
    np.testing.assert_array_equal(first["emb-keys"], second["emb-keys"])
    with open_tensors("out/emb.parquet", fs=fs) as found:
        assert found["values"].shape == (50, 4)
    with pytest.raises(InvalidArgumentError, match=r"by what name \(table="):
        convert("out/emb.parquet", "back/f", fs=fs)
    with pytest.raises(NotFoundError, match="holds no embedding table"):
        convert("in/m", "out/x.parquet", fs=fs)


# ------------------------------------------------------------------------------------------------------------ errors


def test_a_source_that_is_not_there_is_said_so(fs: MemoryFileSystem) -> None:
    with pytest.raises(MissingFileError, match='nothing at "in/x"'):
        convert("in/x", "out/y.npz", fs=fs)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Tensors of 288 MiB each, one of them transposed on the way, take at most 200 MiB more than small ones."""
    for name, shape in (("small", (9, 8)), ("large", (9 << 10, 8 << 10))):
        array = np.zeros(shape, np.float32)
        save_checkpoint(tmp_path / name, {"a/kernel": array, "b": array})
    program = """
import resource
from tensorkeep.convert import ConvertOptions, convert
from tensorkeep.io.files.filesystem import Durability
options = ConvertOptions(durability=Durability.CACHE)
for name in ("small", "large"):
    for ending in ("safetensors", "pt", "npz", "h5", "ckpt"):
        convert(name, f"x-{name}.{ending}", ["dense-transpose"], options)
        convert(f"x-{name}.{ending}", f"back-{name}-{ending}", (), options)
    try:  # of this program alone: what `getrusage` tells of may be that of the one that started it
        with open("/proc/self/status") as status:
            print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
    except FileNotFoundError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    small, large = map(int, done.stdout.split())
    unit = 1 if sys.platform == "darwin" else 1024
    assert (large - small) * unit < 200 << 20


def test_json_of_a_proof_is_plain(fs: MemoryFileSystem) -> None:
    done = convert("in/m", "out/x.npz", options=ConvertOptions(prove=True), fs=fs)
    assert done.proof is not None
    found = json.loads(done.proof.to_json())
    assert found["tensors"]["b"]["dtype"] == "int64"


def test_an_archive_that_says_it_unpacks_to_far_more_than_it_holds_is_data_loss(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(10))
    data = bytearray((tmp_path / "x.npz").read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (1 << 31).to_bytes(4, "little")
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(TensorKeepError, match=r"unpack to 2147483648|none of the formats"):
        open_tensors(tmp_path / "x.npz")


def test_other_types_that_lose_numbers_are_refused_unless_allowed(fs: MemoryFileSystem) -> None:
    save_checkpoint("p", {"k": np.array([[1e-9, 1], [2, 1e9]], np.float32)}, fs=fs)
    rules = (Fitting("k", "weight", (Transpose((1, 0)),)), CastTo("float16"))
    with pytest.raises(CastLossError, match='"weight": of 4 numbers 1 to zero, 1 to infinity'):
        convert("p", "q.safetensors", rules, fs=fs)
    assert not fs.exists("q.safetensors")
    for dry_run in (True, False):
        done = convert("p", "q.safetensors", rules, ConvertOptions(allow_loss=True, dry_run=dry_run), fs=fs)
        assert (done.losses["weight"].lost, done.losses["weight"].elements) == (2, 4)
    after = convert("p", "r.safetensors", rules[::-1], ConvertOptions(allow_loss=True), fs=fs)
    assert after.losses == done.losses


def test_that_rows_beside_a_checkpoint_are_not_converted_is_told() -> None:
    fs = MemoryFileSystem()
    table = ArraySnapshot.of([1, 5], {"": np.ones((2, 3), np.float32)})
    save_embeddings("d/m", {"e": table}, records={"e": [5]}, fs=fs)
    with pytest.warns(UserWarning, match='"d/m" has rows of "e" beside it, .* not converted: .* ev repair d/m'):
        convert("d/m", "m.npz", fs=fs)
