"""Pictures show the body, its shadow and its colours, and are the same every time."""

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest

from supple.errors import MeshError, OutputError
from supple.picture import Camera, render
from supple.picture.colormap import get_table
from supple.picture.light import place_lights

Body = tuple[np.ndarray, np.ndarray]
SMALL: dict[str, Any] = {"width": 120, "height": 80}
CAMERA = Camera(np.array([0.0, 4.0, 12.0]), np.array([0.0, 0.5, 0.0]), np.array([0.0, 1.0, 0.0]))


def find_pixel(point: np.ndarray, camera: Camera = CAMERA, width: int = 120, height: int = 80) -> tuple[int, int]:
    x, y, w, _ = camera.view(width, height) @ np.append(point, 1.0)
    return int(y / w), int(x / w)


@pytest.fixture
def keep_threads() -> Iterator[None]:
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


def test_picture_is_bytes_of_the_asked_size(sphere: Body) -> None:
    picture = render(*sphere, width=90, height=70)
    assert picture.shape == (70, 90, 3)
    assert picture.dtype == np.uint8


@pytest.mark.usefixtures("keep_threads")
def test_same_bytes_twice_and_at_any_thread_count(sphere: Body) -> None:
    pictures = []
    for threads in (1, 1, min(2, numba.get_num_threads())):
        numba.set_num_threads(threads)
        pictures.append(render(*sphere, grid=True, values=sphere[0][:, 0], caption="x", **SMALL).tobytes())
    assert pictures[0] == pictures[1] == pictures[2]


def test_body_stands_in_the_middle_and_hides_what_is_behind(sphere: Body) -> None:
    vertices, triangles = sphere
    behind = vertices * 0.5 - CAMERA.axes()[2] * -3.0
    both = np.concatenate([vertices, behind])
    colours = np.repeat([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], len(vertices), axis=0)
    picture = render(
        both,
        np.concatenate([triangles, triangles + len(vertices)]),
        colour=colours,
        camera=CAMERA,
        ground=None,
        **SMALL,
    )
    red, _, blue = picture[find_pixel(np.zeros(3))].astype(int)
    assert red > blue + 80


def test_shadow_lies_on_the_ground_where_the_key_lamp_throws_it(sphere: Body) -> None:
    vertices, triangles = sphere
    lamp = place_lights(CAMERA, 1).key
    foot = -2.0 * lamp / lamp[1]  # of the ray through the centre
    shown = render(vertices, triangles, camera=CAMERA, ground=-2.0, **SMALL).astype(int)
    shaded = shown[find_pixel(foot)].sum()
    lit = shown[find_pixel(foot * [-1.0, 1.0, 1.0])].sum()
    assert shaded < 0.88 * lit
    gone = vertices + np.array([0.0, 50.0, 0.0])
    lifted = render(gone, triangles, camera=CAMERA, ground=-2.0, **SMALL).astype(int)
    assert shaded < 0.88 * lifted[find_pixel(foot)].sum()


def test_side_towards_the_lamp_is_brighter(sphere: Body) -> None:
    lights = place_lights(CAMERA, 1)
    picture = render(*sphere, camera=CAMERA, colour=[0.5, 0.5, 0.5], ground=None, **SMALL).astype(int)
    front = -CAMERA.axes()[2]
    towards = lights.key + front
    away = front - lights.key
    bright, dark = (picture[find_pixel(0.9 * d / np.linalg.norm(d))].sum() for d in (towards, away))
    assert bright > 1.5 * dark


def test_body_shades_itself(box: Body) -> None:
    vertices, triangles = box
    plate = vertices * [2.0, 0.1, 2.0]
    roof = vertices * [0.8, 0.1, 0.8] + [0.0, 1.0, 0.0]
    both = np.concatenate([plate, roof]), np.concatenate([triangles, triangles + 8])
    lamp = place_lights(CAMERA, 1).key
    point = np.array([0.0, 1.0, 0.0]) - lamp * (0.9 / lamp[1])
    row, column = find_pixel(point)
    alone = render(plate, triangles, camera=CAMERA, ground=None, **SMALL).astype(int)[row, column].sum()
    assert render(*both, camera=CAMERA, ground=None, **SMALL).astype(int)[row, column].sum() < 0.8 * alone


def test_what_is_below_the_ground_is_hidden(sphere: Body) -> None:
    picture = render(*sphere, camera=CAMERA, ground=1.5, colour="#0000ff", **SMALL).astype(int)
    assert (picture[..., 2] - picture[..., 0]).max() < 60
    half = render(*sphere, camera=CAMERA, ground=0.0, colour="#0000ff", **SMALL).astype(int)
    whole = render(*sphere, camera=CAMERA, ground=-1.0, colour="#0000ff", **SMALL).astype(int)
    blue = [int((p[..., 2] - p[..., 0] > 60).sum()) for p in (half, whole)]
    assert 0.4 * blue[1] < blue[0] < 0.8 * blue[1]


def test_values_at_the_ends_have_the_end_colours_of_the_map(sphere: Body) -> None:
    table = get_table("dusk")
    for value, colour in ((-2.0, table[0]), (9.0, table[-1])):
        values = np.full(len(sphere[0]), value)
        mapped = render(*sphere, values=values, vmin=-2.0, vmax=9.0, colormap="dusk", legend=False, **SMALL)
        assert np.array_equal(mapped, render(*sphere, colour=colour, **SMALL))


