"""The reduced solver: steps of swinging beams in trained subspaces, beside bare BLAS and beside the full solver.

Beams held at one end swing under gravity and a push, in implicit Euler steps of a hundredth second, Newton to four
digits in both spaces. Each rule is trained to 2 %, on random poses and on motions after other pushes; the rows without
errors have rules of the size that the kernel is judged at, with elements drawn at random. `iteration_ms` is one Newton
iteration with its stiffness, `residual_ms` one evaluation of forces, `bare_ms` the BLAS products no iteration can do
without: one symmetric product, one Cholesky solve and two products with a vector. The full step is that of the faster
linear solver. `tip_error` is what the rule does to the motion: RMS over the run against the same subspace with the
forces of all elements, relative to the largest displacement of the tip.
"""

import warnings
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from supple.bench.yardstick import best_ms
from supple.cubature import Rule, train_rule
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body, Pins
from supple.errors import SuppleWarning
from supple.linalg.blas import add_square, square_address
from supple.linalg.work_clock import work_clock
from supple.material import Corotational, Material, StableNeoHookean, StVK
from supple.method import FullSolver, ReducedModel, ReducedSolver
from supple.method.reduced.loads import STILL
from supple.method.reduced.newton import Scratch, is_large, newton_kernel
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment
from supple.subspace import Basis, diagonalise, linear_modes, modal_basis

__all__ = ["run"]

FloatArray = NDArray[np.float64]
_best = partial(best_ms, repeats=200)  # of work that takes microseconds
_MATERIALS: dict[str, type[Material]] = {
    "stvk": StVK,
    "stable_neo_hookean": StableNeoHookean,
    "corotational": Corotational,
}
_CASES = {
    "small": ((17_000, ("stable_neo_hookean",), (10, 50)),),
    "paper": tuple((tets, tuple(_MATERIALS), (10, 25, 50, 100)) for tets in (17_000, 70_000, 160_000)),
}
_JUDGED = {10: 40, 25: 100, 50: 150, 100: 150}  # rank and elements of the rows without errors
_MODES, _TOLERANCE, _STEP = 14, 0.02, 0.01
_JUDGED_UP_TO = 20_000  # tets whose elements can all be evaluated in a subspace, for tip_error
_OTHER_PUSHES = ((1.5, -2.0), (-1.0, 3.0))  # m/s, unlike the one that is measured
_RUN, _CHUNKS, _FULL_STEPS = 120, 12, {17_000: 12, 70_000: 4, 160_000: 3}


class Bench(NamedTuple):
    """A body with its loads and its subspace."""

    body: Body
    basis: Basis
    tip: int
    """Vertex at the free end."""


def run(size: str) -> list[dict[str, Any]]:
    """Rows of the benchmark at size "small" or "paper"."""
    rows = []
    for tets, materials, ranks in _CASES[size]:
        for name in materials:
            body, tip = _hold(tets, _MATERIALS[name])
            widest = modal_basis(body, linear_modes(body, _MODES), max(ranks))
            full = _time_full(body, _FULL_STEPS[tets])
            for rank in ranks:
                bench = Bench(body, diagonalise(widest.truncated(rank), body), tip)
                rows.append({"material": name, **_measure(bench, full)})
                if name == "stable_neo_hookean":
                    rows.append({"material": name, **_measure(bench, full, _JUDGED[rank])})
    return rows


def _hold(tets: int, material: type[Material]) -> tuple[Body, int]:
    mesh = make_shape("beam", elements=tets)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    made = material(young=2e6, poisson=0.4)  # type: ignore[call-arg]
    return Body.build(mesh, made, pins), int(np.argmax(mesh.vertices.sum(axis=1)))


