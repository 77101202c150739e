"""What can be written, and what is written for it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensorkeep import ArraySource, InvalidArgumentError, MemoryFileSystem, Variant, load_tensor, save_checkpoint
from tensorkeep.dtypes import ALL_DTYPES, DType

NUMERIC = [dtype for dtype in ALL_DTYPES if not dtype.is_object]
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


def stored(value: object, dtype: object = None) -> bytes:
    """The bytes that would be written."""
    return b"".join(bytes(piece) for piece in ArraySource.of(value, dtype).buffers())


def little(array: np.ndarray) -> bytes:
    """What they should be: the elements, row by row, little-endian."""
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


class TestArrays:
    @pytest.mark.parametrize("dtype", NUMERIC, ids=str)
    def test_every_type_is_recognised(self, dtype):
        array = np.zeros((2, 3), dtype.array_dtype)
        source = ArraySource.of(array, dtype if dtype.quantized else None)
        assert (source.dtype, source.shape) == (dtype, (2, 3))
        assert source.nbytes == 6 * dtype.itemsize
        assert source.gather().dtype == dtype.array_dtype

    @pytest.mark.parametrize(
        "array",
        [
            MATRIX,
            np.asfortranarray(MATRIX),
            MATRIX.T,
            MATRIX[::2, ::-1],
            MATRIX[:, 1:3],
            MATRIX.astype(">f4"),
            np.asfortranarray(MATRIX.astype(">f4")),
            np.broadcast_to(np.float32(7), (3, 4)),
            np.float32(2.5),
            np.array(2.5, np.float32),
            np.array(2.5, ">f8"),
            np.zeros((0, 4), np.float32),
            np.zeros((4, 0), np.float32).T,
            MATRIX.astype(ml_dtypes.bfloat16),
            MATRIX.astype(ml_dtypes.bfloat16).T,
            MATRIX.astype(ml_dtypes.bfloat16)[::2],
            MATRIX.astype(ml_dtypes.float8_e4m3fn)[:, ::2],
            MATRIX.astype(np.complex128).T,
            MATRIX.astype(">c8"),
            MATRIX.astype(bool)[:, ::2],
            MATRIX.astype(np.float16).T,
        ],
        ids=lambda array: f"{array.dtype}{array.shape}{array.strides}",
    )
    def test_any_layout_is_stored_row_by_row_and_little_endian(self, array):
        assert stored(array) == little(array)
        source = ArraySource.of(array)
        assert source.shape == array.shape
        assert source.gather().reshape(array.shape).tobytes() == little(array)

    @given(hnp.arrays(np.dtype(">i4"), hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)), st.data())
    def test_any_view_is_stored_as_what_it_shows(self, array, data):
        view = array.transpose(data.draw(st.permutations(range(array.ndim))))
        view = view[tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1]))) for _ in view.shape)]
        assert stored(view) == little(view)

    @pytest.mark.parametrize("dtype", [dtype for dtype in NUMERIC if dtype.bits], ids=str)
    def test_bits_that_mean_nothing_are_stored_as_zeros(self, dtype):
        full = np.full(4, 0xFF, np.uint8).view(dtype.array_dtype)
        assert stored(full) == bytes([(1 << dtype.bits) - 1]) * 4
        assert stored(full.reshape(2, 2).T[::-1]) == bytes([(1 << dtype.bits) - 1]) * 4

    def test_an_array_that_lies_ready_is_not_copied(self):
        (piece,) = ArraySource.of(MATRIX).buffers()
        assert np.shares_memory(np.frombuffer(piece, np.uint8), MATRIX)

    def test_gathering_a_strided_array_takes_little_memory(self):
        wide = np.zeros((1 << 20, 8), np.float32)
        tracemalloc.start()
        try:
            for _ in ArraySource.of(wide[:, ::2]).buffers():
                pass
            assert tracemalloc.get_traced_memory()[1] < 8 << 20  # the view holds 16 MiB
        finally:
            tracemalloc.stop()

    def test_a_source_is_taken_as_it_is(self):
        source = ArraySource.of(MATRIX)
        assert ArraySource.of(source) is source


class TestQuantisedTypes:
    def test_are_named_for_plain_integers(self):
        source = ArraySource.of(np.array([-3, 4], np.int8), "qint8")
        assert source.dtype is DType.of("qint8")
        assert stored(np.array([-3, 4], np.int8), "qint8") == b"\xfd\x04"

    def test_are_known_by_the_structured_type_tensorflow_uses(self):
        array = np.array([(1,), (-2,)], [("qint16", np.int16)])
        assert ArraySource.of(array).dtype is DType.of("qint16")
        assert stored(array) == bytes.fromhex("0100feff")
        assert stored(np.array([[(1,), (2,)], [(3,), (4,)]], [("quint8", np.uint8)]).T) == b"\x01\x03\x02\x04"

    def test_another_integer_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="qint8 tensors are stored from int8 arrays, got int32"):
            ArraySource.of(np.array([1], np.int32), "qint8")

    def test_another_structure_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="TensorFlow has no type for NumPy's"):
            ArraySource.of(np.zeros(2, [("a", np.int8), ("b", np.int8)]))


class TestOtherObjects:
    @pytest.mark.parametrize(
        ("value", "dtype", "shape"),
        [
            (3.5, "float64", ()),
            (True, "bool", ()),
            (7, "int64", ()),
            (1j, "complex128", ()),
            ([1, 2, 3], "int64", (3,)),
            ([[1.0, 2.0], [3.0, 4.0]], "float64", (2, 2)),
            (((True,), (False,)), "bool", (2, 1)),
            (range(4), "int64", (4,)),
            ([], "float64", (0,)),
            (memoryview(MATRIX), "float32", (3, 4)),
            (bytearray(b"ab"), "uint8", (2,)),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, memoryview) else repr(value),
    )
    def test_python_values(self, value, dtype, shape):
        source = ArraySource.of(value)
        assert (source.dtype.name, source.shape) == (dtype, shape)
        assert source.gather().tobytes() == np.asarray(value).tobytes()

    def test_what_has_only_dlpack(self):
        class Foreign:
            def __dlpack__(self, **options: object) -> object:
                return MATRIX.__dlpack__()

            def __dlpack_device__(self) -> tuple[int, int]:
                return MATRIX.__dlpack_device__()

        assert stored(Foreign()) == little(MATRIX)
        assert ArraySource.of(Foreign()).shape == (3, 4)

    def test_what_has_only_an_array(self):
        class Foreign:
            def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
                return MATRIX

        assert stored(Foreign()) == little(MATRIX)

    def test_a_tensor_with_a_gradient_on_another_device(self):
        steps = []

        class Tensor:
            """Behaves as PyTorch's does: neither protocol works before it was detached and moved."""

            def __init__(self, place: str) -> None:
                self.place = place

            def detach(self) -> Tensor:
                steps.append("detach")
                return Tensor("device")

            def cpu(self) -> Tensor:
                steps.append("cpu")
                return Tensor("cpu")

            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0) if self.place == "cpu" else (2, 0)

            def __dlpack__(self, **options: object) -> object:
                assert self.place == "cpu"
                return MATRIX.__dlpack__()

        assert stored(Tensor("with gradient")) == little(MATRIX)
        assert steps[:2] == ["detach", "cpu"]

    @pytest.mark.parametrize("value", [None, object(), {"a": 1}, [1, None], [[1], [2, 3]], {1, 2}], ids=type)
    def test_what_is_no_array_is_refused(self, value):
        with pytest.raises(InvalidArgumentError, match=f"cannot take {type(value).__name__} for an array"):
            ArraySource.of(value)

    def test_one_that_fails_to_become_one_is_refused(self):
        class Broken:
            def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
                raise RuntimeError("on strike")

        with pytest.raises(InvalidArgumentError, match="cannot take Broken for an array: on strike"):
            ArraySource.of(Broken())

    @pytest.mark.parametrize("array", [np.zeros(2, "M8[s]"), np.zeros(2, "m8[s]"), np.zeros(2, "V3")], ids=str)
    def test_types_tensorflow_lacks_are_refused_with_those_it_has(self, array):
        with pytest.raises(InvalidArgumentError, match=r"TensorFlow has no type for NumPy's .*; convert .* float32"):
            ArraySource.of(array)

    def test_a_resource_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="cannot be stored in a checkpoint"):
            ArraySource.of([b"x"], "resource")

    def test_a_negative_size_is_refused(self):
        with pytest.raises(InvalidArgumentError, match=r"\[2, -1\] cannot be a shape"):
            ArraySource(DType.of("float32"), (2, -1), ())


