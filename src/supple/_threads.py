"""Decide, once and before any numerical library loads, who may use the cores.

Numba's kernels and MKL's PARDISO share one OpenMP runtime (libgomp); two runtimes in one process fight for the
cores and made steps 2 to 35 times slower. BLAS stays on one thread: the parallel loops are Numba's and PARDISO's.
"""

import ctypes
import os
from pathlib import Path

__all__ = ["available_threads", "configure", "idle_threads", "leave_busy_cores", "set_threads"]


def configure() -> None:
    """Set the environment that numpy, Numba and MKL read when they load; a user's own settings win."""
    for blas in ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(blas, "1")
    os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", "omp workqueue tbb")
    # A thread that spins at a barrier keeps the core from the thread it waits for: beside other work a step of 3,000
    # tets took 160 ms with the runtime's own spins, 40 ms with a thousand, 11 ms with none, and 22 ms on one thread.
    # Without spins a thread takes a tenth of a millisecond to wake, which parallel loops must be worth.
    for name, value in (("OMP_WAIT_POLICY", "PASSIVE"), ("GOMP_SPINCOUNT", "0")):
        os.environ.setdefault(name, value)  # before the runtime loads, which reads them then
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        return  # no GNU runtime here: MKL keeps its own, Numba falls back by the priority above
    os.environ.setdefault("MKL_THREADING_LAYER", "GNU")


def available_threads() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def idle_threads(told: str | None = None) -> int:
    """Number of those cores that others leave idle, at least 1; all of them where the system does not tell.

    A core counts as busy where as many threads as this run at this moment, beside this one, and have run over the last
    minute. `told` is what /proc/loadavg says.
    """
    try:
        words = (Path("/proc/loadavg").read_text(encoding="ascii") if told is None else told).split()
        busy = min(round(float(words[0])), int(words[3].split("/")[0]) - 1)
    except (OSError, ValueError, IndexError):
        return available_threads()
    return max(1, min(available_threads(), (os.cpu_count() or 1) - busy))


def leave_busy_cores() -> None:
    """Use by default the cores that others leave idle, unless NUMBA_NUM_THREADS is set: threads that share a core with
    others keep the threads waiting that have one of their own. Results are the same for any number."""
    if "NUMBA_NUM_THREADS" not in os.environ and idle_threads() < available_threads():
        set_threads(idle_threads())


def set_threads(count: int) -> None:
    """Let Numba's kernels and the direct solver use `count` threads from now on."""
    import numba
    from threadpoolctl import ThreadpoolController

    most = int(getattr(numba.config, "NUMBA_NUM_THREADS"))  # noqa: B009 - set when Numba loads, unknown to its types
    numba.set_num_threads(max(1, min(count, most)))
    # OpenBLAS only: MKL takes Numba's number when it factorises
    ThreadpoolController().select(internal_api="openblas").limit(limits=1)
