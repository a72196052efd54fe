import numpy as np

from supple.mesh import TetMesh, fill_box
from supple.mesh.split import split_tets


def test_eight_tets_of_one_volume_fill_each_and_share_their_faces() -> None:
    box = fill_box((0, 0, 0), (1, 1, 1), 2)
    coarse = TetMesh.clean(box.vertices @ [[1.0, 0.3, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 1.0]], box.tets)
    fine = split_tets(coarse)
    np.testing.assert_allclose(fine.volumes(), np.repeat(coarse.volumes() / 8.0, 8), rtol=1e-12)
    np.testing.assert_array_equal(fine.vertices[: len(coarse.vertices)], coarse.vertices)
    assert len(fine.surface().triangles) == 4 * len(coarse.surface().triangles)
    assert len(np.unique(fine.vertices.round(12), axis=0)) == len(fine.vertices)
