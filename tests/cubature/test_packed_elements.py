"""Elements of domains in packed form: the same forces and stiffness as with all zeros written out."""

import numpy as np
import pytest

from supple.cubature import Rule, SkinnedElements
from supple.cubature.packed_elements import pack_skin
from supple.cubature.skinned_elements import restrict_rig
from supple.elastic import EXACT, VISCOUS, Body, Pins
from supple.material import Corotational, StableNeoHookean
from supple.mesh import TetMesh
from supple.rig import SkinnedRig, heat_weights
from supple.shape import make_character, make_shape
from supple.subspace import Basis, DomainBases, bone_domains


@pytest.fixture(scope="module")
def parts():
    """Two domains of ranks 3 and 5, of two materials, with a rule and the same elements unpacked, both in a pose."""
    mesh, character = make_shape("capsule", resolution=8), make_character("capsule")
    regions = (np.arange(len(mesh.tets)) % 2).astype(np.int32)
    mesh = TetMesh.clean(mesh.vertices, mesh.tets, regions)
    body = Body.build(mesh, {0: StableNeoHookean(young=1e4), 1: Corotational(young=2e4)}, Pins.of([0, 1, 2]))
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    domains, rng = bone_domains(body, rig.skeleton, rig.influences), np.random.default_rng(0)
    made = []
    for domain, rank in enumerate((3, 5)):
        mass = domains.body.mass[domains.vertices(domain)]
        made.append(Basis(rng.normal(size=(3 * len(mass), rank)), mass, "any", np.ones(rank)))
    bases = DomainBases(domains, tuple(made))
    members = np.sort(rng.choice(len(mesh.tets), 50, replace=False))
    rule, copies = Rule(members, rng.uniform(1.0, 2.0, 50), 0.0), restrict_rig(rig, domains.vertex_of)
    pose = 0.5 * character.poses["bent"]
    packed = pack_skin(bases, copies, rule).pose(pose)
    plain = SkinnedElements.build(domains.body, copies, bases.joined().columns, members, rule.weights).pose(pose)
    return packed, plain, 0.01 * rng.normal(size=8)


def test_groups_are_runs_of_one_domain_and_one_material(parts) -> None:
    packed, plain, _ = parts
    assert packed.packed.gradient.shape[1] == 5
    assert len(packed.groups) == 4
    assert packed.groups[0, 0] == 0
    assert packed.groups[-1, 1] == plain.count
    assert (packed.groups[1:, 0] == packed.groups[:-1, 1]).all()
    assert packed.groups[:, 2:].tolist() == [[0, 3], [3, 8], [0, 3], [3, 8]]


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_forces_equal_those_without_packing(parts, factor: float) -> None:
    packed, plain, q = parts
    found, exact = (elements.with_stiffness(factor).force(q) for elements in (packed, plain))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize("form", [EXACT, VISCOUS])
def test_stiffness_equals_that_without_packing(parts, form: int) -> None:
    packed, plain, q = parts
    found, exact = (elements.square(*elements.roots(elements.strain(q)), form) for elements in (packed, plain))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-5 * np.abs(exact).max())
    assert not found[:3, 3:].any()
