"""Trees of boxes bound what they hold, and crossing them loses nothing."""

import numpy as np
import pytest

from supple.contact.hierarchy import BoxTree, LeafPairs, cross_trees
from supple.shape import make_shape


def _points_tree(points):
    return BoxTree.build(points, np.arange(len(points), dtype=np.int32)[:, None])


def _pairs(found: LeafPairs) -> set[tuple[int, int]]:
    groups = np.repeat(np.arange(len(found.start) - 1), np.diff(found.start))
    return set(zip(groups.tolist(), found.leaves.tolist(), strict=True))


def _meet(one, two):
    """Every pair of rows whose boxes have a point in common."""
    apart = (one[:, None, :3] > two[None, :, 3:]) | (one[:, None, 3:] < two[None, :, :3])
    return set(zip(*(part.tolist() for part in np.nonzero(~apart.any(axis=2))), strict=True))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 100, 1000])
def test_every_thing_is_in_one_leaf_and_leaves_are_even(count):
    tree = _points_tree(np.random.default_rng(count).normal(size=(count, 3)))
    assert sorted(tree.order.tolist()) == list(range(count))
    sizes = np.diff(tree.start)
    assert sizes.sum() == count
    assert sizes.max() <= 8
    assert np.ptp(sizes) <= 1
    assert tree.leaves & (tree.leaves - 1) == 0


def test_refitted_boxes_are_tight_and_hold_the_boxes_below():
    mesh = make_shape("sphere", resolution=8)
    tree = BoxTree.build(mesh.vertices, mesh.tets)
    x = mesh.vertices * [1.0, 3.0, 0.5] + np.random.default_rng(0).normal(size=mesh.vertices.shape) * 0.02
    boxes = tree.refit(x)
    for leaf in range(tree.leaves):
        corners = x[mesh.tets[tree.order[tree.start[leaf] : tree.start[leaf + 1]]]].reshape(-1, 3)
        assert np.array_equal(boxes[tree.leaves + leaf], [*corners.min(axis=0), *corners.max(axis=0)])
    below = boxes[2:].reshape(-1, 2, 6)
    assert np.array_equal(boxes[1 : tree.leaves, :3], below[:, :, :3].min(axis=1))
    assert np.array_equal(boxes[1 : tree.leaves, 3:], below[:, :, 3:].max(axis=1))


@pytest.mark.parametrize(("few", "many"), [(0, 50), (50, 0), (1, 300), (300, 1), (60, 900), (900, 60), (400, 400)])
def test_crossing_trees_finds_every_pair_of_leaves_that_meet(few, many):
    rng = np.random.default_rng(few + many)
    one, two = _points_tree(rng.random((few, 3))), _points_tree(rng.random((many, 3)))
    for _ in range(3):
        a, b = one.refit(rng.random((few, 3))), two.refit(rng.random((many, 3)) * [1.0, 0.4, 2.0])
        found = cross_trees(a, b)
        assert len(found.leaves) == len(_pairs(found))
        assert _pairs(found) == _meet(a[one.leaves :], b[two.leaves :])


def test_boxes_of_things_are_theirs_leaf_by_leaf():
    mesh = make_shape("capsule", resolution=8)
    tree = BoxTree.build(mesh.vertices, mesh.tets)
    corners = mesh.vertices[mesh.tets[tree.order]]
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    assert np.array_equal(tree.box_things(mesh.vertices, mesh.tets), boxes)


def test_leaves_follow_the_shape():
    """Halving keeps neighbours together: leaves of 5 to 8 tets are a few edges wide, not as wide as the body."""
    mesh = make_shape("beam", resolution=20)
    tree = BoxTree.build(mesh.vertices, mesh.tets)
    boxes = tree.refit(mesh.vertices)[tree.leaves :]
    assert np.median((boxes[:, 3:] - boxes[:, :3]).max(axis=1)) < 3.0 / 20
