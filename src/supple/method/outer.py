"""Contact in one step, whatever the method: solve with frozen contacts, look again, until that changes nothing.

A round freezes which points touch, their normals and the normal forces that friction follows; what it leaves is a
convex potential that a method minimises together with its own. Then contacts are looked for where it arrived.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.contact.anisotropy import split
from supple.contact.contacts import SELF, Contacts
from supple.contact.detector import Detector
from supple.contact.potential import ContactPotential
from supple.contact.result import Touch
from supple.contact.sets import NO_PAIRS, choose, is_in, keep_areas, list_pairs, merge, share
from supple.errors import SceneError, SuppleWarning
from supple.method.looks import KEEPS_GEOMETRY, NEARLY, Looks, compare
from supple.solve.increment import Motion
from supple.solve.inputs import Inputs
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

__all__ = ["CREEP", "MOST_ROUNDS", "STATIC_CREEP", "Approach", "ContactLoop", "Outcome", "Round", "count_contact"]

FloatArray = NDArray[np.float64]

MOST_ROUNDS = 15
# Share of the contact forces by which a new look may still change them. Friction may lag more: its normal forces come
# from where the step began, so what is left is of the order of a step, as in the integrator.
_SETTLED = {"contact": 1e-3, "friction": 5e-2}
_NEAR = 0.05  # share of an edge within which a contact that has parted is a candidate of the next step
_NEWS = 0.01  # share of new contacts above which the first round is rough, because another follows
CREEP = 1e-3  #: sizes of the body a second below which friction sticks
_DRIFTS = 1e-2  # sizes of the body after which one that does not settle rolls away
_LEVEL = 1e-3  # slope of a support that is level
STATIC_CREEP = 1e-4  #: sizes of the body within which static friction builds up


@dataclass(frozen=True, eq=False)
class Approach:
    """A step as contact sees it."""

    x: FloatArray
    """Positions at the beginning [m], (n, 3)."""
    predicted: FloatArray
    """Positions at the end if nothing were touched [m], (n, 3)."""
    inputs: Inputs
    ca: float
    """Accelerations at the end are ca (x - xa) [1/s²]; 0 in statics."""
    weight: float
    """How often the contact forces at the end count in the step's balance."""
    free: NDArray[np.integer]
    """Vertices that pins do not hold wholly."""
    pairs: NDArray[np.int32] = field(default_factory=lambda: NO_PAIRS)
    """Vertices and triangles that touched as the step begins, (k, 2)."""
    load: FloatArray | None = None
    """Sum of the loads [N], (3,), where nothing but contact bears them; None where pins, grabs or inertia do."""
    bends: bool = False
    """Whether stiffnesses tell how normals turn with what slides over a round collider; in statics without friction."""
    hasty: bool = False
    """Whether another round is expected to follow the first, so that two digits are enough in that; not where friction
    makes the way matter."""


@dataclass(frozen=True, eq=False)
class Round:
    """What one round asks a method to solve."""

    potential: ContactPotential | None
    """None where nothing is near."""
    start: FloatArray | None
    """Positions where the last round arrived [m], (n, 3); None in the first."""
    impact: float
    """Size of the forces that stop what would go in [N]: a scale for tolerances where nothing else acts."""
    rubs: bool
    """Whether there is friction to overcome."""
    rough: bool
    """Whether two digits are enough, because another round follows."""
    look: Callable[[FloatArray], ContactPotential | None] | None = None
    """The potential as a look at positions [m], (n, 3), would have it: a step in which Newton's method costs more than
    looking need not go to the end with contacts that are no longer true. None where they are to stay as they are."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where the rounds ended."""

    x: FloatArray
    touching: Touch | None
    """What acts, None where nothing does."""
    force: FloatArray | None
    """What contacts do to the vertices [N], (n, 3), None where nothing is near."""
    pairs: NDArray[np.int32]
    """Vertices and triangles of the body that touch, (k, 2)."""
    rounds: int
    change: float
    """By how much a last look would still change the contact forces, relative to them."""
    settled: bool


