"""Oracles of condensation: whom they want full, and whom they hold."""

import numpy as np
import pytest
from condensation_helpers import sparse_model
from reduced_helpers import beam

from supple.method.condensation.oracle import (
    ContactOracle,
    MotionOracle,
    SettledOracle,
    Sight,
    Union,
)
from supple.method.condensation.region import Ground
from supple.method.condensation.state import CondensedState, fold_back
from supple.method.reduced.state import ReducedState


@pytest.fixture(scope="module")
def ground() -> Ground:
    body = beam(elements=300)
    return Ground(body, sparse_model(body).basis)


def two_patches(ground: Ground, *, speed: float = 0.0, away: float = 0.0, idle: int = 5) -> Sight:
    """Full vertices at both sides of the beam, at rest in the subspace; those at the tip move, or are away."""
    x = ground.rest[:, 0]
    full = np.flatnonzero(ground.movable & ((x > 0.4) | (x < -0.2))).astype(np.int32)
    motion = np.zeros((3, len(full), 3))
    motion[0] = ground.rest[full]
    tip = ground.rest[full, 0] > 0.4
    motion[1, tip, 1] = speed
    motion[0, tip, 1] += away * (-1.0) ** np.arange(tip.sum())  # not a motion of the subspace
    state = CondensedState(
        ReducedState(0.0, np.zeros((3, ground.rank))), full, motion, np.full(len(full), idle, np.int32)
    )
    return Sight(ground, state, 0.01)


def at_tip(sight: Sight) -> np.ndarray:
    return sight.ground.rest[sight.state.full, 0] > 0.4


def test_patches_are_what_edges_join(ground: Ground) -> None:
    sight = two_patches(ground)
    patches = ground.list_patches(sight.state.full)
    assert len(patches) == 2
    assert sorted(np.concatenate(patches)) == list(range(len(sight.state.full)))
    assert {bool(at_tip(sight)[patch].all()) for patch in patches} == {True, False}


def test_contact_wants_a_ball_and_holds_it_for_two_frames(ground: Ground) -> None:
    oracle = ContactOracle(ground, 0.3)
    seed = np.flatnonzero(ground.movable)[-1:].astype(np.int32)
    wanted = oracle.want(Sight(ground, two_patches(ground).state, 0.01, seed))
    apart = np.linalg.norm(ground.rest - ground.rest[seed], axis=1)
    np.testing.assert_array_equal(wanted, np.flatnonzero((apart <= 0.3) & ground.movable))
    assert not len(oracle.want(two_patches(ground)))
    assert oracle.hold(two_patches(ground, idle=1)).all()
    assert not oracle.hold(two_patches(ground, idle=2)).any()


def test_a_region_waits_until_contacts_that_shift_come_near_its_border(ground: Ground) -> None:
    oracle, state = ContactOracle(ground, 0.3), two_patches(ground).state
    x = ground.rest - ground.rest[np.flatnonzero(ground.movable)[-1]]
    apart = np.where(ground.movable, np.linalg.norm(x, axis=1), np.inf)
    seed, near, far = (np.array([np.argmin(abs(apart - way))], np.int32) for way in (0.0, 0.12, 0.28))
    assert 0.0 < apart[near[0]] < 0.15 < apart[far[0]] < 0.3
    known = oracle.want(Sight(ground, state, 0.0, seed))
    np.testing.assert_array_equal(oracle.want(Sight(ground, state, 0.0, near, known=known)), known)
    for seeds, told in ((near, known[:0]), (far, known)):
        wanted = oracle.want(Sight(ground, state, 0.0, seeds, known=told))
        ball = np.linalg.norm(ground.rest - ground.rest[seeds], axis=1) <= 0.3
        np.testing.assert_array_equal(wanted, np.flatnonzero(ball & ground.movable))


def test_motion_holds_the_patch_that_moves(ground: Ground) -> None:
    oracle, sight = MotionOracle(0.1, 1.0), two_patches(ground, speed=0.2)
    np.testing.assert_array_equal(oracle.hold(sight), at_tip(sight))
    assert not oracle.hold(two_patches(ground, speed=0.05)).any()


def test_settled_holds_the_patch_that_the_subspace_cannot_follow(ground: Ground) -> None:
    oracle, sight = SettledOracle(1e-3), two_patches(ground, away=0.01)
    np.testing.assert_array_equal(oracle.hold(sight), at_tip(sight))
    assert not oracle.hold(two_patches(ground, away=1e-4)).any()
    assert oracle.hold(two_patches(ground, speed=0.5))[at_tip(sight)].all(), "5 mm a step"
    assert SettledOracle(1e-3, 2.0).hold(sight).sum() == 0, "a share of the displacement where that is more"


def test_union_wants_and_holds_what_any_does(ground: Ground) -> None:
    sight = two_patches(ground, speed=0.2, idle=1)
    oracle = Union([MotionOracle(0.1, 1.0), ContactOracle(ground, 0.3)])
    assert oracle.hold(sight).all()
    seeds = np.flatnonzero(ground.movable)[:1].astype(np.int32)
    touched = Sight(ground, sight.state, 0.01, seeds)
    np.testing.assert_array_equal(oracle.want(touched), ContactOracle(ground, 0.3).want(touched))


def test_folding_back_finds_the_nearest_motion_of_what_is_not_full(ground: Ground) -> None:
    """In the mass of the rows that remain: against a least-squares fit over all of them."""
    sight = two_patches(ground, away=0.01, speed=1.0)
    state, keep = sight.state, ~at_tip(sight)
    after = fold_back(state, ground, keep)
    rows = np.setdiff1d(np.arange(len(ground.mass)), state.full[keep])
    root = np.sqrt(np.repeat(ground.mass[rows], 3))
    for level in (0, 1):
        target = state.place(ground, rows, level) - (ground.rest[rows] if level == 0 else 0.0)
        U = ground.subspace.stance(None).rows(rows).reshape(-1, ground.rank)
        fit = np.linalg.lstsq(root[:, None] * U, root * target.ravel(), rcond=None)[0]
        np.testing.assert_allclose(after.q[level], fit, atol=1e-9 * np.abs(fit).max())
    np.testing.assert_array_equal(after.full, state.full[keep])
