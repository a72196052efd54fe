"""Colliders in scene files: shapes, files, where they stand, how they move, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.io import save_surface
from supple.mesh import TriMesh
from supple.scene import Stage, parse_scene, set_stage
from supple.scene.cases import draw_cases, last_key
from supple.scene.toml import write_toml
from supple.shape import make_shape

BODY: dict[str, Any] = {"mesh": {"shape": "box", "size": {"length": 0.2, "width": 0.2, "height": 0.2}, "resolution": 2}}


def stage(*colliders: dict[str, Any], **tables: Any) -> Stage:
    return set_stage(parse_scene({**BODY, "collider": list(colliders), **tables}))


def distance(collider: dict[str, Any], point: list[float], time: float = 0.0, **tables: Any) -> float:
    """From a point of the world [m] to the collider at a time [s]."""
    [obstacle] = stage(collider, **tables).drive.obstacles
    return float(obstacle.solid.distance(obstacle.place(time).localise(np.array([point])))[0])


@pytest.mark.parametrize(
    ("collider", "point", "expected"),
    [
        ({"shape": "plane", "at": [0, -1, 0]}, [5, 0.5, 3], 1.5),
        ({"shape": "plane", "axis": [1, 0, 0]}, [-0.25, 3, 1], -0.25),
        ({"shape": "sphere", "size": {"radius": 0.5}, "at": [1, 0, 0]}, [1, 2, 0], 1.5),
        ({"shape": "capsule", "size": {"length": 2, "radius": 0.5}, "axis": "z"}, [0, 0, 1.5], 0.5),
        ({"shape": "box", "size": {"length": 2, "height": 4, "width": 6}}, [0, 2.5, 0], 0.5),
        ({"shape": "box", "size": {"length": 2, "height": 4, "width": 6}, "rotate": [0, 0, 90]}, [2.5, 0, 0], 0.5),
        ({"shape": "cylinder", "size": {"length": 2, "radius": 0.5}, "axis": "y"}, [0.75, 0, 0], 0.25),
        ({"shape": "cylinder", "size": {"length": 2, "radius": 0.5}, "axis": [-1, 0, 0]}, [-1.25, 0, 0], 0.25),
        ({"shape": "pipe", "size": {"length": 2, "radius": 0.5, "inner_radius": 0.4}}, [0, 0.1, 0], 0.3),
    ],
)
def test_shapes_stand_where_they_are_put(collider: dict[str, Any], point: list[float], expected: float) -> None:
    assert distance(collider, point) == pytest.approx(expected, abs=1e-12)


def test_lengths_are_in_scene_units_and_planes_face_up() -> None:
    floor = {"shape": "plane", "at": [0, 0, -100]}
    body = {"mesh": {"shape": "box", "resolution": 1}, "units": "cm", "up_axis": "z"}
    assert distance(floor, [0, 0, 0.5], **body) == pytest.approx(1.5)
    slab = {"shape": "box", "size": {"length": 200, "height": 100, "width": 50}}  # height stands along z
    assert distance(slab, [0, 0, 0.75], **body) == pytest.approx(0.25)


def test_a_file_is_a_collider_in_scene_units(tmp_path: Path) -> None:
    save_surface(tmp_path / "ball.obj", make_shape("sphere", resolution=8, radius=50.0).surface())
    collider = {"file": str(tmp_path / "ball.obj"), "at": [0, 100, 0]}
    assert distance(collider, [0, 2, 0], units="cm") == pytest.approx(0.5, abs=0.02)


def test_colliders_move_and_turn_as_pins_do() -> None:
    moving = {
        "shape": "box",
        "size": {"length": 2, "height": 0.2, "width": 0.2},
        "at": [1, 0, 0],
        "turn": {"axis": "z", "about": [0, 0, 0], "speed": 90},
        "move": [{"t": 0, "by": [0, 0, 0]}, {"t": 2, "by": [0, 0, 4]}],
    }
    assert distance(moving, [0, 2.5, 2], time=1.0) == pytest.approx(0.5)
    drive = stage(moving, time={"preroll": 3}).drive
    before, after = drive.moment(-0.1), drive.inputs(0.5, 1.0).end
    assert before.colliders[0].translation == pytest.approx([1, 0, 0])
    assert after.colliders[0].translation == pytest.approx([0, 1, 2])
    assert drive.moves


def test_a_turn_is_about_where_the_collider_stands() -> None:
    spinning = {"shape": "capsule", "size": {"length": 1, "radius": 0.1}, "at": [3, 0, 0]}
    spinning["turn"] = {"axis": "z", "keys": [{"t": 0, "degrees": 0}, {"t": 1, "degrees": 90}]}
    assert distance(spinning, [3, 0.75, 0], time=1.0) == pytest.approx(0.25)


def test_training_cases_keep_the_colliders_and_hasten_them() -> None:
    pushed = {"shape": "sphere", "size": {"radius": 0.1}, "at": [1, 0, 0], "move": {"velocity": [-1, 0, 0]}}
    built = stage(pushed)
    cases = draw_cases(built, 3, range(3))
    assert all(len(case.inputs(0).end.colliders) == 1 for case in cases)
    speeds = {case.drive.obstacles[0].table.move.velocity for case in cases}  # type: ignore[union-attr]
    assert len(speeds) > 1
    assert len({case.stamp("", 1e-4) for case in cases}) == len(cases)
    assert last_key(built.drive) == np.inf


def test_a_scene_with_colliders_survives_being_written() -> None:
    tables = {
        **BODY,
        "collider": [{"name": "floor", "shape": "plane", "at": [0.0, -1.0, 0.0], "axis": "z"}],
        "contact": {"self": False, "friction": 0.5, "ignore": [["min x", "max x"]]},
    }
    import tomllib

    scene = parse_scene(tables)
    assert parse_scene(tomllib.loads(write_toml(scene.keys()))) == scene


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, r"collider\[0\] must have either shape or file"),
    ({"shape": "plane", "file": "a.obj"}, r"collider\[0\] must have either shape or file"),
    ({"shape": "spher"}, r"must be one of plane, sphere.*did you mean 'sphere'\?"),
    ({"shape": "sphere", "radius": 1}, r"collider\[0\].radius is not a key of \[collider\[0\]\]"),
    ({"shape": "sphere"}, r"collider\[0\]: a sphere needs radius: give  size = \{ radius = ... \}"),
    ({"shape": "sphere", "size": {"length": 1}}, r"a sphere has no size 'length': it has radius"),
    ({"shape": "plane", "size": {"length": 1}}, r"a plane has no size 'length': it is endless, so remove size"),
    ({"name": "ball", "shape": "sphere", "size": {"radius": -1}}, r'collider\[0\] "ball": Sphere\(radius\): got -1'),
    ({"shape": "sphere", "size": {"radius": 1}, "axis": "x"}, r"a sphere has none of its own: use rotate"),
    ({"shape": "plane", "axis": [0, 0, 0]}, r"has a zero axis: give a direction"),
    (
        {"shape": "pipe", "size": {"length": 1, "radius": 0.1, "inner_radius": 0.2}},
        r"got 0.2; want below 0.1",
    ),
    ({"shape": "plane", "at": [0, float("nan"), 0]}, r"must be a finite number"),
]


@pytest.mark.parametrize(("collider", "message"), WRONG)
def test_wrong_colliders_are_named(collider: dict[str, Any], message: str) -> None:
    with pytest.raises(SceneError, match=message):
        stage(collider)


def test_open_and_flat_files_are_refused(tmp_path: Path) -> None:
    ball = make_shape("sphere", resolution=6).surface()
    save_surface(tmp_path / "open.obj", TriMesh(ball.vertices, ball.triangles[1:]))
    with pytest.raises(SceneError, match=r"collider\[0\]: the surface of the collider is not closed: .*3 open edges"):
        stage({"file": str(tmp_path / "open.obj")})
    sheet = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 1]], np.int32))
    save_surface(tmp_path / "sheet.obj", sheet)
    with pytest.raises(SceneError, match=r"collider\[0\]: the surface of the collider encloses nothing"):
        stage({"file": str(tmp_path / "sheet.obj")})


def test_a_missing_file_is_told_with_its_collider(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r'collider\[0\] "rock": .*rock.obj cannot be found'):
        stage({"name": "rock", "file": str(tmp_path / "rock.obj")})


def test_complaints_about_sizes_are_in_scene_units(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"Capsule\(length\): got 7.0; want above 10\."):
        stage({"shape": "capsule", "size": {"length": 7, "radius": 5}}, units="mm")
    with pytest.raises(SceneError, match=r"Sphere\(radius\): got -3.0; want above 0"):
        stage({"shape": "sphere", "size": {"radius": -3}}, units="mm")
    ball = make_shape("sphere", resolution=6, radius=50.0).surface()
    save_surface(tmp_path / "open.obj", TriMesh(ball.vertices, ball.triangles[1:]))
    place = ball.vertices[ball.triangles[0]].mean(axis=0)
    with pytest.raises(SceneError, match=r"near \(") as found:
        stage({"file": str(tmp_path / "open.obj")}, units="mm")
    near = [float(value) for value in str(found.value).split("near (")[1].split(")")[0].split(", ")]
    assert near == pytest.approx(place, abs=20.0)
