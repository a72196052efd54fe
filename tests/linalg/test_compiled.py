"""Compiled copies: their names follow everything they call."""

import numpy as np
from numba import njit
from numba.core import config

from supple.linalg.compiled import block_njit, compile_copy, digest_calls


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


def test_name_changes_with_what_is_called_however_deep() -> None:
    code = _template.__code__

    def deep(inner):
        def outer(x):
            return inner(x)

        return outer

    names = {digest_calls(code, {"step": deep(function)}) for function in (_inner, compile_copy)}
    assert len(names) == 2  # another module is reached
    assert digest_calls(code, {"step": deep(_inner)}) == digest_calls(code, {"step": deep(_inner)})


def test_name_changes_with_the_constants_it_names() -> None:
    code = _template.__code__
    assert digest_calls(code, {"step": 1}) != digest_calls(code, {"step": 2})


def _add_four(x, out):
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0], out[1], out[2], out[3] = a + a, b + b, c + c, d + d


def test_blocks_become_vectors_and_other_kernels_are_left_alone() -> None:
    before, doubled = config.SLP_VECTORIZE, np.empty(4)
    block_njit(_add_four)(np.arange(4.0), doubled)
    assert doubled.tolist() == [0.0, 2.0, 4.0, 6.0]
    assert before == config.SLP_VECTORIZE
