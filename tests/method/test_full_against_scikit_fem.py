"""An independent finite-element code finds the same hyperelastic equilibrium."""

import numpy as np
from helpers import interval

from supple.elastic import Body, Pins
from supple.material import NeoHookean
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.solve import Gravity


def solve_with_scikit_fem(vertices, tets, fixed, young, poisson, density, gravity) -> np.ndarray:
    """Positions at equilibrium: Newton on the weak form of ψ = μ/2 (I - 3) - μ log J + λ/2 (log J)²."""
    from skfem import Basis, BilinearForm, ElementTetP1, ElementVector, LinearForm, MeshTet, condense, solve
    from skfem.helpers import ddot, det, grad, inv, transpose

    mu, lam = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    basis = Basis(MeshTet(vertices.T.copy(), tets.T.copy()), ElementVector(ElementTetP1()))
    identity = np.eye(3)[:, :, None, None]

    def gradient(w):
        return grad(w["u"]) + identity

    @LinearForm
    def residual(v, w):
        F = gradient(w)
        turned = transpose(inv(F))
        P = mu * (F - turned) + lam * np.log(det(F)) * turned
        weight = sum(g * v[i] for i, g in enumerate(gravity))
        return ddot(P, grad(v)) - w["load"] * density * weight

    @BilinearForm
    def tangent(u, v, w):
        F = gradient(w)
        turned, D = transpose(inv(F)), grad(u)
        twisted = np.einsum("ij...,kj...,kl...->il...", turned, D, turned)  # F⁻ᵀ Dᵀ F⁻ᵀ
        change = mu * D + (mu - lam * np.log(det(F))) * twisted + lam * ddot(turned, D) * turned
        return ddot(change, grad(v))

    u = basis.zeros()
    held = basis.nodal_dofs[:, fixed].ravel()
    for load in np.linspace(0.1, 1.0, 10):  # its Newton has no line search: the load grows slowly
        for _ in range(20):
            w = basis.interpolate(u)
            K, f = tangent.assemble(basis, u=w), residual.assemble(basis, u=w, load=load)
            step = solve(*condense(K, -f, D=held))
            u += step
            if np.abs(step).max() < 1e-13:
                break
    return vertices + u[basis.nodal_dofs].T


def test_scikit_fem_finds_the_same_equilibrium() -> None:
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 8)
    young, poisson, density, gravity = 2e5, 0.35, 1000.0, (0.0, -9.81, 2.0)
    fixed = np.flatnonzero(mesh.vertices[:, 0] < 1e-9)
    expected = solve_with_scikit_fem(mesh.vertices, mesh.tets, fixed, young, poisson, density, gravity)
    body = Body.build(mesh, NeoHookean(young=young, poisson=poisson, density=density), Pins.of(fixed))
    solver = FullSolver(body, integrator="static", tolerance=1e-12)
    state, _ = solver.step(solver.start(), interval(body, 0.0, 1.0, Gravity(np.array(gravity))))
    deflection = np.abs(expected - mesh.vertices).max()
    assert deflection > 0.1
    assert np.abs(state.x - expected).max() < 1e-9 * deflection
