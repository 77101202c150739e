"""Programs in the idioms of DeepRec's modelzoo, run as they are: they train, save, restore and export.

What is asked of each: its losses fall, what is restored from its full and incremental checkpoints is what was saved,
and its export gives for the same examples what the trained model gives.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import tensorkeep as tk

pyarrow = pytest.importorskip("pyarrow")

HERE: Final = Path(__file__).parents[2] / "interop" / "modelzoo_programs"
ROWS: Final = 512
RUNS: Final[dict[str, tuple[str, str, str]]] = {
    # name: program, models, flags; those of the first three stand for all of their kind in the usual tests
    "criteo": (
        "criteo.py",
        "wide_and_deep",
        "--features 6 --parquet_dataset true --group_embedding localized --optimizer adamasync",
    ),
    "taobao": ("taobao.py", "mmoe", "--features 3 --ev true --ev_filter counter --workqueue true"),
    "amazon": ("amazon.py", "dien", "--ev true --ev_elimination gstep --parquet_dataset true"),
    "criteo in buckets": ("criteo.py", "dlrm deepfm dcn dcnv2 masknet mlperf", "--optimizer adagrad"),
    "criteo by key": (
        "criteo.py",
        "dlrm deepfm mlperf",
        "--ev true --ev_filter cbf --ev_elimination l2 --parquet_dataset true --optimizer adamw --timeline 10",
    ),
    "criteo in bfloat16": ("criteo.py", "wide_and_deep dlrm dcn", "--bf16 --parquet_dataset_shuffle true"),
    "taobao in buckets": ("taobao.py", "bst dssm dbmtl mmoe esmm simple_multitask ple", "--smartstaged false"),
    "taobao by key": (
        "taobao.py",
        "bst dssm dbmtl esmm simple_multitask ple",
        "--features 3 --ev true --group_embedding localized --parquet_dataset true --workqueue true "
        "--optimizer adagraddecay --learning_rate 0.1",
    ),
    "taobao, adaptive": (
        "taobao.py",
        "bst mmoe dssm",
        "--features 3 --adaptive_emb true --optimizer adagraddecayv2 --learning_rate 0.1",
    ),
    "taobao in bfloat16": ("taobao.py", "dssm dbmtl mmoe esmm simple_multitask", "--bf16"),
    "amazon in two hashes": ("amazon.py", "din dien", "--multihash true --workqueue true"),
    "amazon in vocabularies": ("amazon.py", "din dien", "--emb_fusion false --op_fusion false"),
}
USUAL: Final = ("criteo", "taobao", "amazon")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in all three formats."""
    folder = tmp_path_factory.mktemp("data")
    spec = importlib.util.spec_from_file_location("modelzoo_data", HERE / "data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for write in (module.write_criteo, module.write_taobao, module.write_amazon):
        write(str(folder), ROWS)
    return folder


def run(program: str, data: Path, out: Path, models: str, flags: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "tensorkeep", "run", str(HERE / program), "--models", *models.split()]
    line += ["--data_location", str(data), "--output_dir", str(out), *flags.split()]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=out, timeout=900)


@pytest.mark.parametrize(
    "name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.deep) for name in RUNS]
)
def test_models_train_save_restore_and_export(name: str, data: Path, tmp_path: Path) -> None:
    program, models, flags = RUNS[name]
    ended = run(program, data, tmp_path, models, f"--steps 24 {flags}")
    assert (ended.returncode, ended.stderr) == (0, "")
    reports = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [report["model"] for report in reports] == models.split()
    for report in reports:
        _check(report, flags, tmp_path)


def _check(report: dict[str, Any], flags: str, out: Path) -> None:
    """What is asked of every model."""
    model, losses = report["model"], report["losses"]
    assert len(losses) == 24
    assert np.mean(losses[-8:]) < np.mean(losses[:8]) - 0.005, (model, losses)  # a pass of all files is 8 batches
    assert report["evaluated"] == ROWS
    assert 0 < report["auc"] <= 1
    assert report["full_is_same"], model
    assert report["delta_is_same"], model
    assert report["traced"]
    assert bool(report["embedding_variables"]) == any(flag in flags for flag in ("--ev true", "--adaptive_emb"))
    assert ("--timeline" in flags) == bool(list((out / f"model_{model}").glob("timeline-*.json")))
    _check_export(report)


def _check_export(report: dict[str, Any]) -> None:
    """What was exported gives the same as the model that was trained."""
    examples = {
        name: np.array(values, object if isinstance(values[0], str) else np.float32)
        for name, values in report["examples"].items()
    }
    signature = tk.load_saved_model(report["export"]).signatures["serving_default"]
    chances = signature(**examples)["probability"]
    np.testing.assert_allclose(chances, report["chances"], rtol=1e-5, atol=1e-7)
    assert np.ptp(chances, axis=0).min() > 0, report["model"]
    assert ((chances >= 0) & (chances <= 1)).all(), report["model"]
