"""Compiled functions that others call where they are."""

import numpy as np
import pytest
from numba import float64, int64, njit

from supple.linalg.apart import call_apart


@njit(cache=True)
def _scale(x, factor, out):
    if factor < 0:
        raise ValueError("negative")
    for i in range(x.size):
        out[i] = factor * x[i]
    return out.sum()


_APART = call_apart(_scale, (float64[::1], int64, float64[::1]))


@njit
def _twice(x, out):
    return 2.0 * _APART(x, 3, out)


@njit
def _fail(x):
    return _APART(x, -1, x)


def test_it_is_called_with_its_arguments_and_returns_its_result() -> None:
    x, out = np.arange(4.0), np.zeros(4)
    assert _twice(x, out) == 36.0
    np.testing.assert_array_equal(out, 3.0 * x)


def test_callers_hold_no_copy_of_it() -> None:
    _twice(np.ones(1), np.ones(1))
    (code,) = _twice.inspect_llvm().values()
    named = [line for line in code.splitlines() if "test_apart._scale" in line]
    assert named
    assert not any(line.startswith("define") for line in named)


def test_what_it_raises_goes_through_its_caller() -> None:
    with pytest.raises(ValueError, match="negative"):
        _fail(np.ones(2))
