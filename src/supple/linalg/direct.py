"""Sparse Cholesky factors of positive-definite matrices of one pattern; symbolic work is done once."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from ctypes.util import find_library
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, Protocol

import numba
import numpy as np
from numpy.typing import NDArray

from supple._threads import available_threads
from supple.errors import ConvergenceError
from supple.linalg.pattern import Pattern

__all__ = ["Factor", "NotPositiveDefinite", "Pardiso", "SuperLU", "direct_solver", "load_mkl"]

FloatArray = NDArray[np.float64]


class NotPositiveDefinite(ArithmeticError):
    """The matrix has no Cholesky factor."""


class Factor(Protocol):
    """What a direct solver does."""

    name: str

    def factor(self, data: FloatArray) -> None:
        """Factorise the matrix whose upper triangle is `data`."""

    def solve(self, b: FloatArray) -> FloatArray:
        """x with A x = b."""

    @property
    def memory(self) -> int:
        """Bytes of the factor."""


@cache
def load_mkl() -> Any:
    """Intel's MKL, found once; None where it is not installed, as on processors that are not x86."""
    for place in _list_places():
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(place)
            library.MKL_Set_Interface_Layer(0)  # 32-bit indices, whatever the environment says
            library.MKL_CBWR_Set(2)  # the same bits from the same number of threads, together with setting 33
            return library
    return None


def _list_places() -> Iterator[str]:
    """Where MKL's library may be: its wheel, the environment's libraries, those of the system."""
    with suppress(PackageNotFoundError):
        yield from (str(file.locate()) for file in files("mkl") or () if _is_mkl(file.name))
    for folder in ("lib", "Library/bin"):
        yield from sorted(str(path) for path in Path(sys.prefix, folder).glob("*mkl_rt*") if _is_mkl(path.name))
    with suppress(OSError):
        yield from filter(None, [find_library("mkl_rt")])


def _is_mkl(name: str) -> bool:
    return "mkl_rt" in name and not name.endswith((".lib", ".a", ".pc"))


class Pardiso:
    """MKL PARDISO for symmetric positive-definite matrices (type 2, upper triangle)."""

    name = "PARDISO Cholesky"
    _ANALYSE, _FACTOR, _SOLVE, _RELEASE = 11, 22, 33, -1
    _NOT_DEFINITE = (-4, -7)
    _PARALLEL_FROM = 5000  # unknowns; a smaller factor is done before the threads have met

    def __init__(self, pattern: Pattern) -> None:
        self._library = load_mkl()
        self._threads = numba.get_num_threads() if pattern.size >= self._PARALLEL_FROM else 1
        self._pattern = pattern
        self._handle = np.zeros(64, np.int64)
        self._settings = np.zeros(64, np.int32)
        self._settings[0] = 1  # the entries below, not defaults
        self._settings[1] = 2  # nested dissection by METIS: one order whatever the threads
        # As many as there are, whatever number is used: sums are split by this one, so that bytes do not hang on theirs
        self._settings[33] = available_threads() if pattern.size >= self._PARALLEL_FROM else 1
        self._settings[34] = 1  # indices from zero
        self._data = np.zeros(pattern.nonzeros)
        self._run(self._ANALYSE)

    def factor(self, data: FloatArray) -> None:
        self._data = data
        self._run(self._FACTOR)

    def solve(self, b: FloatArray) -> FloatArray:
        b = np.ascontiguousarray(b)
        x = np.empty_like(b)
        self._run(self._SOLVE, b, x)
        return x

    @property
    def memory(self) -> int:
        return 1024 * int(max(self._settings[14], self._settings[15] + self._settings[16]))

    def _run(self, phase: int, b: FloatArray | None = None, x: FloatArray | None = None) -> None:
        def pointer(array: NDArray[Any] | None) -> ctypes.c_void_p:
            return ctypes.c_void_p(None if array is None else array.ctypes.data)

        def number(value: int) -> Any:
            return ctypes.byref(ctypes.c_int32(value))

        error, call = ctypes.c_int32(0), self._library.pardiso
        call.argtypes = None
        usual = self._library.MKL_Set_Num_Threads_Local(self._threads)
        call(
            pointer(self._handle), number(1), number(1), number(2), number(phase), number(self._pattern.size),
            pointer(self._data), pointer(self._pattern.indptr), pointer(self._pattern.indices), None,
            number(1), pointer(self._settings), number(0), pointer(b), pointer(x), ctypes.byref(error),
        )  # fmt: skip
        self._library.MKL_Set_Num_Threads_Local(usual)
        if error.value in self._NOT_DEFINITE:
            raise NotPositiveDefinite
        if error.value == -2:
            raise ConvergenceError('the sparse factor does not fit into memory: set linear_solver = "pcg".')
        if error.value != 0:
            raise ArithmeticError(f"PARDISO failed in phase {phase} with code {error.value}")

    def __del__(self) -> None:
        if not sys.is_finalizing() and hasattr(self, "_data"):
            self._run(self._RELEASE)


class SuperLU:
    """SciPy's own factorisation, where MKL is not installed: right, and many times slower."""

    name = "SuperLU (slow: MKL is not installed)"

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def factor(self, data: FloatArray) -> None:
        from scipy.sparse.linalg import splu

        matrix = self._pattern.to_scipy(data).tocsc()
        options = {"SymmetricMode": True}
        self._factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        if not (self._factor.U.diagonal() > 0.0).all():
            raise NotPositiveDefinite

    def solve(self, b: FloatArray) -> FloatArray:
        return np.asarray(self._factor.solve(b))

    @property
    def memory(self) -> int:
        return 12 * int(self._factor.L.nnz + self._factor.U.nnz)


def direct_solver(pattern: Pattern) -> Factor:
    """PARDISO where MKL is installed, SuperLU elsewhere."""
    return SuperLU(pattern) if load_mkl() is None else Pardiso(pattern)
