"""A server whose tables are refreshed from incremental checkpoints while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.saved_model.test_increments import KEYS, trained  # noqa: F401 - a fixture
from tests.serving.process.servers import running


def test_a_model_is_refreshed_by_incremental_checkpoints_in_all_workers(
    trained: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    place, delta, _, after = trained
    (tmp_path / "models").mkdir()
    place.rename(tmp_path / "models" / "1")
    told = ("--deltas", f"m={Path(delta).parent}", "--unload-first", "m", "--poll", "0.1", "--workers", "2")
    with running(tmp_path, "--model", f"m={tmp_path / 'models'}", *told) as server:
        server.until_said("was refreshed by", 2)
        for _ in range(4):
            status, answer = server.post("/v1/models/m:predict", {"inputs": KEYS})
            assert status == 200
            np.testing.assert_array_equal(np.float32(answer["outputs"]["scores"]), after[1])
