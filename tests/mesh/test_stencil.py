"""The paper proves its angle bounds case by case; here every case is attacked with extreme cuts and warps."""

from itertools import product

import numpy as np
import pytest

from supple.mesh import stuff
from supple.mesh.crossing import ALPHA_LONG, ALPHA_SHORT
from supple.mesh.lattice import Lattice
from supple.mesh.quality import dihedral_angles
from supple.mesh.stencil import TET_EDGES, stencil_code, stencil_table
from supple.mesh.tetmesh import tet_volumes

LONG = [sign * axis for sign in (1, -1) for axis in np.eye(3)]
SHORT = [np.array(signs) / 2 for signs in product((-1, 1), repeat=3)]
WAYS = np.array(LONG + SHORT)
REACH = np.array([ALPHA_LONG] * 6 + [ALPHA_SHORT] * 8)
EDGE_ALPHA = np.array([ALPHA_LONG, *[ALPHA_SHORT] * 4, ALPHA_LONG])
CASES = [signs for signs in product((-1, 0, 1), repeat=4) if 1 in signs and signs != (1, 1, 1, 1)]


def possible_warps(corners: np.ndarray, signs: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random positions of the corners, shape (k, 4, 3), that warping can lead to for these final signs."""
    before = np.where(signs == 0, rng.choice([-1, 1], (count, 4)), signs)
    way = rng.integers(0, 14, (count, 4))
    far = REACH[way] * np.where(rng.random((count, 4)) < 0.7, 1.0, rng.random((count, 4)))
    ahead = np.array([[_corner_at(corners, corner + w) for w in WAYS] for corner in corners])
    target = ahead[np.arange(4), way]
    fine = np.ones(count, dtype=bool)
    for corner in np.flatnonzero(signs == 0):
        towards = target[:, corner]
        same_sign = before[np.arange(count), towards] == before[:, corner]
        fine &= ~((towards >= 0) & same_sign)  # a point moves only towards the other side of the surface
        for other in np.flatnonzero(signs == 0):  # one cut draws one point only
            fine &= ~((towards == other) & (target[:, other] == corner))
    return (corners + np.where((signs == 0)[:, None], far[..., None] * WAYS[way], 0.0))[fine]


def _corner_at(corners: np.ndarray, point: np.ndarray) -> int:
    hits = np.flatnonzero(np.abs(corners - point).max(axis=1) < 1e-9)
    return int(hits[0]) if hits.size else -1


def test_no_cut_and_no_warp_breaks_the_published_angle_bounds() -> None:
    pieces, counts = stencil_table()
    rng = np.random.default_rng(3)
    lattice = Lattice(np.zeros(3), 1.0, (2, 2, 2))
    smallest, largest = 180.0, 0.0
    families = {family.parity: family for family in lattice.tets()}
    for parity, family in families.items():
        corners = lattice.positions(np.array([points[0] for points in family.points]))
        for signs in CASES:
            code = int(stencil_code(np.array([signs], dtype=np.int8))[0])
            tries = 30_000 if signs.count(0) == 3 else 3_000  # three free corners: the widest choice
            places = possible_warps(corners, np.array(signs), rng, tries)
            share = rng.choice([0.0, 0.5, 1.0], (len(places), 6)) * (1 - 2 * EDGE_ALPHA) + EDGE_ALPHA
            ends = places[:, TET_EDGES]
            cuts = ends[:, :, 0] + share[..., None] * (ends[:, :, 1] - ends[:, :, 0])
            points = np.concatenate([places, cuts], axis=1)
            for piece in pieces[parity, code, : counts[parity, code]]:
                tets = points[:, piece if family.positive else piece[[0, 1, 3, 2]]].reshape(-1, 3)
                rows = np.arange(len(tets), dtype=np.int32).reshape(-1, 4)
                assert tet_volumes(tets, rows).min() > 0
                angles = dihedral_angles(tets, rows)
                smallest, largest = min(smallest, angles.min()), max(largest, angles.max())
    assert smallest >= 10.78
    assert largest <= 164.75
    assert smallest == pytest.approx(10.784, abs=0.01)  # and the bounds are attained
    assert largest == pytest.approx(164.74, abs=0.01)


def test_cut_faces_of_neighbouring_tets_match_for_any_signs() -> None:
    """A noisy field brings up all sign patterns: no face may be left that only one of two neighbours cut."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        waves, phases = rng.normal(size=(3, 30)) * 8, rng.uniform(0, 6.3, 30)

        def noise(p: np.ndarray, waves: np.ndarray = waves, phases: np.ndarray = phases) -> np.ndarray:
            return np.maximum(np.sin(p @ waves + phases).mean(axis=1) / 20, np.abs(p).max(axis=1) - 0.9)

        mesh = stuff(noise, ([-1] * 3, [1] * 3), resolution=9, steepness=2)
        surface = mesh.surface()
        assert surface.is_closed()
        assert surface.is_manifold()
        assert surface.volume() == pytest.approx(mesh.volumes().sum(), rel=1e-10)
        angles = dihedral_angles(mesh.vertices, mesh.tets)
        assert angles.min() >= 10.78
        assert angles.max() <= 164.75


def test_lattice_tets_fill_space_with_equal_positive_tets() -> None:
    lattice = Lattice(np.zeros(3), 0.5, (3, 4, 5))
    points = lattice.positions(np.arange(lattice.point_count()))
    for family in lattice.tets():
        tets = np.column_stack(family.points)
        sign = 1 if family.positive else -1
        np.testing.assert_allclose(sign * tet_volumes(points, tets), 0.5**3 / 12)
