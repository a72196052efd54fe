"""Recorded cases as a reduced model sees them: displacements in the body's own frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import TrainingError
from supple.linalg.ties import in_single
from supple.method import RuledModel
from supple.method.measure import measure_errors
from supple.scene.cases import Case
from supple.scene.snapshot_cache import Recorded
from supple.subspace import Basis

__all__ = ["Guide", "LocalMotion", "Snapshots", "View", "gather_snapshots", "see_locally"]

FloatArray = NDArray[np.float64]
STILL = 1e-9  #: share of the body's size below which nothing moved


class View(Protocol):
    """A body at one moment, without what carries it."""

    def see(self, x: FloatArray) -> FloatArray:
        """X + d [m] of positions x [m], (n, 3) both."""

    def show(self, points: FloatArray) -> FloatArray:
        """The positions x [m] of X + d [m], (n, 3) both."""


class Guide(Protocol):
    """What carries a body through its motions: pins, or bones."""

    @property
    def body(self) -> Body:
        """The body at rest."""

    @property
    def carried(self) -> FloatArray:
        """S, (3 n, s): fields by which it deforms the body beside what a basis must hold."""

    def follow(self, recorded: Recorded) -> tuple[Sequence[View], FloatArray]:
        """The views of all steps of a case, and its coordinates or poses (steps + 1, s)."""

    def make_model(
        self, basis: Basis, train: Snapshots, q: FloatArray, tolerance: float, rng: np.random.Generator
    ) -> RuledModel:
        """A model in a basis, in which the snapshots are q (t, r), with rules to a tolerance; it does not warn."""


@dataclass(frozen=True, eq=False)
class LocalMotion:
    """A case without what carries the body: by pins x = c + R (X + d), d = S p + u; by bones x = φ(p, X + u)."""

    case: Case
    views: Sequence[View]
    """At every step."""
    d: FloatArray
    """Displacements in the frame [m], (steps + 1, n, 3)."""
    p: FloatArray
    """What carries it: coordinates of the carried fields, (steps + 1, s), or poses."""
    u: FloatArray
    """What carried fields leave of them [m], (steps + 1, n, 3): what a basis must hold."""
    share: float = 1.0
    """What errors relative to the displacements in the frame are multiplied by."""

    @property
    def largest(self) -> float:
        """Largest displacement of a vertex in the frame [m]."""
        return float(np.linalg.norm(self.d, axis=2).max())

    def error(self, positions: Sequence[FloatArray], rest: FloatArray, mass: FloatArray, size: float) -> float:
        """Relative error of positions (n, 3) [m] at every step: in the metric, to the displacements in the frame."""
        seen = [view.see(x) for x, view in zip(positions, self.views, strict=True)]
        return self.share * measure_errors(seen[1:], rest + self.d[1:], rest, mass, size).relative


@dataclass(frozen=True, eq=False)
class Snapshots:
    """What a basis and its rule learn from: the steps of all training motions, one after another."""

    u: FloatArray
    """As in a motion [m], (t, n, 3)."""
    p: FloatArray
    """(t, s)"""
    largest: float
    """Largest displacement of a vertex in the frame [m]."""
    cases: int

    def join(self, other: Snapshots) -> Snapshots:
        """These snapshots and others after them."""
        u, p = np.concatenate([self.u, other.u]), np.concatenate([self.p, other.p])
        return Snapshots(u, p, max(self.largest, other.largest), self.cases + other.cases)


def gather_snapshots(motions: Iterable[LocalMotion], count: int) -> Snapshots:
    """The `count` steps of motions that may come one by one: none of them is kept."""
    u = None
    p: list[FloatArray] = []
    largest, end = 0.0, 0
    for motion in motions:
        u = np.empty((count, *motion.u.shape[1:])) if u is None else u
        u[end : end + len(motion.u)] = motion.u
        end += len(motion.u)
        p.append(motion.p)
        largest = max(largest, motion.largest)
    assert u is not None
    return Snapshots(u, np.concatenate(p), largest, len(p))


def see_locally(recorded: Recorded, guide: Guide, *, lands: bool = False) -> LocalMotion:
    """A recorded case without what carries the body, in single precision; one in which nothing moves is refused.

    Errors are relative to displacements in the frame. Where a body flies and `lands`, they are relative to its whole
    motion: when and where it lands decides how it deforms, and a thousandth of a long fall may be a whole dent.
    """
    body = guide.body
    views, p = guide.follow(recorded)
    d = np.stack([view.see(x) - body.mesh.vertices for x, view in zip(recorded.x, views, strict=True)])
    u = in_single(d - (p @ guide.carried.T).reshape(d.shape) if guide.carried.shape[1] else d)
    d = in_single(d)
    share = _share_of(d, recorded.x, body.mass) if lands else 1.0
    motion, size = LocalMotion(recorded.case, views, d, p, u, share), body.mesh.size()
    if motion.largest <= STILL * size:
        raise TrainingError(
            f"nothing deforms in training {recorded.case.name}: the largest displacement is {motion.largest:.3g} m of "
            f"a body {size:.3g} m across; give the scene a load, or add a [[training.load]]."
        )
    return motion


def _share_of(d: FloatArray, x: FloatArray, mass: FloatArray) -> float:
    """Size of displacements (t, n, 3) beside that of the motion x (t, n, 3), both in the mass norm."""
    local, whole = (float(np.einsum("tni,tni,n->", field, field, mass)) for field in (d[1:], x[1:] - x[0]))
    return math.sqrt(local / whole) if whole > local else 1.0
