"""What [BEH18] claims, and what is claimed beyond it, on small bodies in the proportions of the authors' demo."""

from dataclasses import replace

import numpy as np
import pytest

from supple.bench.hyper_case import STEP, make_drop, make_mesh, make_twist
from supple.bench.hyper_converge import converge, fold
from supple.bench.hyper_figures import AUTHORS, PAPER, TABLE_2
from supple.bench.hyper_measure import (
    KEYS,
    compare,
    measure_creep,
    measure_floor,
    measure_frames,
    project_frames,
    run_hyper,
    run_unreduced,
    travel,
)
from supple.linalg.rigid import fit_rigid
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.method import SpaceSizes
from supple.subspace.skinning_space import skinning_space


@pytest.fixture(scope="module")
def drop():
    """A drop that deforms by a third of its size until it has sprung back, and its unreduced frames."""
    case = make_drop(make_mesh(None, "creature", 9_000), 10.0, 50)
    return case, run_unreduced(case)


def test_full_frames_lie_as_near_to_position_spaces_as_in_table_2(drop) -> None:
    case, full = drop
    rest, mass = case.body.vertices, case.body.mass
    bends = []
    for x in full.frames:
        R, shift = fit_rigid(x, rest, mass)
        bends.append(np.linalg.norm(x - rest @ R.T - shift, axis=1).max())
    assert max(bends) > 0.3 * case.body.size()
    graph = Geodesics.along(rest, case.body.cells)
    spread = spread_points(graph, 330)
    for dofs, (mean, largest) in TABLE_2.items():
        space = skinning_space(graph, mass, spread, dofs // 12)
        assert 3 * space.columns == dofs
        row = project_frames(space, rest, full.frames)
        assert row["projection_error"] < mean
        assert row["projection_error_max"] < largest


@pytest.mark.parametrize("projection", ["clusters", "fit"])
def test_the_right_hand_side_of_few_projections_misses_little_of_itself(drop, projection) -> None:
    case, full = drop
    row = measure_frames(run_hyper(case, SpaceSizes(handles=100, projection=projection)), full)
    assert row["rhs_error"] < 0.03
    assert row["rhs_error_max"] < 0.1
    assert row["rhs_error"] < row["rhs_error_net"] < 1.0


def test_ten_iterations_leave_as_much_as_unreduced_ones_do() -> None:
    case = fold(make_mesh(None, "beam", 2_000))
    full, clusters, fit = (
        np.array([row["objective"] for row in converge(case, kind, (1, 3, 10, 300))])
        for kind in (None, "clusters", "fit")
    )  # fmt: skip
    for falling in (full, clusters, fit):
        assert (np.diff(falling) < 0.0).all()
    assert max(clusters[2], fit[2]) < min(0.2, 1.3 * full[2])


@pytest.mark.parametrize(("stiffness", "step"), [(1.0, STEP), (10.0, STEP), (100.0, STEP), (10.0, 4.0 * STEP)])
def test_a_body_that_fell_rests_on_the_floor(stiffness: float, step: float) -> None:
    frames = 300 if stiffness == 100.0 else 200  # so stiff a body stands for long before it topples, if it does
    case = replace(make_drop(make_mesh(None, "creature", 1_500), stiffness, frames), step=step)
    found = run_hyper(case, SpaceSizes(handles=30))
    assert measure_floor(found)["sink"] < 0.01
    assert measure_creep(found) < 0.01
    speeds = [case.body.mass @ np.sum(found.solver.to_full(state)[1] ** 2, axis=1) for state in found.states[-50:]]
    assert max(speeds) < 0.02 * case.body.mass.sum() * 2.0 * 9.81 * 1.2  # of what the fall gave


def test_a_twist_let_go_is_within_a_tenth_of_the_unreduced_one() -> None:
    twist = make_twist(make_mesh(None, "creature", 4_000), frames=20)
    full, errors = run_unreduced(twist), []
    for handles in (30, 120):
        found = run_hyper(twist, SpaceSizes(handles=handles))
        frames = [found.solver.positions(state) for state in found.states]
        errors.append(compare(frames, full.frames, travel([twist.start], twist.body.vertices)))
    assert errors[1] < 0.1 < errors[0] < 0.4


def test_figures_of_others_stand_in_the_same_columns() -> None:
    for row in (*PAPER.values(), *AUTHORS):
        assert set(row) <= set(KEYS)
