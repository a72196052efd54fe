"""What holds of every constraint."""

import numpy as np
import pytest
from constraint_samples import block, every_constraint
from scipy.spatial.transform import Rotation

MESH = block()
ALL = every_constraint(MESH)
# The sum of two constraints is no nearest point
NEAREST = [c for c in ALL if c.kind not in ("corotational", "triangle strain") or not c.parameters[1].any()]
RNG = np.random.default_rng(0)
BENT = MESH.vertices + 0.03 * RNG.standard_normal(MESH.vertices.shape)
# Bending counts the side that normals tell: its derivative is that at fixed sides
GENTLE = MESH.vertices @ [[1.1, 0.05, 0.0], [0.1, 0.95, 0.0], [0.0, 0.1, 1.02]] + 0.002 * RNG.standard_normal(
    BENT.shape
)
names = pytest.mark.parametrize("constraint", ALL, ids=lambda c: c.kind.replace(" ", "_"))


@names
def test_forces_are_minus_the_gradient_of_the_energy(constraint):
    x = GENTLE if constraint.kind == "bending" else BENT
    direction = RNG.standard_normal(x.shape)
    slope = -np.vdot(constraint.forces(x), direction)
    size = np.linalg.norm(constraint.forces(x)) * np.linalg.norm(direction)
    errors = []
    for step in (2e-4, 1e-4):
        ahead, behind = constraint.energy(x + step * direction), constraint.energy(x - step * direction)
        errors.append(abs((ahead - behind) / (2.0 * step) - slope) / size)
    assert size > 0.0
    assert errors[1] < 1e-4
    # Second order, but for energies that are quadratic and for kinks where limits set in
    limited = constraint.kind in ("tet strain", "triangle strain", "tet volume", "spring", "example shapes")
    assert errors[1] < 1e-9 or limited or 3.0 < errors[0] / errors[1] < 5.0


@pytest.mark.parametrize("constraint", NEAREST, ids=lambda c: c.kind.replace(" ", "_"))
def test_no_point_of_the_set_is_nearer(constraint):
    values = constraint.stencils.values(BENT)
    nearest = constraint.project(values)
    distance = np.linalg.norm(values - nearest, axis=(1, 2))
    for size in (1e-3, 1e-2, 0.1, 0.5):
        other = constraint.project(nearest + size * RNG.standard_normal(values.shape))
        assert np.linalg.norm(other - nearest, axis=(1, 2)).max() > 0.1 * size or constraint.kind == "position"
        assert (np.linalg.norm(values - other, axis=(1, 2)) >= distance - 1e-9).all()


@pytest.mark.parametrize("constraint", NEAREST, ids=lambda c: c.kind.replace(" ", "_"))
def test_a_projection_stays_where_it_is(constraint):
    nearest = constraint.project_at(BENT)
    digits = 1e-9 if constraint.kind == "example shapes" else 1e-13  # these are iterated until a step is below 1e-10
    np.testing.assert_allclose(constraint.project(nearest), nearest, atol=digits * max(1.0, np.abs(nearest).max()))


@names
def test_turning_the_body_turns_projections_and_forces(constraint):
    if constraint.kind == "position":
        pytest.skip("the points stay where they are")
    turn = Rotation.from_rotvec([0.5, -1.5, 0.8]).as_matrix()
    np.testing.assert_allclose(constraint.project_at(BENT @ turn.T), constraint.project_at(BENT) @ turn.T, atol=1e-7)
    size = np.abs(constraint.forces(BENT)).max()
    np.testing.assert_allclose(constraint.forces(BENT @ turn.T), constraint.forces(BENT) @ turn.T, atol=1e-7 * size)


@names
def test_at_rest_nothing_pulls(constraint):
    assert constraint.energy(MESH.vertices) < 1e-20
    assert np.abs(constraint.forces(MESH.vertices)).max() < 1e-8
    np.testing.assert_allclose(
        constraint.rest(MESH.vertices), constraint.stencils.values(MESH.vertices), rtol=1e-9, atol=1e-9
    )


@names
def test_members_are_projected_as_among_all(constraint):
    members = np.arange(len(constraint.stencils))[::-2]
    np.testing.assert_array_equal(constraint.project_at(BENT, members), constraint.project_at(BENT)[members])


@names
def test_no_deformation_is_too_wild(constraint):
    flat, point = MESH.vertices * [1.0, 0.0, 1.0], np.zeros_like(BENT)
    wild = 3.0 * RNG.standard_normal(BENT.shape)
    for x in (flat, point, wild, -MESH.vertices):
        assert np.isfinite(constraint.energy(x))
        assert np.isfinite(constraint.forces(x)).all()
