"""The smallest character in pose space: `python -m supple.method.posespace.ahead MATERIAL` compiles what its training
ends with, what a step of any character of that material is made of, and what a check in full space solves with, in the
order in which a training comes to them, and leaves it in Numba's cache."""

import sys

import numpy as np

from supple.cubature.forward import choose_forward
from supple.cubature.pose_rules import PoseRules
from supple.elastic import Body, Damping, Pins
from supple.linalg.nnls import nnls
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.material import MATERIALS
from supple.mesh import fill_box
from supple.method.posespace.model import assemble
from supple.method.posespace.solver import PoseSpaceSolver
from supple.rig import Bend, Held
from supple.solve import Gravity, Inputs, Moment
from supple.subspace.pose_bases import PoseBases

__all__ = ["choose_a_rule", "solve_a_system", "take_a_step"]


def choose_a_rule() -> None:
    """Fit two columns."""
    choose_forward(np.eye(2), np.ones(2), 1.0)
    nnls(np.eye(2), np.ones(2), 2.0)


def solve_a_system() -> None:
    """Solve for vertices that nothing joins, enough of them for clusters that can be turned."""
    points = np.indices((4, 4, 4)).reshape(3, -1).T.astype(np.float64)
    count, none = len(points), np.zeros(0, np.int64)
    system = ConjugateGradients(BlockPattern.build(count, none, none), points)
    system.prepare(np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0] * count))
    system.solve(np.ones(3 * count), 1e-3)


def take_a_step(material: str) -> None:
    """Bend a bar of a few elements for a hundredth of a second."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.2, 0.2), 5)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, MATERIALS[material](), pins, Damping(0.1, 0.01))
    rig = Bend(mesh.vertices, (0.2, 0.1, 0.1), (0.8, 0.1, 0.1), (0.0, 0.0, 1.0))
    poses = np.array([[0.0], [0.5]])
    shapes = np.array([rig.positions(pose) for pose in poses])
    free = np.setdiff1d(np.arange(len(body.mass)), pins.vertices)
    columns = np.zeros((3 * len(body.mass), 3))
    for axis in range(3):  # any columns will do: nobody looks at where it ends
        columns[3 * free + axis, axis] = 1.0 / np.sqrt(body.mass[free].sum())
    bases = PoseBases(poses, shapes, np.array([columns, columns]), "world", body.mass, np.zeros(2, np.int64))
    tets, vertices = np.arange(len(mesh.tets)), np.arange(len(body.mass))
    rules = PoseRules(tets, np.ones((2, len(tets))), vertices, np.ones((2, len(vertices))))
    solver = PoseSpaceSolver(body, rig, assemble(body, rig, bases, rules))
    held, down = Held(rig, pins), Gravity(np.array([0.0, -9.81, 0.0]))
    begin, end = (Moment(time, held.targets(poses[0]), (down,), pose=poses[0]) for time in (0.0, 0.01))
    inputs = Inputs(begin, end)
    solver.step(solver.start(inputs), inputs)


if __name__ == "__main__":
    choose_a_rule()
    take_a_step(sys.argv[1])
    solve_a_system()
