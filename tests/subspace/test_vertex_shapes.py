"""Rows of bases vertex by vertex: the same shapes as whole bases give, in one piece and in domains."""

import numpy as np
import pytest

from supple.elastic import Body
from supple.material import Corotational
from supple.rig import SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import make_character, make_shape
from supple.subspace import DomainBases, bone_domains, principal_basis
from supple.subspace.vertex_shapes import VertexShapes, lift_vertices


@pytest.mark.parametrize("divided", [False, True])
def test_chosen_vertices_are_lifted_as_by_their_basis(divided: bool) -> None:
    mesh, character = make_shape("finger", resolution=10), make_character("finger")
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, character.skeleton))
    body = Body.build(mesh, Corotational(young=5e3, poisson=0.1), held.pins)
    rng = np.random.default_rng(0)
    shapes = rng.standard_normal((5, len(mesh.vertices), 3))
    shapes[:, held.pins.vertices] = 0.0
    if divided:
        basis = DomainBases.principal(bone_domains(body, rig.skeleton, rig.influences), shapes)
    else:
        basis = principal_basis(shapes, body.mass)
    some = mesh.surface_vertices()
    rows, q = VertexShapes.of(basis, some), rng.standard_normal(basis.rank)
    counts = np.diff(rows.start)
    assert (counts[some] >= 1).all()
    assert counts.sum() == counts[some].sum()
    assert divided == bool((counts > 1).any())  # borders have copies
    pose, x = 0.7 * character.poses["curled"], np.full_like(rig.rest, np.nan)
    lift_vertices(some, rows, q, rig.rest, *rig.frames(pose, some), x)
    wanted = rig.push_forward(pose, rig.rest + basis.lift(q))
    np.testing.assert_allclose(x[some], wanted[some], rtol=1e-12, atol=1e-12)
    assert np.isnan(np.delete(x, some, axis=0)).all()