Solve = Callable[[Round], tuple[FloatArray, float]]
"""Solves a round: positions [m], (n, 3), and the size of forces that it takes for zero [N]."""


class ContactLoop:
    """The rounds of a body's steps."""

    def __init__(self, detector: Detector, mass: FloatArray, size: float) -> None:
        """Of a body with lumped mass [kg], (n,), and a diagonal of `size` [m]."""
        self.detector = detector
        self._mass, self._size = mass, size
        self._warned = False

    def look_at(self, detector: Detector, mass: FloatArray) -> None:
        """Go on with a detector that numbers other vertices, of which the masses are given [kg], (n,)."""
        self.detector, self._mass = detector, mass

    def settle(self, step: Approach, solve: Solve, watch: Stopwatch) -> Outcome:
        """The end of a step, through as many rounds as it takes."""
        x, inputs = step.x, step.inputs
        moves = np.zeros(len(x), bool)
        moves[step.free] = True
        with watch.phase("contact"):
            contacts = _movable(self.detector.foresee(x, step.predicted, inputs, step.pairs), moves)
            shared = share(contacts, step.predicted)
            stopping = self._stopping_forces(shared, step)
            lagged = np.maximum(self._resting_forces(shared, step), stopping)
            impact = float(np.linalg.norm(shared.scatter(stopping[:, None] * shared.normal, len(x))))
            potential = self._freeze(shared, step, step.predicted, lagged)
            rubs = potential is not None and potential.rubs
            hasty = step.hasty and potential is not None and not rubs
            news = hasty or (potential is not None and _find_news(contacts, step) > _NEWS * len(contacts))
        start, looks = None, step.ca == 0.0 and self.detector.settings.is_slippery
        known = Looks(
            contacts, potential,
            lambda at, before: _movable(self.detector.detect(at, inputs, before), moves),
            lambda found, at, before, keeps: self._freeze_again(found, step, at, before, keeps=keeps),
            returns=looks,
        )  # fmt: skip

        def look_on(at: FloatArray) -> ContactPotential | None:
            with watch.phase("contact"):
                return known.look_between(at)

        for count in range(1, MOST_ROUNDS + 1):
            rough = news and count == 1
            try:
                y, resolution = solve(Round(known.potential, start, impact, rubs, rough, look_on if looks else None))
            except NewtonFailure as failure:
                if step.load is not None and count > 1:  # a body that rolls away may fail before its rounds are over
                    failure.refusal = _find_drift(step.load, step, known.potential, y, count - 1, self._size)
                raise
            with watch.phase("contact"):
                late = max(count, known.lateness)
                fresh = known.look(y, late)
                changes, size = compare(known.potential, fresh, y)
            settled = all(changes[name] <= max(share * size, resolution) for name, share in _SETTLED.items())
            if (settled and not (rough and hasty)) or count == MOST_ROUNDS:
                break
            known.potential, start = fresh, y if fresh is None else fresh.take_back(y)
        potential = known.potential
        if rough:
            y, resolution = solve(Round(potential, y, impact, rubs, False))
        if late >= KEEPS_GEOMETRY:  # honest about what a look at everything would change
            changes, size = known.tell_change(potential, y)
            settled &= max(changes.values()) <= max(NEARLY * size, resolution)
        change = max(changes.values()) / max(size, resolution, 1e-300)
        force = None if potential is None else -potential.gradient(y) / step.weight
        touching, pairs = (
            _list_touching(potential, y, step.weight),
            _list_pairs(potential, y, _NEAR * self.detector.edge),
        )
        outcome = Outcome(y, touching, force, pairs, count, change, settled)
        if step.load is not None and not settled:
            drifting = _find_drift(step.load, step, potential, y, count, self._size)
            if drifting is not None:
                raise drifting
        self.admit(outcome, inputs)
        return outcome

    def look(self, step: Approach, y: FloatArray) -> ContactPotential | None:
        """What touches at the end y [m], (n, 3), of a step that somebody else has solved; None where nothing does."""
        moves = np.zeros(len(y), bool)
        moves[step.free] = True
        contacts = _movable(self.detector.foresee(step.x, y, step.inputs, step.pairs), moves)
        found = _movable(self.detector.detect(y, step.inputs, contacts), moves)
        return self._freeze_again(merge(contacts, found, y), step, y, None)

    def _freeze(
        self,
        contacts: Contacts,
        step: Approach,
        y: FloatArray,
        lagged: FloatArray,
        before: ContactPotential | None = None,
    ) -> ContactPotential | None:
        """The potential of contacts found at y [m], (n, 3), with lagged normal forces [N], (m,).

        What was engaged in the round `before` stays so: springs across the normal must not come and go.
        """
        if not len(contacts):
            return None
        settings, duration = self.detector.settings, step.inputs.duration
        slip = self._size * (CREEP * duration if step.ca else STATIC_CREEP)
        engaged = contacts.depth(y) > 0.0
        if before is not None and settings.alpha > 0.0:
            engaged |= is_in(contacts, choose(before.contacts, before.engaged), places=True)
        bend = None
        if step.bends and step.ca == 0.0 and settings.is_slippery and settings.alpha == 0.0:
            bend = self.detector.bend(contacts, y, step.inputs)
        return ContactPotential(
            contacts, step.x, step.weight * self.detector.stiffness, settings.alpha, engaged,
            settings.friction_of(contacts.source), lagged, slip, duration, bend,
        )  # fmt: skip

    def _freeze_again(
        self,
        contacts: Contacts,
        step: Approach,
        y: FloatArray,
        before: ContactPotential | None,
        *,
        keeps: bool = False,
    ) -> ContactPotential | None:
        """The potential of contacts found at y [m], (n, 3), where the round `before` arrived.

        `keeps`: those known from there stand for as much as they did, for a vertex that is pressed by one of two
        triangles in one look and by both in the next would go to and fro between them.
        """
        contacts = share(contacts, y)
        if keeps and before is not None:
            contacts = keep_areas(contacts, before.contacts)
        return self._freeze(contacts, step, y, self._normal_forces(contacts, contacts.depth(y), step), before)

    def _resting_forces(self, contacts: Contacts, step: Approach) -> FloatArray:
        """Normal forces as the step begins [N], (m,)."""
        come = step.inputs.duration * np.einsum("mi,mi->m", contacts.normal, contacts.velocity)
        return self._normal_forces(contacts, contacts.depth(step.x) - come, step)

    def _stopping_forces(self, contacts: Contacts, step: Approach) -> FloatArray:
        """Normal forces that would stop each contact if it were alone [N], (m,): its inertia and spring in series."""
        spring = step.weight * self.detector.stiffness * contacts.area
        inertia = step.ca / np.maximum((contacts.weights**2 / self._mass[contacts.vertices]).sum(axis=1), 1e-300)
        return np.asarray(np.maximum(contacts.depth(step.predicted), 0.0) * spring * inertia / (spring + inertia))

    def _normal_forces(self, contacts: Contacts, depth: FloatArray, step: Approach) -> FloatArray:
        """Of the penalty at depths [m], (m,), as they count in the step [N], (m,)."""
        return np.asarray(step.weight * self.detector.stiffness * contacts.area * np.maximum(depth, 0.0))

    def admit(self, outcome: Outcome, inputs: Inputs) -> None:
        """Say, once, when contacts did not settle."""
        if outcome.settled or self._warned:
            return
        self._warned = True
        warnings.warn(
            f"contacts of the step to {inputs.end.time:.6g} s did not settle in {outcome.rounds} rounds: a new look "
            f"still changes their forces by {100 * outcome.change:.2g} %; use more substeps, less friction or a softer "
            "contact stiffness (said once: reports say which steps).",
            SuppleWarning,
            stacklevel=2,
        )


