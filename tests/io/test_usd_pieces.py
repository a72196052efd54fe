"""The drawn surface of several bodies as a mesh each."""

import numpy as np

from supple.io import RenderMesh
from supple.io.drawn import drawn_surface
from supple.io.usd_pieces import MESH, split_surface
from supple.mesh import fill_box
from supple.mesh.joined import join_embeddings, join_surfaces, join_tets

NEAR, FAR = fill_box((0, 0, 0), (1, 1, 1), elements=200), fill_box((2, 0, 0), (3, 1, 1), elements=20)
SPANS = {"a-b": slice(0, len(NEAR.vertices)), "a_b": slice(len(NEAR.vertices), None)}


def test_every_body_has_its_own_points_and_faces_whatever_is_drawn():
    meshes = {"a-b": NEAR, "a_b": FAR}
    whole = join_tets(meshes)
    drawn = {name: RenderMesh.build(mesh, mesh.surface()) for name, mesh in meshes.items()}
    surfaces = join_surfaces({name: one.surface for name, one in drawn.items()})
    render = RenderMesh(surfaces, join_embeddings({name: one.embedding for name, one in drawn.items()}, meshes))
    assert len(NEAR.surface_vertices()) < len(NEAR.vertices)
    for surface in (drawn_surface(whole, None), drawn_surface(whole, render)):
        pieces = split_surface(surface, whole, SPANS)
        assert [piece.path for piece in pieces] == ["/body/a_b", "/body/a_b_2"]  # as USD spells them
        points = surface.lift(whole.vertices)
        for piece, mesh in zip(pieces, meshes.values(), strict=True):
            own = mesh.surface()
            assert np.abs(points[piece.points] - own.vertices).max() < 1e-12
            assert np.array_equal(piece.indices.reshape(-1, 3), own.triangles)
            assert (piece.counts == 3).all()
    (alone,) = split_surface(surface, whole, {})
    assert alone.path == MESH
    assert alone.indices is surface.indices
