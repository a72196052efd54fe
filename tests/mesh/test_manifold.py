import numpy as np

from supple.mesh import TetMesh, fill_box
from supple.mesh.manifold import cut_pinches, drop_strays


def select(mesh: TetMesh, *boxes: tuple[tuple[float, ...], tuple[float, ...]]) -> np.ndarray:
    """Tets whose centre lies in one of the boxes."""
    centres = mesh.vertices[mesh.tets].mean(axis=1)
    inside = [((centres > low) & (centres < high)).all(axis=1) for low, high in boxes]
    return mesh.tets[np.any(inside, axis=0)]


def is_manifold(vertices: np.ndarray, tets: np.ndarray) -> bool:
    return TetMesh.clean(vertices, tets).surface().is_manifold()


GRID = fill_box((0, 0, 0), (4, 4, 4), resolution=8)


def test_a_sound_mesh_is_left_alone() -> None:
    tets, removed = cut_pinches(GRID.vertices, GRID.tets)
    assert removed == 0
    assert tets is GRID.tets


def test_blocks_joined_in_an_edge_are_parted() -> None:
    pinched = select(GRID, ((0, 0, 0), (2, 2, 4)), ((2, 2, 0), (4, 4, 4)))
    assert not is_manifold(GRID.vertices, pinched)
    tets, removed = cut_pinches(GRID.vertices, pinched)
    assert 0 < removed < 0.2 * len(pinched)
    assert is_manifold(GRID.vertices, tets)


def test_blocks_joined_in_a_vertex_are_parted() -> None:
    pinched = select(GRID, ((0, 0, 0), (2, 2, 2)), ((2, 2, 2), (4, 4, 4)))
    assert not is_manifold(GRID.vertices, pinched)
    tets, removed = cut_pinches(GRID.vertices, pinched)
    assert 0 < removed < 20
    assert is_manifold(GRID.vertices, tets)


def test_a_tunnel_pinched_in_a_vertex_is_opened() -> None:
    centres = GRID.vertices[GRID.tets].mean(axis=1)
    hollow = ((centres > 1) & (centres < 2)).all(axis=1) | ((centres > 2) & (centres < 3)).all(axis=1)
    pinched = GRID.tets[~hollow]
    assert not is_manifold(GRID.vertices, pinched)
    tets, _ = cut_pinches(GRID.vertices, pinched)
    assert is_manifold(GRID.vertices, tets)


def test_strays_are_dropped_by_their_share_of_the_largest_piece() -> None:
    pieces = select(GRID, ((0, 0, 0), (4, 4, 2)), ((0, 0, 3), (1, 1, 4)))
    assert drop_strays(GRID.vertices, pieces, 0.01)[1] == 0
    kept, dropped = drop_strays(GRID.vertices, pieces, 0.05)
    assert dropped == 1
    assert len(kept) == len(select(GRID, ((0, 0, 0), (4, 4, 2))))
