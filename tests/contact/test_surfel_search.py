"""The search for samples over discs finds what looking at every pair does."""

import numpy as np
import pytest

from supple.contact.surfel_search import face, find_discs


def look_everywhere(begin, predicted, normal, known, parts, rest, facing, radius, near):
    """The rule written down: of the discs that a sample is over, the one whose middle is nearest."""
    travel = predicted - begin
    stray = np.minimum(np.linalg.norm(travel - travel.mean(axis=0), axis=1), 2.0 * radius.max())
    partner = np.full(len(begin), -1)
    for i in range(len(begin)):
        best = np.inf
        for j in range(len(begin)):
            height = normal[j] @ (begin[i] - begin[j])
            aside = np.sum((begin[i] - begin[j]) ** 2) - height**2
            level = facing[j] @ (rest[i] - rest[j])
            close = np.linalg.norm(rest[i] - rest[j]) < 2.5 * radius[j]
            same_limb = parts[i] == parts[j] and close and level < 0.1 * radius[j]
            lowest = -(1.0 if known[i] == j else 0.2) * radius[j]
            over = aside <= radius[j] ** 2 and lowest <= height < near + stray[i] + stray[j]
            if i != j and normal[i] @ normal[j] <= 0.5 and over and not same_limb and aside < best:
                best, partner[i] = aside, j
    return partner


@pytest.mark.parametrize("speed", [0.0, 0.05, 3.0])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_all_pairs_that_may_touch_are_seen(speed: float, spread: float) -> None:
    rng = np.random.default_rng(int(10 * speed))
    count = 120
    begin, rest = rng.random((count, 3)) * [1.0, 0.4, 0.2], rng.random((count, 3))
    begin[0] += spread * np.array([300.0, 0.0, 0.0])  # one far away makes no grid of a million cells
    way = speed * rng.normal(size=(count, 3)) * (rng.random((count, 1)) < 0.2)  # few are fast
    normal, facing = (field / np.linalg.norm(field, axis=1)[:, None] for field in rng.normal(size=(2, count, 3)))
    known = np.where(rng.random(count) < 0.5, rng.integers(0, count, count), -1).astype(np.int32)
    parts, radius = rng.integers(0, 2, count).astype(np.int32), 0.02 + 0.08 * rng.random(count)
    given = begin, begin + 7.0 + way, normal, known, parts, rest, facing, radius, 0.01
    found = find_discs(*given)
    assert (found >= 0).sum() > 10
    np.testing.assert_array_equal(found, look_everywhere(*given))


def test_normals_are_across_both_tangents() -> None:
    start, column = np.array([0, 2, 3]), np.array([0, 2, 1])
    first, second = np.array([1.0, -1.0, 0.0]), np.array([0.5, 2.0, 0.0])
    q = np.random.default_rng(1).normal(size=(3, 3))
    a, b = q[0] - q[2], 0.5 * q[0] + 2.0 * q[2]
    across = np.cross(a, b)
    np.testing.assert_allclose(
        face(start, column, first, second, q), [across / np.linalg.norm(across), np.zeros(3)], atol=1e-14
    )
