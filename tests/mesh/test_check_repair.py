"""Meshes broken on purpose: every flaw is found, counted and located, and repaired where it can be."""

from dataclasses import replace

import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import (
    PolygonSoup,
    TetMesh,
    TetSoup,
    TriMesh,
    check_surface,
    check_tets,
    fill_box,
    repair_surface,
    repair_tets,
)
from supple.mesh.self_crossing import crossing_pairs


@pytest.fixture
def tets() -> TetSoup:
    mesh = fill_box((0, 0, 0), (0.3, 0.2, 0.2), resolution=3)
    return TetSoup(mesh.vertices, mesh.tets, np.arange(len(mesh.tets), dtype=np.int32) % 2)


@pytest.fixture
def cube() -> PolygonSoup:
    """Six quads with texture coordinates, facing outward."""
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    uv = np.linspace(0, 1, 48).reshape(24, 2)
    return PolygonSoup(points, np.full(6, 4, np.int32), np.array(quads, np.int32).reshape(-1), uv)


def kinds(flaws) -> dict[str, int]:
    return {flaw.kind: flaw.count for flaw in flaws}


def test_a_sound_mesh_has_no_flaw(tets, cube):
    assert check_tets(tets) == []
    assert check_surface(cube) == []
    assert repair_tets(tets)[1] == []
    assert repair_surface(cube)[1] == []


def break_tets(soup: TetSoup, how: str) -> TetSoup:
    n = len(soup.vertices)
    match how:
        case "mixed winding":
            turned = soup.tets.copy()
            turned[5:9] = turned[5:9][:, [1, 0, 2, 3]]
            return replace(soup, tets=turned)
        case "winding of all tets":
            return replace(soup, tets=soup.tets[:, [1, 0, 2, 3]])
        case "unused vertices":
            return replace(soup, vertices=np.concatenate([soup.vertices, [[9.0, 9.0, 9.0]]]))
        case "duplicate vertices":
            copied = soup.tets.copy()
            copied[7][copied[7] == copied[7, 0]] = n
            return replace(
                soup, vertices=np.concatenate([soup.vertices, soup.vertices[[soup.tets[7, 0]]]]), tets=copied
            )
        case "degenerate tets":
            flat = np.append(soup.tets, [[*soup.tets[0, :3], soup.tets[0, 2]]], axis=0).astype(np.int32)
            return replace(soup, tets=flat, regions=np.append(soup.regions, np.int32(0)))
        case "duplicate tets":
            twice = np.append(soup.tets, soup.tets[[3]], axis=0)
            return replace(soup, tets=twice, regions=np.append(soup.regions, np.int32(0)))
        case "non-finite vertices":
            points = soup.vertices.copy()
            points[0, 1] = np.nan
            return replace(soup, vertices=points)
        case "indices out of range":
            wild = soup.tets.copy()
            wild[2, 1], wild[4, 3] = n, -1
            return replace(soup, tets=wild)
        case "pinched vertices":
            points = np.concatenate([soup.vertices, soup.vertices[0] - [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]])
            tip = np.append(soup.tets, [[0, n, n + 2, n + 1]], axis=0).astype(np.int32)
            return replace(soup, vertices=points, tets=tip, regions=np.append(soup.regions, np.int32(0)))
    raise AssertionError(how)


TET_FLAWS = {
    "mixed winding": 4,
    "winding of all tets": None,
    "unused vertices": 1,
    "duplicate vertices": 1,
    "degenerate tets": 1,
    "duplicate tets": 1,
    "non-finite vertices": 1,
    "indices out of range": 2,
    "pinched vertices": 1,
}


@pytest.mark.parametrize("how", TET_FLAWS)
def test_flaws_of_tets_are_found_located_and_mended(tets, how):
    broken = break_tets(tets, how)
    found = check_tets(broken)
    flaw = next(flaw for flaw in found if flaw.kind == how)
    assert flaw.count == (TET_FLAWS[how] or len(tets.tets))
    assert flaw.then
    assert flaw.text().count(":") >= 1
    if how in ("mixed winding", "indices out of range", "degenerate tets", "duplicate tets"):
        first = {"mixed winding": 5, "indices out of range": 2}.get(how, len(tets.tets))
        assert flaw.where[0] == first
        assert len(flaw.near[0]) == 3
    mended, changes = repair_tets(broken)
    assert changes
    assert not [left for left in check_tets(mended) if left.kind == how or left.severity == "error"]
    mesh = TetMesh.clean(mended.vertices, mended.tets, mended.regions)
    assert mesh.notes == ()
    if how not in ("non-finite vertices", "indices out of range"):
        assert mesh.volumes().sum() == pytest.approx(0.012)
        assert np.array_equal(np.sort(mesh.regions), np.sort(tets.regions))


