"""How long work takes, and the machine's yardstick: how long a plain matrix product does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["best_ms", "measure_gemm", "spread_ms"]

SIZE = 1500


def best_ms(work: Callable[[], object], repeats: int = 3) -> float:
    """Milliseconds of the fastest of a few runs."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def spread_ms(times: Sequence[float]) -> dict[str, float]:
    """Mean, ninetieth percentile and maximum of times [ms], for a row of a benchmark."""
    p90 = float(np.percentile(times, 90.0))
    return {"ms_mean": float(np.mean(times)), "ms_p90": p90, "ms_max": float(max(times))}


def measure_gemm(repeats: int = 5) -> float:
    """Milliseconds of a 1500 x 1500 double product on one BLAS thread, the best of `repeats`."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, SIZE, SIZE))
    product = np.empty((SIZE, SIZE))
    with threadpool_limits(limits=1, user_api="blas"):
        return best_ms(lambda: np.matmul(left, right, out=product), repeats)
