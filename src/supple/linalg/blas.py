"""A symmetric product of BLAS that compiled loops can call and still be cached.

Numba reaches BLAS for general products only, twice the work. It refuses to cache code that holds the address of a
foreign function, so the address is an argument.
"""

import ctypes
from functools import cache

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from supple.linalg.jit import njit

__all__ = ["add_square", "call_foreign", "square_address"]


@cache
def square_address() -> int:
    """The address of ssyrk: that of NumPy's own BLAS where it can be found, which is the newer, else SciPy's."""
    library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    for name in ("scipy_ssyrk_64_", "ssyrk_64_", "ssyrk_"):
        found = getattr(library, name, None)
        if found is not None:
            return int(ctypes.cast(found, ctypes.c_void_p).value or 0)
    return int(get_cython_function_address("scipy.linalg.cython_blas", "ssyrk"))


@intrinsic
def call_foreign(typing_context, address, pointers):
    """Call the function at `address` with a tuple of pointers given as integers."""

    def generate(context, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * len(pointers))
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        values = [builder.inttoptr(builder.extract_value(arguments[1], k), pointer) for k in range(len(pointers))]
        builder.call(function, values)
        return context.get_dummy_value()

    return types.void(types.intp, pointers), generate


@njit(cache=True)
def add_square(address, A, begin, end, sign, keep, K):
    """Lower triangle of K (r, r) = keep K + sign AᵀA, in single precision: rows begin to end and the first r columns of
    A (k, w)."""
    rank, width = K.shape[0], A.shape[1]
    # Rows in memory are columns to BLAS, so its upper triangle is our lower one; it reads 32-bit sizes as well
    sizes = np.array((rank, end - begin, width), np.int64)
    factors = np.array((sign, keep), np.float32)
    words = np.array((85, 78), np.uint8)  # "U", "N"
    n, a, w = sizes.ctypes.data, factors.ctypes.data, words.ctypes.data
    first = A.ctypes.data + 4 * width * begin
    call_foreign(address, (w, w + 1, n, n + 8, a, first, n + 16, a + 4, K.ctypes.data, n))
    # Mentioned here so that they live until the call is over
    return sizes[0] + words[0] + factors[0]