class TestStrings:
    @pytest.mark.parametrize(
        "value",
        [
            np.array([b"a", b"", b"ccc"], object),
            np.array([b"a", b"", b"ccc"], "S"),
            np.array(["a", "", "ccc"]),
            np.array(["a", "", "ccc"], object),
            ["a", "", "ccc"],
            [b"a", b"", b"ccc"],
            ("a", b"", "ccc"),
            np.array(["a", "", "ccc"], np.dtypes.StringDType())
            if hasattr(np.dtypes, "StringDType")
            else ["a", "", "ccc"],
        ],
        ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}",
    )
    def test_bytes_and_text_in_any_array(self, value):
        source = ArraySource.of(value)
        assert (source.dtype.name, source.shape) == ("string", (3,))
        assert source.elements() == [b"a", b"", b"ccc"]

    def test_text_is_stored_as_utf_8(self):
        assert ArraySource.of("naïve 🐍").elements() == ["naïve 🐍".encode()]

    def test_a_name_that_was_not_utf_8_comes_back(self):
        assert ArraySource.of(b"\xff\xfe".decode("utf-8", "surrogateescape")).elements() == [b"\xff\xfe"]

    def test_a_scalar(self):
        for value in (b"x", "x", np.bytes_(b"x"), np.str_("x"), np.array("x")):
            source = ArraySource.of(value)
            assert (source.shape, source.elements()) == ((), [b"x"])

    def test_order_is_row_by_row(self):
        array = np.array([["a", "b"], ["c", "d"]], object).T
        assert ArraySource.of(array).elements() == [b"a", b"c", b"b", b"d"]

    @pytest.mark.parametrize("array", [np.array([b"a", 3], object), np.array(["a", None], object)])
    def test_other_objects_are_refused(self, array):
        with pytest.raises(InvalidArgumentError, match=r"element 1 of a string tensor is (int|NoneType), expected"):
            ArraySource.of(array).elements()

    def test_numbers_are_no_strings(self):
        with pytest.raises(InvalidArgumentError, match="string tensors hold bytes or text, got an array of int64"):
            ArraySource.of([1, 2], "string")

    def test_variants_are_told_by_their_class(self):
        array = np.array([Variant(b"x"), Variant(b"y")], object)
        assert ArraySource.of(array).dtype.name == "variant"
        assert ArraySource.of(np.array([Variant(b"x"), b"y"], object)).dtype.name == "string"
        assert ArraySource.of(np.array([b"x"], object), "variant").dtype.name == "variant"

    def test_the_size_is_known_where_the_strings_are(self):
        assert ArraySource.of([b"abc", b""]).nbytes == 5
        assert ArraySource(DType.of("string"), (2,), iter([np.array([b"abc", b""], object)])).nbytes == 0


