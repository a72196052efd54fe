"""Friction: its cone, its direction, its derivatives."""

import numpy as np
import pytest

from supple.contact.contacts import Contacts
from supple.contact.friction import Friction
from supple.contact.potential import ContactPotential

SLIP = 0.02


def make_friction(count: int = 50) -> Friction:
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return Friction(normal, rng.uniform(1.0, 5.0, count), SLIP)


def make_slides(friction: Friction, length: float) -> np.ndarray:
    """Slides across the normals of the given length, with something along the normals, which must not matter."""
    rng = np.random.default_rng(1)
    slides = rng.normal(size=friction.normal.shape)
    slides -= np.einsum("mi,mi->m", slides, friction.normal)[:, None] * friction.normal
    slides *= length / np.linalg.norm(slides, axis=1, keepdims=True)
    return slides + rng.normal(size=(len(slides), 1)) * friction.normal


@pytest.mark.parametrize("length", [0.3 * SLIP, 0.9 * SLIP, 3.0 * SLIP])
def test_gradient_and_curvature_are_derivatives_at_second_order(length: float) -> None:
    friction = make_friction()
    u, d = make_slides(friction, length), np.random.default_rng(2).normal(size=(50, 3))
    steps = tuple(1e-2 * SLIP * k for k in (4.0, 2.0, 1.0))
    slope = float(np.vdot(friction.gradient(u), d))
    bend = np.einsum("mij,mj->mi", friction.curvature(u), d)
    first = [abs((friction.energy(u + h * d) - friction.energy(u - h * d)) / (2 * h) - slope) for h in steps]
    second = [
        float(np.linalg.norm((friction.gradient(u + h * d) - friction.gradient(u - h * d)) / (2 * h) - bend))
        for h in steps
    ]
    for errors in (first, second):
        order = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
        assert 1.7 < order < 2.4, errors


def test_force_lies_in_the_cone_and_on_it_beyond_the_slip_length() -> None:
    friction = make_friction()
    for length in (1e-3 * SLIP, 0.5 * SLIP, 0.999 * SLIP):
        size = np.linalg.norm(friction.gradient(make_slides(friction, length)), axis=1)
        assert (size < friction.limit).all()
    for length in (SLIP, 2.0 * SLIP, 1e4 * SLIP):
        size = np.linalg.norm(friction.gradient(make_slides(friction, length)), axis=1)
        assert np.allclose(size, friction.limit, rtol=1e-12)


def test_force_is_across_the_normal_and_along_the_slide() -> None:
    friction = make_friction()
    u = make_slides(friction, 2.0 * SLIP)
    force = friction.gradient(u)
    assert np.allclose(np.einsum("mi,mi->m", force, friction.normal), 0.0, atol=1e-12)
    assert (np.einsum("mi,mi->m", force, u) > 0.0).all()  # of the energy, so the force itself is against the slide


def test_potential_and_its_derivatives_are_continuous_where_sliding_begins_and_finite_at_rest() -> None:
    friction = make_friction()
    below, above = (make_slides(friction, SLIP * (1.0 + e)) for e in (-1e-9, 1e-9))
    assert friction.energy(below) == pytest.approx(friction.energy(above), rel=1e-8)
    assert np.allclose(friction.gradient(below), friction.gradient(above), atol=1e-7)
    scale = 2.0 * friction.limit.max() / SLIP
    assert np.allclose(friction.curvature(below), friction.curvature(above), atol=1e-7 * scale)
    rest = np.zeros((50, 3))
    assert friction.energy(rest) == 0.0
    assert not friction.gradient(rest).any()
    assert np.isfinite(friction.curvature(rest)).all()
    assert np.allclose(np.trace(friction.curvature(rest), axis1=1, axis2=2), 4.0 * friction.limit / SLIP)


def test_curvature_is_positive_semi_definite() -> None:
    friction = make_friction()
    for length in (0.0, 0.5 * SLIP, SLIP, 50.0 * SLIP):
        values = np.linalg.eigvalsh(friction.curvature(make_slides(friction, length)))
        assert values.min() >= -1e-12 * np.abs(values).max()


