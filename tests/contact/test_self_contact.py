"""A body finds where it touches itself, and only there."""

import dataclasses

import numba
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.contact.contacts import SELF
from supple.contact.rest_surface import RestSurface
from supple.contact.self_contact import SelfContact
from supple.errors import SceneError
from supple.mesh import TetMesh, fill_box
from supple.mesh.tetmesh import tet_volumes
from supple.shape import make_shape

LENGTH, HEIGHT, WIDTH, HINGE = 1.6, 0.16, 0.2, 0.3


@pytest.fixture(scope="module")
def beam() -> TetMesh:
    return fill_box((-LENGTH / 2, -HEIGHT / 2, -WIDTH / 2), (LENGTH / 2, HEIGHT / 2, WIDTH / 2), resolution=48)


@pytest.fixture(scope="module")
def touching_beam(beam) -> SelfContact:
    return SelfContact(beam)


def fold(X, angle, hinge=HINGE):
    """The middle `hinge` metres along x bent by `angle` about z towards +y; both arms stay rigid."""
    s = np.clip(X[:, 0], -hinge / 2, hinge / 2)
    turn, radius = s * angle / hinge, hinge / angle
    along, up = np.column_stack([np.cos(turn), np.sin(turn)]), np.column_stack([-np.sin(turn), np.cos(turn)])
    line = np.column_stack([radius * np.sin(turn), radius * (1.0 - np.cos(turn))])
    flat = line + (X[:, 0] - s)[:, None] * along + X[:, 1, None] * up
    return np.column_stack([flat, X[:, 2]])


def same(one, other):
    return all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))


def grid_pieces(*boxes):
    """Several boxes, (low, high, resolution) each, as one mesh of as many components."""
    parts = [fill_box(low, high, resolution=resolution) for low, high, resolution in boxes]
    first = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    mesh = TetMesh.clean(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.tets + offset for part, offset in zip(parts, first, strict=True)]),
    )
    return mesh, [np.arange(n, n + len(part.vertices)) for n, part in zip(first, parts, strict=True)]


@pytest.mark.parametrize("seed", range(6))
def test_tree_and_brute_force_find_the_same_over_random_deformations(seed):
    rng = np.random.default_rng(seed)
    mesh = make_shape(("capsule", "x", "sphere")[seed % 3], resolution=14)
    contact = SelfContact(mesh, thickness=0.01 * (seed % 2), rest_distance=1.8 * (seed > 1))
    waves, phases = rng.normal(size=(4, 3)) * 6.0, rng.uniform(0.0, 6.0, 4)
    bumps = np.sin(mesh.vertices @ waves.T + phases) @ rng.normal(size=(4, 3))
    x = mesh.vertices + 0.4 * bumps + 0.01 * rng.normal(size=mesh.vertices.shape)
    found = contact.find(x)
    assert len(found) > 20
    assert (tet_volumes(x, mesh.tets) < 0).any()  # torn about: some tets are inside out
    assert same(found, contact.find_brute(x))
    assert len(np.unique(found.vertex)) == len(found)


def test_what_is_found_does_not_depend_on_how_vertices_and_tets_are_numbered():
    rng, mesh = np.random.default_rng(4), make_shape("capsule", resolution=14)
    x = fold(mesh.vertices, 4.5, 0.5) + 0.003 * rng.normal(size=mesh.vertices.shape)
    new = rng.permutation(len(x))  # the new number of every vertex
    old = np.argsort(new)
    other = TetMesh.clean(mesh.vertices[old], new[mesh.tets[rng.permutation(len(mesh.tets))]].astype(np.int32))
    contact, renumbered = SelfContact(mesh), SelfContact(other)
    found, again = contact.find(x), renumbered.find(x[old])
    order = np.argsort(new[found.vertex])
    assert len(found) > 50
    assert np.array_equal(new[found.vertex][order], again.vertex)
    assert found.normal[order] == pytest.approx(again.normal, abs=1e-9)
    assert found.depth[order] == pytest.approx(again.depth, abs=1e-12)
    one, two = contact.to_contacts(found, x), renumbered.to_contacts(again, x[old])
    assert one.area[order] == pytest.approx(two.area)


