"""Rules for numbers where samples do not go: precision, extremes, and how many nodes common forms take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.onnx.graphs import CannotTranslateError
from tests.onnx.exported_samples import export_sample, nodes_of, own_results, run_sample
from tests.ops.sample import Sample, sample

F = np.float32
LOWEST, HIGHEST = -(2**31), 2**31 - 1
WHOLE = np.array([LOWEST, LOWEST + 1, -7, -3, -1, 0, 1, 3, 7, 100, HIGHEST - 1, HIGHEST])
RANDOM = np.random.default_rng(1)


def assert_same(name: str, given: Sample, tolerance: float = 0.0, **how: Any) -> None:
    """ONNX Runtime computes what our kernel does, relative to its size."""
    found, wanted = run_sample(name, given, **how), own_results(name, given)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=0)


# ---------------------------------------------------------------------------------------------------- Whole numbers


@pytest.mark.parametrize("name", ["FloorDiv", "FloorMod", "Div", "TruncateDiv", "Mod", "TruncateMod"])
@pytest.mark.parametrize("constant", [(), (1,)])
def test_whole_numbers_are_divided_exactly_up_to_their_ends(name: str, constant: tuple[int, ...]) -> None:
    divisors = np.array([-7, -2, -1, 1, 2, 7, HIGHEST])
    for dtype in (np.int32, np.int64):
        assert_same(name, sample(WHOLE[:, None].astype(dtype), divisors.astype(dtype), constant=constant))
        assert_same(name, sample(WHOLE.astype(dtype), np.array(7, dtype), constant=constant))
    wide = np.array([-(2**63) + 1, -(2**62) - 1, 2**62 + 1, 2**63 - 1])
    assert_same(name, sample(wide, np.array([[3], [-5], [2**40 + 1]]), constant=constant))


@pytest.mark.parametrize("name", ["FloorDiv", "Div", "TruncateDiv", "Mod", "FloorMod"])
def test_the_engine_divides_whole_numbers_by_what_is_known_not_to_be_zero_only(name: str) -> None:
    numbers = np.array([1, 2], np.int32)
    with pytest.raises(CannotTranslateError, match="the divisor is not known"):
        export_sample(name, sample(numbers, np.int32(2)), for_engine=True)
    export_sample(name, sample(numbers, np.int32(2), constant=(1,)), for_engine=True)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7])
def test_whole_numbers_to_a_known_power_wrap_round(exponent: int) -> None:
    for dtype in (np.int8, np.int32, np.int64):
        numbers = np.array([-100, -3, 0, 2, 99]).astype(dtype)
        assert_same("Pow", sample(numbers, np.array(exponent, dtype), constant=(1,)))


def test_whole_numbers_to_a_power_that_is_computed_are_refused() -> None:
    with pytest.raises(CannotTranslateError, match="the exponent of whole numbers"):
        export_sample("Pow", sample(np.array([2], np.int32), np.array([3], np.int32)))


@pytest.mark.parametrize("name", ["LeftShift", "RightShift"])
def test_shifts_keep_signs_and_all_bits(name: str) -> None:
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        limits = np.iinfo(dtype)
        numbers = np.array([limits.min, limits.min + 1, 0, 1, 5, limits.max - 1, limits.max], dtype)
        counts = np.array([[0], [1], [3], [limits.bits - 1], [limits.bits]], dtype)
        assert_same(name, sample(numbers, counts))


def test_means_of_whole_numbers_are_of_sums_that_do_not_wrap() -> None:
    assert_same("Mean", sample(np.full((3, 4), HIGHEST, np.int32), np.array([0, 1], np.int32), constant=(1,)))
    assert_same("Mean", sample(np.array([[-7, 100, 100]], np.int8), np.array([1], np.int32), constant=(1,)))


# ---------------------------------------------------------------------------------------------------- Precision

SMALL = np.array([1e-30, 1e-12, 1e-7, 3e-5, 1e-3, 0.1, 0.4, 0.6, 0.999, 1.5, 10.0, 50.0])


@pytest.mark.parametrize("name", ["Log1p", "Expm1"])
@pytest.mark.parametrize("sign", [1, -1])
def test_functions_that_are_small_near_zero_are_exact_there(name: str, sign: int) -> None:
    numbers = sign * (SMALL if sign > 0 or name == "Expm1" else SMALL[:9])
    assert_same(name, sample(numbers.astype(F)), 1e-6)
    assert_same(name, sample(numbers), 1e-14)


def test_what_is_left_of_the_error_function_is_exact_where_it_is_little() -> None:
    assert_same("Erfc", sample(np.linspace(-4, 9, 200).astype(F)), 5e-6)


@pytest.mark.parametrize("name", ["Lgamma", "Digamma"])
def test_gamma_functions_are_exact_on_both_sides_of_zero(name: str) -> None:
    numbers = np.array([*np.linspace(-9.7, 9.4, 57), 0.5, 17.5, 150.0, 1e5, 1e20, 0.0, -1.0, -4.0, np.inf, np.nan])
    for one, other in zip(run_sample(name, sample(numbers)), own_results(name, sample(numbers)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", ["Ndtri", "Erfinv"])
def test_quantiles_are_exact_in_the_tails(name: str) -> None:
    tails = 10.0 ** np.arange(-300, -1, 23)
    numbers = np.concatenate([tails, np.linspace(0.01, 0.99, 50), 1 - 10.0 ** np.arange(-15, -1, 2)])
    assert_same(name, sample(numbers), 1e-9)


def test_angles_are_those_of_all_directions() -> None:
    ends = np.array([-np.inf, -2.0, -0.0, 0.0, 1.0, np.inf, np.nan], F)
    assert_same("Atan2", sample(ends[:, None], ends), 1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 31, 64, 100, 512])
@pytest.mark.parametrize("opset", [13, 18, 24])
def test_transforms_of_any_length_and_back(length: int, opset: int) -> None:
    numbers = RANDOM.normal(size=(2, length)).astype(F)
    size = np.array([length], np.int32)
    there = sample(numbers, size, constant=(1,), Tcomplex=np.complex64)
    (waves,) = run_sample("RFFT", there, opset=opset)
    np.testing.assert_allclose(waves, np.fft.rfft(numbers), atol=2e-4)
    if length > 1:
        (back,) = run_sample("IRFFT", sample(waves, size, constant=(1,), Treal=np.float32), opset=opset)
        np.testing.assert_allclose(back, numbers, atol=2e-5)
    (whole,) = run_sample("FFT", sample(numbers.astype(np.complex64)), opset=opset)
    np.testing.assert_allclose(whole, np.fft.fft(numbers), atol=2e-4)


# ---------------------------------------------------------------------------------------------------- Few nodes

X = RANDOM.normal(size=(4, 6)).astype(F)


@pytest.mark.parametrize(
    ("name", "given", "nodes"),
    [
        ("AddV2", sample(X, X), {"Add": 1}),
        ("Mul", sample(X, F(2), constant=(1,)), {"Mul": 1}),
        ("AddN", sample([X, X, X]), {"Sum": 1}),
        ("Rsqrt", sample(X), {"Sqrt": 1, "Reciprocal": 1}),
        ("Square", sample(X), {"Mul": 1}),
        ("SquaredDifference", sample(X, X), {"Sub": 1, "Mul": 1}),
        ("Mean", sample(X, np.array([1], np.int32), constant=(1,)), {"ReduceMean": 1}),
        ("Sum", sample(X, np.array([0, 1], np.int32), constant=(1,), keep_dims=True), {"ReduceSum": 1}),
        ("Any", sample(X > 0, np.array([1], np.int32), constant=(1,)), {"ReduceMax": 1}),
        ("MatMul", sample(X, X.T), {"MatMul": 1}),
        ("MatMul", sample(X, X, transpose_b=True), {"Gemm": 1}),
        ("MatMul", sample(X, X, transpose_b=True, constant=(1,)), {"MatMul": 1}),
        ("FloorDiv", sample(np.array([7], np.uint8), np.array([2], np.uint8), constant=(1,)), {"Div": 1}),
        ("IsFinite", sample(X), {"Abs": 1, "Less": 1}),
        ("ComplexAbs", sample(X.astype(np.complex64)), {"ReduceL2": 1}),
        ("FakeQuantWithMinMaxVars", sample(X, F(-1), F(2), constant=(1, 2)),
         {"Clip": 1, "Sub": 2, "Div": 1, "Add": 1, "Floor": 1, "Mul": 1}),
    ],
)  # fmt: skip
def test_common_forms_are_few_nodes(name: str, given: Sample, nodes: dict[str, int]) -> None:
    assert dict(nodes_of(name, given)) == nodes


@pytest.mark.parametrize(
    ("equation", "shapes", "constant", "nodes"),
    [
        ("abc,cde->abde", ((2, 3, 4), (4, 2, 3)), (0,), {"MatMul": 1, "Reshape": 1}),
        ("abcd,cde->abe", ((2, 3, 4, 2), (4, 2, 5)), (0,), {"Reshape": 1, "MatMul": 1}),
        ("aecd,abcd->acbe", ((2, 5, 3, 4), (2, 6, 3, 4)), (), {"Transpose": 2, "MatMul": 1}),
        ("acbe,aecd->abcd", ((2, 3, 6, 5), (2, 5, 3, 4)), (), {"Transpose": 2, "MatMul": 1}),
        ("ab,bc->ac", ((2, 3), (3, 4)), (), {"MatMul": 1}),
        ("...ab,...bc->...ac", ((2, 5, 3, 4), (2, 5, 4, 2)), (), {"MatMul": 1}),
        ("ab,ab->ab", ((2, 3), (2, 3)), (), {"Einsum": 1}),
    ],
)
def test_equations_that_are_products_of_matrices_become_matmul(
    equation: str, shapes: tuple[tuple[int, ...], ...], constant: tuple[int, ...], nodes: dict[str, int]
) -> None:
    inputs = [RANDOM.normal(size=shape).astype(F) for shape in shapes]
    given = sample(inputs, equation=equation)
    (found,) = run_sample("Einsum", given)
    np.testing.assert_allclose(found, np.einsum(equation, *inputs), rtol=1e-5, atol=1e-5)
    if not constant:
        assert dict(nodes_of("Einsum", given)) == nodes
    else:  # weights, whose axes are made one without a node
        assert nodes_of("Einsum", given)["MatMul"] == 1


# ---------------------------------------------------------------------------------------------------- Refusals


def test_equality_of_shapes_that_do_not_fit_is_a_constant_where_that_is_no_error() -> None:
    given = sample(np.array([1, 2], np.int32), np.array([1, 2, 3], np.int32), incompatible_shape_error=False)
    assert not run_sample("Equal", given)[0]
    assert run_sample("NotEqual", given)[0]
    with pytest.raises(CannotTranslateError, match="whether the shapes fit"):
        export_sample("Equal", given, shapes="rank", for_engine=True)


def test_casts_whose_ends_are_left_open_stay_with_our_kernels() -> None:
    export_sample("Cast", sample(X, DstT=np.int32), for_engine=True)
    with pytest.raises(CannotTranslateError, match="beyond the ends of uint8"):
        export_sample("Cast", sample(X, DstT=np.uint8), for_engine=True)


def test_strings_are_compared_from_opset_19() -> None:
    given = sample(np.array([b"a", b"b"], object), np.array(b"a", object))
    assert run_sample("Equal", given, opset=19)[0].tolist() == [True, False]
    with pytest.raises(CannotTranslateError, match="needs opset 19"):
        export_sample("Equal", given, opset=18)


# ---------------------------------------------------------------------------------------------------- Counts


@pytest.mark.parametrize("weights", [[], [0.5, 2.0, 1.0, 4.0]], ids=["none", "four"])
@pytest.mark.parametrize("name", ["Bincount", "DenseBincount"])
def test_whether_values_have_weights_may_be_known_only_when_the_model_runs(name: str, weights: list[float]) -> None:
    binary = {} if name == "Bincount" else {"binary_output": False}
    given = sample(np.array([1, 0, 3, 1], np.int32), np.int32(5), np.array(weights, F), constant=(1,), **binary)
    assert_same(name, given, shapes="rank")