def one_contact(velocity: tuple[float, float, float]) -> Contacts:
    """A vertex on a floor that moves."""
    return Contacts(
        np.zeros((1, 4), np.int32), np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]]),
        np.ones(1), np.array([velocity]), np.zeros(1, np.int32), np.zeros(1, np.int32),
    )  # fmt: skip


def test_friction_opposes_motion_relative_to_a_moving_collider() -> None:
    begin, h = np.zeros((1, 3)), 0.1
    contacts = one_contact((2.0, 0.0, -1.0))
    potential = ContactPotential(
        contacts, begin, 1e3, friction=0.5, lagged=np.array([10.0]), slip=1e-4, duration=h
    )  # fmt: skip
    left_behind = potential.forces(begin)[0]
    assert left_behind[:2] == pytest.approx([5.0, 0.0])  # dragged along with μ λ
    carried = potential.forces(begin + [[0.2, 0.0, 0.0]])[0]
    assert carried[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    ahead = potential.forces(begin + [[0.3, 0.1, 0.0]])[0]
    assert ahead[:2] == pytest.approx(-5.0 * np.array([1.0, 1.0]) / np.sqrt(2.0))


def test_normal_forces_are_what_presses_and_never_pull() -> None:
    begin = np.zeros((1, 3))
    potential = ContactPotential(one_contact((0.0, 0.0, 0.0)), begin, 1e3)
    assert potential.normal_forces(begin + [[0.0, 0.0, -0.01]])[0] == pytest.approx(10.0)
    assert potential.forces(begin + [[0.0, 0.0, -0.01]])[0] == pytest.approx([0.0, 0.0, 10.0])
    assert potential.normal_forces(begin + [[0.0, 0.0, 0.01]])[0] == 0.0


def test_coefficients_and_stiffness_may_differ_by_contact() -> None:
    one = one_contact((0.0, 0.0, 0.0))
    two = Contacts(*(np.concatenate([getattr(one, f), getattr(one, f)]) for f in (
        "vertices", "weights", "offset", "normal", "area", "velocity", "source", "feature"
    )))  # fmt: skip
    x = np.array([[1.0, 0.0, -0.01]])
    potential = ContactPotential(
        two, np.zeros((1, 3)), np.array([1e3, 2e3]), friction=np.array([0.0, 0.5]), lagged=np.array([10.0, 20.0])
    )
    assert potential.forces(x) == pytest.approx(np.array([[0.0, 0.0, 10.0], [-10.0, 0.0, 20.0]]))


def test_only_what_friction_holds_and_has_slid_is_taken_back() -> None:
    """Of three vertices on a floor the first is not pressed, the second creeps, the third slides."""
    x = np.array([[0.0, -1e-3, 0.0], [1.0, -1e-3, 0.0], [2.0, -1e-3, 0.0]])
    contacts = Contacts(
        vertices=np.tile(np.arange(3, dtype=np.int32)[:, None], (1, 4)),
        weights=np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)),
        offset=x * [1.0, 0.0, 1.0],
        normal=np.tile([0.0, 1.0, 0.0], (3, 1)),
        area=np.ones(3),
        velocity=np.zeros((3, 3)),
        source=np.zeros(3, np.int32),
        feature=np.zeros(3, np.int32),
    )
    potential = ContactPotential(contacts, x, 1e3, friction=0.5, lagged=np.array([0.0, 1.0, 1.0]), slip=SLIP)
    moved = x + np.array([3.0, 0.5, 3.0])[:, None] * [SLIP, 1e-4, 0.0]
    assert potential.sticks(x)
    assert not potential.sticks(moved)
    back = potential.take_back(moved)
    assert np.array_equal(back[:2], moved[:2])
    assert back[2] == pytest.approx(moved[2] - [3.0 * SLIP, 0.0, 0.0])
