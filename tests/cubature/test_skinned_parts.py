"""Training problems of skinned bodies in parts, of which some have none of the chosen samples."""

import numpy as np
from skinned_helpers import random_pose, skinned_rod

from supple.cubature import StackedProblem
from supple.cubature.skinned_problem import skinned_problem
from supple.cubature.skinned_samples import draw_skinned
from supple.subspace import diagonalise, linear_modes


def test_a_part_of_which_no_sample_is_chosen_has_no_rows() -> None:
    rig, body = skinned_rod()
    basis, rng = diagonalise(linear_modes(body, 4), body), np.random.default_rng(0)
    poses = np.array([random_pose(rig, rng, 0.3) for _ in range(2)])
    recorded = 0.01 * rng.standard_normal((4, 2))
    part = skinned_problem(body, rig, basis, draw_skinned(basis, poses, recorded, 0.01, 5, rng))
    both, who = StackedProblem([part, part]), np.arange(3)
    chosen = np.array([1, 2])
    assert np.array_equal(both.columns(who, chosen), part.columns(who, chosen))