def count_contact(motion: Motion, h: float) -> float:
    """How often the contact forces at the end of a step count in its balance: 1 for implicit Euler, 2 for Newmark.

    Contacts come and go within a step, so that an average of their forces at its ends would feed energy into impacts.
    Instead those at the end act all the time [KROM99]: their impulse h f arrives whole in the velocity cv (x - xv), and
    the acceleration that Newmark's method goes on with is without them.
    """
    return round(h * motion.ca / motion.cv, 9) if motion.cv else 1.0  # a 1 with round-off is not told from a 2


def _find_drift(
    load: FloatArray, step: Approach, potential: ContactPotential | None, y: FloatArray, rounds: int, size: float
) -> SceneError | None:
    """The refusal of a static body that rolls on and on, every round finding it further down; None for any other."""
    away = y - step.x
    drift = away.sum(axis=0) / max(np.count_nonzero(away.any(axis=1)), 1)  # subspaces may leave out what is inside
    pull = load
    if potential is not None:
        pressed = potential.normal_forces(y)  # all contacts count where it has left them all for the moment
        normal = (pressed if pressed.any() else potential.contacts.area) @ potential.contacts.normal
        drift, pull = split(normal[None] / max(float(np.linalg.norm(normal)), 1e-300), np.stack([drift, load]))[1]
    far = float(np.linalg.norm(drift))
    if far <= _DRIFTS * size:
        return None
    # A body may wobble as it goes; what pulls it along its support says where to, unless that is level
    down = pull if np.linalg.norm(pull) > _LEVEL * np.linalg.norm(load) else drift
    way = ", ".join(f"{part:.2g}" for part in np.round(down / np.linalg.norm(down), 3) + 0.0)
    return SceneError(
        f"nothing holds the body along ({way}): after {rounds} rounds it has rolled {far:.3g} m and rolls "
        "on, so it has no static equilibrium: add a pin or a collider that stops it, or use a dynamic integrator."
    )


