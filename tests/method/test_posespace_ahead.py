"""What is compiled ahead is what a step of another character takes from the cache."""

import numpy as np
from posespace_helpers import PoseSpaceSolver, beam_model, bend_beam, drive

from supple.linalg.pcg import _iterate
from supple.method import FullSolver
from supple.method.posespace.ahead import choose_a_rule, solve_a_system, take_a_step


def test_a_step_ahead_compiles_the_kernel_of_other_characters() -> None:
    body, rig, held = bend_beam(6)
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 0.5, 3))
    drive(solver, held, lambda time: np.zeros(1), 0.01, 1)
    known = len(solver._kernel.signatures)
    take_a_step("stable_neo_hookean")
    assert len(solver._kernel.signatures) == known


def test_what_is_solved_ahead_is_of_the_types_of_a_real_system() -> None:
    body, rig, held = bend_beam(6)
    solver = FullSolver(body, rig=rig, rest="posed", time_step=0.01, linear_solver="pcg")
    drive(solver, held, lambda time: np.array([time]), 0.01, 1)
    known = len(_iterate.signatures)
    solve_a_system()
    choose_a_rule()
    assert len(_iterate.signatures) == known
