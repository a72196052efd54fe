"""Flesh that is stiffer in some poses: the same in full space and in pose space."""

from dataclasses import replace

import numpy as np
import pytest
from posespace_helpers import PoseSpaceSolver, bend_beam, drive, whole_rules

from supple.cubature.pose_rules import train_pose_rules
from supple.elastic import Body
from supple.errors import ArgumentError, MaterialError, SceneError
from supple.material import StableNeoHookean
from supple.method import FullSolver, assemble_posespace
from supple.rig import PoseStiffness
from supple.subspace.pose_choice import choose_poses
from supple.subspace.pose_frequencies import PoseVibration
from supple.subspace.pose_models import build_pose_bases

FLEXED = np.array([1.0])


def flexing(factor: float = 5.0) -> tuple[Body, Body, object, object]:
    """A beam, the same that stiffens all over when bent, its rig and what is held."""
    body, rig, held = bend_beam(6)
    return body, body.stiffened(PoseStiffness(rig, [FLEXED], np.full((1, len(body.mesh.tets)), factor))), rig, held


def test_between_poses_it_is_the_geometric_mean_and_nowhere_more_than_given() -> None:
    _, firm, rig, _ = flexing(4.0)
    assert np.allclose(firm.stiffening.at(np.array([0.5])), 2.0, rtol=0.02)  # points of poses are not quite on a line
    assert np.allclose(firm.stiffening.at(FLEXED), 4.0, rtol=1e-12)
    everywhere = [firm.stiffening.at(np.array([angle])) for angle in np.linspace(-3.0, 3.0, 13)]
    assert 1.0 <= np.min(everywhere) <= np.max(everywhere) < 4.0 + 1e-9
    both = PoseStiffness(rig, [rig.neutral, FLEXED], [[2.0], [8.0]])
    assert both.neutral[0] == 2.0
    assert both.at(rig.neutral)[0] == pytest.approx(2.0)


def test_flesh_five_times_as_stiff_swings_at_the_root_of_five_times_the_frequency() -> None:
    body, firm, rig, _ = flexing()
    shape = rig.positions(FLEXED)
    slow, fast = PoseVibration(body, shape), PoseVibration(firm, shape, pose=FLEXED)
    assert np.allclose(fast.exact / slow.exact, np.sqrt(5.0), rtol=1e-7)
    assert firm.energy(shape) == pytest.approx(body.energy(shape))
    with pytest.raises(MaterialError, match="has no pose: give one"):
        firm.posed(shape)


def test_at_a_pose_it_is_the_model_of_that_material() -> None:
    """Trained and stepped in one pose, flesh five times as stiff is flesh with five times Young's modulus, be it so by
    the pose, by paint or by both."""
    body, firm, rig, held = flexing()
    hard = Body.build(body.mesh, StableNeoHookean(young=5e7, poisson=0.4, density=1e3), body.pins, body.damping)
    ones = np.ones(len(body.mesh.tets))
    both = body.graded(2.0 * ones, ones).stiffened(PoseStiffness(rig, [FLEXED], np.full((1, len(ones)), 2.5)))
    ends = []
    for one in (hard, firm, body.graded(5.0 * ones, ones), both):
        bases = build_pose_bases(one, rig, np.array([FLEXED]), 8)
        model = assemble_posespace(one, rig, bases, whole_rules(one, 1))
        solver = PoseSpaceSolver(one, rig, model, tolerance=1e-9)
        states = drive(solver, held, lambda time: FLEXED, 0.01, 12)
        ends.append(solver.positions(states[-1]) - rig.positions(FLEXED))
    assert np.abs(ends[0]).max() > 1e-4
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-5 * np.abs(ends[0]).max()


def test_pose_space_follows_the_full_solver_through_a_flex() -> None:
    _, firm, rig, held = flexing()

    def flex(time: float) -> np.ndarray:
        return np.array([np.sin(4.0 * time)])

    bases = choose_poses(firm, rig, np.linspace(0.0, 1.0, 9)[:, None], 10)
    assert np.isclose(bases.poses, FLEXED).any()
    rules = train_pose_rules(firm, rig, bases, 0.03, np.random.default_rng(0))
    model = assemble_posespace(firm, rig, bases, rules)
    assert model.stiffness.shape == (len(bases.poses), len(model.elements))
    apart = []
    for one in (model, replace(model, stiffness=model.stiffness[:0])):
        solver, full = PoseSpaceSolver(firm, rig, one), FullSolver(firm, rig=rig, rest="posed")
        runs = [drive(each, held, flex, 0.02, 20) for each in (solver, full)]
        rest = np.array([rig.positions(state.poses[0]) for state in runs[0]])
        found = np.array([solver.positions(state) for state in runs[0]]) - rest
        wanted = np.array([state.x for state in runs[1]]) - rest
        apart.append(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
    assert apart[0] < 0.05
    assert apart[1] > 5.0 * apart[0]  # without what the pose does to the stiffness


def test_what_is_no_stiffness_is_refused() -> None:
    body, _, rig, _ = flexing()
    tets = len(body.mesh.tets)
    with pytest.raises(ArgumentError, match=r"PoseStiffness\(factors\): got -1 at 0; want above 0"):
        PoseStiffness(rig, [FLEXED], np.full((1, tets), -1.0))
    with pytest.raises(ArgumentError, match=r"PoseStiffness\(factors\): got shape"):
        PoseStiffness(rig, [FLEXED, 2 * FLEXED], np.ones((1, tets)))
    with pytest.raises(SceneError, match="as good as the same"):
        PoseStiffness(rig, [FLEXED, FLEXED], np.ones((2, tets)))
    with pytest.raises(MaterialError, match="does not fit"):
        body.stiffened(PoseStiffness(rig, [FLEXED], np.ones((1, 3))))