def chunked(*chunks: np.ndarray) -> Iterator[np.ndarray]:
    yield from chunks


class TestChunks:
    def test_are_written_one_after_the_other(self):
        source = ArraySource(DType.of("float32"), (3, 4), chunked(MATRIX[:1], MATRIX[1:].T.T, MATRIX[3:]))
        assert source.gather().tobytes() == little(MATRIX)

    def test_may_have_any_shape_and_byte_order(self):
        source = ArraySource(DType.of("float32"), (3, 4), chunked(MATRIX[:2].reshape(-1).astype(">f4"), MATRIX[2]))
        assert source.gather().tobytes() == little(MATRIX)

    @pytest.mark.parametrize("kept", [2, 0])
    def test_too_few_are_an_error(self, kept):
        source = ArraySource(DType.of("float32"), (3, 4), chunked(MATRIX[:kept]))
        with pytest.raises(InvalidArgumentError) as caught:
            source.gather()
        assert str(caught.value) == f"a source of shape [3, 4] gave {4 * kept} elements, expected 12"

    def test_too_many_are_an_error(self):
        with pytest.raises(InvalidArgumentError, match="gave 24 elements, expected 12"):
            ArraySource(DType.of("float32"), (3, 4), chunked(MATRIX, MATRIX)).gather()

    def test_of_another_type_are_an_error(self):
        with pytest.raises(InvalidArgumentError, match="a chunk of float64 in a source of float32"):
            ArraySource(DType.of("float32"), (3, 4), chunked(MATRIX.astype(np.float64))).gather()

    def test_of_strings(self):
        chunks = chunked(np.array([[b"a"], [b"b"]], object), np.array(["c"]))
        assert ArraySource(DType.of("string"), (3,), chunks).elements() == [b"a", b"b", b"c"]
        with pytest.raises(InvalidArgumentError, match="gave 1 elements, expected 3"):
            ArraySource(DType.of("string"), (3,), chunked(np.array([b"a"], object))).elements()

    def test_a_wrong_source_leaves_nothing_behind(self):
        fs = MemoryFileSystem()
        with pytest.raises(InvalidArgumentError, match="gave 4 elements, expected 12"):
            save_checkpoint("x", {"a": ArraySource(DType.of("float32"), (3, 4), chunked(MATRIX[:1]))}, fs=fs)
        assert fs.contents() == {}

    def test_a_source_that_fails_leaves_nothing_behind(self):
        def chunks() -> Iterator[np.ndarray]:
            yield MATRIX[:1]
            raise OSError("the other end hung up")

        fs = MemoryFileSystem()
        with pytest.raises(OSError, match="the other end hung up"):
            save_checkpoint("x", {"a": ArraySource(DType.of("float32"), (3, 4), chunks())}, fs=fs)
        assert fs.contents() == {}

    @given(st.lists(st.integers(0, 12), max_size=5))
    def test_where_they_are_cut_does_not_matter(self, cuts):
        fs = MemoryFileSystem()
        flat = MATRIX.reshape(-1)
        edges = [0, *sorted(cuts), 12]
        pieces = (flat[start:stop] for start, stop in pairwise(edges))
        save_checkpoint("x", {"a": ArraySource(DType.of("float32"), (3, 4), pieces)}, fs=fs)
        assert np.array_equal(load_tensor("x", "a", fs=fs), MATRIX)