def test_crossing_arms_are_found_with_their_depth_and_normal(beam, touching_beam):
    """Each arm is a rigid block: depth and normal are those of the other arm's inner face."""
    angle = np.pi + 0.1
    x = fold(beam.vertices, angle)
    found = touching_beam.find(x)
    assert same(found, touching_beam.find_brute(x))
    # Seen from the right arm, whose inner face is y = HEIGHT / 2 of its own frame
    turn, radius = angle / 2, HINGE / angle
    end = np.array([radius * np.sin(turn), radius * (1.0 - np.cos(turn))])
    along, up = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    reach, height = (x[:, :2] - end) @ along + HINGE / 2, (x[:, :2] - end) @ up
    depth = HEIGHT / 2 - height
    inside = (depth > 1e-9) & (depth < 0.4 * HEIGHT) & (reach > HINGE / 2 + HEIGHT) & (reach < LENGTH / 2 - HEIGHT)
    inside &= (np.abs(x[:, 2]) < WIDTH / 2 - depth) & (beam.vertices[:, 0] < -HINGE / 2 - HEIGHT)
    inside = np.intersect1d(np.flatnonzero(inside), beam.surface_vertices())
    assert len(inside) > 20
    rows = np.searchsorted(found.vertex, inside)
    assert np.array_equal(found.vertex[rows], inside)
    assert found.depth[rows] == pytest.approx(depth[inside], abs=1e-12)
    assert found.normal[rows] == pytest.approx(np.broadcast_to([*up, 0.0], (len(rows), 3)), abs=1e-12)


def test_a_folded_capsule_is_as_deep_in_itself_as_its_round_arms_overlap():
    radius, hinge, angle = 0.1, 0.36, np.pi + 0.15
    mesh = make_shape("capsule", resolution=36, length=1.6, radius=radius)
    x = fold(mesh.vertices, angle, hinge)
    contact = SelfContact(mesh)
    found = contact.find(x)
    # Seen from the right arm's axis, which begins where the hinge ends
    axis = fold(np.array([[hinge / 2, 0.0, 0.0], [0.7, 0.0, 0.0]]), angle, hinge)
    along = (axis[1] - axis[0]) / np.linalg.norm(axis[1] - axis[0])
    away = x - axis[0]
    away -= np.outer(away @ along, along)
    depth, reach = radius - np.linalg.norm(away, axis=1), (x - axis[0]) @ along
    left = (mesh.vertices[:, 0] < -hinge / 2) & (reach > 0.1) & (reach < 0.45)
    inside = np.intersect1d(np.flatnonzero(left & (depth > 0.005) & (depth < 0.6 * radius)), contact.vertices)
    assert len(inside) > 20
    rows = np.searchsorted(found.vertex, inside)
    assert np.array_equal(found.vertex[rows], inside)
    assert found.depth[rows] == pytest.approx(depth[inside], abs=0.07 * radius)  # flat facets on a round arm
    outward = away[inside] / np.linalg.norm(away[inside], axis=1)[:, None]
    assert np.einsum("mi,mi->m", found.normal[rows], outward).min() > 0.85
    outside = np.flatnonzero(left & (depth < -0.01))
    assert not np.isin(outside, found.vertex).any()


