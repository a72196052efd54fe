"""Contact forces by passes of projected Gauss-Seidel."""

import numpy as np
import pytest

from supple.contact.delassus import Linked
from supple.contact.grip import Grip
from supple.contact.sweep import press, settle, sweep


def make_case(count=12, seed=0, dtype=np.float64):
    """Compliances, normals, goals and motion of contacts, of which about half press."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 3 * count))
    W = (rows @ rows.T / count)[None]
    normal = rng.normal(size=(3, count))
    normal /= np.linalg.norm(normal, axis=0)
    parts = W, normal, 0.1 * rng.normal(size=count), np.full(count, 0.4), 0.1 * rng.normal(size=(3, count))
    return tuple(part.astype(dtype) for part in parts)


def sweep_slowly(W, normal, goal, friction, moved, force):
    """One pass, written down as it is meant."""
    free = moved - np.einsum("ij,aj->ai", W[0], force)
    for i in range(len(goal)):
        n, own = normal[:, i], W[0, i, i]
        u = free[:, i] + force @ W[0, i]
        wanted = force[:, i] - u / own
        pressure = max(n @ wanted + goal[i] / own, 0.0)
        aside = wanted - n * (n @ wanted)
        size = np.linalg.norm(aside)
        force[:, i] = pressure * n + aside * min(1.0, friction[i] * pressure / size)
    return free + force @ W[0]


def test_a_pass_is_the_one_written_down():
    W, normal, goal, friction, moved = make_case()
    force = np.random.default_rng(1).normal(size=moved.shape)
    moved = moved + force @ W[0]
    ours, expected = force.copy(), force.copy()
    after = sweep_slowly(W, normal, goal, friction, moved.copy(), expected)
    sweep(W, normal, goal, friction, moved, ours, False)
    np.testing.assert_allclose(ours, expected, atol=1e-13)
    np.testing.assert_allclose(moved, after, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_many_passes_meet_the_laws_of_contact(seed):
    W, normal, goal, friction, free = make_case(20, seed)
    moved, force = free.copy(), np.zeros_like(free)
    assert settle(W, normal, goal, friction, moved, force, 1e-14, 3000) <= 1e-14
    np.testing.assert_allclose(moved, free + force @ W[0], atol=1e-12)
    pressure, gap = np.sum(normal * force, axis=0), np.sum(normal * moved, axis=0) - goal
    assert pressure.min() >= 0.0
    assert gap.min() > -1e-12
    assert np.abs(pressure * gap).max() < 1e-12
    assert 3 < np.count_nonzero(pressure) < 20
    aside = np.linalg.norm(force - pressure * normal, axis=0)
    slide = moved - np.sum(normal * moved, axis=0) * normal
    assert (aside <= friction * pressure + 1e-12).all()
    sticks = (aside < friction * pressure - 1e-9) & (pressure > 0)
    np.testing.assert_allclose(slide[:, sticks], 0.0, atol=1e-11)
    slips = (pressure > 0) & ~sticks
    assert np.sum(slide * force, axis=0)[slips].max() < 0.0  # friction acts against the slide


def test_order_of_contacts_does_not_matter_in_the_end():
    W, normal, goal, friction, free = make_case(15)
    order = np.random.default_rng(2).permutation(15)
    moved, force = free.copy(), np.zeros_like(free)
    settle(W, normal, goal, friction, moved, force, 1e-15, 3000)
    other, mixed = free[:, order].copy(), np.zeros_like(free)
    parts = W[:, order][:, :, order].copy(), normal[:, order].copy(), goal[order], friction[order]
    settle(*parts, other, mixed, 1e-15, 3000)
    np.testing.assert_allclose(mixed, force[:, order], atol=1e-10)


def test_no_friction_leaves_no_force_along_the_surface():
    W, normal, goal, friction, moved = make_case()
    force = np.zeros_like(moved)
    settle(W, normal, goal, 0.0 * friction, moved, force, 1e-14, 1000)
    np.testing.assert_allclose(force, np.sum(normal * force, axis=0) * normal, atol=1e-14)


def test_axes_of_their_own_and_contacts_that_pins_hold():
    W, normal, goal, friction, free = make_case(8)
    once, thrice = np.zeros_like(free), np.zeros_like(free)
    settle(W, normal, goal, friction, free.copy(), once, 1e-15, 1000)
    settle(np.repeat(W, 3, axis=0), normal, goal, friction, free.copy(), thrice, 1e-15, 1000)
    np.testing.assert_allclose(thrice, once, atol=1e-12)
    W[:, 3], W[:, :, 3] = 0.0, 0.0
    held = np.zeros_like(free)
    settle(W, normal, goal, friction, free.copy(), held, 1e-15, 1000)
    assert np.isfinite(held).all()
    assert held.any()
    assert not held[:, 3].any()


def test_an_iteration_moves_coordinates_as_dense_algebra_does():
    rng = np.random.default_rng(5)
    C, A = rng.normal(size=(6, 10)), rng.normal(size=(10, 10))
    inverse = np.linalg.inv(A @ A.T + 10.0 * np.eye(10))
    W, (_, normal, goal, friction, _) = C @ inverse @ C.T, make_case(6, dtype=np.float32)
    single = [np.asarray(part, np.float32) for part in (C.ravel(), (C @ inverse)[None], W[None])]
    start, column = np.arange(0, 61, 10, dtype=np.int32), np.tile(np.arange(10, dtype=np.int32), 6)
    force, base = (0.1 * rng.normal(size=(3, 6)).astype(np.float32) for _ in range(2))
    grip = Grip.take(Linked(start, column, *single), base, normal, goal, friction, force, 1e-9)
    free = rng.normal(size=(3, 10))
    for _ in range(50):  # the forces go on where they were
        q = free.astype(np.float32)
        press(grip, q)
    expected, moved = np.zeros((3, 6)), free @ C.T - base
    settle(W[None], *(part.astype(np.float64) for part in (normal, goal, friction)), moved, expected, 1e-14, 5000)
    np.testing.assert_allclose(grip.force, expected, atol=2e-4 * np.abs(expected).max())
    np.testing.assert_allclose(q, free + expected @ C @ inverse, atol=1e-4)
