"""StVK's reduced forces are cubic polynomials with known coefficients (Barbič, James 2005): an exact oracle for rules.

Everything here is worked out from vertices and tets alone, without a line of the code under test.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from supple.cubature import ElementProblem, Poses, draw_coordinates, fit_error, train_pool
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body, Pins
from supple.material import StVK
from supple.mesh import fill_box
from supple.subspace import Basis, diagonalise, linear_modes, modal_basis

RANK = 5


@dataclass(frozen=True)
class Polynomial:
    """E = A q + q B q in every element, W = ½ Σ V E : C : E: forces of degree one, two and three."""

    linear: np.ndarray
    quadratic: np.ndarray
    cubic: np.ndarray

    @classmethod
    def of(cls, body: Body, columns: np.ndarray, material: StVK) -> "Polynomial":
        rank = columns.shape[1]
        corners = body.mesh.vertices[body.mesh.tets]
        edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
        volume = np.abs(np.linalg.det(edges)) / 6.0
        moved = columns.reshape(-1, 3, rank)[body.mesh.tets]
        D = np.einsum("ekir,ekj->erij", moved[:, 1:] - moved[:, :1], np.linalg.inv(edges))  # ∂u_i/∂X_j
        A = 0.5 * (D + D.transpose(0, 1, 3, 2))
        B = 0.5 * np.einsum("eaki,ebkj->eabij", D, D)
        B = 0.5 * (B + B.transpose(0, 2, 1, 3, 4))
        B = 0.5 * (B + B.transpose(0, 1, 2, 4, 3))

        def pair(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
            """Σ V X : C : Y over all pairs of entries, with C the stiffness of small strains."""
            trace_x, trace_y = (np.trace(Z, axis1=2, axis2=3) for Z in (X, Y))
            return 2.0 * material.mu * np.einsum("e,exij,eyij->xy", volume, X, Y) + material.lam * np.einsum(
                "e,ex,ey->xy", volume, trace_x, trace_y
            )

        flat = B.reshape(len(B), rank * rank, 3, 3)
        mixed = pair(A, flat).reshape(rank, rank, rank)
        quadratic = mixed + 2.0 * mixed.transpose(1, 0, 2)  # derivative of q_j q_k q_l mixed_jkl by q_i
        return cls(pair(A, A), quadratic, 2.0 * pair(flat, flat).reshape(rank, rank, rank, rank))

    def force(self, q: np.ndarray) -> np.ndarray:
        return (
            self.linear @ q
            + np.einsum("ikl,k,l->i", self.quadratic, q, q)
            + np.einsum("iklm,k,l,m->i", self.cubic, q, q, q)
        )


@dataclass(frozen=True)
class Block:
    body: Body
    basis: Basis
    oracle: Polynomial
    poses: np.ndarray


@pytest.fixture(scope="module")
def block() -> Block:
    mesh, material = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 8), StVK(young=1e5, poisson=0.3)
    body = Body.build(mesh, material, Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)))
    basis = diagonalise(modal_basis(body, linear_modes(body, 3), RANK), body)
    poses = draw_coordinates(basis, 0.4, 40, np.random.default_rng(0))
    return Block(body, basis, Polynomial.of(body, basis.columns, material), poses)


def test_polynomial_starts_with_the_rest_stiffness_and_is_the_gradient_of_an_energy(block: Block) -> None:
    values = block.basis.importance
    assert np.allclose(block.oracle.linear, np.diag(values), atol=1e-9 * values.max())
    q, h = block.poses[:, 0], 1e-6 * np.abs(block.poses[:, 0]).max()
    slope = np.array([(block.oracle.force(q + h * e) - block.oracle.force(q - h * e)) / (2 * h) for e in np.eye(RANK)])
    assert np.allclose(slope, slope.T, atol=1e-6 * np.abs(slope).max())


def test_all_elements_with_weight_one_are_the_polynomial(block: Block) -> None:
    count = len(block.body.mesh.tets)
    elements = ReducedElements.build(block.body, block.basis.columns, np.arange(count), np.ones(count))
    for q in block.poses.T:
        exact = block.oracle.force(q)
        assert np.allclose(elements.force(q), exact, rtol=0, atol=1e-11 * np.abs(exact).max())


def test_trained_rule_is_as_far_from_the_polynomial_as_it_says(block: Block) -> None:
    problem = ElementProblem(block.body, block.basis, Poses(block.body, block.basis, block.poses))
    rule = train_pool(problem, 0.05, np.random.default_rng(0))
    elements = ReducedElements.build(block.body, block.basis.columns, rule.members, rule.weights)

    def measure(poses: np.ndarray) -> float:
        exact, found = (np.array([force(q) for q in poses.T]) for force in (block.oracle.force, elements.force))
        norm = block.basis.importance**-0.5  # the energy norm
        errors = np.linalg.norm((found - exact) * norm, axis=1) / np.linalg.norm(exact * norm, axis=1)
        return float(np.sqrt(np.mean(errors**2)))

    assert 0 < rule.size < 0.2 * len(block.body.mesh.tets)
    assert measure(block.poses) == pytest.approx(rule.training_error, rel=1e-4)
    unseen = draw_coordinates(block.basis, 0.4, 40, np.random.default_rng(1))
    heldout = ElementProblem(block.body, block.basis, Poses(block.body, block.basis, unseen))
    assert measure(unseen) == pytest.approx(fit_error(heldout, rule.members, rule.weights), rel=1e-4)
    assert measure(unseen) < 2 * 0.05
