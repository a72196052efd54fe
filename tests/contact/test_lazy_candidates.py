"""What is found where positions are made as they are asked for is what a look at everything finds."""

from dataclasses import dataclass, fields

import numpy as np
import pytest

from supple.contact.places import Places
from supple.contact.self_contact import SelfContact
from supple.mesh import TetMesh
from supple.shape import make_shape


@pytest.fixture(scope="module")
def mesh() -> TetMesh:
    return make_shape("capsule", resolution=24, length=1.0, radius=0.1)


def curl(X: np.ndarray, radius: float) -> np.ndarray:
    """Bent about z into a ring, whose ends meet when its radius is small."""
    angle, reach = X[:, 0] / radius, radius - X[:, 1]
    return np.column_stack([reach * np.sin(angle), radius - reach * np.cos(angle), X[:, 2]])


@dataclass(frozen=True, eq=False)
class Bends:
    """A ring that shapes add to, and vertices that go where they like."""

    base: np.ndarray
    shapes: np.ndarray
    q: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        return np.sqrt((self.shapes**2).sum(axis=(1, 2)))[:, None]  # of rows, by Frobenius: not less than needed

    def since(self, then: "Bends") -> np.ndarray:
        return np.array([np.linalg.norm(self.q - then.q)])

    def place(self, vertices: np.ndarray) -> np.ndarray:
        return self.base[vertices] + self.shapes[vertices] @ self.q


def look(contact: SelfContact, moment: Bends, apart: np.ndarray, push: np.ndarray):
    """What is found lazily, and at all positions; and the share of vertices that were asked for."""

    def place(vertices: np.ndarray) -> np.ndarray:
        x = moment.place(vertices)
        own = np.isin(vertices, apart)
        x[own] += push[np.searchsorted(apart, vertices[own])]
        return x

    whole, places = place(np.arange(len(moment.base))), Places(len(moment.base), place, moment, apart)
    found = contact.find(places.as_array())
    return found, contact.to_contacts(found, places.as_array()), whole, places.count_known / len(whole)


@pytest.mark.parametrize("thickness", [0.0, 0.01])
def test_lazy_looks_find_what_a_look_at_everything_finds(mesh: TetMesh, thickness: float) -> None:
    """Random motions, small and large, with vertices that move by themselves."""
    lazy, plain = (SelfContact(mesh, thickness=thickness) for _ in range(2))
    rng, X = np.random.default_rng(1), mesh.vertices
    base = curl(X, 0.155)
    waves = [np.sin(k * np.pi * X[:, 0])[:, None] * (base - base.mean(axis=0)) for k in (1, 2, 3)]
    ends = np.where(X[:, :1] < X[:, 0].mean(), 1.0, -1.0) * (np.abs(X[:, :1] - X[:, 0].mean()) > 0.35)
    shapes = np.stack([*waves, ends * [1.0, 0.0, 0.0], ends * [0.0, 1.0, 0.0]], axis=2)
    q, shares, counts = np.zeros(5), [], []
    for number in range(60):
        q = q + rng.normal(size=5) * rng.choice([1e-4, 1e-3, 1e-2]) if number % 20 else 0.05 * rng.normal(size=5)
        centre = base[rng.integers(len(base))]
        apart = np.flatnonzero(np.linalg.norm(base - centre, axis=1) < 0.05).astype(np.int32)
        push = rng.normal(size=(len(apart), 3)) * rng.choice([0.0, 1e-3, 1e-2])
        found, contacts, whole, share = look(lazy, Bends(base, shapes, q), apart, push)
        exact = plain.find(whole)
        for field in fields(exact):
            assert np.array_equal(getattr(found, field.name), getattr(exact, field.name))
        area = plain.to_contacts(exact, whole).area
        assert np.array_equal(contacts.area, area)
        shares.append(share)
        counts.append(len(exact))
    assert max(counts) > 20
    if not thickness:  # of so coarse a ring all is within a thickness of something
        assert np.median(shares[1:20]) < 0.7


def test_a_look_asks_for_what_is_near_and_for_what_has_moved(mesh: TetMesh) -> None:
    """Of a capsule that nothing touches, the share grows with what moves by itself."""
    contact, X = SelfContact(mesh), mesh.vertices
    moment, shares = Bends(X, np.zeros((len(X), 3, 1)), np.zeros(1)), []
    nobody = np.zeros(0, np.int32)
    look(contact, moment, nobody, np.zeros((0, 3)))
    for reach in (0.0, 0.1, 0.2, 0.4):
        apart = np.flatnonzero(X[:, 0] < X[:, 0].min() + reach).astype(np.int32)
        shares.append(look(contact, moment, apart, np.zeros((len(apart), 3)))[3])
    assert shares[0] < 0.05
    assert np.all(np.diff(shares) > 0.0)
    assert shares[1] < 0.3


def test_places_are_an_array_of_all_to_whoever_does_not_know_them() -> None:
    rest = np.random.default_rng(0).normal(size=(7, 3))
    places = Places(7, lambda vertices: rest[vertices])
    assert np.array_equal(places[np.array([2, 4])], rest[[2, 4]])
    assert places.count_known == 2
    assert np.array_equal(rest + places, 2.0 * rest)
    assert places.count_known == 7