def _movable(contacts: Contacts, moves: NDArray[np.bool_]) -> Contacts:
    """The contacts that can move anything: a pinned vertex in a collider is where it was put."""
    some = (moves[contacts.vertices] & (contacts.weights != 0.0)).any(axis=1)
    return contacts if some.all() else choose(contacts, some)


def _find_news(contacts: Contacts, step: Approach) -> int:
    """How many foreseen contacts open or close on the way, or join a vertex and a triangle that did not touch."""
    turns = (contacts.depth(step.x) > 0.0) != (contacts.depth(step.predicted) > 0.0)
    own = np.flatnonzero((contacts.source == SELF) & (contacts.weights[:, 0] == 1.0))
    pairs, known = (rows.astype(np.int64) @ (1 << 32, 1) for rows in (list_pairs(contacts), step.pairs))
    turns[own[~np.isin(pairs, known)]] = True
    return int(np.count_nonzero(turns))


def _list_pairs(potential: ContactPotential | None, x: FloatArray, reach: float) -> NDArray[np.int32]:
    """Vertices and triangles of the body that touch at x, or have parted by less than `reach` [m], (k, 2)."""
    if potential is None:
        return NO_PAIRS
    contacts = potential.contacts
    return list_pairs(choose(contacts, contacts.depth(x) > -reach))


def _list_touching(potential: ContactPotential | None, x: FloatArray, weight: float) -> Touch | None:
    """What acts at x: what penetrates, and what has opened since it was frozen but still holds sideways."""
    if potential is None:
        return None
    contacts, depth, force = potential.contacts, potential.contacts.depth(x), potential.forces(x) / weight
    rows = np.flatnonzero((depth > 0.0) | force.any(axis=1))
    if not len(rows):
        return None
    one = choose(contacts, rows)
    first, second = x[one.vertices[:, 0]], x[one.vertices[:, 1]]
    share = np.where(one.weights[:, :1] == 1.0, 0.0, one.weights[:, 1:2])  # the point of an edge that touches an edge
    point = (1.0 - share) * first + share * second
    deep = np.maximum(depth[rows], 0.0)
    return Touch(one.vertices[:, 0], one.source, point, one.normal, deep, force[rows], one.vertices, one.weights)
