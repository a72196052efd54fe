"""Bodies whose tets are each so many times as stiff and as dense as their material."""

from dataclasses import replace

import numpy as np
import pytest

from supple.constraint import ProjectiveBody
from supple.contact.stiffness import default_stiffness
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body
from supple.errors import MaterialError
from supple.material import StableNeoHookean
from supple.method.model import fingerprint
from supple.shape import make_shape
from supple.subspace.domains import Domains

SOFT = StableNeoHookean(young=1e5, poisson=0.4, density=1000.0)
FIRM = StableNeoHookean(young=3e5, poisson=0.4, density=2000.0)


@pytest.fixture(scope="module")
def pair() -> tuple[Body, Body]:
    """The same body twice: right half of another material, and one material that is graded."""
    mesh = make_shape("box", resolution=4)
    right = mesh.vertices[mesh.tets].mean(axis=1)[:, 0] > 0.0
    halves = Body.build(replace(mesh, regions=right.astype(np.int32)), {0: SOFT, 1: FIRM})
    graded = Body.build(mesh, SOFT).graded(np.where(right, 3.0, 1.0), np.where(right, 2.0, 1.0))
    return halves, graded


def moved(body: Body) -> np.ndarray:
    x = body.mesh.vertices
    return x + 0.03 * np.random.default_rng(3).normal(size=x.shape)


def test_factors_are_another_material(pair: tuple[Body, Body]) -> None:
    halves, graded = pair
    x = moved(graded)
    assert np.allclose(graded.mass, halves.mass, rtol=1e-13)
    assert np.isclose(graded.energy(x), halves.energy(x), rtol=1e-12)
    assert np.allclose(graded.forces(x), halves.forces(x), rtol=1e-9, atol=1e-9 * np.abs(halves.forces(x)).max())
    assert np.allclose(graded.von_mises(x), halves.von_mises(x), rtol=1e-9)
    assert np.isclose(default_stiffness(graded), default_stiffness(halves), rtol=1e-12)
    assert max(part.wave_speed for part in graded.parts) == pytest.approx(max(part.wave_speed for part in halves.parts))
    assert sum(part.size.sum() for part in graded.parts) == pytest.approx(graded.mesh.volumes().sum())


def test_cubature_and_constraints_have_the_factors(pair: tuple[Body, Body]) -> None:
    graded = pair[1]
    members, columns = np.arange(len(graded.mesh.tets)), np.eye(3 * len(graded.mass))[:, :4]
    tables = [ReducedElements.build(body, columns, members, np.ones(len(members))).table for body in pair]
    assert np.isclose((tables[0][0] * tables[0][1]).sum(), (tables[1][0] * tables[1][1]).sum(), rtol=1e-12)
    x = moved(graded)
    for own in (False, True):
        one, other = (ProjectiveBody.from_body(body, own_materials=own) for body in pair)
        assert np.isclose(one.energy(x), other.energy(x), rtol=1e-9)


def test_pieces_of_a_cut_body_keep_the_factors(pair: tuple[Body, Body]) -> None:
    graded = pair[1]
    owners = (graded.mesh.vertices[graded.mesh.tets].mean(axis=1)[:, 1] > 0.0).astype(np.int64)
    for one, other in zip(*(Domains.of(body, owners).share for body in pair), strict=True):
        assert np.isclose(one, other, rtol=1e-12)
    domains, x = Domains.of(graded, owners), moved(graded)
    parts = [domains.piece(k).energy(x[domains.vertex_of[domains.vertices(k)]]) for k in (0, 1)]
    assert np.isclose(sum(parts), graded.energy(x), rtol=1e-12)


def test_models_tell_graded_bodies_apart(pair: tuple[Body, Body]) -> None:
    _, graded = pair
    plain = Body.build(graded.mesh, SOFT)
    ones = np.ones(len(plain.mesh.tets))
    assert fingerprint(plain.graded(ones, ones)) == fingerprint(plain)
    firmer = plain.graded(1.01 * ones, ones)
    assert fingerprint(firmer)["materials"] != fingerprint(plain)["materials"]
    assert firmer.hash() != plain.hash()


@pytest.mark.parametrize("wrong", [np.ones(3), None])
def test_factors_are_one_number_above_zero_for_every_tet(pair: tuple[Body, Body], wrong: np.ndarray | None) -> None:
    ones = np.ones(len(pair[0].mesh.tets))
    bad = np.where(np.arange(len(ones)) == 2, 0.0, 1.0) if wrong is None else wrong
    with pytest.raises(MaterialError, match=r"Body.graded\(density\): got"):
        pair[1].graded(ones, bad)