def test_contacts_make_no_torque_and_sum_to_nothing(beam, touching_beam):
    x = fold(beam.vertices, np.pi + 0.4) @ Rotation.from_rotvec([0.3, 1.0, -0.4]).as_matrix().T + [1.0, 2.0, 3.0]
    found = touching_beam.find(x)
    contacts = touching_beam.to_contacts(found, x)
    assert len(contacts) == len(found) > 50
    assert contacts.depth(x) == pytest.approx(found.depth, rel=1e-12)
    assert (found.depth > 0).all()
    assert np.linalg.norm(contacts.normal, axis=1) == pytest.approx(1.0)
    forces = contacts.scatter(-contacts.gap(x) * contacts.area[:, None], len(x))
    size = np.abs(forces).sum()
    assert np.abs(forces.sum(axis=0)).max() < 1e-13 * size
    assert np.abs(np.cross(x, forces).sum(axis=0)).max() < 1e-13 * size
    assert found.barycentric.min() >= -0.5
    assert (contacts.source == SELF).all()
    assert (np.diff(contacts.vertices[:, 0]) > 0).all()


def test_thickness_makes_no_torque(beam):
    contact = SelfContact(beam, thickness=0.01)
    bumps = 0.01 * np.sin(beam.vertices[:, [1, 2, 0]] * [9.0, 12.0, 15.0])  # normals of the two sides differ
    x = fold(beam.vertices + bumps, np.pi + 0.4)
    found = contact.find(x)
    contacts = contact.to_contacts(found, x)
    assert contacts.depth(x) == pytest.approx(found.depth, rel=1e-12)
    arms = np.einsum("mk,mki->mi", contacts.weights, x[contacts.vertices])
    levers = np.linalg.norm(np.cross(arms, contacts.normal), axis=1)
    assert len(levers) > 50
    assert (found.tet < 0).any()
    assert levers.max() < 1e-12


def test_area_is_the_mean_of_triangle_and_of_the_ring_that_faces_it(beam, touching_beam):
    x = fold(beam.vertices, np.pi + 0.4)
    contacts = touching_beam.to_contacts(touching_beam.find(x), x)
    triangles, rest = beam.surface_triangles(), beam.vertices
    sides = np.cross(*(rest[triangles[:, k]] - rest[triangles[:, 0]] for k in (1, 2)))
    areas = np.linalg.norm(sides, axis=1) / 2
    inner = np.isclose(sides[:, 1], 2 * areas)  # of the faces that the arms turn towards each other
    touches_inside = np.flatnonzero(np.abs(contacts.normal[:, 2]) < 1e-9)
    some = 0
    for row in touches_inside:
        ring = (triangles == contacts.vertices[row, 0]).any(axis=1)
        if inner[ring].any() and inner[contacts.feature[row]]:
            facing = areas[ring & inner].sum()
            assert contacts.area[row] == pytest.approx((areas[contacts.feature[row]] + facing) / 2)
            some += 1
    assert some > 20
    assert np.array_equal(contacts.vertices[0, 1:], triangles[contacts.feature[0]])


def _twist(X):
    turn = 4.0 * X[:, 0]
    return np.column_stack(
        [X[:, 0], np.cos(turn) * X[:, 1] - np.sin(turn) * X[:, 2], np.sin(turn) * X[:, 1] + np.cos(turn) * X[:, 2]]
    )


@pytest.mark.parametrize(
    "move",
    [
        lambda X: X,
        lambda X: X @ Rotation.from_rotvec([1.0, 2.0, 0.5]).as_matrix().T + [3.0, -1.0, 2.0],
        lambda X: X * [0.2, 2.0, 3.0],
        _twist,
        lambda X: fold(X, np.radians(120.0)),
        lambda X: fold(X, np.radians(120.0), hinge=0.19),  # the inner side is pressed to an eighth of its length
        lambda X: fold(X, np.radians(170.0)),
    ],
    ids=["rest", "rigid", "stretched", "twisted", "bent", "sharply bent", "nearly closed"],
)
@pytest.mark.parametrize("thickness", [0.0, 0.005])
def test_nothing_is_found_where_nothing_overlaps(beam, move, thickness):
    assert len(SelfContact(beam, thickness=thickness).find(move(beam.vertices))) == 0