def test_values_per_triangle_are_those_of_their_corners_and_no_number_shows_the_colour(sphere: Body) -> None:
    vertices, triangles = sphere
    per_vertex = render(vertices, triangles, values=np.ones(len(vertices)), vmin=0, vmax=2, **SMALL)
    per_triangle = render(vertices, triangles, values=np.ones(len(triangles)), vmin=0, vmax=2, **SMALL)
    assert np.array_equal(per_vertex, per_triangle)
    nothing = np.full(len(vertices), np.nan)
    plain = render(vertices, triangles, values=nothing, vmin=0, vmax=1, legend=False, colour="#338844", **SMALL)
    assert np.array_equal(plain, render(vertices, triangles, colour="#338844", **SMALL))


def test_winding_does_not_matter_on_a_flat_plate() -> None:
    plate = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    front = np.array([[0, 1, 2], [0, 2, 3]])
    assert np.array_equal(render(plate, front, **SMALL), render(plate, front[:, ::-1], **SMALL))


def test_up_axis_only_turns_the_world(sphere: Body) -> None:
    vertices, triangles = sphere
    body = vertices * [1.0, 0.6, 0.8]
    turned = body @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # y up to z up
    first = render(body, triangles, **SMALL).astype(int)
    second = render(turned, triangles, up_axis="z", **SMALL).astype(int)
    assert np.abs(first - second).mean() < 0.5


def test_scale_only_scales(sphere: Body) -> None:
    vertices, triangles = sphere
    first, second = (render(vertices * size, triangles, grid=True, **SMALL).astype(int) for size in (1e-4, 1e3))
    assert np.abs(first - second).mean() < 0.5


def test_triangles_without_area_do_no_harm(sphere: Body) -> None:
    vertices, triangles = sphere
    extra = np.concatenate([triangles, [[0, 0, 0], [1, 1, 2]]])
    assert np.array_equal(render(vertices, triangles, **SMALL), render(vertices, extra, **SMALL))
    render(np.zeros((3, 3)), [[0, 1, 2]], **SMALL)
    assert render(vertices, np.zeros((0, 3), dtype=int), **SMALL).shape == (80, 120, 3)


def test_camera_inside_the_body_or_looking_away_still_gives_a_picture(sphere: Body) -> None:
    inside = Camera(np.array([0.1, 0.2, 0.1]), np.array([0.0, 0.0, -1.0]), np.array([0.0, 1.0, 0.0]))
    away = Camera(np.array([0.0, 0.0, 5.0]), np.array([0.0, 0.0, 9.0]), np.array([0.0, 1.0, 0.0]))
    assert np.ptp(render(*sphere, camera=inside, **SMALL)) > 0
    picture = render(*sphere, camera=away, ground=None, colour="#ff0000", **SMALL).astype(int)
    assert (picture[..., 0] - picture[..., 2]).max() < 40


def test_vertices_in_no_triangle_change_nothing(sphere: Body) -> None:
    vertices, triangles = sphere
    more = np.concatenate([vertices, [[99.0, 99.0, 99.0]]])
    assert np.array_equal(render(vertices, triangles, **SMALL), render(more, triangles, **SMALL))


def test_silhouette_is_smooth(sphere: Body) -> None:
    one = render(*sphere, camera=CAMERA, ground=None, colour="#000000", samples=1, **SMALL).astype(int)
    eight = render(*sphere, camera=CAMERA, ground=None, colour="#000000", **SMALL).astype(int)
    between = [int(((p[..., 1] > 110) & (p[..., 1] < 200)).sum()) for p in (one, eight)]
    assert between[0] == 0
    assert between[1] > 30


def test_edges_grid_legend_and_caption_are_drawn(box: Body) -> None:
    plain = render(*box, **SMALL)
    changes: list[dict[str, Any]] = [{"edges": True}, {"grid": True}, {"caption": "t"}]
    for options in changes:
        assert not np.array_equal(plain, render(*box, **{**SMALL, **options}))
    values = box[0][:, 1]
    camera = Camera.fit((-np.ones(3), np.ones(3)))
    bare = render(*box, values=values, camera=camera, legend=False, **SMALL)
    assert not np.array_equal(bare, render(*box, values=values, camera=camera, **SMALL))


def test_position_that_is_no_number_is_named(sphere: Body) -> None:
    vertices = sphere[0].copy()
    vertices[17, 1] = np.nan
    with pytest.raises(MeshError, match="vertex 17"):
        render(vertices, sphere[1], **SMALL)


@pytest.mark.parametrize(
    ("positions", "triangles", "message"),
    [
        (np.zeros((3, 2)), [[0, 1, 2]], "shape"),
        (np.zeros((0, 3)), [[0, 1, 2]], "shape"),
        (np.eye(3), [[0, 1, 3]], "Triangle 0"),
        (np.eye(3), [[0, 1, -1]], "Triangle 0"),
        (np.eye(3), [[0.0, 1.0, 2.0]], "float64"),
        (np.eye(3), [[0, 1]], "shape"),
    ],
)
def test_bad_surface_is_refused(positions: np.ndarray, triangles: list[list[int]], message: str) -> None:
    with pytest.raises(MeshError, match=message):
        render(positions, triangles, **SMALL)


@pytest.mark.parametrize(
    "options",
    [
        {"width": 0},
        {"height": 10**6},
        {"samples": 0},
        {"up_axis": "x"},
        {"ground": np.nan},
        {"colour": "blueish"},
        {"colour": np.zeros((2, 3))},
        {"values": [1.0, 2.0]},
        {"values": [1.0, 2.0, 3.0], "colormap": "none such"},
    ],
)
def test_bad_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OutputError):
        render(np.eye(3), [[0, 1, 2]], **{**SMALL, **options})
