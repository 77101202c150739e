"""Writes the coefficients of `ops/numbers/special_tables.py`: approximations to special functions.

    python tools/compile_special_tables.py

Needs mpmath, which computes the functions with as many digits as it is told. A table is the Chebyshev coefficients of
the polynomial through the values at 64 Chebyshev points, as many of them as matter; or, for float32, powers. Each is
computed with 60 digits and rounded once, so that every machine writes the same file.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

import tensorkeep

TARGET = Path(tensorkeep.__file__).parent / "ops" / "numbers" / "special_tables.py"
DIGITS = 60
POINTS = 64

HEADER = '''"""Coefficients of approximations to special functions, good to the last bit or two of float64.

Each table holds the Chebyshev coefficients of the function that stands beside its name, in the variable and on the
interval named there, without those that are too small to matter. Tables of powers, for float32, say so. A tool writes
this (`tools/compile_special_tables.py`).
"""

from __future__ import annotations

from typing import Final
'''

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Table:
    """A table: what it is called and said to be, the function of x, x by the variable, the interval, how many terms."""

    name: str
    comment: str
    function: Function
    x_of: Function
    low: Any
    high: Any
    terms: int
    coefficients: Callable[[Table], Sequence[Any]]


# ---------------------------------------------------------------------------------------------------- Functions


def _same(u: Any) -> Any:
    return u


def _root(u: Any) -> Any:
    return mp.sqrt(u)


def _inverse(u: Any) -> Any:
    return 1 / u


def _inverse_root(u: Any) -> Any:
    return 1 / mp.sqrt(u)


def _i(order: int, x: Any) -> Any:
    return mp.besseli(order, x)


def _log_half(x: Any) -> Any:
    return mp.log(x / 2)


def _y_without_log(order: int, x: Any) -> Any:
    return mp.bessely(order, x) - 2 / mp.pi * _log_half(x) * mp.besselj(order, x)


def _wave(order: int, is_in_phase: bool) -> Function:
    """P or Q of J = sqrt(2 / (pi x)) (P cos c - Q sin c), Y = sqrt(2 / (pi x)) (P sin c + Q cos c)."""

    def function(x: Any) -> Any:
        phase, scale = x - mp.pi / 4 - order * mp.pi / 2, mp.sqrt(mp.pi * x / 2)
        j, y, cosine, sine = mp.besselj(order, x), mp.bessely(order, x), mp.cos(phase), mp.sin(phase)
        return scale * (j * cosine + y * sine) if is_in_phase else x * scale * (y * cosine - j * sine)

    return function


def _dawson(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _fresnel(x: Any) -> tuple[Any, Any]:
    """The auxiliary functions f and g of Fresnel's integrals."""
    cosine, sine = mp.cos(mp.pi * x * x / 2), mp.sin(mp.pi * x * x / 2)
    c, s = mpf(1) / 2 - mp.fresnelc(x), mpf(1) / 2 - mp.fresnels(x)
    return s * cosine - c * sine, c * cosine + s * sine


# ---------------------------------------------------------------------------------------------------- Coefficients


def _points(table: Table) -> list[Any]:
    """Chebyshev points from -1 to 1."""
    return [mp.cos(mp.pi * (number + mpf(1) / 2) / POINTS) for number in range(POINTS)]


def _values(table: Table) -> list[Any]:
    middle, half = (table.high + table.low) / mpf(2), (table.high - table.low) / mpf(2)
    return [table.function(table.x_of(middle + half * point)) for point in _points(table)]


def chebyshev(table: Table) -> list[Any]:
    """The first coefficients of the polynomial through the values at the points."""
    values, found = _values(table), []
    for degree in range(table.terms):
        cosines = (mp.cos(degree * mp.pi * (number + mpf(1) / 2) / POINTS) for number in range(POINTS))
        total = mp.fsum(value * cosine for value, cosine in zip(values, cosines, strict=True))
        found.append(total * (2 if degree else 1) / POINTS)
    return found


def powers_of_scaled(table: Table) -> list[Any]:
    """The same, as powers of the variable scaled to [-1, 1]: the least squares of the error at the points."""
    before, now = [mpf(0)] * table.terms, [mpf(1)] + [mpf(0)] * (table.terms - 1)
    total = [mpf(0)] * table.terms
    for degree, coefficient in enumerate(chebyshev(table)):
        total = [power + coefficient * term for power, term in zip(total, now, strict=True)]
        factor = 2 if degree else 1
        raised = [mpf(0), *now[:-1]]
        before, now = now, [factor * up - down for up, down in zip(raised, before, strict=True)]
    return total


def powers_by_relative_error(table: Table) -> list[Any]:
    """Powers of the variable: the least squares of the relative error at the points."""
    middle, half = (table.high + table.low) / mpf(2), (table.high - table.low) / mpf(2)
    pairs = [(middle + half * point, value) for point, value in zip(_points(table), _values(table), strict=True)]
    count = range(table.terms)
    matrix = mp.matrix([[mp.fsum(u ** (i + j) / v**2 for u, v in pairs) for j in count] for i in count])
    return list(mp.lu_solve(matrix, mp.matrix([mp.fsum(u**i / v for u, v in pairs) for i in count])))