@pytest.mark.parametrize("shape", ["box", "sphere", "capsule"])
@pytest.mark.parametrize("thickness", [0.01, 0.3])
def test_a_convex_body_never_touches_itself_however_thick(shape, thickness):
    mesh = make_shape(shape, resolution=8)
    for x in (mesh.vertices, mesh.vertices * [0.7, 1.1, 0.3]):
        assert len(SelfContact(mesh, thickness=thickness * mesh.size()).find(x)) == 0


@pytest.mark.parametrize("shape", ["capsule", "creature", "x", "sphere"])
def test_nothing_is_found_on_shapes_at_rest(shape):
    mesh = make_shape(shape, resolution=18)
    contact = SelfContact(mesh)
    assert len(contact.find(mesh.vertices)) == 0
    angle = np.radians(120.0)
    assert len(contact.find(fold(mesh.vertices, angle, hinge=1.3 * angle * mesh.vertices[:, 1].max()))) == 0


def test_an_overlapping_bend_has_no_contact_beside_the_vertex():
    """A joint bent like a skinned elbow does overlap inside; what is touched is never the vertex's own surroundings."""
    mesh = make_shape("capsule", resolution=24)
    X, turn = mesh.vertices, np.radians(60.0)
    share = np.clip(X[:, 0] / 0.1, -1.0, 1.0)[:, None]
    turned = [X @ Rotation.from_rotvec([0.0, 0.0, side * turn]).as_matrix().T for side in (-1.0, 1.0)]
    x = (1.0 - share) / 2 * turned[0] + (1.0 + share) / 2 * turned[1]
    contact = SelfContact(mesh)
    found = contact.find(x)
    assert len(found) > 5
    there = np.einsum("mk,mki->mi", found.barycentric, X[contact.triangles[found.triangle]])
    start, ring = mesh.vertex_neighbours()
    edges = [np.linalg.norm(X[ring[start[v] : start[v + 1]]] - X[v], axis=1).max() for v in found.vertex]
    # Projection may have moved the point by half a triangle
    assert np.min(np.linalg.norm(there - X[found.vertex], axis=1) / edges) > 1.3
    # and what lies across the crease
    assert np.mean(there[:, 0] * X[found.vertex, 0] < 0) > 0.9


def test_components_touch_however_near_they_lie_at_rest():
    mesh, (big, small) = grid_pieces(
        ((0.0, 0.0, 0.0), (1.0, 1.0, 0.5), 8), ((0.2, 0.2, 0.5), (0.8, 0.8, 0.8), 6)
    )  # the small one lies on the big one, its corners free
    contact = SelfContact(mesh)
    assert len(contact.find(mesh.vertices)) == 0
    x = mesh.vertices.copy()
    x[small] += [0.013, 0.017, -0.06]
    found = contact.find(x)
    assert same(found, contact.find_brute(x))
    pushed = np.isin(found.vertex, small)
    assert found.depth[pushed] == pytest.approx(0.06)
    assert found.normal[pushed] == pytest.approx(np.broadcast_to([0.0, 0.0, 1.0], (pushed.sum(), 3)))
    assert pushed.sum() == 49
    under = ~pushed & (np.abs(x[found.vertex, :2] - [0.513, 0.517]) < 0.24).all(axis=1)  # farther from the sides
    assert under.sum() == 16
    assert found.normal[under] == pytest.approx(np.broadcast_to([0.0, 0.0, -1.0], (16, 3)))
    assert found.depth[under] == pytest.approx(0.06)
    assert np.isin(contact.triangles[found.triangle[pushed]], big).all()


