"""Models that TensorFlow wrote, in the viewer: every view answers, and its form gives what TensorFlow gives."""

from __future__ import annotations

import json
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.viewer.answers.catalog import LONG, SHORT
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.page import answer_text
from tensorkeep.viewer.sources import Sources
from tests.interop.model_zoo import NETWORKS, ZOO
from tests.support.depth import thinned

SHOWN = ("graphs", "graph", "graph_costs", "weights", "signatures", "checks")


def sent(array: np.ndarray[Any, Any]) -> dict[str, str]:
    """An input as a page sends it: by an .npy file, or texts as they are."""
    if array.dtype.kind in "OSU":
        return {"kind": "list", "value": np.vectorize(bytes.decode, otypes=[object])(array).tolist()}
    file = BytesIO()
    np.save(file, array)
    return {"kind": "npy", "data": b64encode(file.getvalue()).decode()}


@pytest.mark.parametrize("name", [*thinned([name for name in ZOO if name not in NETWORKS], 3), "MobileNetV2"])
def test_a_model_of_the_zoo_is_shown_and_runs(name: str, tmp_path: Path) -> None:
    signature, inputs = ZOO[name](str(tmp_path))
    sources = Sources([str(tmp_path)])

    def ask(question: str, /, **given: Any) -> Any:
        answer = SHORT.get(question) or LONG[question]
        return json.loads(answer_text(answer(Asked(sources, given))))

    answers = {question: ask(question) for question in SHOWN}
    assert not sources[0].error
    assert answers["graph"]["names"]
    assert answers["checks"]
    given = {key: np.asarray(value) for key, value in inputs.items()}
    told = ask("run", signature=signature, values={key: sent(value) for key, value in given.items()})
    oracle = tf.saved_model.load(str(tmp_path)).signatures[signature]
    wanted = {key: value.numpy() for key, value in oracle(**{k: tf.constant(v) for k, v in inputs.items()}).items()}
    shown = {output["name"]: output for output in told["outputs"]}
    assert shown.keys() == wanted.keys()
    for key, value in wanted.items():
        assert shown[key]["shape"] == list(value.shape)
        if value.dtype.kind == "f":
            extremes = shown[key]["statistics"]["minimum"], shown[key]["statistics"]["maximum"]
            assert extremes == pytest.approx((value.min(), value.max()), abs=1e-5)
    sources.close()
