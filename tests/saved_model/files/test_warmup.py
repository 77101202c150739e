"""Requests that a server warms a model up with."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.proto.messages import Example, MetaGraphDef
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.files.warmup import example_log, predict_log, read_warmup_requests, write_warmup_requests
from tests.saved_model.models import build_model, store
from tests.support.golden import ROOT


def test_requests_are_records_of_logs_beside_the_model() -> None:
    fs = store()
    build_model(fs)
    rows = np.ones((2, 2), np.float32)
    path = write_warmup_requests("m", [{"x": rows, "scale": 2}, {"x": rows * 2, "scale": 1}], model="mine", fs=fs)
    assert path == "m/assets.extra/tf_serving_warmup_requests"
    first, second = read_warmup_requests("m", fs=fs)
    request = first.predict_log.request
    assert (request.model_spec.name, request.model_spec.signature_name) == ("mine", "serving_default")
    assert array_of_tensor(request.inputs["x"]).tolist() == rows.tolist()
    assert array_of_tensor(request.inputs["scale"]) == np.float32(2)
    assert array_of_tensor(second.predict_log.request.inputs["x"]).tolist() == (rows * 2).tolist()


def test_text_goes_as_bytes() -> None:
    fs = store()
    build_model(fs)
    meta_graph = read_saved_model("m", fs).meta_graphs[0]
    log = predict_log(meta_graph, {"word": ["red", "green"]}, "word")
    assert list(log.predict_log.request.inputs["word"].string_val) == [b"red", b"green"]


def test_values_that_a_signature_does_not_take_are_refused_all_at_once() -> None:
    fs = store()
    build_model(fs)
    with pytest.raises(InvalidArgumentError) as refused:
        write_warmup_requests("m", [{"x": np.ones((2, 5)), "extra": 1}], fs=fs)
    for words in ('"scale" is missing', '"extra" is no input', '"x" has shape (2, 5)', "x: float32 (?, 2)"):
        assert words in str(refused.value)
    for count in (0, 1001):
        with pytest.raises(InvalidArgumentError, match=f"1 to 1000 requests, got {count}"):
            write_warmup_requests("m", [{"x": np.ones((1, 2)), "scale": 1}] * count, fs=fs)
    assert read_warmup_requests("m", fs=fs) == []


def test_signatures_for_examples_take_examples() -> None:
    model = read_saved_model(ROOT / "g27_tf1_multi" / "model")
    example = Example()
    example.features.feature["word"].bytes_list.value.append(b"a")
    classify = example_log(model.meta_graphs[0], [example], "classify")
    regress = example_log(model.meta_graphs[0], [example], "regress", "mine")
    assert classify.classify_log.request.input.example_list.examples[0] == example
    assert regress.regress_log.request.model_spec.name == "mine"
    with pytest.raises(InvalidArgumentError, match="takes no examples"):
        example_log(model.meta_graphs[0], [example], "sparse")
    with pytest.raises(ValueError, match="Could not find signature"):
        example_log(MetaGraphDef(), [example])


def test_a_damaged_file_is_noticed() -> None:
    fs = store()
    build_model(fs)
    path = write_warmup_requests("m", [{"x": np.ones((1, 2)), "scale": 1}], fs=fs)
    atomic_write(fs, path, fs.contents()[path][:-1])
    with pytest.raises(DataLossError):
        read_warmup_requests("m", fs=fs)
