"""The machine's yardstick: how long a plain matrix product takes."""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["measure_gemm"]

SIZE = 1500


def measure_gemm(repeats: int = 5) -> float:
    """Milliseconds of a 1500 x 1500 double product on one BLAS thread, the best of `repeats`."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, SIZE, SIZE))
    product = np.empty((SIZE, SIZE))
    best = np.inf
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(repeats):
            begin = time.perf_counter()
            np.matmul(left, right, out=product)
            best = min(best, time.perf_counter() - begin)
    return float(best * 1e3)
