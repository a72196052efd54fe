"""What is compiled ahead is what a step of another character takes from the cache."""

import numpy as np
from posespace_helpers import PoseSpaceSolver, beam_model, bend_beam, drive

from supple.method.posespace_ahead import take_a_step


def test_a_step_ahead_compiles_the_kernel_of_other_characters() -> None:
    body, rig, held = bend_beam(6)
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 0.5, 3))
    drive(solver, held, lambda time: np.zeros(1), 0.01, 1)
    known = len(solver._kernel.signatures)
    take_a_step("stable_neo_hookean")
    assert len(solver._kernel.signatures) == known