def tables() -> list[Table]:
    """All tables, in the order of the file; called with the digits set, for intervals are fractions."""
    eighth, quarter, half = mpf(1) / 8, mpf(1) / 4, mpf(1) / 2
    ninth, far = mpf(1) / 9, mpf(1) / 64
    rows: list[tuple[str, str, Function, Function, Any, Any, int]] = [
        ("ERF_SMALL", "erf(x) / x in x * x on [0, 4]", lambda x: mp.erf(x) / x, _root, 0, 4, 18),
        (
            "ERFC_TAIL",
            "x * exp(x * x) * erfc(x) in 1 / (x * x) on [0, 1/4]",
            lambda x: x * mp.exp(x * x) * mp.erfc(x),
            _inverse_root,
            0,
            quarter,
            25,
        ),
        ("I0_SMALL", "exp(-x) * I0(x) in x on [0, 8]", lambda x: mp.exp(-x) * _i(0, x), _same, 0, 8, 29),
        ("I1_SMALL", "exp(-x) * I1(x) / x in x on [0, 8]", lambda x: mp.exp(-x) * _i(1, x) / x, _same, 0, 8, 28),
        *(
            (
                f"I{order}_TAIL",
                f"sqrt(x) * exp(-x) * I{order}(x) in 1 / x on [0, 1/8]",
                lambda x, order=order: mp.sqrt(x) * mp.exp(-x) * _i(order, x),
                _inverse,
                0,
                eighth,
                23,
            )
            for order in (0, 1)
        ),
        (
            "K0_SMALL",
            "K0(x) + log(x / 2) * I0(x) in x * x on [0, 4]",
            lambda x: mp.besselk(0, x) + _log_half(x) * _i(0, x),
            _root,
            0,
            4,
            10,
        ),
        (
            "K1_SMALL",
            "x * (K1(x) - log(x / 2) * I1(x)) in x * x on [0, 4]",
            lambda x: x * (mp.besselk(1, x) - _log_half(x) * _i(1, x)),
            _root,
            0,
            4,
            10,
        ),
        *(
            (
                f"K{order}_TAIL",
                f"sqrt(x) * exp(x) * K{order}(x) in 1 / x on [0, 1/2]",
                lambda x, order=order: mp.sqrt(x) * mp.exp(x) * mp.besselk(order, x),
                _inverse,
                0,
                half,
                23,
            )
            for order in (0, 1)
        ),
        ("J0_SMALL", "J0(x) in x * x on [0, 64]", lambda x: mp.besselj(0, x), _root, 0, 64, 17),
        ("J1_SMALL", "J1(x) / x in x * x on [0, 64]", lambda x: mp.besselj(1, x) / x, _root, 0, 64, 16),
        (
            "Y0_SMALL",
            "Y0(x) - 2 / pi * log(x / 2) * J0(x) in x * x on [0, 64]",
            lambda x: _y_without_log(0, x),
            _root,
            0,
            64,
            17,
        ),
        (
            "Y1_SMALL",
            "x * (Y1(x) - 2 / pi * log(x / 2) * J1(x)) in x * x on [0, 64]",
            lambda x: x * _y_without_log(1, x),
            _root,
            0,
            64,
            17,
        ),
        *(
            (
                f"{part}{order}_TAIL",
                f"the part in phase of J{order} and Y{order}, in 1 / (x * x) on [0, 1/64]"
                if part == "P"
                else "x times the part out of phase, in 1 / (x * x) on [0, 1/64]",
                _wave(order, part == "P"),
                _inverse_root,
                0,
                far,
                terms,
            )
            for order, part, terms in ((0, "P", 12), (0, "Q", 15), (1, "P", 12), (1, "Q", 14))
        ),
        ("DAWSON_SMALL", "dawsn(x) / x in x * x on [0, 9]", lambda x: _dawson(x) / x, _root, 0, 9, 24),
        *(
            (
                f"DAWSON_{part}",
                f"x * dawsn(x) in 1 / (x * x) on [{shown}]",
                lambda x: x * _dawson(x),
                _inverse_root,
                low,
                high,
                terms,
            )
            for part, shown, low, high, terms in (
                ("MIDDLE", "1/36, 1/9", ninth / 4, ninth, 26),
                ("TAIL", "0, 1/36", 0, ninth / 4, 12),
            )
        ),
        (
            "FRESNEL_F",
            "pi * x * f(x) in 1 / (x * x) on [0, 4/9]",
            lambda x: mp.pi * x * _fresnel(x)[0],
            _inverse_root,
            0,
            4 * ninth,
            30,
        ),
        (
            "FRESNEL_G",
            "pi * pi * x ** 3 * g(x) in 1 / (x * x) on [0, 4/9]",
            lambda x: mp.pi**2 * x**3 * _fresnel(x)[1],
            _inverse_root,
            0,
            4 * ninth,
            35,
        ),
    ]
    return [*(Table(*row, coefficients=chebyshev) for row in rows), *_tables_of_powers()]


def _tables_of_powers() -> list[Table]:
    steepness = mpf(3) / 10
    return [
        Table(
            "ERFC_SINGLE",
            "exp(x * x) * erfc(x) / t in t = 1 / (1 + 0.3 x) on [0, 10.5], as powers, for float32",
            lambda x: mp.exp(x * x) * mp.erfc(x) * (1 + steepness * x),
            lambda t: (1 / t - 1) / steepness,
            1 / (1 + steepness * mpf(21) / 2),
            mpf(1),
            9,
            powers_by_relative_error,
        ),
        Table(
            "ERF_SINGLE",
            "erf(x) / x in x * x on [0, 16], as powers of x * x / 8 - 1, for float32",
            lambda x: mp.erf(x) / x,
            _root,
            0,
            16,
            17,
            powers_of_scaled,
        ),
    ]


def render() -> str:
    """The text of the module."""
    parts = [HEADER]
    with mp.workdps(DIGITS):
        for table in tables():
            lines = "".join(f"    {float(coefficient)!r},\n" for coefficient in table.coefficients(table))
            parts.append(f"\n{table.name}: Final = (  # {table.comment}\n{lines})\n")
    return "".join(parts)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = render()
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.name}: {text.count('Final = ')} tables")


if __name__ == "__main__":
    main()
