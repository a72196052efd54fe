from functools import cache

import numpy as np
import pytest

from supple.errors import SceneError
from supple.mesh import TetMesh, assess_quality
from supple.shape import SHAPES, make_shape

VOLUMES = {
    "beam": 0.04,
    "thin_beam": 0.0025,
    "box": 1.0,
    "sphere": np.pi / 6,
    "capsule": np.pi * 0.15**2 * (0.7 + 4 / 3 * 0.15),
    "cylinder": np.pi * 0.15**2,
}


STANDING = ["creature", "arm", "hand", "head", "figure", "bear", "ape", "walker"]
CENTRED = ["beam", "thin_beam", "box", "sphere", "capsule", "cylinder", "x"]


@cache
def default_mesh(name: str) -> TetMesh:
    return make_shape(name)


def test_all_shapes_are_there() -> None:
    assert sorted(SHAPES) == sorted([*CENTRED, "finger", *STANDING])


@pytest.mark.parametrize("elements", [1_500, 6_000])
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_one_sound_piece_within_ten_per_cent_of_the_count(name: str, elements: int) -> None:
    mesh = make_shape(name, elements=elements)
    surface = mesh.surface()
    assert len(mesh.tets) == pytest.approx(elements, rel=0.1)
    assert np.unique(mesh.components()).size == 1
    assert surface.is_closed()
    assert surface.is_manifold()
    quality = assess_quality(mesh)
    assert quality.min_dihedral >= 10.78
    assert quality.max_dihedral <= 164.75


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes_are_those_of_the_solid(name: str) -> None:
    assert make_shape(name, elements=8_000).volumes().sum() == pytest.approx(VOLUMES[name], rel=0.015)


@pytest.mark.parametrize("name", SHAPES)
def test_the_distance_agrees_with_the_mesh(name: str) -> None:
    shape = SHAPES[name]
    assert np.abs(shape.distance()(default_mesh(name).surface().vertices)).max() < 1e-5


@pytest.mark.parametrize("name", CENTRED)
def test_plain_shapes_are_centred(name: str) -> None:
    low, high = make_shape(name, resolution=24).bounds()
    np.testing.assert_allclose(low, -high, atol=1e-3)


def test_the_finger_lies_along_x() -> None:
    low, high = make_shape("finger", resolution=24).bounds()
    np.testing.assert_allclose([low[0], high[0]], [-0.045, 0.045], atol=5e-4)
    np.testing.assert_allclose(low[1:], -high[1:], atol=5e-4)


@pytest.mark.parametrize("name", STANDING)
def test_bodies_stand_on_the_ground_at_their_size(name: str) -> None:
    shape = SHAPES[name]
    low, high = default_mesh(name).bounds()
    (measure, size), *_ = shape.sizes.items()
    reach = (high - low).max() if name == "bear" else high[1]
    assert low[1] == pytest.approx(0.0, abs=2e-3 * size)
    assert reach == pytest.approx(size, rel=0.03), measure


@pytest.mark.parametrize("name", ["creature", "head", "figure", "bear", "ape", "walker"])
def test_bodies_are_the_same_left_and_right(name: str) -> None:
    field = SHAPES[name].distance()
    points = np.random.default_rng(0).uniform(*field.bounds(), (2_000, 3))
    np.testing.assert_allclose(field(points), field(points * [-1, 1, 1]), atol=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_no_part_is_lost_at_the_default_resolution(name: str) -> None:
    mesh = default_mesh(name)
    assert mesh.notes == ()
    assert len(mesh.tets) < 70_000


def test_the_head_is_hollow() -> None:
    mesh = make_shape("head", elements=6_000)
    surface = mesh.surface()
    pieces = surface.components()
    assert np.unique(pieces).size == 2
    pieces = pieces[surface.triangles[:, 0]]
    corners = surface.vertices[surface.triangles]
    volumes = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    outside, cavity = sorted((volumes[pieces == piece].sum() for piece in (0, 1)), reverse=True)
    assert cavity == pytest.approx(-4 / 3 * np.pi * 0.052 * 0.062 * 0.066, rel=0.1)
    assert outside + cavity == pytest.approx(mesh.volumes().sum())


def test_the_creature_keeps_its_limbs_at_a_coarse_resolution() -> None:
    mesh = make_shape("creature", resolution=16)
    assert not any("stray" in note for note in mesh.notes)
    low, high = mesh.bounds()
    assert high[1] > 0.95
    assert high[0] > 0.35
    assert low[2] < -0.33


def test_sizes_are_honoured() -> None:
    low, high = make_shape("beam", resolution=10, length=3.0, height=0.5).bounds()
    np.testing.assert_allclose(high - low, [3.0, 0.5, 0.2])
    low, high = make_shape("capsule", resolution=20, length=2.0, radius=0.4).bounds()
    np.testing.assert_allclose(high - low, [2.0, 0.8, 0.8], atol=0.01)
    small, large = (make_shape("creature", resolution=16, height=height) for height in (1.0, 2.0))
    np.testing.assert_allclose(large.vertices, 2 * small.vertices, atol=1e-9)


def test_the_default_resolution_serves_when_no_size_is_given() -> None:
    assert len(make_shape("beam").tets) == 5 * 20 * 4 * 4


def test_the_same_shape_has_the_same_bytes() -> None:
    first, second = (make_shape("creature", elements=3_000) for _ in range(2))
    assert first.vertices.tobytes() == second.vertices.tobytes()
    assert first.tets.tobytes() == second.tets.tobytes()


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("cretaure", {}, "no shape 'cretaure'; did you mean 'creature'?"),
        ("qqq", {}, "known are beam, thin_beam"),
        ("beam", {"lenght": 1.0}, "no size 'lenght'; did you mean 'length'?"),
        ("sphere", {"radius": -1.0}, "radius = -1.0 of the shape 'sphere'"),
        ("sphere", {"radius": float("nan")}, "radius = nan"),
        ("capsule", {"length": 0.2}, "below half the length"),
        ("x", {"thickness": 2.0}, "smaller thickness"),
    ],
)
def test_unknown_names_and_sizes_are_refused_with_the_nearest_one(
    name: str, size: dict[str, float], message: str
) -> None:
    with pytest.raises(SceneError) as caught:
        make_shape(name, resolution=5, **size)
    assert message in str(caught.value)
