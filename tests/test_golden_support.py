from __future__ import annotations

import ml_dtypes
import pytest

from tests.support.golden import cases, decode, expected, expected_tensors, golden


def test_a_folder_is_found_by_its_name() -> None:
    assert (golden("g01_v2_single_ref") / "model.ckpt-100.index").is_file()


def test_an_unknown_case_names_the_known_ones() -> None:
    with pytest.raises(LookupError, match="g01_v2_single_ref"):
        golden("g99")


def test_plain_arrays_keep_dtype_and_shape() -> None:
    tensors = expected_tensors("g01_v2_single_ref")
    assert tensors["global_step"][0] == "DT_INT64"
    assert tensors["global_step"][1].shape == ()
    dtype, weights = tensors["layer1/weights"]
    assert (dtype, weights.dtype.name, weights.shape) == ("DT_FLOAT", "float32", (4, 3))


def test_bit_patterns_are_seen_as_the_type_they_stand_for() -> None:
    tensors = expected_tensors("g06_v2_dtypes")
    int4 = tensors["dt/int4"][1]
    assert int4.dtype == ml_dtypes.int4
    assert int4.astype(int).tolist() == [*range(-8, 0), *range(8)]
    assert tensors["dt/float4_e2m1fn"][1].astype(float).tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6, -6, -0.5]
    assert tensors["dt/bfloat16"][1].dtype == ml_dtypes.bfloat16


def test_quantized_values_are_plain_integers() -> None:
    dtype, values = expected_tensors("g13_v1_dtypes")["qint32"]
    assert (dtype, values.dtype.name) == ("DT_QINT32", "int32")


def test_strings_are_bytes_in_their_shape() -> None:
    dtype, strings = expected_tensors("g06_v2_dtypes")["dt/string"]
    assert (dtype, strings.shape) == ("DT_STRING", (2, 2))
    assert strings[0].tolist() == [b"alpha", b""]
    assert strings[1, 0] == b"\x00\xff\x80bin"


def test_a_tensor_inside_a_run_can_be_decoded_too() -> None:
    run = expected("g27_tf1_multi")["runs"][0]
    assert decode("g27_tf1_multi", run["inputs"]["examples"], "inputs").shape == (3,)
    assert decode("g27_tf1_multi", run["outputs"]["scores"], "outputs").shape == (3, 3)


def test_expectations_cannot_be_changed_by_a_test() -> None:
    for _, array in expected_tensors("g02_v2_single_resource").values():
        assert not array.flags.writeable


@pytest.mark.parametrize("case", [case for case in cases() if "tensors" in expected(case)])
def test_every_section_of_tensors_decodes(case: str) -> None:
    listed = expected(case)["tensors"]
    tensors = expected_tensors(case)
    assert {name: list(array.shape) for name, (_, array) in tensors.items()} == {
        name: entry["shape"] for name, entry in listed.items()
    }
