"""Shapes that bodies touch, and the contacts with them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.contact.box import Box
from supple.contact.capsule import Capsule
from supple.contact.collider import Collider
from supple.contact.cylinder import Cylinder
from supple.contact.pipe import Pipe
from supple.contact.plane import Plane
from supple.contact.sphere import Sphere
from supple.contact.touch import overlaps, touch_colliders
from supple.errors import ArgumentError
from supple.shape.distance import Field, box, cone, cylinder, sphere
from supple.solve.placement import Placement

SHAPES: list[Collider] = [
    Plane((0.0, 2.0, 1.0)),
    Sphere(0.5),
    Capsule(2.0, 0.4),
    Box((1.0, 0.5, 0.3)),
    Cylinder(1.0, 0.3),
    Pipe(1.0, 0.5, 0.3),
]
CLOSED = SHAPES[1:]
VOLUMES = {
    Sphere: 4 / 3 * np.pi * 0.5**3,
    Capsule: np.pi * 0.4**2 * 1.2 + 4 / 3 * np.pi * 0.4**3,
    Box: 0.15,
    Cylinder: np.pi * 0.3**2,
    Pipe: np.pi * (0.5**2 - 0.3**2),
}
FIELDS: list[tuple[Collider, Field]] = [
    (Sphere(0.5), sphere((0, 0, 0), 0.5)),
    (Capsule(2.0, 0.4), cone((-0.6, 0, 0), (0.6, 0, 0), 0.4, 0.4)),
    (Box((1.0, 0.5, 0.3)), box((0, 0, 0), (0.5, 0.25, 0.15))),
    (Cylinder(1.0, 0.3), cylinder((0, 0, 0), 0.5, 0.3)),
]
ORIGIN = (Placement.still(),)


def name(value: object) -> str:
    return type(value).__name__


def scatter(count: int = 2000, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.2, 1.2, (count, 3))


def touch(collider, x, placement=ORIGIN[0], **options):
    vertices = np.arange(len(x), dtype=np.int32)
    settings = {"margin": 0.01, **options}
    return touch_colliders([collider], [placement], [placement], 0.0, x, vertices, np.ones(len(x)), **settings)


@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_closest_point_lies_on_the_surface_along_the_normal(shape: Collider) -> None:
    points = scatter()
    distance, normal, foot = shape.closest(points)
    assert np.allclose(np.linalg.norm(normal, axis=1), 1.0)
    assert np.allclose(foot + distance[:, None] * normal, points, atol=1e-14)
    assert np.abs(shape.distance(foot)).max() < 1e-14


@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_normal_is_the_gradient_of_the_distance(shape: Collider) -> None:
    points, step = scatter(), 1e-6
    sides = [(shape.distance(points + step * e) - shape.distance(points - step * e)) / (2 * step) for e in np.eye(3)]
    error = np.abs(np.column_stack(sides) - shape.closest(points).normal).max(axis=1)
    assert np.mean(error < 1e-5) > 0.999  # the rest straddle a place with two nearest points


@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_no_surface_point_is_nearer_than_the_distance(shape: Collider) -> None:
    points = scatter(50)
    surface = shape.closest(scatter(20_000, seed=1)).point  # covers the surface, if unevenly
    nearest = np.linalg.norm(points[:, None] - surface, axis=2).min(axis=1)
    gap = nearest - np.abs(shape.distance(points))
    assert gap.min() > -1e-12
    assert np.median(gap) < 0.02


@pytest.mark.parametrize(("shape", "field"), FIELDS, ids=name)
def test_distances_agree_with_the_fields_of_built_in_bodies(shape: Collider, field: Field) -> None:
    points = scatter()
    assert np.allclose(shape.distance(points), field(points), atol=1e-14)


@pytest.mark.parametrize("shape", CLOSED, ids=name)
def test_drawn_surface_is_closed_faces_outward_and_lies_on_the_shape(shape: Collider) -> None:
    surface = shape.surface()
    assert surface.is_closed()
    assert surface.is_manifold()
    assert surface.volume() == pytest.approx(VOLUMES[type(shape)], rel=0.01)
    assert np.abs(shape.distance(surface.vertices)).max() < 1e-14
    middles = surface.vertices[surface.triangles].mean(axis=1)
    assert (np.einsum("ij,ij->i", surface.face_normals(), shape.closest(middles).normal) > 0.9).all()


def test_drawn_plane_faces_its_normal_and_has_the_extent() -> None:
    surface = Plane((0.0, 2.0, 1.0)).surface(extent=3.0)
    assert np.allclose(surface.face_normals(), np.array([0.0, 2.0, 1.0]) / np.sqrt(5.0))
    assert surface.areas().sum() == pytest.approx(9.0)


@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_degenerate_points_still_get_a_unit_normal(shape: Collider) -> None:
    distance, normal, foot = shape.closest(np.zeros((1, 3)))
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    assert np.allclose(foot + distance[:, None] * normal, 0.0, atol=1e-15)
    assert len(shape.closest(np.zeros((0, 3))).distance) == 0


def test_box_edges_and_corners() -> None:
    shape = Box((2.0, 2.0, 2.0))
    distance, normal, foot = shape.closest(np.array([[2.0, 2.0, 0.3], [2.0, -2.0, 2.0], [0.2, 0.9, -0.1]]))
    assert np.allclose(distance, [np.sqrt(2), np.sqrt(3), -0.1])
    assert np.allclose(normal[0], np.array([1, 1, 0]) / np.sqrt(2))
    assert np.allclose(normal[1], np.array([1, -1, 1]) / np.sqrt(3))
    assert np.allclose(normal[2], [0, 1, 0])
    assert np.allclose(foot, [[1, 1, 0.3], [1, -1, 1], [0.2, 1, -0.1]])


def test_pipe_is_touched_from_within_from_outside_and_at_its_rim() -> None:
    pipe = Pipe(length=2.0, radius=0.5, inner_radius=0.3)
    points = np.array([[0.0, 0.2, 0.0], [0.0, 0.0, 0.6], [1.3, 0.4, 0.0], [1.3, 0.9, 0.0], [0.0, 0.35, 0.0]])
    distance, normal, _ = pipe.closest(points)
    assert np.allclose(distance, [0.1, 0.1, 0.3, 0.5, -0.05])
    assert np.allclose(normal, [[0, -1, 0], [0, 0, 1], [1, 0, 0], [0.6, 0.8, 0], [0, -1, 0]])


@pytest.mark.parametrize(
    ("build", "word"),
    [
        (lambda: Sphere(0.0), r"Sphere\(radius\): got 0.0; want above 0"),
        (lambda: Sphere(float("nan")), r"Sphere\(radius\): got nan"),
        (lambda: Capsule(1.0, 0.5), r"Capsule\(length\): got 1.0; want above 1"),
        (lambda: Box((1.0, -1.0, 1.0)), r"Box\(sides\): got -1 at 1; want above 0"),
        (lambda: Box((1.0, 1.0)), r"Box\(sides\): got shape \(2,\); want \(3,\)"),  # type: ignore[arg-type]
        (lambda: Cylinder(float("inf"), 1.0), r"Cylinder\(length\): got inf"),
        (lambda: Pipe(1.0, 0.5, 0.5), r"Pipe\(inner_radius\): got 0.5; want below 0.5"),
        (lambda: Plane((0.0, 0.0, 0.0)), r"Plane\(normal\)"),
    ],
)
def test_senseless_sizes_are_refused(build, word: str) -> None:
    with pytest.raises(ArgumentError, match=word):
        build()


def test_contacts_of_a_placed_collider_penetrate_by_distance_and_thickness() -> None:
    turn = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()
    placement = Placement(turn, np.array([0.1, 0.2, -0.3]))
    shape, x = Box((1.0, 0.5, 0.3)), scatter()
    contacts = touch(shape, x, placement, margin=0.05, thickness=0.02)
    distance = shape.distance(placement.localise(x))
    assert np.array_equal(contacts.vertices[:, 0], np.flatnonzero(distance - 0.02 < 0.05))
    assert np.allclose(contacts.depth(x), 0.02 - distance[contacts.vertices[:, 0]])
    assert np.abs(np.cross(contacts.gap(x), contacts.normal)).max() < 1e-14  # along the normal: no torque


def test_margin_may_differ_from_vertex_to_vertex() -> None:
    x = np.array([[0.0, 0.1, 0.0], [1.0, 0.1, 0.0]])
    assert touch(Plane(), x, margin=np.array([0.05, 0.2])).vertices[:, 0].tolist() == [1]


def test_touched_points_move_with_the_collider() -> None:
    begin = Placement(Rotation.from_rotvec([0.0, 0.0, 0.3]).as_matrix(), np.array([0.0, 0.1, 0.0]))
    end = Placement(Rotation.from_rotvec([0.1, 0.2, 0.5]).as_matrix(), np.array([0.3, 0.0, 0.2]))
    x, duration = scatter(200), 0.1
    numbers = np.arange(200, dtype=np.int32)
    contacts = touch_colliders([Sphere(0.8)], [begin], [end], duration, x, numbers, np.ones(200), 0.3)
    material = end.localise(contacts.offset)
    assert len(contacts) > 50
    assert np.allclose(contacts.velocity, (contacts.offset - begin.move(material)) / duration)
    still = touch_colliders([Sphere(0.8)], [end], [end], 0.0, x, numbers, np.ones(200), 0.3)
    assert not still.velocity.any()


def test_a_vertex_touches_several_colliders_sorted_by_collider_then_vertex() -> None:
    x = np.array([[0.0, -0.01, 0.0], [-0.01, -0.02, 0.0]])
    numbers, areas = np.array([0, 1], dtype=np.int32), np.array([0.25, 0.5])
    walls = [Plane((0.0, 1.0, 0.0)), Plane((1.0, 0.0, 0.0))]
    contacts = touch_colliders(walls, ORIGIN * 2, ORIGIN * 2, 0.1, x, numbers, areas, 0.001)
    assert contacts.source.tolist() == [0, 0, 1, 1]
    assert contacts.vertices[:, 0].tolist() == [0, 1, 0, 1]
    assert contacts.area.tolist() == [0.25, 0.5, 0.25, 0.5]


@pytest.mark.parametrize("height", [-0.08, -0.15, -0.5])
def test_a_vertex_deep_in_a_thin_collider_or_past_it_stays_on_the_side_it_came_from(height: float) -> None:
    plate = Box((2.0, 0.1, 2.0))
    before, after = np.array([[0.1, 0.052, 0.2]]), np.array([[0.2, 0.05 + height, 0.2]])
    first = touch(plate, before, thickness=0.001)
    second = touch(plate, after, thickness=0.001, previous=first)
    assert np.allclose(second.normal, [[0.0, 1.0, 0.0]])
    assert second.depth(after) == pytest.approx(0.001 - height)
    assert not len(forgotten := touch(plate, after)) or forgotten.normal[0, 1] == -1.0


def test_a_vertex_that_passes_beside_a_small_collider_is_not_pulled_back() -> None:
    ball = Sphere(0.05)
    before, after = np.array([[0.06, 0.08, 0.0]]), np.array([[0.06, -0.08, 0.0]])
    first = touch(ball, before, margin=0.2)
    second = touch(ball, after, margin=0.2, previous=first)
    assert len(first) == 1
    assert np.allclose(second.normal, [[0.6, -0.8, 0.0]])


def test_the_kept_side_follows_a_curved_wall() -> None:
    pipe = Pipe(1.0, 0.5, 0.48)
    before = np.array([[0.0, 0.479, 0.0]])
    angle = 0.1
    after = 0.53 * np.array([[0.0, np.cos(angle), np.sin(angle)]])
    contacts = touch(pipe, after, previous=touch(pipe, before))
    assert np.allclose(contacts.normal, -after / 0.53, atol=0.02)
    assert contacts.depth(after) == pytest.approx(0.05, rel=0.02)


def test_overlaps_name_the_collider_the_vertices_and_the_deepest_place() -> None:
    x = np.array([[0.0, 2.0, 0.0], [0.0, -0.2, 0.0], [0.0, 0.3, 0.3], [5.0, 0.0, 0.0]])
    numbers = np.array([0, 1, 2, 3], dtype=np.int32)
    found = overlaps([Sphere(0.1), Sphere(0.5)], ORIGIN * 2, x, numbers)
    assert [overlap.collider for overlap in found] == [1]
    assert found[0].vertices.tolist() == [1, 2]
    assert found[0].depth == pytest.approx(0.3)
    assert np.array_equal(found[0].place, x[1])
    assert np.allclose(found[0].normal, [0.0, -1.0, 0.0])
    assert overlaps([Sphere(0.5)], ORIGIN, x, numbers, tolerance=0.31) == []
