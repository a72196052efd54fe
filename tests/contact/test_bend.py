"""How normals turn with what slides over round colliders, and what contacts make of it."""

import numpy as np
import pytest

from supple.contact.box import Box
from supple.contact.capsule import Capsule
from supple.contact.collider import Collider
from supple.contact.cylinder import Cylinder
from supple.contact.detector import Detector
from supple.contact.plane import Plane
from supple.contact.potential import ContactPotential
from supple.contact.sphere import Sphere
from supple.elastic import Body
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.solve import Inputs, Moment, Placement

ROUND: list[Collider] = [Sphere(0.5), Capsule(2.0, 0.4), Cylinder(1.0, 0.3)]


def near(shape: Collider) -> np.ndarray:
    """Points on both sides of a surface, not far from it."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (2000, 3))
    away = shape.closest(points)
    some = away.point + np.linspace(-0.05, 0.05, len(points))[:, None] * away.normal
    if isinstance(shape, Capsule):  # where its ends begin the turning jumps
        some = some[np.abs(np.abs(some[:, 0]) - 0.6) > 0.01]
    return some[np.abs(some[:, 0]) < 0.4] if isinstance(shape, Cylinder) else some


@pytest.mark.parametrize("shape", ROUND, ids=lambda shape: type(shape).__name__)
def test_normals_turn_as_told_at_second_order(shape: Collider) -> None:
    points, errors = near(shape), []
    way = np.random.default_rng(1).standard_normal(points.shape)
    for h in (1e-3, 5e-4):
        turned = (shape.closest(points + h * way).normal - shape.closest(points - h * way).normal) / (2 * h)
        errors.append(np.abs(turned - np.einsum("kij,kj->ki", shape.bend(points), way)).max())
    assert errors[1] < 0.3 * errors[0] < 1e-3


def test_flat_sides_do_not_turn_normals() -> None:
    points = np.zeros((3, 3))
    assert Box((1.0, 0.5, 0.3)).bend(points) is None
    assert Plane().bend(points) is None
    ends = np.array([[0.499, 0.1, 0.0], [0.6, 0.1, 0.0]])
    assert not np.any(Cylinder(1.0, 0.3).bend(ends))


def test_stiffness_foresees_what_the_next_look_finds() -> None:
    """Forces at places that are looked at anew change as the second derivative says, not as that of frozen normals."""
    body = Body.build(fill_box((0, 0, 0), (0.2, 0.1, 0.2), 6), StableNeoHookean(young=1e5))
    detector, nothing = Detector(body, (Sphere(0.15), Plane())), np.zeros((0, 3))
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    places = Placement(turn, np.array([0.1, -0.145, 0.1])), Placement(np.eye(3), np.array([0.0, -1.0, 0.0]))
    inputs = Inputs(Moment(0.0, nothing, (), places), Moment(0.1, nothing, (), places))
    x, rng = body.mesh.vertices, np.random.default_rng(2)
    contacts = detector.detect(x, inputs)
    touching = contacts.vertices[contacts.depth(x) > 1e-4, 0]
    assert len(touching) > 3
    way = np.zeros_like(x)
    way[touching] = rng.standard_normal((len(touching), 3))

    def push(at: np.ndarray) -> np.ndarray:
        return ContactPotential(detector.detect(at, inputs, contacts), at, 1e8).gradient(at)[touching]

    h, missed = 1e-6, {}
    change = (push(x + h * way) - push(x - h * way)) / (2 * h)
    for name, bend in (("frozen", None), ("bent", detector.bend(contacts, x, inputs))):
        curvature = ContactPotential(contacts, x, 1e8, bend=bend).curvature(x)
        told = contacts.scatter(np.einsum("mij,mj->mi", curvature, way[contacts.vertices[:, 0]]), len(x))[touching]
        missed[name] = np.abs(told - change).max() / np.abs(change).max()
    assert missed["bent"] < 1e-6 < 1e-3 < missed["frozen"]
    potential = ContactPotential(contacts, x, 1e8, bend=detector.bend(contacts, x, inputs))
    assert (
        np.linalg.eigvalsh(potential.curvature(x)).min()
        < 0.0
        <= 1e-9 + np.linalg.eigvalsh(potential.curvature(x, cautious=True)).min()
    )
