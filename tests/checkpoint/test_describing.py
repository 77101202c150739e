"""What TensorFlow's reader says of a checkpoint, said by us."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    BundleWriter,
    CheckpointFormat,
    InternalError,
    MemoryFileSystem,
    MissingFileError,
    NotFoundError,
    SaveOptions,
    Variant,
    WrongTypeError,
    save_checkpoint,
)
from tensorkeep.checkpoint.describing import CheckpointDescription, hash_order

TENSORS = {
    "w": np.zeros((2, 3), np.float32),
    "step": np.array(7, np.int64),
    "text": np.array(b"x", object),
    "texts": np.array([b"x", b""], object),
}


@pytest.fixture
def fs() -> MemoryFileSystem:
    store = MemoryFileSystem()
    save_checkpoint("m", TENSORS, fs=store)
    save_checkpoint("v1", TENSORS, SaveOptions(format=CheckpointFormat.V1), fs=store)
    return store


def test_a_line_for_each_tensor(fs):
    lines = b"step (DT_INT64) []\ntext (DT_STRING) []\ntexts (DT_STRING) [2]\nw (DT_FLOAT) [2,3]\n"
    with CheckpointDescription.open("m", fs=fs) as found:
        assert found.debug_string() == lines
    with CheckpointDescription.open("v1", fs=fs) as found:
        assert sorted(found.debug_string().splitlines()) == lines.splitlines()


def test_a_tensor_in_slices_has_lines_for_them(fs):
    with BundleWriter("s", fs=fs) as writer:
        for at in (0, 2):
            writer.add_slice("x", (4,), np.s_[at : at + 2], np.zeros(2))
    with CheckpointDescription.open("s", fs=fs) as found:
        lines = found.debug_string().splitlines()
        assert [line.endswith(b" (DT_DOUBLE) [2]") for line in lines] == [True, True]
        assert found.shapes() == {"x": [4]}
        assert all(found.has(line.rpartition(b" (")[0]) for line in lines)


def test_scalars_are_numpy_s_and_a_string_is_bytes(fs):
    for path in ("m", "v1"):
        with CheckpointDescription.open(path, fs=fs) as found:
            assert type(found.value("step")) is np.int64
            assert found.value(b"text") == b"x"
            assert found.value("texts").tolist() == [b"x", b""]
            assert found.value("w").shape == (2, 3)


def test_what_is_not_there(fs):
    for path, message in (("m", "Key zz not found in checkpoint"), ("v1", "zz not found in checkpoint file")):
        with CheckpointDescription.open(path, fs=fs) as found:
            assert not found.has("zz")
            with pytest.raises(NotFoundError, match=f"^{message}$"):
                found.value("zz")
            with pytest.raises(WrongTypeError, match="Expected binary or unicode string, got 3"):
                found.has(3)  # type: ignore[arg-type]
    with pytest.raises(MissingFileError, match="Failed to find any matching files for zz "):
        CheckpointDescription.open("zz", fs=fs)


def test_a_variant_has_no_array(fs):
    save_checkpoint("var", {"v": Variant(np.array(b"", object))}, fs=fs)
    with (
        CheckpointDescription.open("var", fs=fs) as found,
        pytest.raises(InternalError, match="Tensorflow type 21 not convertible to numpy dtype"),
    ):
        found.value("v")


def test_the_order_of_the_hash_table_of_libstdc():
    """As a C++ program with std::unordered_map lists them."""
    assert hash_order(["b", "dbl", "step", "strs", "w"]) == ["strs", "step", "w", "dbl", "b"]
    assert hash_order([]) == []


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=100))
def test_an_order_has_each_name_once(names):
    assert sorted(hash_order(names)) == sorted(set(names))
