"""What every material has in common: its rest, its small strains, its projection; and refusals in words."""

from collections.abc import Callable

import numpy as np
import pytest

from supple.errors import MaterialError
from supple.material import (
    PRESETS,
    ArrudaBoyce,
    Corotational,
    Linear,
    Material,
    NeoHookean,
    StableNeoHookean,
    StVK,
)


def random_rotation(seed: int) -> np.ndarray:
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return Q * np.sign(np.linalg.det(Q))


def test_rest_has_no_energy_and_no_stress(material: Material) -> None:
    assert abs(material.psi(np.eye(3))) < 1e-10 * material.mu
    assert np.abs(material.stress(np.eye(3))).max() < 1e-10 * material.mu


def test_small_strains_follow_the_lame_moduli(material: Material) -> None:
    # H at rest maps D to 2 μ sym(D) + λ tr(D) I
    H = material.hessian(np.eye(3))
    D = np.random.default_rng(0).normal(size=(3, 3))
    expected = material.mu * (D + D.T) + material.lam * np.trace(D) * np.eye(3)
    assert np.allclose(np.einsum("ijkl,kl->ij", H, D), expected, atol=1e-9 * material.lam)


def test_energy_does_not_depend_on_rotation(material: Material) -> None:
    if isinstance(material, Linear):
        assert material.psi(random_rotation(1)) > 0.0  # its known weakness: turning costs energy
        return
    F = np.eye(3) + 0.3 * np.random.default_rng(2).normal(size=(3, 3))
    Q, R = random_rotation(3), random_rotation(4)
    assert np.isclose(material.psi(Q @ F @ R), material.psi(F), rtol=1e-11)
    assert np.allclose(material.stress(Q @ F), Q @ material.stress(F), atol=1e-9 * material.lam)


@pytest.mark.parametrize("spread", [0.1, 0.5, 1.5])
def test_projection_clamps_exactly_the_negative_eigenvalues(material: Material, spread: float) -> None:
    F = np.eye(3) + spread * np.random.default_rng(5).normal(size=(40, 3, 3))
    raw = material.hessian(F).reshape(-1, 9, 9)
    projected = material.hessian(F, project=True).reshape(-1, 9, 9)
    for H, P in zip(raw, projected, strict=True):
        values, vectors = np.linalg.eigh(0.5 * (H + H.T))
        expected = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
        assert np.allclose(P, expected, atol=1e-7 * np.abs(values).max())


def test_hessian_is_symmetric(material: Material) -> None:
    F = np.eye(3) + 0.4 * np.random.default_rng(6).normal(size=(10, 3, 3))
    H = material.hessian(F).reshape(-1, 9, 9)
    assert np.allclose(H, H.transpose(0, 2, 1), rtol=0, atol=1e-11 * np.abs(H).max())


@pytest.mark.parametrize("name", ["arruda_boyce", "neo_hookean", "stable_neo_hookean", "stvk"])
def test_energy_grows_as_an_element_turns_inside_out(name: str, make_material: Callable[[str], Material]) -> None:
    material = make_material(name)
    stretches = np.linspace(0.2, -1.5, 60)
    energy = material.psi(np.array([np.diag([1.0, 1.0, s]) for s in stretches]))
    assert np.isfinite(energy).all()
    assert (np.diff(energy) > 0).all()


def test_stvk_alone_would_take_a_mirror_image_for_rest() -> None:
    # Above the barrier the density is the textbook's; at the mirror image only the barrier is left
    material = StVK(young=1e5, poisson=0.3)
    F = np.eye(3) + 0.1 * np.random.default_rng(7).normal(size=(3, 3))
    E = 0.5 * (F.T @ F - np.eye(3))
    assert np.isclose(material.psi(F), material.mu * np.sum(E * E) + 0.5 * material.lam * np.trace(E) ** 2)
    assert material.psi(-np.eye(3)) > material.mu


def test_arruda_boyce_with_long_chains_is_neo_hookean_in_shear() -> None:
    material = ArrudaBoyce(shear=5000.0, segments=1e9, bulk=1e5)
    assert np.isclose(material.mu, 5000.0)
    assert np.isclose(material.lam + 2 / 3 * material.mu, 1e5)
    stiffening = ArrudaBoyce(shear=5000.0, segments=3.0, bulk=1e5)
    stretch = np.diag([2.0, 2**-0.5, 2**-0.5])
    assert stiffening.stress(stretch)[0, 0] > 1.5 * material.stress(stretch)[0, 0]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"young": -1.0}, "young"),
        ({"young": float("nan")}, "young"),
        ({"poisson": 0.5}, "poisson"),
        ({"poisson": -1.0}, "poisson"),
        ({"density": 0.0}, "density"),
        ({"density": float("inf")}, "density"),
    ],
)
@pytest.mark.parametrize("kind", [Linear, StVK, Corotational, NeoHookean, StableNeoHookean])
def test_impossible_parameters_are_refused_in_one_sentence(kind: type, arguments: dict, word: str) -> None:
    with pytest.raises(MaterialError, match=word) as caught:
        kind(**arguments)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("arguments", [{"shear": -1.0}, {"segments": 0.0}, {"bulk": 1.0}, {"bulk": float("nan")}])
def test_impossible_arruda_boyce_is_refused(arguments: dict) -> None:
    with pytest.raises(MaterialError):
        ArrudaBoyce(**arguments)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_materials(name: str) -> None:
    preset = PRESETS[name]
    material = StableNeoHookean(young=preset.young, poisson=preset.poisson, density=preset.density)
    assert 0.5 < material.wave_speed < 200.0
