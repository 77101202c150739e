"""Samples of Einstein's notation."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.linear_algebra.matmul import numbers

UNARY = {
    "ab->ba": (2, 3),
    "ab->a": (2, 3),
    "ab->": (2, 3),
    "abc->cab": (2, 3, 4),
    "abcd->ac": (2, 3, 4, 2),
    "aab->ab": (3, 3, 2),
    "aa->": (3, 3),
    "aa->a": (3, 3),
    "a->aa": (3,),
    "ab->bab": (2, 3),
    "aabbc->cb": (2, 2, 3, 3, 2),
    "...ab->...ba": (2, 3, 4),
    "ab...->...": (2, 3, 4, 5),
    "...->...": (2, 3),
    "->": (),
    "a->": (0,),
    "a...a->...a": (3, 2, 3),
}
BINARY = {
    "ab,bc->ac": ((2, 3), (3, 4)),
    "ab,bc->ca": ((2, 3), (3, 4)),
    "a,a->": ((3,), (3,)),
    "a,b->ab": ((3,), (2,)),
    "a,b->ba": ((3,), (2,)),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 5)),
    "abc,cd->abd": ((2, 3, 4), (4, 5)),
    "abc,cd->ad": ((2, 3, 4), (4, 5)),
    "abcd,aecd->acbe": ((2, 3, 2, 4), (2, 5, 2, 4)),
    "aab,bc->ac": ((2, 2, 3), (3, 4)),
    "ab,b->a": ((2, 3), (3,)),
    "ab,ab->ab": ((2, 3), (2, 3)),
    ",a->a": ((), (3,)),
    "...ij,...jk->...ik": ((2, 3, 4), (2, 4, 5)),
    "i...j,j->...i": ((2, 3, 4), (4,)),
    "ab,bc->ac ": ((2, 0), (0, 3)),
    "ab,cd->abcd": ((2, 1), (1, 2)),
    "abc,b->abbc": ((2, 3, 2), (3,)),
}
STRETCHED = {
    "...ij,...jk->...ik": ((5, 1, 3, 4), (2, 4, 2)),
    "...ij,jk->...ik": ((2, 3, 4), (4, 2)),
    "ij...,j...->i...": ((2, 3, 1), (3, 4)),
    "...i,...i->...": ((2, 1, 3), (4, 3)),
}

SAMPLES = {
    "Einsum": [
        *(sample([numbers(*shape)], equation=equation) for equation, shape in UNARY.items()),
        *(
            sample([numbers(*x), numbers(*y, scale=2)], equation=equation.strip())
            for equation, (x, y) in (*BINARY.items(), *STRETCHED.items())
        ),
        *(
            sample([numbers(2, 3, dtype=dtype), numbers(3, 4, dtype=dtype)], equation="ab,bc->ac")
            for dtype in (np.float64, np.int32, np.int64, np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128)
        ),
        sample([numbers(2, 3), numbers(3, 2)], equation="ab,cd->ad"),
        sample([numbers(2, 3)], equation="ab->c", fails=True),
        sample([numbers(2, 3)], equation="abc->ab", fails=True),
        sample([numbers(2, 3)], equation="aa->a", fails=True),
        sample([numbers(2, 3), numbers(2, 3)], equation="ab,bc->ac", fails=True),
        sample([numbers(2, 3), numbers(3, 2)], equation="ab->ba", fails=True),
        sample([numbers(2, 3)], equation="ab", fails=True),
        sample([numbers(2, 3)], equation="...a->a", fails=True),
        sample([numbers(2, 3), numbers(3, 2), numbers(2, 2)], equation="ab,bc,cd->ad", fails=True),
    ],
}
