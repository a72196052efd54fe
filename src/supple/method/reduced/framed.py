"""Steps of a body with a frame: what Newton's kernel is given, and what is made of its answer."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.rigid import fit_rigid
from supple.method.reduced.carry import Carrier
from supple.method.reduced.frame import FrameLoads, accelerate, cross, rotation
from supple.method.reduced.handles import Handle, Springs
from supple.method.reduced.inertia import Frames
from supple.method.reduced.state import ReducedState
from supple.solve.increment import Motion
from supple.solve.inputs import Moment
from supple.solve.integrator import INTEGRATORS

__all__ = ["Moving", "Relief", "Step", "gather_forces", "lift", "sum_loads"]

FloatArray = NDArray[np.float64]


class Step(NamedTuple):
    """A step as Newton's kernel takes it, and what is needed to read its answer."""

    loads: FrameLoads
    begin: FloatArray
    guess: FloatArray
    motion: Motion


Relief = tuple[FloatArray, FloatArray, FloatArray]
"""Forces on q (r,), about the centre in the body's axes [N m], (3,), and on the centre [N], (3,)."""


class Moving:
    """Moves a body and its frame: free, or carried by pins."""

    def __init__(
        self,
        body: Body,
        shapes: FloatArray,
        centre: FloatArray,
        frames: Frames,
        carrier: Carrier | None,
        integrator: str,
    ) -> None:
        self.body, self.frames, self.carrier = body, frames, carrier
        self._shapes, self._centre, self._kind = shapes, centre, integrator
        self._tail = shapes.shape[2] - 1 - frames.rank

    def field(self, state: ReducedState, number: int, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Positions (0), velocities (1) or accelerations (2) of all or of chosen vertices, (k, 3)."""
        rows = self._shapes if vertices is None else self._shapes[vertices]
        return lift(rows, state.shapes, state.turns[number], state.offsets[number])

    def coordinates(self, state: ReducedState) -> tuple[FloatArray, FloatArray]:
        """q and q̇."""
        q = state.shapes[0, self.frames.q]
        if self._kind == "newmark":
            return q, state.shapes[1, self.frames.q]
        return q, np.zeros_like(q)

    def enframe(self, state: ReducedState) -> ReducedState:
        """A state of a still frame as one of a moving frame."""
        q, v, a = state.shapes
        zero, I = np.zeros(3), np.eye(3)
        s = np.concatenate([[1.0], q, np.zeros(self._tail)])
        pad = np.zeros(self._tail)
        made = self.frames.state(
            state.time, s, I, self._centre, (zero, zero, np.append(v, pad)), (zero, zero, np.append(a, pad))
        )  # fmt: skip
        return made._replace(elastic=state.elastic, live=state.live)

    def prepare(
        self,
        state: ReducedState,
        end: Moment,
        h: float,
        pushed: list[tuple[Handle, FloatArray]],
        springs: Springs,
        drag: tuple[FloatArray, FloatArray],
    ) -> Step:
        """The step to a moment."""
        # Fields over the same shapes add like their turns and offsets, so an integrator works on these
        x, v, a = (np.vstack([state.turns[k].reshape(9, 3), state.offsets[k]]) for k in range(3))
        motion = INTEGRATORS[self._kind](x, v, a, h)
        alpha = self.body.damping.mass
        c = motion.ca + motion.cv * alpha
        aim = (motion.ca * motion.xa + motion.cv * alpha * motion.xv) / c if c else np.zeros((10, 3))
        begin = state.shapes[0]
        R, centre = state.turns[0, 0], state.offsets[0]
        tail, q = begin[1 + self.frames.rank :], begin[self.frames.q]
        guess_q, guess_R, guess_centre = q, R, centre
        if motion.ca:
            guess_q, guess_R, guess_centre = self._extrapolate(state, h)
        if self.carrier is not None:
            R, shift, tail = self.carrier.follow(end.targets)
            centre = shift + R @ self._centre
            guess_R, guess_centre = R, centre
        target = (state.shapes, aim[:9].reshape(3, 3, 3), aim[9])
        loads = self.frames.loads(target, c, begin, tail, pushed, springs, drag)
        z = [np.concatenate([a, b.ravel(), d]) for a, b, d in ((q, R, centre), (guess_q, guess_R, guess_centre))]
        return Step(loads, z[0], z[1], motion)

    def _extrapolate(self, state: ReducedState, h: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, R and c after going on as now for h [s]."""
        R, s = state.turns[0, 0], state.shapes[0]
        _, spin, speed = self.frames.tangent((state.shapes, state.turns[1], state.offsets[1]), s, R)
        return s[self.frames.q] + h * speed, R @ rotation(h * spin), state.offsets[0] + h * state.offsets[1]

    def arrive(
        self, state: ReducedState, step: Step, z: FloatArray, time: float, h: float, relief: Relief | None = None
    ) -> ReducedState:
        """The state that Newton's answer means; the acceleration that Newmark's method goes on with lacks `relief`."""
        rank, motion = self.frames.rank, step.motion
        s = np.concatenate([[1.0], z[:rank], step.loads.tail])
        R, centre = _orthonormal(z[rank : rank + 9].reshape(3, 3)), z[rank + 9 :].copy()
        if self._kind == "static":
            turns, offsets = np.zeros((3, 3, 3, 3)), np.zeros((3, 3))
            turns[0, 0], offsets[0] = R, centre
            return ReducedState(time, np.array([s, np.zeros_like(s), np.zeros_like(s)]), turns, offsets)
        if self._kind == "implicit_euler":
            return self.differ(state, s, R, centre, time, h)
        shapes = np.vstack([s, state.shapes])
        velocity = _difference(motion.cv, R, centre, motion.xv)
        push = _difference(motion.ca, R, centre, motion.xa)
        if self.carrier is None:
            rates = self.frames.tangent((shapes, *velocity), s, R)
            known = self.frames.state(time, s, R, centre, rates, (np.zeros(3), np.zeros(3), np.zeros(rank)))
            left = (np.vstack([shapes, known.shapes]), np.concatenate([push[0], -known.turns[2]]), push[1])
            changes = self.frames.tangent(left, s, R)
            if relief is not None:
                gone = accelerate(self.frames.A, self.frames.mass, rank, *relief, s)
                changes = tuple(change - part for change, part in zip(changes, gone, strict=True))
            return self.frames.state(time, s, R, centre, rates, changes)
        eased = np.zeros(rank) if relief is None else relief[0]
        return self._follow(state, (s, R, centre), (shapes, *velocity), (shapes, *push), eased, time, h)

    def differ(
        self, state: ReducedState, s: FloatArray, R: FloatArray, centre: FloatArray, time: float, h: float
    ) -> ReducedState:
        """Implicit Euler's v' = (x' - x)/h and a' = (v' - v)/h, exactly: v lies in the first two shapes."""
        shapes = np.array([s, state.shapes[0], state.shapes[1]])
        turns = np.zeros((3, 3, 3, 3))
        turns[0, 0] = R
        turns[1, 0], turns[1, 1] = R / h, -state.turns[0, 0] / h
        turns[2, 0], turns[2, 1], turns[2, 2] = (
            turns[1, 0] / h,
            (turns[1, 1] - state.turns[1, 0]) / h,
            -state.turns[1, 1] / h,
        )
        V = (centre - state.offsets[0]) / h
        return ReducedState(time, shapes, turns, np.array([centre, V, (V - state.offsets[1]) / h]))

    def _follow(
        self, state: ReducedState, place: Any, velocity: Any, push: Any, relief: FloatArray, time: float, h: float
    ) -> ReducedState:
        """The state of a carried body: what pins prescribe moves as they say, q as the integrator does."""
        s, R, centre = place
        rates = self._differences(state, s, R, centre, h)
        was_R, rank = state.turns[0, 0], self.frames.rank
        then = state.offsets[1], _unskew(was_R.T @ state.turns[1, 0]), state.shapes[1, 1 + rank :]
        # The step began with velocities of its middle and of the middle of the one before, in equal parts
        changes = tuple(2.0 * (new - mean) / h for new, mean in zip(rates, then, strict=True))
        return self._keep(time, place, rates, changes, velocity, push, relief)

    def centre_rates(self, state: ReducedState, end: Moment, h: float) -> ReducedState:
        """The state as Newmark's method goes on from it, once the next place of the pins is known.

        Their velocities are differences of positions, half a step late: here they become centred ones, of second order
        in the step. What moves in the subspace stays as it is.
        """
        if self.carrier is None or self._kind != "newmark":
            return state
        was_R, rank = state.turns[0, 0], self.frames.rank
        R, shift, tail = self.carrier.follow(end.targets)
        s = np.concatenate([state.shapes[0, : 1 + rank], tail])
        ahead = self._differences(state, s, R, shift + R @ self._centre, h)
        behind = state.offsets[1], _unskew(was_R.T @ state.turns[1, 0]), state.shapes[1, 1 + rank :]
        rates = tuple(0.5 * (a + b) for a, b in zip(ahead, behind, strict=True))
        changes = tuple((a - b) / h for a, b in zip(ahead, behind, strict=True))
        velocity, push = ((state.shapes, state.turns[k], state.offsets[k]) for k in (1, 2))
        place = state.shapes[0], was_R, state.offsets[0]
        made = self._keep(state.time, place, rates, changes, velocity, push, np.zeros(rank))
        return made._replace(elastic=state.elastic, live=state.live, pairs=state.pairs)

    def _differences(
        self, state: ReducedState, s: FloatArray, R: FloatArray, centre: FloatArray, h: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean velocity of the centre, spin and ṗ of a carried body over a step of h [s] that ends at s, R, centre."""
        strain = (s - state.shapes[0])[1 + self.frames.rank :] / h
        return (centre - state.offsets[0]) / h, _log(state.turns[0, 0].T @ R) / h, strain

    def _keep(
        self, time: float, place: Any, rates: Any, changes: Any, velocity: Any, push: Any, relief: FloatArray
    ) -> ReducedState:
        """The state in which the carrier moves by rates and changes, and q so that all in all the fields `velocity`
        and `push`, less `relief`, are met in the subspace."""
        (s, R, centre), (V, spin, strain), (A, turning, change) = place, rates, changes
        none = np.zeros(self.frames.rank)

        def make(speed: FloatArray, pushed: FloatArray) -> ReducedState:
            return self.frames.state(
                time, s, R, centre, (V, spin, np.append(speed, strain)), (A, turning, np.append(pushed, change))
            )

        still = make(none, none)
        speed = self.frames.inner(velocity, R) - self.frames.inner((still.shapes, still.turns[1], V), R)
        moved = make(speed, none)
        pushed = self.frames.inner(push, R) - self.frames.inner((moved.shapes, moved.turns[2], A), R) - relief
        return make(speed, pushed)

    def project(self, x: FloatArray, v: FloatArray, a: FloatArray, time: float) -> ReducedState:
        """The state nearest to given motion (n, 3)."""
        body, rest, frames = self.body, self.body.mesh.vertices, self.frames
        tail = np.zeros(self._tail)
        if self.carrier is None:
            R, c = fit_rigid(x, rest, body.mass)
        else:
            R, c, tail = self.carrier.follow(x[body.pins.vertices])
        weighted = body.mass[:, None]
        U = self._shapes[:, :, frames.q]
        u = (x - c) @ R - rest - self._shapes[:, :, 1 + frames.rank :] @ tail
        q = np.tensordot(weighted * u, U, 2)
        s, centre = np.concatenate([[1.0], q, tail]), c + R @ self._centre
        rates = self._rates(v, s, R)
        still = frames.state(time, s, R, centre, rates, (np.zeros(3), np.zeros(3), np.zeros(len(s) - 1)))
        changes = self._rates(a - self.field(still, 2), s, R)
        return frames.state(time, s, R, centre, rates, changes)

    def _rates(self, v: FloatArray, s: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Velocity of the centre, spin and rates of (q, p) nearest to velocities v (n, 3)."""
        frames, mass, y = self.frames, self.body.mass[:, None], self._shapes @ s
        turned = v @ R
        mean = np.sum(mass * turned, axis=0) / frames.mass
        arms = np.stack([np.cross(axis, y) for axis in np.eye(3)], axis=2)
        moves = np.concatenate([self._shapes[:, :, 1:], arms, np.tile(np.eye(3), (len(y), 1, 1))], axis=2)
        if self.carrier is None:  # the centre moves apart from all else
            moves, turned = moves[:, :, :-3], turned - mean
        columns = moves.reshape(-1, moves.shape[2])
        metric = np.repeat(self.body.mass, 3)[:, None]
        found = np.linalg.lstsq(
            columns.T @ (metric * columns), columns.T @ (metric[:, 0] * turned.ravel()), rcond=1e-12
        )[0]
        count = self._shapes.shape[2] - 1
        centre = mean if self.carrier is None else found[count + 3 :]
        return R @ centre, found[count : count + 3], found[:count]

    def acting(self, state: ReducedState, pushed: list[tuple[Handle, FloatArray]], springs: Springs) -> float:
        """Size of the forces and springs in the coordinates; what merely accelerates the body is no measure."""
        R, s, centre = state.turns[0, 0], state.shapes[0], state.offsets[0]
        total = np.zeros(self.frames.rank + 3)
        pulled = [
            (handle, stiffness * (target - handle.weight * centre - R @ (handle.J @ s)))
            for handle, stiffness, target in zip(*springs, strict=True)
        ]
        for handle, vector in pushed + pulled:
            back = R.T @ vector
            total[:-3] += back @ handle.J[:, self.frames.q]
            if self.carrier is None:
                total[-3:] += cross(handle.J @ s, back)
        return float(np.linalg.norm(total))

    def round_off(self, step: Step) -> float:
        """Size of the residual that round-off in the inertia leaves: Newton's method cannot come below it."""
        c, mass = step.loads.inertia
        spread, far = float(self.frames.plain[0, 0]), float(np.linalg.norm(step.loads.offset))
        size = np.sqrt(spread) + np.sqrt(mass) * far
        if self.carrier is None:
            size += spread + mass * far
        return float(1e-15 * c * size)


def lift(rows: FloatArray, shapes: FloatArray, turns: FloatArray, offset: FloatArray) -> FloatArray:
    """The field offset + Σ Q_k Ψ s_k at vertices with Ψ (k, 3, m), (k, 3)."""
    total = np.tile(offset, (len(rows), 1))
    for turn, shape in zip(turns, shapes, strict=True):
        if turn.any():
            total += (rows @ shape) @ turn.T
    return total


def sum_loads(pushed: list[tuple[Handle, FloatArray]]) -> tuple[FloatArray, float]:
    """The force on the whole body [N], (3,), and the sum of the sizes of what it consists of [N]."""
    net = np.zeros(3)
    for handle, vector in pushed:
        net += handle.weight * vector
    return net, sum(abs(handle.weight) * float(np.abs(vector).sum()) for handle, vector in pushed)


def gather_forces(
    rows: FloatArray, forces: FloatArray, s: FloatArray, R: FloatArray, rank: int
) -> tuple[FloatArray, FloatArray]:
    """Forces [N], (k, 3), on points with Ψ (k, 3, m), as they act on q (r,) and about the centre in the body's axes.

    The body has the shape s and is turned by R.
    """
    back = forces @ R
    return np.tensordot(back, rows[:, :, 1 : 1 + rank], 2), np.cross(rows @ s, back).sum(axis=0)


def _difference(factor: float, R: FloatArray, centre: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turns and offset of factor (x - other), x of the shape put first."""
    return np.concatenate([[factor * R], -factor * other[:9].reshape(3, 3, 3)]), factor * (centre - other[9])


def _orthonormal(R: FloatArray) -> FloatArray:
    """The rotation nearest to a product of rotations, without the round-off it has gathered."""
    left, _, right = np.linalg.svd(R)
    return np.asarray(left @ right)


def _unskew(W: FloatArray) -> FloatArray:
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def _log(R: FloatArray) -> FloatArray:
    """The vector about and by which R turns, at most half a circle."""
    axis = _unskew(R)
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(R)) - 1.0)
    return axis * (np.arctan2(sine, cosine) / sine) if sine > 1e-12 else axis
