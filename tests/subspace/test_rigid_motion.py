"""Bases of free bodies hold no rigid motion, wherever their columns come from, and can be trained on."""

import numpy as np
import pytest

from supple.cubature import frequency_errors, train_rule
from supple.elastic import Body
from supple.errors import TrainingError
from supple.linalg.rigid import rigid_modes
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import Basis, diagonalise, linear_modes, modal_basis, principal_basis, remove_rigid


@pytest.fixture(scope="module")
def body() -> Body:
    return Body.build(fill_box((0, 0, 0), (1.0, 0.375, 0.25), 8), StableNeoHookean(young=1e5, poisson=0.4))


@pytest.fixture(scope="module")
def tumbling(body: Body) -> np.ndarray:
    """Snapshots in which the body travels and turns a little beside its vibrations."""
    rng = np.random.default_rng(0)
    modes = linear_modes(body, 6)
    rigid = rigid_modes(body.mesh.vertices)
    shapes = modes.columns @ (rng.normal(size=(6, 40)) / modes.importance[:, None] * modes.importance[0])
    return (shapes + 0.5 * rigid @ rng.normal(size=(6, 40))).T.reshape(40, -1, 3)


def rigid_share(basis: Basis, body: Body) -> float:
    """The largest component of a column along a unit rigid motion."""
    rigid = rigid_modes(body.mesh.vertices - np.average(body.mesh.vertices, axis=0, weights=body.mass))
    rigid = rigid / np.sqrt(np.einsum("ij,i,ij->j", rigid, basis.metric, rigid))
    return float(np.abs(rigid.T @ (basis.metric[:, None] * basis.columns)).max())


def test_modes_and_derivatives_of_a_free_body_hold_no_rigid_motion(body: Body) -> None:
    basis = modal_basis(body, linear_modes(body, 4), 10)
    assert rigid_share(basis, body) < 1e-7
    turned = diagonalise(basis, body)
    assert turned.rank == 10
    assert rigid_share(turned, body) < 1e-9
    assert (turned.importance > 0.0).all()


def test_rigid_motion_is_removed_from_snapshots_and_nothing_else(body: Body, tumbling: np.ndarray) -> None:
    crude = principal_basis(tumbling, body.mass)
    assert crude.rank == 12
    assert rigid_share(crude, body) > 0.5
    basis = principal_basis(remove_rigid(tumbling, body), body.mass)
    assert basis.rank == 6
    assert rigid_share(basis, body) < 1e-9
    modes = linear_modes(body, 6)
    assert np.allclose(diagonalise(basis, body).importance, modes.importance, rtol=1e-6)


def test_diagonalising_leaves_rigid_motions_to_the_frame(body: Body, tumbling: np.ndarray) -> None:
    basis = diagonalise(principal_basis(tumbling, body.mass), body)
    assert basis.rank == 6  # of twelve, six of them rigid
    assert rigid_share(basis, body) < 1e-9
    assert np.allclose(basis.columns.T @ (basis.metric[:, None] * basis.columns), np.eye(6), atol=1e-9)
    assert np.allclose(basis.importance, linear_modes(body, 6).importance, rtol=1e-6)


def test_rule_of_a_free_body_is_trained_and_accepted(body: Body, tumbling: np.ndarray) -> None:
    basis = diagonalise(principal_basis(tumbling, body.mass), body)
    rule = train_rule(body, basis, 0.03, np.random.default_rng(0), reach=0.3)
    assert rule.heldout_error is not None
    assert rule.heldout_error <= 0.045
    assert np.abs(frequency_errors(body, basis, rule)).max() <= 0.03


def test_basis_of_rigid_motions_alone_is_refused(body: Body) -> None:
    rigid = Basis(rigid_modes(body.mesh.vertices), body.mass, "rigid motions", np.ones(6))
    with pytest.raises(TrainingError, match="no column that deforms"):
        diagonalise(rigid, body)
