"""Samples of element-wise functions of one input, and of conversions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf
FLOATS = (np.float32, np.float64, np.float16, BFLOAT16)
WHOLE = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
COMPLEX = (np.complex64, np.complex128)

ANY = np.array([[-2.5, -1.0, -0.25], [0.5, 1.0, 3.25]])
POSITIVE = np.array([[0.1, 0.5, 1.0], [1.5, 2.0, 10.0]])
INSIDE = np.array([[-0.9, -0.5, -0.1], [0.1, 0.5, 0.9]])
ABOVE_ONE = POSITIVE + 1.0
AWKWARD = np.array([NAN, INF, -INF, 0.0, -0.0, 1e30, -1e30, 1e-30])
PLANE = np.array([0.5 + 0.25j, -1.0 + 0.75j, 1.25 - 0.5j])
WHOLE_NUMBERS = np.array([[-7, 0, 3], [1, -1, 100]])


def unary(
    points: Any = ANY,
    *,
    kinds: tuple[Any, ...] = FLOATS,
    whole: tuple[Any, ...] = (),
    planes: tuple[Any, ...] = COMPLEX,
    awkward: bool = True,
    awkward_gradient: bool = False,
    gradient: bool = True,
) -> list[Sample]:
    """A function on points of every type, on a scalar, on nothing, and on what is not a number."""
    found = [sample(points.astype(kind), gradient=gradient) for kind in kinds]
    found += [sample(WHOLE_NUMBERS.astype(kind)) for kind in whole]
    found += [sample(PLANE.astype(kind), gradient=gradient) for kind in planes]
    found += [
        sample(np.float32(points.flat[-1]), gradient=gradient),
        sample(np.zeros((2, 0), np.float32), gradient=gradient),
    ]
    if awkward:
        found += [
            sample(AWKWARD.astype(kind), gradient=gradient and awkward_gradient) for kind in (np.float32, np.float64)
        ]
    return found


def gradient_op(points: Any = ANY) -> list[Sample]:
    """A gradient from a result and the gradient of it, one of them nothing beside an infinity."""
    slopes = np.array([[0.5, -1.0, 0.0], [2.0, 1.5, -0.5]])
    return [
        *(sample(points.astype(kind), slopes.astype(kind)) for kind in (*FLOATS, *COMPLEX)),
        *(sample(PLANE.astype(kind), (PLANE * 1j)[::-1].astype(kind)) for kind in COMPLEX),
        sample(np.float32([INF, 0.0, NAN, 2.0]), np.float32([0.0, 0.0, 1.0, INF]), gradient=False),
        sample(np.float32(0.5), np.float32(2.0)),
        sample(np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)),
        sample(np.float32([[0.5], [2.0]]), np.float32([3.0, -1.0]), gradient=False),  # by position, not broadcast
        sample(np.float32([[0.5], [2.0]]), np.float32([3.0]), fails=True),
    ]


def parts() -> list[Sample]:
    values = np.array([1.5 - 2.0j, -0.5 + 0.25j, 3.0 + 0.0j])
    return [
        sample(values.astype(np.complex64), Tout=np.float32),
        sample(values.astype(np.complex128), T=np.complex128, Tout=np.float64),
        sample(np.complex64(1 + 2j), Tout=np.float32),
        sample(np.zeros((0,), np.complex64), Tout=np.float32),
    ]


def casts() -> list[Sample]:
    numbers = np.array([[0.0, 1.0, 2.75], [100.4, 77.5, 3.5]])
    found = []
    kinds = (*FLOATS, *WHOLE, *UNSIGNED, *COMPLEX, np.bool_)
    for source in kinds:
        for target in kinds:
            if not (np.dtype(source).kind == "c" and np.dtype(target).kind not in "cf"):
                found.append(sample(numbers.astype(source), DstT=target, gradient=source in (np.float32, np.float16)))
    signed = np.array([-2.75, -100.4, -0.5])
    found += [sample(signed.astype(source), DstT=target) for source in FLOATS for target in WHOLE]
    found += [
        sample(np.float32([NAN, INF, -INF, 1e20, -1e20]), DstT=target, gradient=False)
        for target in (np.int32, np.int64, np.float16, BFLOAT16, np.float64, np.bool_)
    ]
    beyond = np.resize([-1.5, 300, -300.7, 1e5, -1e5, 3e9, -3e9, 1e10, -1e18, 2e19, NAN, INF, -INF, 32768, 0.7], 77)
    for source in (*FLOATS, BFLOAT16):
        with np.errstate(over="ignore"):
            numbers = beyond.astype(source)
        found += [sample(numbers, DstT=target, gradient=False) for target in (*WHOLE, *UNSIGNED)]
    found += [
        sample(np.int64([2**40 + 5, -(2**40) - 5, 300, -1]), DstT=target) for target in (*WHOLE, *UNSIGNED, np.float32)
    ]
    fine = np.array([1.0 + 2.0**-9, 1.0 + 2.0**-12, -3.0 - 2.0**-8, 0.1])
    found += [
        sample(fine.astype(source), DstT=target, Truncate=True, gradient=False)
        for source, target in (
            (np.float32, BFLOAT16),
            (np.float32, np.float16),
            (np.float64, np.float32),
            (np.float64, BFLOAT16),
            (np.float32, np.float64),
            (np.float32, np.int32),
        )
    ]
    found += [
        sample(np.float32(2.5), DstT=np.int32),
        sample(np.zeros((0, 3), np.float32), DstT=np.float64),
        sample(strings([b"a"]), DstT=np.float32, fails=True),
    ]
    return found


SAMPLES = {
    "Neg": unary(whole=WHOLE, awkward_gradient=True),
    "Abs": unary(whole=WHOLE, planes=(), awkward_gradient=True),
    "Sign": [*unary(whole=WHOLE), sample(np.zeros(2, np.complex64))],
    "Square": [*unary(whole=(*WHOLE, *UNSIGNED), awkward_gradient=True), sample(np.int32([2**20, -(2**31)]))],
    "Sqrt": unary(POSITIVE),
    "Rsqrt": unary(POSITIVE),
    "Reciprocal": unary(),
    "Inv": unary(),
    "Exp": unary(),
    "Expm1": unary(),
    "Log": unary(POSITIVE),
    "Log1p": unary(POSITIVE),
    "Sigmoid": [*unary(), sample(np.float32([-200.0, 200.0, -80.0, 20.0]))],
    "Sin": unary(awkward=False),
    "Cos": unary(awkward=False),
    "Tan": unary(INSIDE, awkward=False),
    "Asin": unary(INSIDE, planes=COMPLEX),
    "Acos": unary(INSIDE, planes=COMPLEX),
    "Atan": unary(),
    "Sinh": unary(),
    "Cosh": unary(),
    "Tanh": unary(),
    "Asinh": unary(awkward=False),
    "Acosh": unary(ABOVE_ONE),
    "Atanh": unary(INSIDE),
    "Floor": unary(planes=()),
    "Ceil": unary(planes=()),
    "Rint": [*unary(planes=(), kinds=(np.float32, np.float64)), sample(np.float32([0.5, 1.5, 2.5, -0.5]))],
    "Round": [*unary(planes=()), sample(np.float64([0.5, 1.5, 2.5, -0.5]))],
    "IsNan": unary(planes=(), gradient=False),
    "IsInf": unary(planes=(), gradient=False),
    "IsFinite": unary(planes=(), gradient=False),
    "SqrtGrad": gradient_op(),
    "RsqrtGrad": gradient_op(),
    "ReciprocalGrad": gradient_op(),
    "InvGrad": gradient_op(),
    "TanhGrad": gradient_op(INSIDE),
    "SigmoidGrad": gradient_op(INSIDE),
    "ComplexAbs": [*parts(), sample(np.zeros(2, np.complex128), Tout=np.float32, fails=True)],
    "Real": parts(),
    "Imag": parts(),
    "Angle": parts(),
    "Conj": [sample(PLANE.astype(kind)) for kind in COMPLEX],
    "Complex": [
        sample(np.float32([1, 2]), np.float32([3, -4])),
        sample(np.float64([[1], [2]]), np.float64([3, INF, -4]), Tout=np.complex128),
        sample(np.float32(1), np.float32([3, 4])),
        sample(np.zeros((0,), np.float32), np.float32(1)),
    ],
    "Cast": casts(),
}
