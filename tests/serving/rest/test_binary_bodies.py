"""Arrays in bodies without JSON: .npy, .npz, forms and Arrow, in and out."""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensorkeep.io.files.numpy_files import decode_npy, encode_npy, encode_npz
from tensorkeep.serving.rest.arrow_bodies import decode_arrow, encode_arrow
from tensorkeep.serving.rest.binary_bodies import ARROW, JSON, NPY, NPZ
from tensorkeep.serving.rest.options import RestOptions
from tests.serving.rest.stand_in import (
    Reply,
    StandInModel,
    application,
    ask,
    echo,
    function_model,
    signature,
)
from tests.support.depth import examples

ECHO = application(m=echo("float32"), s=echo("string"), b=echo("bfloat16"))


def both(key: str, arrays: Any) -> dict[str, np.ndarray]:
    return {"sum": arrays["a"] + arrays["b"], "difference": arrays["a"] - arrays["b"]}


TWO = application(m=function_model(both, a="float32", b="float32"))


def post(app: Any, kind: str, body: bytes, target: str = "/v1/models/m:predict", **headers: str) -> Reply:
    return ask(app, "POST", target, body, {"content-type": kind, **headers})


def npz(reply: Reply) -> dict[str, np.ndarray]:
    assert (reply.status, reply.headers["content-type"]) == (200, NPZ), reply.body
    with np.load(io.BytesIO(reply.body)) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_an_npy_comes_back_as_an_npy(order: Any, dtype: str) -> None:
    array = np.asarray(np.arange(6, dtype=dtype).reshape(2, 3), order=order)
    reply = post(ECHO, NPY, encode_npy(array))
    assert (reply.status, reply.headers["content-type"]) == (200, NPY)
    np.testing.assert_array_equal(np.load(io.BytesIO(reply.body)), array)


def test_strings_travel_as_fixed_widths() -> None:
    for array in (np.array(["a", "é"]), np.array([b"a", "é".encode()])):
        reply = post(ECHO, NPY, encode_npy(array), "/v1/models/s:predict")
        assert np.load(io.BytesIO(reply.body)).tolist() == [b"a", "é".encode()]


def test_strings_that_end_in_zeros_are_refused_rather_than_cut() -> None:
    app = application(m=function_model(lambda key, arrays: {"y": np.array([b"a\0"], object)}, x="float32"))
    reply = post(app, NPY, encode_npy(np.zeros(1, np.float32)))
    assert (reply.status, "zero bytes" in reply.error) == (400, True)
    assert post(app, NPY, encode_npy(np.zeros(1, np.float32)), accept=JSON).json == {"outputs": ["a\0"]}


def test_types_that_numpy_does_not_know_travel_by_their_bits() -> None:
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    reply = post(ECHO, NPY, encode_npy(array), "/v1/models/b:predict")
    assert np.load(io.BytesIO(reply.body)).view(ml_dtypes.bfloat16).tolist() == [1.5, -2]


def test_several_inputs_come_in_an_npz_and_several_outputs_go_in_one() -> None:
    body = encode_npz({"a": np.array([3], np.float32), "b": np.array([1], np.float32)})
    found = npz(post(TWO, NPZ, body))
    assert {name: array.tolist() for name, array in found.items()} == {"difference": [2], "sum": [4]}
    assert post(TWO, NPZ, body, accept=JSON).json == {"outputs": {"difference": [2.0], "sum": [4.0]}}


def test_several_inputs_come_in_a_form() -> None:
    parts = [
        b'--xyz\r\nContent-Disposition: form-data; name="%b"; filename="f.npy"\r\n'
        b"Content-Type: application/x-npy\r\n\r\n%b\r\n" % (name, encode_npy(np.array([value], np.float32)))
        for name, value in ((b"a", 3), (b"b", 1))
    ]
    kind = 'multipart/form-data; boundary="xyz"'
    assert npz(post(TWO, kind, b"".join(parts) + b"--xyz--\r\n"))["sum"].tolist() == [4]
    assert post(TWO, kind, b"".join(parts)).status == 400
    assert post(TWO, "multipart/form-data", b"").status == 400
    assert post(TWO, kind, b"--xyz\r\n\r\nno name\r\n--xyz--").status == 400


def test_one_array_is_not_enough_for_two_inputs() -> None:
    reply = post(TWO, NPY, encode_npy(np.zeros(1, np.float32)))
    assert (reply.status, reply.error) == (400, "The body has one array, but expecting arrays for several inputs: a,b")


