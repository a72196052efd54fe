"""The full-space solver: where the time of a converged implicit step goes, beside the bare factorisation.

Beams of stable neo-Hookean flesh held at one end and swinging under gravity in steps of a hundredth second, Newton to
four digits, with the direct and the iterative solver. Phases and the step are those of the fastest of the steps taken;
memory is the peak of the body, its solver and its steps, without what the interpreter and its libraries hold before.
"""

import gc
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numba
import numpy as np

from supple._child import safe_children
from supple._threads import set_threads
from supple.bench.yardstick import best_ms
from supple.elastic import Body, Pins
from supple.linalg.direct import direct_solver
from supple.material import StableNeoHookean
from supple.method import FullSolver, Report
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment
from supple.solve.system import System

__all__ = ["run"]

_COUNTS = {"small": (1_000, 17_000), "paper": (1_000, 17_000, 70_000, 160_000)}
_STEP = 0.01
_KERNELS_FROM = 3_000  # tets that use the same kernels as the largest body
_WARM_UP, _STEPS = 4, {1_000: 30, 17_000: 20, 70_000: 5, 160_000: 3}


def run(size: str) -> list[dict[str, object]]:
    """Rows of the benchmark at size "small" or "paper", each from a process of its own for the sake of its memory."""
    rows = []
    for count in _COUNTS[size]:
        for solver in ("direct", "pcg"):
            with safe_children(), ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                rows.append(pool.submit(_measure_alone, count, solver, numba.get_num_threads()).result())
    return rows


def _measure_alone(count: int, name: str, threads: int) -> dict[str, object]:
    """One row, measured after a small run that compiles or loads the kernels."""
    set_threads(threads)
    _measure(_KERNELS_FROM, name, steps=1)  # small, so that its freed memory hides little of the row's
    return _measure(count, name)


def _measure(count: int, name: str, steps: int | None = None) -> dict[str, object]:
    gc.collect()
    before = _restart_peak_memory()
    mesh = make_shape("beam", elements=count)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e6, poisson=0.4), pins)
    solver = FullSolver(body, linear_solver=name)
    forces = (Gravity(np.array([0.0, -9.81, 0.0])),)
    targets = mesh.vertices[pins.vertices]
    state, reports = solver.start(), list[Report]()
    for k in range(_WARM_UP + (steps or _STEPS[count])):
        begin, end = _STEP * k, _STEP * (k + 1)
        state, report = solver.step(state, Inputs(Moment(begin, targets, forces), Moment(end, targets, forces)))
        reports.append(report)
    worked = [report for report in reports[_WARM_UP:] if report.newton_iterations]
    best = min(worked, key=lambda report: report.milliseconds["total"])
    spent, memory = best.milliseconds, _peak_memory() - before
    del solver  # two factors at once would not fit beside each other on small machines
    bare = _bare_parts(body, state.x)
    return {
        "tets": len(mesh.tets),
        "unknowns": 3 * (len(mesh.vertices) - len(pins.vertices)),
        "solver": name,
        "assembly_ms": spent["assembly"],
        "factor_ms": spent["factorisation"],
        "solve_ms": spent["solve"],
        "other_ms": spent.get("line search", 0.0) + spent["other"],
        "newton_iterations": best.newton_iterations,
        "step_ms": spent["total"],
        "bare_assembly_ms": bare["assembly"],
        "bare_factor_ms": bare["factor"],
        "bare_solve_ms": bare["solve"],
        "memory_mb": memory / 1e6,
        "factor_memory_mb": bare["memory"],
    }


def _bare_parts(body: Body, x: np.ndarray) -> dict[str, float]:
    """Best times [ms] of force and projected stiffness once, of one factorisation and of one solve; its memory [MB]."""
    system = System(body, body.pins, "direct", None)
    system.map.assemble(body.parts, x, system.matrix)

    def assemble() -> None:
        body.forces(x)
        system.map.assemble(body.parts, x, system.matrix)

    assembly = best_ms(assemble)
    inertia = np.repeat(body.mass[system.map.free] / _STEP**2, 3)
    system.matrix[system.map.pattern.diagonal] += inertia
    factor, b = direct_solver(system.map.pattern), np.ones(system.map.pattern.size)
    return {
        "assembly": assembly,
        "factor": best_ms(lambda: factor.factor(system.matrix)),
        "solve": best_ms(lambda: factor.solve(b)),
        "memory": factor.memory / 1e6,
    }


def _restart_peak_memory() -> int:
    """Bytes resident now; the peak is counted from here where the system can do that (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0
    return _peak_memory()


def _peak_memory() -> int:
    """Largest resident memory of this process so far [bytes]."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
