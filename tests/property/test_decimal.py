"""Numbers are read to the bit as float() reads them, as labels and as values."""

import locale
import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cwtool_ext import libsvm


def read(tokens: list[str]) -> list[tuple[float | None, float | None]]:
    """Each token as a label and as a value; None if refused."""
    text = "".join(f"{t}\n1 1:{t}\n" for t in tokens).encode()
    rows, nnz = libsvm.capacity(len(text))
    labels, lines, indptr = np.empty(rows), np.empty(rows, np.int32), np.empty(rows + 1, np.int64)
    indices, values = np.empty(nnz, np.int32), np.empty(nnz)
    faults, report = np.empty((0, 3), np.int64), np.empty(7, np.int64)
    libsvm.parse(
        text + b"0" * libsvm.PADDING, 0, len(text), 1,
        labels, np.empty(rows), indptr, indices, values, lines, faults, report,
    )  # fmt: skip
    seen: list[list[float | None]] = [[None, None] for _ in tokens]
    for row in range(report[0]):
        token, as_value = divmod(int(lines[row]), 2)
        stored = indptr[row + 1] > indptr[row]
        x = (values[indptr[row]] if stored else 0.0) if as_value else labels[row]
        seen[token][as_value] = float(x)
    return [(a, b) for a, b in seen]


def bits(x: float) -> bytes:
    return struct.pack("<d", x)


def check(*tokens: str) -> None:
    for token, (label, value) in zip(tokens, read(list(tokens)), strict=True):
        expected = float(token)
        if math.isinf(expected):
            assert label is None, token
            assert value is None, token
        else:
            assert label is not None, token
            assert value is not None, token
            assert bits(label) == bits(expected), token
            assert bits(value) == bits(expected or 0.0), token  # zeros are not stored


finite = st.floats(allow_nan=False, allow_infinity=False)
digits = st.text("0123456789", min_size=1, max_size=800)
short = st.text("0123456789", min_size=1, max_size=24)
many = settings(max_examples=8 * settings.default.max_examples)


@many
@given(st.lists(finite, min_size=1, max_size=50))
def test_printed_doubles(xs: list[float]) -> None:
    for form in (repr, "{:.17g}".format, "{:.16e}".format, "{:.6g}".format, "{:.25g}".format):
        check(*map(form, xs))


@many
@given(st.lists(st.tuples(short, short, st.integers(-400, 400)), min_size=1, max_size=30))
def test_short_numbers(parts: list[tuple[str, str, int]]) -> None:
    for whole, fraction, e in parts:
        check(
            whole, f"-{whole}", f".{fraction}", f"+{whole}.", f"{whole}.{fraction}",
            f"0.{fraction}", f"{whole}.{fraction}e{e}", f"{whole}E{e:+d}",
        )  # fmt: skip


@many
@given(digits, digits, st.integers(-1200, 1200))
def test_long_numbers(whole: str, fraction: str, e: int) -> None:
    check(whole, f"{whole}.{fraction}", f"0.{fraction}e{e}", f"{whole}.{fraction}e{e}")


def decimal_text(x: Fraction) -> str:
    """The full decimal expansion of a dyadic fraction."""
    places = x.denominator.bit_length() - 1
    text = str(abs(x.numerator) * 5**places).rjust(places + 1, "0")
    text = f"{text[:-places]}.{text[-places:]}" if places else text
    return text if x >= 0 else f"-{text}"


@many
@given(st.integers(0, 0x7FEFFFFFFFFFFFFE))
@example(0)
@example(1)
@example(0x000FFFFFFFFFFFFF)
@example(0x0010000000000000)
@example(0x433FFFFFFFFFFFFF)
@example(0x7FEFFFFFFFFFFFFE)
def test_halfway_cases(pattern: int) -> None:
    """The middle of two doubles, and a hair to both sides of it."""
    below = struct.unpack("<d", struct.pack("<Q", pattern))[0]
    middle = (Fraction(below) + Fraction(math.nextafter(below, math.inf))) / 2
    text = decimal_text(middle)
    dot = "" if "." in text else "."
    check(text, f"{text}{dot}000", f"{text}{dot}{'0' * 30}1", f"{text[:-1]}", f"-{text}")
    if text[-1] == "5":
        check(f"{text[:-1]}4{'' if dot else '9' * 40}")


@many
@given(st.integers(1, (1 << 53) - 1), st.integers(-4, 23))
def test_short_halfway_cases(w: int, q: int) -> None:
    """Halves that fit 19 digits, where rounding to even decides."""
    for odd in (2 * w + 1, (1 << 54) + 2 * w + 1, (1 << 53) + 2 * w + 1):
        check(f"{odd}", f"{odd}e{q}", f"{odd // 5 * 5}e{q}", f"{odd}.5", f"{odd * 5**4}e-4")


@many
@given(st.integers(0, (1 << 52) + 5), st.integers(1, 30))
def test_subnormals(pattern: int, precision: int) -> None:
    x = struct.unpack("<d", struct.pack("<Q", pattern))[0]
    check(repr(x), f"{x:.{precision}e}", f"{x:.1080f}", f"-{x:.17e}")


HARD = """
0 -0 +0 0.0 0e999999999999999999999 0e-99999 00000000000000000000000000
1e-324 4.9e-324 5e-324 1e-400 2.4703282292062327e-324 2.4703282292062328e-324
6.631236846766476e-316 2.2250738585072011e-308 2.2250738585072014e-308
1e308 1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308 1e400 -1e309
9007199254740993 9007199254740992.5 9007199254740993e0 1e22 1e23 123456789e22 8.5e22
18446744073709551615 18446744073709551616 9999999999999999999 99999999999999999999
1e+00000000000007 1e99999999999999999999999 1e-99999999999999999999999
0.000000000000000000000012345678901234567
"""


@pytest.mark.parametrize("token", [*HARD.split(), f"0.{'0' * 5000}1e5001", f"1{'0' * 5000}e-5000"])
def test_known_hard_numbers(token: str) -> None:
    check(token)


def test_every_power_of_ten() -> None:
    check(*(f"{w}e{q}" for w in (1, 9, 123456789012345678, 9999999999999999999)
            for q in range(-365, 330)))  # fmt: skip


def test_a_decimal_comma_locale_changes_nothing() -> None:
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
            break
        except locale.Error:
            continue
    else:
        pytest.skip("no locale with a decimal comma on this machine")
    try:
        check("4.9e-324", "2.2250738585072011e-308", "9007199254740992." + "9" * 30)
    finally:
        locale.setlocale(locale.LC_NUMERIC, "C")
