"""Every material's stress, Hessian and second derivative against finite differences, by order and not by threshold."""

import numpy as np
import pytest

from supple.material import Material

SAMPLES = 12


def states(kind: str) -> np.ndarray:
    """Deformation gradients: at rest, moderate, rotated far, squeezed flat, inverted."""
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(SAMPLES, 3, 3))
    if kind == "rest":
        return np.eye(3) + 1e-3 * noise
    if kind == "moderate":
        return np.eye(3) + 0.2 * noise
    turned = np.linalg.qr(rng.normal(size=(SAMPLES, 3, 3)))[0]
    turned[np.linalg.det(turned) < 0, :, 0] *= -1
    if kind == "turned":
        return turned @ (np.eye(3) + 0.15 * noise)
    squeeze = {"squeezed": 0.12, "inverted": -0.6}[kind]
    return turned @ (np.diag([1.2, 0.9, squeeze]) + 0.02 * noise)


KINDS = ["rest", "moderate", "turned", "squeezed", "inverted"]


def observed_order(error_of_step, steps=(1e-1, 5e-2, 2.5e-2)) -> float:
    """Slope of log error against log step; a finite-difference formula of order 2 gives 2."""
    errors = np.array([error_of_step(h) for h in steps])
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def directions(material: Material, F: np.ndarray) -> list[np.ndarray]:
    """A random direction and the gradient's own: random ones can average an error out."""
    random = np.random.default_rng(3).normal(size=F.shape)
    along = material.stress(F)
    return [d / np.linalg.norm(d, axis=(1, 2), keepdims=True) for d in (random, along)]


def check_second_order(difference, exact, scale: float, size: float) -> None:
    """Central differences either converge at second order or are exact to round-off (polynomials)."""
    steps = tuple(size * k for k in (4.0, 2.0, 1.0))
    errors = [float(np.abs(difference(h) - exact).max()) for h in steps]
    if errors[-1] < 1e-7 * scale:
        return
    order = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    assert 1.8 < order < 2.3, f"order {order:.2f}, errors {errors}"


@pytest.mark.parametrize("kind", KINDS)
def test_stress_is_the_gradient_of_the_energy(material: Material, kind: str) -> None:
    F = states(kind)
    for D in directions(material, F):
        exact = np.einsum("nij,nij->n", material.stress(F), D)
        check_second_order(
            lambda h, D=D: (material.psi(F + h * D) - material.psi(F - h * D)) / (2 * h),
            exact, np.abs(exact).max(), 1e-3,
        )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_hessian_is_the_derivative_of_the_stress(material: Material, kind: str) -> None:
    F = states(kind)
    for D in directions(material, F):
        exact = np.einsum("nijkl,nkl->nij", material.hessian(F), D)
        check_second_order(
            lambda h, D=D: (material.stress(F + h * D) - material.stress(F - h * D)) / (2 * h),
            exact, np.abs(exact).max(), 1e-3,
        )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_curvature_is_the_second_derivative_of_the_stress(material: Material, kind: str) -> None:
    F = states(kind)
    A, B = directions(material, F)
    exact = material.curvature(F, A, B)
    assert np.allclose(exact, material.curvature(F, B, A), rtol=1e-9, atol=1e-9 * np.abs(exact).max() + 1e-12)
    hessian_scale = np.abs(material.hessian(F)).max()

    def difference(h: float) -> np.ndarray:
        forward, backward = material.hessian(F + h * B), material.hessian(F - h * B)
        return np.einsum("nijkl,nkl->nij", forward - backward, A) / (2 * h)

    check_second_order(difference, exact, max(np.abs(exact).max(), hessian_scale * 1e-2), 1e-3)
