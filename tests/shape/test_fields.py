import numpy as np
import pytest

from supple.shape import SHAPES
from supple.shape.distance import (
    Field,
    box,
    cone,
    cylinder,
    ellipsoid,
    mirrored,
    moved,
    scaled,
    smooth_difference,
    smooth_intersection,
    smooth_union,
    sphere,
    stood,
    tube,
)

TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])

BODIES = ["creature", "x", "finger", "arm", "hand", "head", "figure", "bear", "ape", "walker"]
DRAWN = {name: SHAPES[name].distance() for name in BODIES}

FIELDS = {
    "sphere": sphere((0.1, 0, 0), 0.4),
    "ellipsoid": ellipsoid((0, 0.1, 0), (0.5, 0.3, 0.2)),
    "box": box((0, 0, 0.1), (0.5, 0.3, 0.2)),
    "rounded box": box((0, 0, 0.1), (0.5, 0.3, 0.2), rounding=0.1),
    "cylinder": cylinder((0, 0.1, 0), 0.5, 0.2),
    "capsule": cone((-0.3, 0, 0), (0.4, 0.1, 0), 0.2, 0.2),
    "cone": cone((-0.3, 0, 0), (0.4, 0.1, 0), 0.3, 0.1),
    "moved box": moved(box((0, 0, 0), (0.5, 0.3, 0.2)), TURN, (0.1, 0.2, 0.3)),
    "mirrored": mirrored(sphere((0.4, 0, 0), 0.2)),
    "union": smooth_union([sphere((-0.2, 0, 0), 0.3), box((0.2, 0, 0), (0.2, 0.2, 0.2))], 0.2),
    "intersection": smooth_intersection(sphere((0, 0, 0), 0.4), box((0, 0.5, 0), (0.5, 0.5, 0.5)), 0.05),
    "difference": smooth_difference(sphere((0, 0, 0), 0.5), sphere((0.3, 0, 0), 0.3), 0.05),
    "tube": tube(((-0.4, 0, 0), 0.2), ((0, 0.2, 0), 0.1), ((0.3, -0.1, 0.2), 0.15)),
    "scaled": scaled(ellipsoid((0, 0.1, 0), (0.25, 0.15, 0.1)), 2.0),
    "stood": stood(sphere((0, 0.2, 0), 0.4), 0.05),
    # At the size of the cloud of points, whatever their own
    **{name: scaled(field, 1.0 / np.abs(field.bounds()).max()) for name, field in DRAWN.items()},
}
EXACT = ["sphere", "box", "rounded box", "cylinder", "capsule", "cone", "moved box", "mirrored"]


def cloud(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.2, 1.2, (count, 3))


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_changes_by_at_most_a_metre_a_metre(name: str) -> None:
    start, step = cloud(4000), 0.1 * cloud(4000, seed=1)
    change = FIELDS[name](start + step) - FIELDS[name](start)
    assert (np.abs(change) <= np.linalg.norm(step, axis=1) * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", FIELDS)
def test_the_inside_lies_within_the_bounds(name: str) -> None:
    points = cloud(20_000)
    low, high = FIELDS[name].bounds()
    inside = FIELDS[name](points) < 0
    assert inside.any()
    assert ((points[inside] >= low) & (points[inside] <= high)).all()


@pytest.mark.parametrize("name", EXACT)
def test_simple_solids_give_the_true_distance_outside(name: str) -> None:
    """Walking back by the distance along its gradient must arrive at the surface."""
    field: Field = FIELDS[name]
    points = cloud(500)
    points = points[field(points) > 0.01]
    step = 1e-6
    slope = [(field(points + step * axis) - field(points - step * axis)) / (2 * step) for axis in np.eye(3)]
    foot = points - field(points)[:, None] * np.column_stack(slope)
    assert np.abs(field(foot)).max() < 1e-6


def test_a_cone_is_the_hull_of_its_balls() -> None:
    start, end = np.array([-0.3, 0, 0]), np.array([0.4, 0.1, 0])
    points = cloud(300)
    share = np.linspace(0, 1, 20_001)[:, None]
    centres, radii = start + share * (end - start), 0.3 + share[:, 0] * (0.1 - 0.3)
    nearest = [(np.linalg.norm(centres - point, axis=1) - radii).min() for point in points]
    np.testing.assert_allclose(FIELDS["cone"](points), nearest, atol=1e-7)


def test_a_smooth_union_holds_its_parts_and_no_more_than_the_fillet() -> None:
    parts = [sphere((-0.2, 0, 0), 0.3), sphere((0.2, 0, 0), 0.3)]
    points = cloud(2000)
    sharp = np.minimum(parts[0](points), parts[1](points))
    smooth = smooth_union(parts, 0.2)(points)
    assert (smooth <= sharp).all()
    assert (smooth >= sharp - 0.2 / 4 - 1e-15).all()


def test_a_tube_is_no_wider_than_its_stations() -> None:
    points = cloud(2000)
    whole = tube(((-0.4, 0, 0), 0.2), ((0, 0.2, 0), 0.1), ((0.3, -0.1, 0.2), 0.15))(points)
    parts = [cone((-0.4, 0, 0), (0, 0.2, 0), 0.2, 0.1), cone((0, 0.2, 0), (0.3, -0.1, 0.2), 0.1, 0.15)]
    np.testing.assert_array_equal(whole, np.minimum(parts[0](points), parts[1](points)))


def test_what_stands_is_cut_at_the_ground() -> None:
    points = cloud(5000)
    inside = stood(sphere((0, 0.2, 0), 0.4), 0.05)(points) < 0
    assert (points[inside, 1] > 0).all()
    assert inside[(points[:, 1] > 0.05) & (np.linalg.norm(points - [0, 0.2, 0], axis=1) < 0.35)].all()