def test_the_signature_is_named_by_the_query() -> None:
    def compute(key: str, arrays: Any) -> dict[str, np.ndarray]:
        return {"y": arrays["x"] * (10 if key == "tens" else 1)}

    made = signature({"x": "float32"})
    app = application(m=StandInModel({"serving_default": made, "tens": made}, compute))
    body = encode_npy(np.ones(1, np.float32))
    reply = post(app, NPY, body, "/v1/models/m:predict?signature_name=tens", accept=JSON)
    assert reply.json == {"outputs": [10.0]}
    assert post(app, NPY, body, "/v1/models/m:predict?signature_name=no").status == 400


def test_json_may_be_answered_by_an_npy() -> None:
    reply = post(ECHO, JSON, b'{"instances": [1, 2]}', accept="text/html, application/x-npy;q=0.9")
    assert reply.headers["content-type"] == NPY
    assert np.load(io.BytesIO(reply.body)).tolist() == [1, 2]


def test_a_table_comes_in_and_goes_out() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    body = encode_arrow({"a": matrix, "b": matrix})
    reply = post(TWO, ARROW, body)
    assert reply.headers["content-type"] == ARROW
    np.testing.assert_array_equal(decode_arrow(reply.body)["sum"], matrix * 2)
    with pa.ipc.open_stream(reply.body) as stream:
        assert stream.read_all().column_names == ["difference", "sum"]


def stream_of(**columns: Any) -> bytes:
    batch = pa.record_batch(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_columns_of_plain_lists_and_texts_are_arrays() -> None:
    body = stream_of(
        x=pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)),
        s=pa.array(["é"]),
        b=pa.array([b"\xff"]),
        t=pa.array([True]),
    )
    found = decode_arrow(body)
    assert found["x"].tolist() == [[1, 2], [1, 2]]
    assert found["s"].tolist() == ["é".encode()] * 2
    assert found["b"].tolist() == [b"\xff"] * 2
    assert found["t"].tolist() == [True, True]


@pytest.mark.parametrize("column", [pa.array([1, None]), pa.array([[1], [2, 3]]), pa.array([{"a": 1}])])
def test_columns_that_are_no_tensors_are_refused(column: Any) -> None:
    assert post(ECHO, ARROW, stream_of(x=column)).status == 400


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.int8, np.uint64, np.bool_]),
        hnp.array_shapes(min_dims=1, max_dims=4, max_side=3),
    )
)
@examples(60)
def test_arrays_survive_every_form(array: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_npy(encode_npy(array), "x"), array)
    found = decode_arrow(encode_arrow({"x": array}))["x"]
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype


def test_strings_survive_arrow() -> None:
    array = np.array([[b"a", b"b\0"], [b"", b"\xff"]], object)
    assert decode_arrow(encode_arrow({"x": array}))["x"].tolist() == array.tolist()


class Harmful:
    def __reduce__(self) -> Any:
        return (exec, ("raise AssertionError('it ran')",))


def test_pickles_are_refused() -> None:
    array = np.array([Harmful()], object)
    target = io.BytesIO()
    np.save(target, array, allow_pickle=True)
    reply = post(ECHO, NPY, target.getvalue())
    assert reply.status == 400
    assert "pickle" in reply.error
    assert post(ECHO, NPY, pickle.dumps(Harmful())).status == 400


@given(st.integers(0, 200), st.integers(0, 255))
@examples(100)
def test_a_damaged_npy_is_an_array_or_refused(place: int, byte: int) -> None:
    body = bytearray(encode_npy(np.zeros((2, 3), np.float32)))
    body[place % len(body)] = byte
    assert post(ECHO, NPY, bytes(body)).status in (200, 400)
    assert post(ECHO, NPY, bytes(body[:place])).status in (200, 400)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': 'S0', 'fortran_order': False, 'shape': (99999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }",
        "{'descr': '<f4', 'shape': (1,), }",
        "[" * 500,
        "__import__('os')",
    ],
)
def test_a_header_that_lies_is_refused(header: str) -> None:
    text = header.encode()
    assert post(ECHO, NPY, b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 8).status == 400


def test_an_npz_that_is_huge_when_unpacked_is_refused() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", encode_npy(np.zeros(1 << 20, np.uint8)))
    app = application(RestOptions(most_body=100_000), m=echo("float32"))
    assert len(target.getvalue()) < 100_000
    reply = post(app, NPZ, target.getvalue())
    assert (reply.status, "at most 100000 are taken" in reply.error) == (400, True)


@pytest.mark.parametrize("kind", [NPY, NPZ, ARROW])
@pytest.mark.parametrize("body", [b"", b"x", b"PK\x03\x04", b"\xff\xff\xff\xff\0\0\0\0"])
def test_other_bytes_are_refused(kind: str, body: bytes) -> None:
    assert post(ECHO, kind, body).status == 400
