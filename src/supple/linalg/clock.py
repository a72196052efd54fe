"""The clock inside compiled loops, which otherwise could not tell what takes their time."""

import ctypes
import os
from functools import cache

import numpy as np

from supple.linalg.blas import call_foreign
from supple.linalg.jit import njit

__all__ = ["clock_address", "read_clock"]

_STEADY = 1  # CLOCK_MONOTONIC


@cache
def clock_address() -> int:
    """The address of clock_gettime, 0 where the system has none."""
    found = None if os.name == "nt" else getattr(ctypes.CDLL(None), "clock_gettime", None)
    return 0 if found is None else int(ctypes.cast(found, ctypes.c_void_p).value or 0)


@njit(cache=True)
def read_clock(address):
    """Milliseconds of a steady clock; always 0 where there is none."""
    now = np.zeros(2, np.int64)
    if address:
        call_foreign(address, (np.int64(_STEADY), np.int64(now.ctypes.data)))
    return 1e3 * now[0] + 1e-6 * now[1]
