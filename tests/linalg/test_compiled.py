"""Compiled copies: their names follow what they are made of."""

import numpy as np
from numba import njit
from numba.core import config

from supple.linalg.compiled import compile_copy
from supple.linalg.jit import block_njit


@njit
def _inner(x):
    return 2.0 * x


@njit
def _outer(x):
    return _inner(x) + 1.0


def _template(x):
    return step(x)  # noqa: F821


def test_copies_do_what_their_names_say() -> None:
    assert compile_copy(_template, "a", {"step": _outer}, cache=False)(3.0) == 7.0
    assert compile_copy(_template, "a", {"step": _inner}, cache=False)(3.0) == 6.0


def test_names_tell_copies_apart_by_what_they_are_made_of() -> None:
    names = [{"step": _outer}, {"step": _inner}, {"step": 1}, {"step": 2}]
    assert len({compile_copy(_template, "a", given).__name__ for given in names}) == len(names)
    assert compile_copy(_template, "a", names[0]).__name__ == compile_copy(_template, "a", names[0]).__name__


def _add_four(x, out):
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0], out[1], out[2], out[3] = a + a, b + b, c + c, d + d


def test_blocks_become_vectors_and_other_kernels_are_left_alone() -> None:
    before, doubled = config.SLP_VECTORIZE, np.empty(4)
    block_njit(_add_four)(np.arange(4.0), doubled)
    assert doubled.tolist() == [0.0, 2.0, 4.0, 6.0]
    assert before == config.SLP_VECTORIZE
