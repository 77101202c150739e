"""The zoo by the second engine: the same answers as by our kernels, and those are TensorFlow's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tests.interop.model_zoo import NETWORKS, ZOO

SMALL = [name for name in ZOO if name not in NETWORKS]
ENGINE = OnnxRuntime(threads=1, smallest=0)


@pytest.mark.parametrize("name", SMALL)
def test_both_engines_give_the_same(name: str, tmp_path: Path) -> None:
    key, inputs = ZOO[name](str(tmp_path / "model"))
    with (
        load_saved_model(tmp_path / "model") as ours,
        load_saved_model(tmp_path / "model", engine=ENGINE) as theirs,
    ):
        wanted = ours.signatures[key](**inputs)
        for _ in range(2):
            found = theirs.signatures[key](**inputs)
            assert found.keys() == wanted.keys()
            for output, value in wanted.items():
                if not isinstance(value, np.ndarray):
                    continue
                assert found[output].dtype == value.dtype
                if value.dtype.kind == "f":
                    np.testing.assert_allclose(
                        found[output], value, rtol=1e-3, atol=1e-4 * np.abs(value).max(initial=1)
                    )
                else:
                    np.testing.assert_array_equal(found[output], value)
