"""One condensed step, solved round by round while contacts change: Algorithm 1 of [TMDK15] with its region inside.

The first round's contacts are those that a look ahead finds, so that a region grows before the step is solved; where a
later look finds more, it grows again.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.linalg.bordered_solver import BorderedSolver
from supple.method.condensation.again import Crowded
from supple.method.condensation.footing import Footing
from supple.method.condensation.loads import push_full
from supple.method.condensation.lookout import Lookout, Watched
from supple.method.condensation.newton import Found, lean, measure, minimise
from supple.method.condensation.potential import Condensed
from supple.method.condensation.region import Region
from supple.method.condensation.rest import Rest, find_rest
from supple.method.condensation.rules import RulesBeside
from supple.method.condensation.share import Share
from supple.method.condensation.state import CondensedState
from supple.method.condensation.stride import Stride
from supple.method.condensation.subspace import Ahead
from supple.method.condensation.tools import Tools
from supple.method.condensation.wanted import Wanted
from supple.method.halving import Tally
from supple.method.outer import Round
from supple.solve.events import Grab
from supple.solve.inputs import Inputs
from supple.solve.newton import NewtonFailure
from supple.solve.potential import Potential
from supple.solve.pull import Pull
from supple.solve.stopwatch import Stopwatch

__all__ = ["CondensedStep"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_ROUGH = 1e-2  # residual at which a rough round ends
_GROWS = 3  # rounds in which a region may grow for other reasons than contact
_MORE = 8  # times that it may grow between two looks for contacts, in statics


class CondensedStep:
    """Newton's method on a step and the contacts of a round, in a region that grows."""

    def __init__(
        self,
        tools: Tools,
        state: CondensedState,
        inputs: Inputs,
        tally: Tally,
        watch: Stopwatch,
        rules: RulesBeside | None = None,
        stride: Stride | None = None,
    ) -> None:
        """Contacts of `rules` begin no region; `stride`: how far the last step went."""
        self._tools, self._state, self._inputs = tools, state, inputs
        self._tally, self._watch, self._stride = tally, watch, stride
        self._watched = Watched(np.zeros(0, np.int32), np.zeros(0, np.intp))
        self._lookout: Lookout | None = None
        self._still = tools.integrator(np.zeros(1), np.zeros(1), np.zeros(1), inputs.duration).ca == 0.0
        self._forces = state.live.forces(inputs.end.forces)
        self.wanted = Wanted(tools, state, inputs, watch, rules, still=self._still)
        self._rounds = 0
        self._region: Region | None = None
        self._potential: ContactPotential | None = None
        self.rest: Rest | None = None
        """Where the coordinates alone come to rest, if that was asked."""
        self._linear = BorderedSolver()
        self.z = np.zeros(0)
        """Where the last round arrived."""
        self._reference = self._leaning = 0.0

    @property
    def region(self) -> Region:
        """The region that the step is solved in."""
        assert self._region is not None
        return self._region

    def solve(self, round: Round, predicted: FloatArray | None = None) -> tuple[FloatArray, float]:
        """Positions [m], (n, 3), and the size of forces that are taken for zero [N]."""
        self._rounds += 1
        if round.potential is not None:
            x = predicted if round.start is None else round.start
            assert x is not None  # where contacts are looked for the end is foreseen
            self._notice(round.potential, x)
        resolution = self._minimise(round)
        # A next step lets a region grow that is too small; equilibrium has none
        for _ in range(_MORE if self._still and self._rounds <= _GROWS else 0):
            known = len(self.wanted.vertices)
            self.wanted.look(self._arrive(self.z))
            if len(self.wanted.vertices) == known:
                break
            resolution = self._minimise(round)
        return self._lift(), resolution

    def _notice(self, potential: ContactPotential, x: FloatArray) -> None:
        """Let the oracle see contacts at positions x [m], (c, 3); those of flesh that bones press shift as it gives
        way."""
        shifts = self.rest is not None and self._region is not None
        self.wanted.notice(potential, x, self._watched.vertices, shifts=shifts)

    def watch(self, lookout: Lookout, *, anew: bool) -> Watched:
        """Begin to look for contacts at what a lookout says."""
        self._lookout = lookout
        self._watched = lookout.begin(self._state, self._inputs, anew=anew)
        return self._watched

    def _lift(self) -> FloatArray:
        """Positions of the watched vertices [m], (c, 3)."""
        return self._place(self.region.full, self.z)

    def _place(self, full: IntArray, z: FloatArray) -> FloatArray:
        """The same at z = (x_f, q) of given full vertices."""
        x, q = z[: 3 * len(full)].reshape(-1, 3), z[3 * len(full) :]
        if self._lookout is not None:
            self._lookout.check(self._watched, self.ahead.stance, q, full, x)
        return self._watched.place_at(self.ahead.stance, q, full, x)

    def begin(self, level: int = 0) -> FloatArray:
        """Positions or velocities of those vertices as the step begins, (c, 3)."""
        subspace, below = self._tools.ground.subspace, self._state.below
        if level == 0 and self._watched.bound is None:
            now = subspace.stance(below), subspace.coordinates(below)
            return self._watched.place_at(*now, self._state.full, self._state.motion[0])
        follow = partial(subspace.field, below, level)
        return self._watched.place(follow, self._state.full, self._state.motion[level])

    def carry(self) -> FloatArray:
        """Positions of those vertices if coordinates stayed, and what is full went with the skin [m], (c, 3)."""
        state, ahead = self._state, self.ahead
        x = ahead.carry(state.motion[0], state.full)
        return self._watched.place_at(ahead.stance, ahead.begin, state.full, x)

    def foresee(self) -> FloatArray | None:
        """Positions of those vertices where an equilibrium is looked for from [m], (c, 3); None: where they are."""
        self.rest = found = find_rest(self._tools, self._state, self._inputs, self.ahead)
        if found is None:
            return None
        self._tally.newton += found.iterations
        return self._watched.place_at(self.ahead.stance, found.q, self._state.full, found.x)

    def follow(self, below: Any) -> FloatArray:
        """Positions of those vertices in a state of the coordinates alone [m], (c, 3)."""
        subspace = self._tools.ground.subspace
        now, nobody = (subspace.stance(below), subspace.coordinates(below)), (np.zeros(0, np.int32), np.zeros((0, 3)))
        if self._lookout is not None:
            self._lookout.check(self._watched, *now, *nobody)
        if self._watched.bound is None:
            return self._watched.place_at(*now, *nobody)
        return subspace.field(below, 0, self._watched.vertices)

    @cached_property
    def ahead(self) -> Ahead:
        """The step as the coordinates see it."""
        return self._tools.steps.prepare(self._state.below, self._inputs)

    def _minimise(self, round: Round) -> float:
        """Newton's method in the region that is wanted by now, and in larger ones where contacts on its way ask for
        them; the size of forces that are taken for zero [N]."""
        tools, self._potential, first = self._tools, round.potential, self._region is None
        if first and round.look is not None and self._goes_on:
            self._potential = self._look_ahead(round.look)
        while True:
            with self._watch.phase("region"):
                self._grow(self._potential)
            reference = max(self._reference + round.impact / tools.unit, tools.floor)
            if not self._descend(self._join(self._potential), round, reference, first).cramped:
                return tools.unit * max(tools.tolerance * reference, tools.floor)
            first = False

    def _descend(self, step: Condensed, round: Round, reference: float, first: bool) -> Found:
        """Newton's method in the region as it is."""
        tools, rough = self._tools, round.rough and round.look is None  # contacts that are looked at on the way stay
        tolerance = max(tools.tolerance, min(1e2 * tools.tolerance, _ROUGH)) if rough else tools.tolerance
        z, gradient = self._choose_guess(step, round) if first else (self.z, None)
        solved = self._linear.solved
        carried = step.carry_held(z) if first or not self._still else z
        if gradient is None or carried is not z:
            z, gradient = carried, self._differentiate(step, carried)
        try:
            found = minimise(
                step, z, gradient, reference=reference, leaning=self._leaning, floor=tools.floor, tolerance=tolerance,
                still=tools.tolerance / tolerance, max_iterations=tools.max_iterations, linear_solver=self._linear,
                watch=self._watch, look=None if round.look is None else partial(self._look_on, round.look),
                slack=tools.slack,
            )  # fmt: skip
        except NewtonFailure as failure:
            failure.terms = {name: self.region.spread(term) for name, term in step.terms(failure.x).items()}
            failure.x = self._arrive(failure.x).place(tools.ground)
            raise
        self.z = found.z
        self._tally.newton += found.iterations
        self._tally.linear += found.linear
        self._tally.systems += self._linear.solved - solved
        self._tally.longest = max(self._tally.longest, self._linear.longest)
        if not (rough or found.cramped):
            self._tally.residual = max(self._tally.residual, found.residual)
        return found

    @cached_property
    def _goes_on(self) -> bool:
        """Whether an equilibrium is looked for as far on as the last one went; not where colliders close in: a body
        slips aside there, the more the farther it went."""
        ends = zip(self._inputs.begin.colliders, self._inputs.end.colliders, strict=True)
        stand = all(
            np.array_equal(a.rotation, b.rotation) and np.array_equal(a.translation, b.translation) for a, b in ends
        )
        return self._still and self._stride is not None and self.rest is None and stand

    def _look_ahead(self, look: Callable[[FloatArray], ContactPotential | None]) -> ContactPotential | None:
        """Contacts as far on, so that the region is large enough before anything is solved in it."""
        assert self._stride is not None
        state, ahead = self._state, self.ahead
        begin = np.concatenate([ahead.carry(state.motion[0], state.full).ravel(), ahead.begin])
        z = self._stride.go_on(ahead.stance, state.full, begin, self._inputs.duration)
        x = self._place(state.full, z)
        potential = look(x)
        if potential is not None:
            self._notice(potential, x)
        return potential

    def _look_on(self, look: Callable[[FloatArray], ContactPotential | None], z: FloatArray) -> Condensed | None:
        """The step with the contacts that an iterate has; None where they need a larger region."""
        self.z = z
        x = self._lift()
        self._potential = look(x)
        if self._potential is not None:
            self._notice(self._potential, x)
        return self._join(self._potential) if self._fits(self.wanted.find_full(), self._name(self._potential)) else None

    def serves(self) -> bool:
        """Whether it ended near enough to where the subspace was foreseen."""
        return self._tools.steps.serves(self._state.below, self.ahead, self.z[self.region.size :])

    def finish(self) -> CondensedState:
        """The state at the end of the step."""
        state, full = self._arrive(self.z), self.region.full
        idle = np.zeros(len(full), np.int32)
        idle[np.searchsorted(full, self._state.full)] = self._state.idle + 1
        idle[np.searchsorted(full, self.wanted.vertices)] = 0
        return state._replace(idle=idle, stride=self._measure_stride())

    def _measure_stride(self) -> Stride | None:
        """How far the step went, for an equilibrium that the next one may be looked for from; one that meets something
        for the first time says little about what follows."""
        if not (self._still and self.rest is None and len(self._state.full) and self._inputs.duration > 0.0):
            return None
        gone, size = self.z - self._begin, self.region.size
        return Stride(self._inputs.duration, gone[size:], self.region.full, gone[:size].reshape(-1, 3))

    def _arrive(self, z: FloatArray) -> CondensedState:
        x, m, size = z[: self.region.size], self._motion, self.region.size
        motion = np.array([x, m.velocity(x), m.acceleration(x)]).reshape(3, -1, 3)
        below = self._tools.steps.arrive(self._state.below, self.ahead, z[size:].copy(), self._inputs)
        return self._state._replace(below=below, full=self.region.full, motion=motion, steps=self._state.steps + 1)

    def _grow(self, potential: ContactPotential | None) -> None:
        """Cut the region of this round, and go on in it from where the step is."""
        tools, ground, old = self._tools, self._tools.ground, self._region
        full, named = self.wanted.find_full(), self._name(potential)
        if self._fits(full, named):
            return
        region = tools.cut(full, np.setdiff1d(named, full).astype(np.int32))
        if tools.crowd is not None and tools.crowd.forbids(region):
            raise Crowded
        h, ahead, slowed, beta = (
            self._inputs.duration, self.ahead, ground.body.damping.mass, ground.body.damping.stiffness
        )  # fmt: skip
        fields, footing = self._state.gather(region), tools.stand(region, ahead.stance)
        self._fields = fields.reshape(3, -1)
        self._motion = tools.integrator(self._fields[0], self._fields[1], self._fields[2], h)
        self._region = region
        self._begin = np.concatenate([ahead.carry(fields[0], region.full).ravel(), ahead.begin])
        if self.rest is not None:
            self._begin = self.rest.follow(ahead.stance, ahead.begin, region.full)
        self.z = self._begin if old is None else self._arrive_in(old, footing)
        x, v, a = tools.follow(footing, self._state.below)
        push = push_full(region, self._forces)
        share = Share.of(ahead, footing, tools.integrator(x, v, a, h), slowed, push)
        step = Condensed(
            footing, ahead.elements, tools.frequencies, self._motion, slowed, push,
            share, weights=tools.weights, stiffness=self._state.live.stiffness, error=tools.error,
        )  # fmt: skip
        if beta > 0.0 and not self._still:
            step = step.slow(ahead.turn(self._state.place(ground, region.vertices)), ahead, beta)
        self._step, (self.resting, *acting) = step, step.balance(self._begin)
        self._reference = sum(measure(region, force) for force in acting)
        self._leaning = sum(lean(footing, force) for force in acting)

    def _name(self, potential: ContactPotential | None) -> IntArray:
        """Vertices that contacts and grabs pull at."""
        others = [np.asarray(grab.vertices, np.int32) for grab in self._state.live.grabs]
        if potential is not None:
            others.append(self._watched.vertices[potential.vertices[potential.weights != 0.0]])
        return np.concatenate([np.zeros(0, np.int32), *others])

    def _fits(self, full: IntArray, named: IntArray) -> bool:
        """Whether the region has these full vertices, and numbers those others."""
        old = self._region
        return old is not None and np.array_equal(full, old.full) and bool((old.number(named) >= 0).all())

    def _arrive_in(self, old: Region, footing: Footing) -> FloatArray:
        """z of the last round in a region that has grown since."""
        region, q = footing.region, self.z[old.size :]
        x = footing.stance.place(q, region.full)
        x[np.searchsorted(region.full, old.full)] = self.z[: old.size].reshape(-1, 3)
        return np.concatenate([x.ravel(), q])

    def _join(self, potential: ContactPotential | None) -> Condensed:
        """The step with a round's contacts and the user's grabs."""
        number = self.region.number
        joints: list[Potential] = []
        if self._state.live.grabs:
            joints.append(Pull(tuple(map(partial(_renumber, number), self._state.live.grabs))))
        if potential is not None:
            joints.append(potential.renumbered(number(self._watched.vertices[potential.vertices])))
        return self._step.with_joints(joints) if joints else self._step

    def _choose_guess(self, step: Condensed, round: Round) -> tuple[FloatArray, FloatArray]:
        """Where Newton's method begins, and the gradient there: where the body is or is pushed to, whichever is nearer
        to balance."""
        with self._watch.phase("assembly"):
            begin = self._begin, step.see(self.resting + step.press(self._begin))
        if self.rest is not None:
            z = self.rest.follow(self.ahead.stance, self.rest.q, self.region.full)
            return z, self._differentiate(step, z)
        if round.look is not None and self._goes_on:
            assert self._stride is not None
            z = self._stride.go_on(self.ahead.stance, self.region.full, self._begin, self._inputs.duration)
            there = self._differentiate(step, z)
            # Energies decide, not forces: a patch that turns as it goes on is strained, and yet nearer
            return (z, there) if step.energy(z)[0] < step.energy(self._begin)[0] else begin
        if self._still or round.rubs:
            return begin
        m, push = self._motion, self._fields[2]
        end = np.concatenate([m.xa + push / m.ca, self.ahead.guess])
        there = self._differentiate(step, end)
        nearer = measure(self.region, there) < measure(self.region, begin[1])  # False for NaN
        return (end, there) if nearer else begin

    def _differentiate(self, step: Condensed, z: FloatArray) -> FloatArray:
        with self._watch.phase("assembly"):
            return step.gradient(z)


def _renumber(number: Callable[[NDArray[np.integer]], IntArray], grab: Grab) -> Grab:
    return replace(grab, vertices=tuple(number(np.asarray(grab.vertices)).tolist()))