def test_a_piece_deep_inside_another_goes_to_the_nearest_face():
    mesh, (_, small) = grid_pieces(((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 8), ((2.0, 0.0, 0.0), (2.1, 0.1, 0.1), 2))
    x = mesh.vertices.copy()
    x[small] += [-1.77, 0.4, 0.45]  # x from 0.23 to 0.33, all other faces at least 0.4 away
    found = SelfContact(mesh).find(x)
    assert np.isin(small[np.isin(small, mesh.surface_vertices())], found.vertex).all()
    assert found.depth == pytest.approx(x[found.vertex, 0])
    assert found.normal == pytest.approx(np.broadcast_to([-1.0, 0.0, 0.0], (len(found), 3)))


def test_prongs_of_one_piece_touch_across_a_narrow_slot():
    """The slot is narrower at rest than the distance within which a vertex's own surroundings lie."""
    block = fill_box((0.0, 0.0, 0.0), (1.0, 0.5, 0.2), resolution=20)
    centres = block.vertices[block.tets].mean(axis=1)
    slot = (centres[:, 0] > 0.2) & (np.abs(centres[:, 1] - 0.225) < 0.025)
    mesh = TetMesh.clean(block.vertices, block.tets[~slot])
    x = mesh.vertices.copy()
    prong = (x[:, 0] > 0.2) & (x[:, 1] > 0.2499)
    x[prong, 1] -= 0.08 * np.minimum((x[prong, 0] - 0.2) / 0.3, 1.0)  # 0.05 wide, closed by 0.03 more
    found = SelfContact(mesh).find(x)
    tip = found.vertex[mesh.vertices[found.vertex, 0] > 0.6]
    assert len(tip) > 40
    assert found.depth.max() == pytest.approx(0.03, abs=1e-9)
    assert np.abs(found.normal[:, 1]).min() > 0.9


def test_ignored_pairs_do_not_touch(beam):
    x = fold(beam.vertices, np.pi + 0.4)
    left, right = np.flatnonzero(beam.vertices[:, 0] < 0), np.flatnonzero(beam.vertices[:, 0] >= 0)
    everyone = np.arange(len(x))
    assert len(SelfContact(beam, ignored=[(left, right)]).find(x)) == 0
    assert len(SelfContact(beam, ignored=[(right, left)]).find(x)) == 0
    assert len(SelfContact(beam, ignored=[(everyone, everyone)]).find(x)) == 0
    free = SelfContact(beam).find(x)
    assert same(SelfContact(beam, ignored=[(left, left), (right, right)]).find(x), free)


def test_wrong_settings_are_refused(beam):
    with pytest.raises(SceneError, match="thickness = -1"):
        SelfContact(beam, thickness=-1.0)
    with pytest.raises(SceneError, match="rest_distance = nan"):
        SelfContact(beam, rest_distance=np.nan)
    with pytest.raises(SceneError, match="vertex 1000000"):
        SelfContact(beam, ignored=[([0], [1000000])])
    with pytest.raises(SceneError, match="64 pairs"):
        SelfContact(beam, ignored=[([0], [1])] * 64)


def test_tets_inside_out_or_flat_hold_nothing(beam, touching_beam):
    x = fold(beam.vertices, np.pi + 0.4)
    assert len(touching_beam.find(x)) > 0
    assert len(touching_beam.find(x * [1.0, 1.0, -1.0])) == 0
    assert len(touching_beam.find(x * [1.0, 1.0, 0.0])) == 0
    assert len(touching_beam.find(x * 0.0)) == 0


def test_positions_that_are_no_numbers_touch_nothing(beam, touching_beam):
    x = fold(beam.vertices, np.pi + 0.4)
    x[::2] = np.nan
    assert np.isfinite(touching_beam.find(x).depth).all()
    assert len(touching_beam.find(np.full_like(x, np.nan))) == 0


def test_thickness_is_kept_between_pieces():
    mesh, (_, small) = grid_pieces(((0.0, 0.0, 0.0), (1.0, 1.0, 0.5), 8), ((0.2, 0.2, 1.0), (0.8, 0.8, 1.3), 6))
    x = mesh.vertices.copy()
    x[small, 2] -= 0.49  # a gap of 0.01
    assert len(SelfContact(mesh).find(x)) == 0
    contact = SelfContact(mesh, thickness=0.03)
    found = contact.find(x)
    assert same(found, contact.find_brute(x))
    bottom = np.isin(found.vertex, small)
    assert bottom.sum() == 49  # its rim and corners among them
    assert found.depth[bottom] == pytest.approx(0.02)
    contacts = contact.to_contacts(found, x)
    assert contacts.depth(x) == pytest.approx(found.depth)
    x[small, 2] += 0.02  # the frozen gap is linear in the positions
    assert contacts.depth(x)[bottom] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("thickness", [0.03, 0.3])
@pytest.mark.parametrize("aside", [-1e-9, 0.0, 1e-9, 0.008, 0.012])
def test_thickness_is_kept_at_flush_corners(thickness, aside):
    mesh, (below, above) = grid_pieces(((0.0, 0.0, 0.0), (1.0, 0.5, 1.0), 4), ((0.0, 1.0, 0.0), (1.0, 1.5, 1.0), 4))
    x = mesh.vertices.copy()
    x[above] += [aside, 0.01 - 0.5, aside]  # a gap of 0.01
    contact = SelfContact(mesh, thickness=thickness)
    found = contact.find(x)
    faces = (x[:, 1] > 0.499) & (x[:, 1] < 0.511)
    assert same(found, contact.find_brute(x))
    assert np.array_equal(found.vertex, np.flatnonzero(faces))  # 25 of either side, and none of the sides
    assert found.depth == pytest.approx(thickness - 0.01, abs=1e-3 if aside > 0.01 else 1e-9)
    assert (found.normal[np.isin(found.vertex, above), 1] > 0.9).all()
    assert (found.normal[np.isin(found.vertex, below), 1] < -0.9).all()


def test_thickness_beyond_a_thin_plate_is_not_felt_through_it():
    mesh, (_, plate) = grid_pieces(((0.0, 0.0, 0.0), (1.0, 0.5, 1.0), 4), ((0.0, 0.6, 0.0), (1.0, 0.62, 1.0), 4))
    found = SelfContact(mesh, thickness=0.15).find(mesh.vertices)
    top = np.flatnonzero(mesh.vertices[:, 1] > 0.61)
    assert np.isin(plate, found.vertex).any()
    assert not np.isin(top, found.vertex).any()


def test_threads_do_not_change_the_answer(beam, touching_beam):
    x = fold(beam.vertices, np.pi + 0.4)
    before = numba.get_num_threads()
    answers = []
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            answers.append(touching_beam.find(x))
    finally:
        numba.set_num_threads(before)
    assert same(*answers)


def test_nearest_rest_triangle_is_exact():
    import igl

    mesh = make_shape("creature", resolution=20)
    surface, triangles = RestSurface.build(mesh), mesh.surface_triangles().astype(np.int64)
    weights = np.random.default_rng(2).dirichlet(np.ones(4), size=len(mesh.tets))
    points = np.einsum("mk,mki->mi", weights, mesh.vertices[mesh.tets])
    distance, found = surface.nearest(points, surface.seeds)
    tree = igl.AABB()
    tree.init(mesh.vertices, triangles)
    assert distance == pytest.approx(np.sqrt(tree.squared_distance(mesh.vertices, triangles, points)[0]), abs=1e-14)
    # whatever the search begins with
    other, _ = surface.nearest(points, np.zeros(len(points), np.int32))
    assert np.array_equal(distance, other)
    assert found.min() >= 0


def test_nearest_rest_triangle_belongs_to_the_same_component():
    mesh, (big, small) = grid_pieces(((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 6), ((0.4, 0.4, 0.4), (0.6, 0.6, 0.6), 2))
    surface = RestSurface.build(mesh)
    distance, found = surface.nearest(np.full((2, 3), 0.5), surface.seeds[[0, -1]])
    assert distance == pytest.approx([0.5, 0.1])
    corners = mesh.surface_triangles()[found]
    assert np.isin(corners[0], big).all()
    assert np.isin(corners[1], small).all()