def break_surface(soup: PolygonSoup, how: str) -> PolygonSoup:
    n = len(soup.vertices)
    match how:
        case "mixed winding":
            return soup.turn(np.arange(6) == 2)
        case "inward orientation":
            return soup.turn(np.ones(6, bool))
        case "holes":
            return soup.keep(np.arange(6) != 4)
        case "duplicate faces":
            return replace(
                soup,
                counts=np.append(soup.counts, np.int32(4)),
                indices=np.append(soup.indices, soup.indices[:4]),
                uv=np.append(soup.uv, soup.uv[:4], axis=0),
            )
        case "degenerate faces":
            line = np.array([0, 1, 0], np.int32)
            return replace(
                soup,
                counts=np.append(soup.counts, np.int32(3)),
                indices=np.append(soup.indices, line),
                uv=np.append(soup.uv, soup.uv[:3], axis=0),
            )
        case "duplicate vertices":
            points = np.concatenate([soup.vertices, soup.vertices[[0]]])
            indices = soup.indices.copy()
            indices[0] = n
            return replace(soup, vertices=points, indices=indices)
        case "unused vertices":
            return replace(soup, vertices=np.concatenate([soup.vertices, [[5.0, 5, 5]]]))
        case "non-finite vertices":
            points = soup.vertices.copy()
            points[3] = np.inf
            return replace(soup, vertices=points)
        case "indices out of range":
            indices = soup.indices.copy()
            indices[5] = 99
            return replace(soup, indices=indices)
    raise AssertionError(how)


SURFACE_FLAWS = {
    "mixed winding": 2,  # triangles
    "inward orientation": 12,
    "holes": 1,
    "duplicate faces": 1,
    "degenerate faces": 1,
    "duplicate vertices": 1,
    "unused vertices": 1,
    "non-finite vertices": 1,
    "indices out of range": 1,
}


@pytest.mark.parametrize("how", SURFACE_FLAWS)
def test_flaws_of_surfaces_are_found_and_mended(cube, how):
    broken = break_surface(cube, how)
    flaw = next(flaw for flaw in check_surface(broken) if flaw.kind == how)
    assert flaw.count == SURFACE_FLAWS[how]
    mended, changes = repair_surface(broken)
    assert changes
    assert check_surface(mended) == []
    mesh = TriMesh.from_polygons(mended.vertices, mended.counts, mended.indices, mended.uv)
    assert mesh.is_closed()
    assert mesh.volume() > 0.49
    if how not in ("non-finite vertices", "indices out of range", "holes"):
        assert mended.counts.tolist() == [4] * 6  # still quads
        assert mesh.volume() == pytest.approx(1.0)


def test_flaws_that_are_not_mended_are_told(cube):
    far = replace(
        cube,
        vertices=np.concatenate([cube.vertices, cube.vertices + [0.5, 0.4, 0.3]]),
        counts=np.tile(cube.counts, 2),
        indices=np.append(cube.indices, cube.indices + 8).astype(np.int32),
        uv=None,
    )
    found = kinds(check_surface(far))
    assert found["several components"] == 2
    assert found["self-intersections"] > 0
    fin = replace(
        cube,
        vertices=np.concatenate([cube.vertices, [[2.0, 2, 2]]]),
        counts=np.append(cube.counts, np.int32(3)),
        indices=np.append(cube.indices, np.array([0, 1, 8], np.int32)),
        uv=None,
    )
    assert kinds(check_surface(fin))["non-manifold edges"] == 1


def test_slivers_are_listed_worst_first(tets):
    points = np.concatenate([tets.vertices, [[5, 0, 0], [6, 0, 0], [5, 1, 0], [5.3, 0.3, 1e-4], [5.3, 0.3, 1e-3]]])
    n = len(tets.vertices)
    more = np.array([[n, n + 1, n + 2, n + 4], [n, n + 1, n + 2, n + 3]], np.int32)
    soup = TetSoup(points, np.append(tets.tets, more[:1], axis=0), np.zeros(len(tets.tets) + 1, np.int32))
    flaw = next(flaw for flaw in check_tets(soup) if flaw.kind == "slivers")
    assert (flaw.count, flaw.where) == (1, (len(tets.tets),))
    assert kinds(check_tets(soup))["several components"] == 2


