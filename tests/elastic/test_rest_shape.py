"""Elements measured against another rest shape."""

import numpy as np
import pytest

from supple.elastic import Body, Elements
from supple.errors import MeshError
from supple.material import StableNeoHookean
from supple.mesh import fill_box

MESH = fill_box((0.0, 0.0, 0.0), (1.0, 0.5, 0.5), 4)
MATERIAL = StableNeoHookean(young=1e5)
MOVED = MESH.vertices * [1.2, 0.8, 1.1] + 0.01 * np.random.default_rng(0).normal(size=MESH.vertices.shape)


def test_new_rest_is_that_of_elements_built_there_with_their_weights_and_stiffness() -> None:
    ids = np.arange(0, len(MESH.tets), 3)
    weights = np.random.default_rng(1).uniform(0.0, 5.0, len(ids))
    old = Elements.build(MESH.vertices, MESH.tets, MATERIAL, ids, weights).with_stiffness(3.0)
    built = Elements.build(MOVED, MESH.tets, MATERIAL, ids, weights).with_stiffness(3.0)
    fresh, by_old, by_built = old.with_rest(MOVED), np.argsort(old.ids), np.argsort(built.ids)
    np.testing.assert_allclose(fresh.inverse[:, by_old], built.inverse[:, by_built], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(fresh.volume[by_old], built.volume[by_built], rtol=1e-12)
    assert all(getattr(fresh, name) is getattr(old, name) for name in ("ids", "tets", "moduli", "clusters"))


def test_posed_body_is_at_rest_there_and_keeps_its_mass() -> None:
    body = Body.build(MESH, MATERIAL)
    posed = body.posed(MOVED)
    assert posed.energy(MOVED) < 1e-12 * posed.energy(MESH.vertices)
    assert np.abs(posed.forces(MOVED)).max() < 1e-12 * np.abs(posed.forces(MESH.vertices)).max()
    assert posed.mass is body.mass
    assert posed.mesh is body.mesh


@pytest.mark.parametrize("place", [np.nan, 10.0])
def test_rest_shape_that_is_inside_out_or_not_finite_is_refused(place: float) -> None:
    moved = MESH.vertices.copy()
    moved[7] = place
    with pytest.raises(MeshError, match=r"the posed rest shape flattens or inverts \d+ of [\d,]+ tets, the worst tet"):
        Body.build(MESH, MATERIAL).posed(moved)
