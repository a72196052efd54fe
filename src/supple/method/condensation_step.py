"""One condensed step, solved round by round while contacts change: Algorithm 1 of [TMDK15] with its region inside.

The first round's contacts are those that a look ahead finds, so that a region grows before the step is solved; where a
later look finds more, it grows again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import elastic_gradient
from supple.method.condensation_newton import measure, minimise
from supple.method.condensation_oracle import Oracle, Sight
from supple.method.condensation_potential import Condensed, Weights
from supple.method.condensation_region import Ground, Region
from supple.method.condensation_state import CondensedState
from supple.method.halving import Tally
from supple.method.outer import Round
from supple.method.reduced_handles import Handles
from supple.solve.events import Grab
from supple.solve.forces import Force, NodalForce, PassingForce
from supple.solve.inputs import Inputs
from supple.solve.integrator import Integrator
from supple.solve.newton import NewtonFailure
from supple.solve.potential import Potential
from supple.solve.pull import Pull
from supple.solve.stopwatch import Stopwatch

__all__ = ["CondensedStep", "Tools"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_WHOLE = 0.4  # share of full unknowns above which every tet is integrated exactly
_ROUGH = 1e-2  # residual at which a rough round ends
_NEAR = 0.05  # share of an edge within which a vertex is taken for one that touches
_GROWS = 3  # rounds in which a region may grow
_MORE = 8  # times that it may grow between two looks for contacts, in statics


class Tools:
    """What all steps of a body share."""

    def __init__(
        self,
        ground: Ground,
        elements: ReducedElements,
        frequencies: FloatArray,
        handles: Handles,
        oracle: Oracle,
        integrator: Integrator,
        *,
        weights: Weights,
        tolerance: float,
        max_iterations: int,
        floor: float,
        edge: float,
    ) -> None:
        """`handles` of the basis; `tolerance` of Newton's method, relative to the forces that act; floor is noise;
        `edge` [m] of the surface."""
        self.ground, self.elements, self.frequencies, self.handles = ground, elements, frequencies, handles
        self.oracle, self.integrator, self.weights = oracle, integrator, weights
        self.tolerance, self.max_iterations, self.floor, self.edge = tolerance, max_iterations, floor, edge
        self.unit = float(np.sqrt(ground.mass.mean()))
        """A force of 1 N on one vertex, as `measure` has it, is 1 over this."""
        self._last: tuple[bytes, Region] | None = None

    def cut(self, full: IntArray, others: IntArray) -> Region:
        """The region of full vertices in which others are numbered, too; the last one is kept, for it often stays."""
        key = full.tobytes() + b"|" + others.tobytes()
        if self._last is None or self._last[0] != key:
            whole = len(full) > _WHOLE * self.ground.most
            self._last = key, self.ground.cut(full, others, whole=whole)
        return self._last[1]


class CondensedStep:
    """Newton's method on a step and the contacts of a round, in a region that grows."""

    def __init__(
        self,
        tools: Tools,
        state: CondensedState,
        inputs: Inputs,
        lift: Callable[[CondensedState], FloatArray],
        tally: Tally,
        watch: Stopwatch,
    ) -> None:
        """`lift` gives the positions [m], (n, 3), that contacts are looked for at."""
        self._tools, self._state, self._inputs = tools, state, inputs
        self._lift, self._tally, self._watch = lift, tally, watch
        self._still = tools.integrator(np.zeros(1), np.zeros(1), np.zeros(1), inputs.duration).ca == 0.0
        self._forces = state.live.forces(inputs.end.forces)
        self._pushed, self._loaded = self._find_pushed(4), self._find_pushed()
        self.wanted = np.zeros(0, np.int32)
        self._rounds = 0
        self._region: Region | None = None
        self.z = np.zeros(0)
        """Where the last round arrived."""
        self._reference = 0.0

    @property
    def region(self) -> Region:
        """The region that the step is solved in."""
        assert self._region is not None
        return self._region

    def is_empty(self) -> bool:
        """Whether no vertex is full, nor has any cause to be."""
        return not len(self._state.full) and not len(self.wanted)

    def look(
        self, potential: ContactPotential | None, x: FloatArray | None, solved: CondensedState | None = None
    ) -> None:
        """Let the oracle see contacts at positions x [m], (n, 3), and the balance of forces as the step begins, or
        where it was `solved`; note whom it wants."""
        seeds = self._pushed
        if potential is not None and x is not None:
            contacts = potential.contacts
            near = contacts.depth(x) > -_NEAR * self._tools.edge
            touching = contacts.vertices[near][contacts.weights[near] != 0.0]
            seeds = np.unique(np.concatenate([seeds, touching])).astype(np.int32)
        with self._watch.phase("region"):
            now, moment = (self._state, self._inputs.begin) if solved is None else (solved, self._inputs.end)
            # A state that no step has led to need not be in balance
            looks = now.steps > 0 and potential is None
            unbalance = partial(self._unbalance, now, now.live.forces(moment.forces)) if looks else None
            sight = Sight(self._tools.ground, now, self._duration, seeds, self._loaded, unbalance)
            self.wanted = np.union1d(self.wanted, self._tools.oracle.want(sight)).astype(np.int32)

    def solve(self, round: Round, predicted: FloatArray | None = None) -> tuple[FloatArray, float]:
        """Positions [m], (n, 3), and the size of forces that are taken for zero [N]."""
        self._rounds += 1
        if self._rounds <= _GROWS and round.potential is not None:
            self.look(round.potential, predicted if round.start is None else round.start)
        resolution = self._minimise(round)
        # A next step lets a region grow that is too small; equilibrium has none
        for _ in range(_MORE if self._still and self._rounds <= _GROWS else 0):
            known = len(self.wanted)
            self.look(None, None, self._arrive(self.z))
            if len(self.wanted) == known:
                break
            resolution = self._minimise(round)
        return self._lift(self._arrive(self.z)), resolution

    def _minimise(self, round: Round) -> float:
        """Newton's method in the region that is wanted by now; the size of forces that are taken for zero [N]."""
        first = self._region is None
        with self._watch.phase("region"):
            self._grow(round.potential)
        step, tools = self._join(round.potential), self._tools
        reference = max(self._reference + round.impact / tools.unit, tools.floor)
        tolerance = max(tools.tolerance, min(1e2 * tools.tolerance, _ROUGH)) if round.rough else tools.tolerance
        z = self._choose_guess(step, round) if first else self.z
        try:
            found = minimise(
                step, z, reference=reference, floor=tools.floor, tolerance=tolerance,
                max_iterations=tools.max_iterations, watch=self._watch,
            )  # fmt: skip
        except NewtonFailure as failure:
            failure.terms = {name: self._spread(term) for name, term in step.terms(failure.x).items()}
            failure.x = self._arrive(failure.x).place(tools.ground)
            raise
        self.z = found.z
        self._tally.newton += found.iterations
        self._tally.linear += found.linear
        if not round.rough:
            self._tally.residual = max(self._tally.residual, found.residual)
        return tools.unit * max(tools.tolerance * reference, tools.floor)

    def finish(self) -> CondensedState:
        """The state at the end of the step."""
        state, full = self._arrive(self.z), self.region.full
        idle = np.zeros(len(full), np.int32)
        idle[np.searchsorted(full, self._state.full)] = self._state.idle + 1
        idle[np.searchsorted(full, self.wanted)] = 0
        return state._replace(idle=idle)

    @property
    def _duration(self) -> float:
        return 0.0 if self._still else self._inputs.duration

    def _arrive(self, z: FloatArray) -> CondensedState:
        size, m = self.region.size, self._motion
        fields = np.array([z, m.velocity(z), m.acceleration(z)])
        motion = np.ascontiguousarray(fields[:, :size].reshape(3, -1, 3))
        return self._state._replace(
            time=self._inputs.end.time, q=np.ascontiguousarray(fields[:, size:]), full=self.region.full, motion=motion,
            steps=self._state.steps + 1,
        )  # fmt: skip

    def _find_pushed(self, most: int | None = None) -> IntArray:
        """Vertices that a user or another body pushes, or forces on no more than `most` vertices."""
        pushed = [np.asarray(grab.vertices, np.int32) for grab in self._state.live.grabs]
        loads = [force for force in self._forces if isinstance(force, NodalForce)]
        few = [most is None or len(load.vertices) <= most or isinstance(load, PassingForce) for load in loads]
        pushed += [np.asarray(load.vertices, np.int32) for load, counts in zip(loads, few, strict=True) if counts]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *pushed]))

    def _unbalance(self, state: CondensedState, forces: Sequence[Force], vertices: IntArray) -> FloatArray:
        """Elastic and inertial forces less loads at chosen vertices, ascending, in a state [N], (k, 3)."""
        ground, body = self._tools.ground, self._tools.ground.body
        order = np.argsort(vertices, kind="stable")
        region = ground.cut(vertices[order])
        factor = state.live.stiffness
        parts = region.parts if factor == 1.0 else tuple(part.with_stiffness(factor) for part in region.parts)
        out = elastic_gradient(parts, state.place(ground, region.vertices))[: len(vertices)]
        if not self._still:
            moves = state.place(ground, region.full, 2) + body.damping.mass * state.place(ground, region.full, 1)
            out += region.mass[:, None] * moves
        out -= self._push(region, forces)[: region.size].reshape(-1, 3)
        found = np.empty_like(out)
        found[order] = out
        return found

    def _grow(self, potential: ContactPotential | None) -> None:
        """Cut the region of this round, and go on in it from where the step is."""
        tools, ground = self._tools, self._tools.ground
        full = np.union1d(self._state.full, self.wanted).astype(np.int32)
        others = [np.asarray(grab.vertices, np.int32) for grab in self._state.live.grabs]
        if potential is not None:
            others.append(potential.vertices[potential.weights != 0.0])
        named = np.unique(np.concatenate([np.zeros(0, np.int32), *others]))
        old = self._region
        if old is not None and np.array_equal(full, old.full) and np.isin(named, old.vertices).all():
            return
        region = tools.cut(full, np.setdiff1d(named, full, assume_unique=True).astype(np.int32))
        fields = self._state.gather(region)
        self._begin, self._motion = fields, tools.integrator(fields[0], fields[1], fields[2], self._inputs.duration)
        if old is None:
            self.z = fields[0]
        else:
            self.z = self._arrive_in(old, region)
        self._region = region
        push, slowed = self._push(region, self._forces), ground.body.damping.mass
        step = Condensed(
            region, self._elements, tools.frequencies, self._motion, slowed, push,
            weights=tools.weights, stiffness=self._state.live.stiffness,
        )  # fmt: skip
        beta = ground.body.damping.stiffness
        self._step = step.make_drag(fields[0], beta) if beta > 0.0 and not self._still else step
        terms = self._step.terms(fields[0])
        acting = ("elastic force", "external force")
        self._reference = sum(measure(region, terms[name]) for name in acting)

    @property
    def _elements(self) -> ReducedElements:
        factor = self._state.live.stiffness
        return self._tools.elements if factor == 1.0 else self._tools.elements.with_stiffness(factor)

    def _arrive_in(self, old: Region, region: Region) -> FloatArray:
        """z of the last round in a region that has grown since."""
        z, size = np.empty(region.size + len(self._tools.frequencies)), region.size
        q = self.z[old.size :]
        z[size:] = q
        z[:size] = region.follow(q)[: len(region.full)].ravel()
        z[:size].reshape(-1, 3)[np.searchsorted(region.full, old.full)] = self.z[: old.size].reshape(-1, 3)
        return z

    def _push(self, region: Region, forces: Sequence[Force]) -> FloatArray:
        """External forces on z: the whole body's on the coordinates, less those on the full vertices."""
        above, below = np.zeros((len(region.full), 3)), np.zeros(len(self._tools.frequencies))
        for force in forces:
            handle, vector = self._tools.handles.of_force(force)
            below += vector @ handle.J
            if not isinstance(force, NodalForce):
                above += region.mass[:, None] * vector
                continue
            place = np.searchsorted(region.full, force.vertices)
            place[place == len(region.full)] = 0
            own = region.full[place] == force.vertices if len(region.full) else np.zeros(len(place), bool)
            np.add.at(above, place[own], np.asarray(force.weights)[own, None] * vector)
        below -= above.ravel() @ region.U_full
        return np.concatenate([above.ravel(), below])

    def _join(self, potential: ContactPotential | None) -> Condensed:
        """The step with a round's contacts and the user's grabs."""
        region = self.region
        joints: list[Potential] = []
        order = np.argsort(region.vertices, kind="stable")

        def number(vertices: NDArray[np.integer]) -> IntArray:
            place = np.searchsorted(region.vertices, vertices, sorter=order)
            return order[np.minimum(place, len(order) - 1)].astype(np.int32)

        if self._state.live.grabs:
            joints.append(Pull(tuple(map(partial(_renumber, number), self._state.live.grabs))))
        if potential is not None:
            joints.append(potential.renumbered(number(potential.vertices), len(region.vertices)))
        return self._step.with_joints(joints) if joints else self._step

    def _choose_guess(self, step: Condensed, round: Round) -> FloatArray:
        """Where Newton's method begins: where the body is, goes, or is pushed to, whichever is nearest to balance."""
        begin, speed, push = self._begin[0], self._begin[1], self._begin[2]
        if self._still:
            return np.asarray(begin)
        m = self._motion
        guesses = [begin] if round.rubs else [begin, begin + self._inputs.duration * speed, m.xa + push / m.ca]
        with self._watch.phase("assembly"):
            sizes = [measure(self.region, step.gradient(z)) for z in guesses]
        return np.asarray(guesses[int(np.argmin([size if np.isfinite(size) else np.inf for size in sizes]))])

    def _spread(self, g: FloatArray) -> FloatArray:
        """Forces on full vertices as a field over all, for a diagnosis [N], (n, 3)."""
        field = np.zeros_like(self._tools.ground.rest)
        field[self.region.full] = g[: self.region.size].reshape(-1, 3)
        return field


def _renumber(number: Callable[[NDArray[np.integer]], IntArray], grab: Grab) -> Grab:
    return replace(grab, vertices=tuple(number(np.asarray(grab.vertices)).tolist()))