def test_a_mesh_of_which_nothing_is_left_is_an_error(tets):
    with pytest.raises(MeshError, match="no tet is left"):
        repair_tets(replace(tets, tets=np.full_like(tets.tets, 99)))


def test_crossings_are_those_that_brute_force_finds():
    rng = np.random.default_rng(3)
    vertices = rng.random((60, 3))
    triangles = np.arange(60, dtype=np.int32).reshape(-1, 3)
    pairs = crossing_pairs(vertices, triangles)
    expected = []
    for a in range(20):
        for b in range(a + 1, 20):
            hit = any(
                _hits(vertices[triangles[one]][[i, (i + 1) % 3]], vertices[triangles[two]])
                for one, two in ((a, b), (b, a))
                for i in range(3)
            )
            expected += [[a, b]] if hit else []
    assert pairs.tolist() == expected
    assert len(expected) > 10


@pytest.mark.parametrize(
    ("points", "second", "crossing"),
    [
        ([[0.2, 0.2, 0], [2, 0.2, 0], [0.2, 2, 0]], [3, 4, 5], True),  # over a corner of it
        ([[0.1, 0.1, 0], [0.3, 0.1, 0], [0.1, 0.3, 0]], [3, 4, 5], True),  # inside it
        ([[1, 0, 0], [2, 0, 0], [1, 1, 0]], [3, 4, 5], False),  # a corner on its corner
        ([[1, 1, 0], [2, 1, 0], [1, 2, 0]], [3, 4, 5], False),  # beside it, the boxes touch
        ([[1, 1, 0]], [2, 1, 3], False),  # the other half of a square
        ([[0.4, 0.1, 0]], [0, 1, 3], True),  # folded over
        ([[-1, 0, 0], [0, -1, 0]], [0, 3, 4], False),  # across a vertex of both
        ([[0.5, 0.1, 0], [0.1, 0.5, 0]], [0, 3, 4], True),  # inside, with a vertex of both
        ([[0.5, 0.3, -1], [0.3, 0.3, 1]], [0, 3, 4], True),  # through it, with a vertex of both
        ([[0.5, 0.3, 1], [0.3, 0.3, 1]], [0, 3, 4], False),  # above it
        ([[0, 1, 1], [1, 0, -1]], [0, 3, 4], True),  # through its far edge, twice as wide
        ([], [2, 0, 1], False),  # the same again, which is another flaw
    ],
)
def test_triangles_in_one_plane_and_neighbours_cross_where_they_share_more_than_they_should(points, second, crossing):
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], *points], dtype=np.float64)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    for placed in (vertices, vertices @ turn.T, 1e-3 * vertices @ turn.T + 5.0):
        assert len(crossing_pairs(placed, np.array([[0, 1, 2], second], dtype=np.int32))) == crossing


def test_a_flat_sheet_turned_any_way_does_not_cross_itself():
    corner = np.arange(100, dtype=np.int32).reshape(10, 10)
    halves = [(corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:]), (corner[:-1, :-1], corner[1:, 1:], corner[:-1, 1:])]
    triangles = np.concatenate([np.stack(three, axis=-1).reshape(-1, 3) for three in halves])
    x, y = np.meshgrid(np.linspace(0, 1, 10), np.linspace(0, 1, 10), indexing="ij")
    sheet = np.column_stack([x.ravel(), y.ravel(), np.zeros(100)])
    for seed in range(5):
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
        assert len(crossing_pairs(sheet @ turn.T + seed, triangles)) == 0


def _hits(segment, triangle) -> bool:
    """Whether the segment meets the triangle: solved for the parameters of both."""
    matrix = np.column_stack([segment[0] - segment[1], triangle[1] - triangle[0], triangle[2] - triangle[0]])
    t, u, v = np.linalg.solve(matrix, segment[0] - triangle[0])
    return bool(0 < t < 1 and u > 0 and v > 0 and u + v < 1)


def test_a_face_that_faces_the_wrong_way_hides_no_hole_beside_it(cube: PolygonSoup) -> None:
    quads = cube.indices.reshape(6, 4)[1:].copy()  # the first face is missing
    beside = int(np.flatnonzero(np.isin(quads, cube.indices[:4]).any(axis=1))[0])
    quads[beside] = quads[beside, ::-1]
    broken = PolygonSoup(cube.vertices, np.full(5, 4, np.int32), quads.ravel())
    counts = {flaw.kind: flaw.count for flaw in check_surface(broken)}
    assert counts == {"holes": 1, "mixed winding": 2}
