from collections.abc import Callable

import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import TetMesh, assess_quality, stuff
from supple.shape.distance import cone

Points = np.ndarray
UNIT = ([-1.0] * 3, [1.0] * 3)


def ball(points: Points) -> np.ndarray:
    return np.linalg.norm(points, axis=1) - 1.0


def torus(points: Points) -> np.ndarray:
    ring = np.hypot(points[:, 0], points[:, 1]) - 0.7
    return np.hypot(ring, points[:, 2]) - 0.3


CAPSULE = cone((-0.6, -0.2, 0.1), (0.5, 0.3, 0), 0.35, 0.2)
SMOOTH = {"ball": (ball, UNIT), "torus": (torus, UNIT), "capsule": (CAPSULE, CAPSULE.bounds())}


def check_sound(mesh: TetMesh) -> None:
    surface = mesh.surface()
    assert (mesh.volumes() > 0).all()
    assert surface.is_closed()
    assert surface.is_manifold()
    assert surface.volume() == pytest.approx(mesh.volumes().sum(), rel=1e-10)


@pytest.mark.parametrize("resolution", [7, 12, 23])
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_shapes_meet_the_published_angles_and_lie_on_the_surface(name: str, resolution: int) -> None:
    distance, bounds = SMOOTH[name]
    mesh = stuff(distance, bounds, resolution=resolution)
    check_sound(mesh)
    quality = assess_quality(mesh)
    assert quality.min_dihedral >= 10.78
    assert quality.max_dihedral <= 164.75
    assert np.unique(mesh.components()).size == 1
    assert np.abs(distance(mesh.surface().vertices)).max() < 1e-4 * mesh.size()
    assert mesh.notes == ()


def test_a_torus_keeps_its_hole() -> None:
    surface = stuff(torus, UNIT, resolution=16).surface()
    assert len(surface.vertices) - len(surface.edges()) + len(surface.triangles) == 0


def test_volume_of_a_ball_converges_at_second_order() -> None:
    resolutions = np.array([8, 16, 32])
    exact = 4 / 3 * np.pi
    errors = [1 - stuff(ball, UNIT, resolution=int(n)).volumes().sum() / exact for n in resolutions]
    orders = np.diff(np.log(errors)) / np.diff(np.log(1 / resolutions))
    assert (orders > 1.8).all()
    assert (orders < 2.3).all()


@pytest.mark.parametrize("elements", [300, 3_000, 20_000])
@pytest.mark.parametrize("name", SMOOTH)
def test_elements_are_met_within_ten_per_cent(name: str, elements: int) -> None:
    distance, bounds = SMOOTH[name]
    assert len(stuff(distance, bounds, elements=elements).tets) == pytest.approx(elements, rel=0.1)


def test_a_count_no_lattice_can_meet_is_told() -> None:
    mesh = stuff(ball, UNIT, elements=2)
    assert mesh.notes[-1].startswith("2 tets were asked for; the nearest mesh of this shape has")


def test_the_same_call_gives_the_same_bytes() -> None:
    first, second = (stuff(torus, UNIT, elements=4_000) for _ in range(2))
    assert first.vertices.tobytes() == second.vertices.tobytes()
    assert first.tets.tobytes() == second.tets.tobytes()


def test_the_distance_is_evaluated_only_near_the_surface() -> None:
    evaluated = []

    def counted(points: Points) -> np.ndarray:
        evaluated.append(len(points))
        return ball(points)

    lazy = stuff(counted, UNIT, resolution=40)
    everywhere = stuff(ball, UNIT, resolution=40, steepness=1e9)
    on_lattice = evaluated[0] + evaluated[1]  # block centres, then lattice points; the rest is root search
    assert on_lattice < 0.5 * (42**3 + 43**3)
    assert lazy.vertices.tobytes() == everywhere.vertices.tobytes()
    assert lazy.tets.tobytes() == everywhere.tets.tobytes()


def two_balls(small: float) -> Callable[[Points], np.ndarray]:
    def distance(points: Points) -> np.ndarray:
        large = np.linalg.norm(points - [-0.4, 0, 0], axis=1) - 0.5
        return np.minimum(large, np.linalg.norm(points - [0.7, 0, 0], axis=1) - small)

    return distance


def test_tiny_pieces_are_dropped_with_a_note_and_larger_ones_kept() -> None:
    mesh = stuff(two_balls(0.08), UNIT, resolution=20)
    assert mesh.notes == ("dropped 1 stray piece of the shape",)
    assert np.unique(mesh.components()).size == 1
    assert np.unique(stuff(two_balls(0.25), UNIT, resolution=20).components()).size == 2
    assert np.unique(stuff(two_balls(0.25), UNIT, resolution=20, keep=1.0).components()).size == 1


def test_balls_that_touch_in_a_point_leave_a_manifold() -> None:
    def touching(points: Points) -> np.ndarray:
        return np.minimum(ball((points - [-0.5, 0, 0]) * 2), ball((points - [0.5, 0, 0]) * 2)) / 2

    for resolution in range(8, 16):
        check_sound(stuff(touching, UNIT, resolution=resolution))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stuff(ball, UNIT), "give either resolution or elements"),
        (lambda: stuff(ball, UNIT, resolution=5, elements=5), "give either resolution or elements"),
        (lambda: stuff(ball, UNIT, resolution=0), "resolution = 0"),
        (lambda: stuff(ball, UNIT, elements=-3), "elements = -3"),
        (lambda: stuff(ball, UNIT, resolution=10**6), "from 1 to 2,000"),
        (lambda: stuff(ball, UNIT, resolution=1_500), "does not fit in memory"),
        (lambda: stuff(ball, ([0, 0, 0], [1, 1, 0]), resolution=5), "enclose nothing"),
        (lambda: stuff(ball, ([0, 0, 0], [1, 1, np.nan]), resolution=5), "enclose nothing"),
        (lambda: stuff(ball, ([-0.5] * 3, [0.5] * 3), resolution=5), "beyond its bounds"),
        (lambda: stuff(lambda p: ball(p) + 5, UNIT, resolution=5), "nothing lies inside"),
        (lambda: stuff(lambda p: ball(p) + 5, UNIT, elements=50), "nothing lies inside"),
        (lambda: stuff(lambda p: ball(p) * np.nan, UNIT, resolution=5), "not finite"),
        (lambda: stuff(lambda p: p, UNIT, resolution=5), "one finite number a point"),
    ],
)
def test_impossible_requests_are_refused_with_the_remedy(call: Callable[[], TetMesh], message: str) -> None:
    with pytest.raises(MeshError, match=message):
        call()
