"""The drawn vertices of a character against those of its solver."""

import numpy as np
from posespace_helpers import PoseSpaceSolver, beam_model, bend_beam, drive

from supple.method.posespace.surface import PoseSurface


def test_drawn_vertices_are_the_solvers_to_four_digits() -> None:
    body, rig, held = bend_beam(8, 1e6)
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 0.8, 3, 4, 9))
    state = drive(solver, held, lambda time: np.array([4.0 * time]), 1 / 30, 4)[-1]
    assert np.count_nonzero(state.w[0]) == 2  # between two poses
    vertices = body.mesh.surface_vertices()
    surface = PoseSurface(rig, solver.model, vertices)
    exact = solver.positions(state, vertices)
    moved = np.abs(exact - rig.positions(state.poses[0], vertices)).max()
    assert moved > 0.01
    assert 0.0 < np.abs(surface.positions(state) - exact).max() < 2e-4 * moved
