"""Subspace condensation: a capsule that is bent against a pipe it never met in training [TMDK15].

The capsule is held at one end and pulled at the other, frame by frame in equilibrium. In the first half of its frames
it bends freely; then it meets the pipe and is pressed on. In the paper two bones bend it. Its subspace comes from 12 of
its bends without the pipe, each also with its middle third lifted by as much; the rule is trained to 1 %.
`radius` is in longest sides of the body, `active` the share of full unknowns. `avg_`, `worst_` and `best_` are of all
frames, each against the mean of full space. `touching_ms` is the mean of the frames that have a full region,
`touching_full_ms` that of full space in the same frames, `touching_speedup` their quotient. Errors are relative, `rms`
over all frames that touch, `patch` the largest near what touches. `detect_ms` is part of the times; `least_speedup` is
of a frame beside the same one in full space. `--plot FOLDER` draws errors and times by frame, and full space in red;
`--only "subtract 0.08"` keeps to a rule of weights, a radius.
"""

import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from supple.bench.condense_measure import Case, Row
from supple.bench.condense_run import run_case
from supple.contact import ContactSettings
from supple.contact.cylinder import Cylinder
from supple.cubature import train_rule
from supple.elastic import Body, Pins
from supple.errors import SuppleWarning
from supple.material import Corotational
from supple.method import FullSolver, ReducedModel
from supple.shape import make_shape
from supple.solve import Inputs, Moment, NodalForce, Placement
from supple.subspace import diagonalise, principal_basis

__all__ = ["run"]

_TETS = {"small": 4_000, "paper": 160_960}
_BENDS, _RANK, _TOLERANCE = 12, 16, 0.01
_FRAMES, _PULL = 20, 9.0  # [N]
_MET = 0.07  # of the pull, which bends it down to the pipe
_LIFT, _MIDDLE = 1.0, 0.15  # of a pull that lifts the middle again as the subspace learns; half of its length
_PIPE = 0.035  # radius of the pipe [m]
_RADII = (0.08, 0.15, 0.25)
_YOUNG, _POISSON = 1e5, 0.4


def run(size: str, plot: Path | None = None, steps: int = _FRAMES, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""
    return run_case("condense-capsule", lambda: make_case(_TETS[size], steps), _RADII, plot, only)


def make_case(tets: int, frames: int) -> Case:
    """The capsule, its subspace, and a pull that grows frame by frame."""
    mesh = make_shape("capsule", elements=tets, length=0.5, radius=0.06)
    x = mesh.vertices[:, 0]
    body = Body.build(mesh, Corotational(young=_YOUNG, poisson=_POISSON), Pins.of(np.flatnonzero(x < x.min() + 0.05)))
    end = np.flatnonzero(x > x.max() - 0.05).astype(np.int32)
    share = body.mass[end] / body.mass[end].sum()

    middle = np.flatnonzero(np.abs(x - x.mean()) < _MIDDLE * np.ptp(x)).astype(np.int32)
    spread = body.mass[middle] / body.mass[middle].sum()

    def moments(count: int, lift: float = 0.0, met: float = 0.5) -> list[Moment]:
        """A pull that grows, a share `met` of it in the first half, and a share of it that lifts the middle."""
        targets, found = mesh.vertices[body.pins.vertices], []
        for k in range(count + 1):
            pull = np.array([0.0, -_PULL * float(np.interp(2 * k / count, (0, 1, 2), (0, met, 1))), 0.0])
            forces = NodalForce(end, share, pull), NodalForce(middle, spread, -lift * pull)
            found.append(Moment(k / count, targets, forces if lift else forces[:1]))
        return found

    solver, bends = FullSolver(body, integrator="static"), []
    for lift in (0.0, _LIFT):
        state = solver.start()
        for begin, end_ in pairwise(moments(_BENDS, lift)):
            state, _ = solver.step(state, Inputs(begin, end_))
            bends.append(state.x - mesh.vertices)
    basis = diagonalise(principal_basis(np.array(bends), body.mass, rank=_RANK), body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what a rule misses shows in the errors
        rule = train_rule(body, basis, _TOLERANCE, np.random.default_rng(0), np.array(bends))
    model = ReducedModel(basis, rule, np.zeros((3 * len(body.mass), 0)), np.inf)
    # The pipe lies across the capsule, under its middle
    across = Placement(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), np.array([0.02, -0.1, 0.0]))
    placed = [Moment(one.time, one.targets, one.forces, (across,)) for one in moments(frames, met=_MET)]
    inputs = [Inputs(begin, end_) for begin, end_ in pairwise(placed)]
    return Case(
        body, model, inputs, "static", (Cylinder(0.4, _PIPE),), ContactSettings(friction=0.0, self_contact=False)
    )