def _measure(bench: Bench, full_ms: float, elements: int | None = None) -> dict[str, Any]:
    """One row: with a trained rule, or with so many elements drawn at random."""
    body, basis = bench.body, bench.basis
    begin = work_clock()
    if elements is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # what a rule misses is in its row
            rule = _train(body, basis)
    else:
        who = np.sort(np.random.default_rng(0).choice(len(body.mesh.tets), elements, replace=False))
        rule = Rule(who, np.full(elements, len(body.mesh.tets) / elements), float("nan"))
    trained = work_clock() - begin
    solver = _solver(body, basis, rule)
    step_ms, coordinates = _time_steps(solver)
    kernel = _time_kernel(bench, rule, coordinates[len(coordinates) // 2])
    judged = elements is None
    return {
        "rank": basis.rank,
        "elements": rule.size,
        "tets": len(body.mesh.tets),
        **kernel,
        "step_ms": step_ms,
        "steps_per_second": 1e3 / step_ms,
        "full_step_ms": full_ms,
        "speedup": full_ms / step_ms,
        "heldout_error": rule.heldout_error,
        "frequency_error": rule.frequency_error,
        "tip_error": _tip_error(bench, coordinates) if judged else None,
        "train_s": trained if judged else None,
    }


def _train(body: Body, basis: Basis) -> Rule:
    """A rule for random poses, then one for these and for where the first leads the body after other pushes."""
    rng = np.random.default_rng(0)
    solver = _solver(body, basis, train_rule(body, basis, _TOLERANCE, rng))
    seen = []
    for push in _OTHER_PUSHES:
        state = _start(solver, push)
        for number, inputs in enumerate(_inputs(body)):
            state, _ = solver.step(state, inputs)
            if number % 2:
                seen.append(basis.lift(state.shapes[0]))
    return train_rule(body, basis, _TOLERANCE, rng, np.array(seen))


def _solver(body: Body, basis: Basis, rule: Rule) -> ReducedSolver:
    return ReducedSolver(body, ReducedModel(basis, rule, np.zeros((len(basis.columns), 0)), np.inf))


def _inputs(body: Body) -> list[Inputs]:
    targets = body.mesh.vertices[body.pins.vertices]
    forces = (Gravity(np.array([0.0, -9.81, 0.0])),)
    moments = [Moment(_STEP * k, targets, forces) for k in range(_RUN + 1)]
    return [Inputs(first, second) for first, second in pairwise(moments)]


def _start(solver: FullSolver | ReducedSolver, push: tuple[float, float] = (0.0, 3.0)) -> Any:
    """The beam at rest, pushed up and sideways [m/s]: harder towards its free end."""
    x = solver.body.mesh.vertices
    v = np.zeros_like(x)
    along = x[:, 0] - x[:, 0].min()
    v[:, 1:] = np.outer(along / along.max(), push)
    return solver.from_full(x, v, np.zeros_like(x))


def _time_full(body: Body, steps: int) -> float:
    """Milliseconds of a step of the faster linear solver, the median of a few."""
    times = []
    for name in ("direct", "pcg"):
        solver = FullSolver(body, linear_solver=name, time_step=_STEP)
        state, spent = _start(solver), []
        for inputs in _inputs(body)[: steps + 2]:
            state, report = solver.step(state, inputs)
            spent.append(report.milliseconds["total"])
        times.append(float(np.median(spent[2:])))
        del solver  # two factors at once would not fit beside each other on small machines
    return min(times)


def _time_steps(solver: ReducedSolver) -> tuple[float, FloatArray]:
    """Milliseconds of a step, the mean of the best of several runs of a tenth, and the coordinates of the run."""
    inputs = _inputs(solver.body)
    size = _RUN // _CHUNKS
    best, coordinates = np.full(_CHUNKS, np.inf), []
    for number in range(6):
        state = _start(solver)
        for chunk in range(_CHUNKS):
            begin = work_clock()
            for k in range(chunk * size, (chunk + 1) * size):
                state, _ = solver.step(state, inputs[k])
                if number == 0:
                    coordinates.append(state.shapes[0])
            if number:
                best[chunk] = min(best[chunk], work_clock() - begin)
    return 1e3 * float(best.sum()) / _RUN, np.array(coordinates)


def _time_kernel(bench: Bench, rule: Rule, q: FloatArray) -> dict[str, float]:
    """Milliseconds of an iteration, of its residual and of the bare products."""
    elements = ReducedElements.build(bench.body, bench.basis.columns, rule.members, rule.weights)
    rank = bench.basis.rank
    scratch, kernel = Scratch.of(elements, rank), newton_kernel(elements.loops, STILL, is_large(elements))
    data = (1.0 / _STEP**2, np.zeros((0, 0)), np.ones(rank))

    def iterate(most: float) -> None:
        kernel(
            scratch.address, elements.gradient, elements.single, elements.rest, elements.table, elements.bounds, data,
            q, q, np.array((1e-300, 1.0, 1e-300, most)), scratch.L, scratch.signs, scratch.stack, scratch.halves,
            scratch.K,
        )  # fmt: skip

    K = elements.stiffness(q) + np.eye(rank) / _STEP**2
    stack, out = np.ones((9 * elements.count, rank), np.float32), np.zeros((rank, rank), np.float32)
    stress = np.ones(9 * elements.count)

    def multiply() -> None:
        add_square(square_address(), stack, 0, len(stack), 1.0, 0.0, out)

    bare = _best(multiply) + _best(lambda: cho_solve(cho_factor(K, check_finite=False), q, check_finite=False))
    bare += _best(lambda: elements.gradient @ q) + _best(lambda: stress @ elements.gradient)
    residual = _best(lambda: iterate(0.0))
    iteration = _best(lambda: iterate(1.0)) - residual
    return {"iteration_ms": iteration, "residual_ms": residual, "bare_ms": bare, "to_bare": iteration / bare}


def _tip_error(bench: Bench, coordinates: FloatArray) -> float | None:
    """What the rule does to the tip, against steps with the forces of all elements in the same subspace."""
    body, basis, count = bench.body, bench.basis, len(bench.body.mesh.tets)
    if count > _JUDGED_UP_TO:
        return None
    solver = _solver(body, basis, Rule(np.arange(count), np.ones(count), 0.0))
    state, tip, exact = _start(solver), np.array([bench.tip]), []
    for inputs in _inputs(body):
        state, _ = solver.step(state, inputs)
        exact.append(basis.lift(state.shapes[0], tip)[0])
    found = np.array([basis.lift(q, tip)[0] for q in coordinates])
    error = np.sqrt(np.mean(np.sum((found - exact) ** 2, axis=1)))
    return float(error / np.linalg.norm(exact, axis=1).max())
