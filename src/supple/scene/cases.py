"""Training cases: a scene's own motion with its loads, its start and the speed of its pins and bones drawn anew."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import supple
from supple.method import Report, Solver
from supple.scene.build import place_load, starting_velocity
from supple.scene.collider import ColliderTable
from supple.scene.drive import Drive, HeldPart, Load
from supple.scene.motion import rotate
from supple.scene.pin import Pin
from supple.scene.schema import EARTH
from supple.scene.simulate import start_motion, step_inputs
from supple.scene.stage import Stage
from supple.scene.units import to_metres
from supple.solve import Gravity, Inputs, Moment, NodalForce

__all__ = [
    "Case",
    "case_steps",
    "draw_cases",
    "draw_judges",
    "is_driven",
    "last_key",
    "make_case",
    "play_case",
    "scene_steps",
]

FloatArray = NDArray[np.float64]
Vector = tuple[float, float, float]
Moving = TypeVar("Moving", Pin, ColliderTable)

FEWEST, MOST = 12, 60  #: steps of a case when nothing in the scene asks for more
SLOWEST = 0.1  #: factor on the speed of pins and bones
LONGEST = 240  #: steps of a case, however long the scene moves its pins
LONGEST_HELDOUT = 120  #: steps of a held-out case, which goes on as long as the scene: errors grow with time


@dataclass(frozen=True, eq=False)
class Case:
    """One motion to learn from or to judge by."""

    name: str
    drive: Drive
    velocity: FloatArray
    """Of every vertex at the start [m/s], (n, 3)."""
    first: int
    """Number of the first step; step 0 begins at time 0."""
    steps: int
    rate: float
    """Steps a second."""
    integrator: str

    def inputs(self, number: int) -> Inputs:
        """What the solver is given for step 0, 1, ... of the case; loads of a static case grow in step."""
        given = step_inputs(self.drive, self.first + number, self.first, self.rate)
        if self.integrator != "static":
            return given
        share = [number / self.steps, (number + 1) / self.steps]
        return replace(given, begin=_weaken(given.begin, share[0]), end=_weaken(given.end, share[1]))

    def targets(self) -> FloatArray:
        """Where pins hold before the first step and after every one [m], (steps + 1, k, 3)."""
        numbers = range(self.steps)
        return np.stack([self.inputs(0).begin.targets, *(self.inputs(number).end.targets for number in numbers)])

    def poses(self) -> FloatArray:
        """Poses of the rig before the first step and after every one, (steps + 1, p); without a rig there are none."""
        moments = [self.inputs(0).begin, *(self.inputs(number).end for number in range(self.steps))]
        return np.stack([np.zeros(0) if moment.pose is None else moment.pose for moment in moments])

    def stamp(self, body: str, tolerance: float) -> str:
        """Fingerprint of all that decides this motion of a body with the given hash."""
        drive = self.drive
        tables = [part.pin.model_dump(mode="json") for part in drive.parts]
        tables += [load.force.model_dump(mode="json") for load in drive.loads]
        numbers = [self.first, self.steps, self.rate, self.integrator, tolerance, drive.gravity]
        solids = [obstacle.digest() for obstacle in drive.obstacles]
        solids += [] if drive.rigging is None else [drive.rigging.digest()]
        version = supple.__version__  # another one may step otherwise
        digest = hashlib.sha256(json.dumps([version, body, tables, numbers, solids], sort_keys=True).encode())
        for array in (self.velocity, *(load.weights for load in drive.loads)):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def draw_cases(stage: Stage, steps: int, numbers: Iterable[int]) -> list[Case]:
    """Cases to train on; each is drawn by its own number."""
    return [_draw(stage, "case", 0, number, steps) for number in numbers]


def draw_judges(stage: Stage, steps: int) -> list[Case]:
    """Cases to judge by; the first is the scene as it is, unless that deforms nothing."""
    judges = [_draw(stage, "heldout", 1, number, steps) for number in range(stage.scene.training.heldout)]
    if _deforms(stage):
        judges[0] = make_case(stage, judges[0].name, stage.drive, stage.velocity, steps)
    return judges


def scene_steps(stage: Stage, heldout_steps: int) -> int:
    """Steps of the scene as a held-out case counts them; a static one goes through the scene in any number."""
    time = stage.scene.time
    return heldout_steps if time.integrator == "static" else (time.preroll + time.frames) * time.substeps


def case_steps(stage: Stage, period: float) -> tuple[int, int]:
    """Steps of a case and of a held-out one, for a body whose softest mode takes `period` [s].

    A case lasts for the pre-roll, then for one period or until the scene does nothing new, whichever is longer.
    """
    time, asked = stage.scene.time, stage.scene.training.steps
    if asked is not None:
        return asked, asked
    if time.integrator == "static":
        return FEWEST, FEWEST
    one_period = min(max(math.ceil(period / time.step), FEWEST), MOST)
    preroll, whole = time.preroll * time.substeps, time.frames * time.substeps
    # Pins may move for ever, and what is touched may be touched late
    lasts = whole * time.step if stage.contact is not None else last_key(stage.drive)
    busy = math.ceil(min(lasts / time.step, whole))
    steps = min(preroll + max(one_period, busy), LONGEST)
    return steps, max(steps, min(preroll + whole, LONGEST_HELDOUT))


def is_driven(stage: Stage) -> bool:
    """Whether anything in the scene, or in its training loads, moves the body."""
    return bool(_acts(stage) or stage.scene.training.load)


def _acts(stage: Stage) -> bool:
    """Whether anything in the scene itself moves the body."""
    pulled = stage.drive.gravity is not None and any(stage.drive.gravity)
    return bool(pulled or stage.drive.moves or stage.drive.loads or stage.velocity.any())


def _deforms(stage: Stage) -> bool:
    """Whether the scene itself deforms the body: one that nothing stops only travels under what acts on all of it."""
    if stage.drive.rigging or stage.drive.obstacles or any(len(part.vertices) for part in stage.drive.parts):
        return _acts(stage)
    pushed = any(0 < len(load.vertices) < len(stage.body.mass) for load in stage.drive.loads)
    return pushed or any(stage.scene.start.spin)


def play_case(case: Case, solver: Solver[Any]) -> Iterator[tuple[FloatArray, Report | None]]:
    """Positions [m], (n, 3), before the first step (with None) and after every one with its report."""
    state = start_motion(solver, case.drive, case.velocity, case.first / case.rate)
    yield solver.positions(state), None
    for number in range(case.steps):
        state, report = solver.step(state, case.inputs(number))
        yield solver.positions(state), report


def _draw(stage: Stage, name: str, role: int, number: int, steps: int) -> Case:
    table = stage.scene.training
    draw = _Draw(np.random.default_rng([table.seed, role, number]), table.strength, np.deg2rad(table.turn))
    si = to_metres(stage.scene, stage.scene.metres)
    extra = [
        place_load(force, f"training.load[{place}]", stage.marks, stage.body.mass, stage.scene.metres)
        for place, force in enumerate(si.training.load)
    ]
    # In this order, and all of them always: what one scene draws must not depend on what it has not got
    down = draw.direction()
    gravity = draw.vary(stage.drive.gravity or (0.0, 0.0, 0.0))
    velocity, spin = draw.vary(si.start.velocity), draw.vary(si.start.spin)
    speed = max(draw.factor(), SLOWEST)
    loads = tuple(_vary_load(load, draw) for load in (*stage.drive.loads, *extra))
    if not is_driven(stage):
        gravity = _vector(EARTH * draw.factor() * down)
    parts, obstacles = stage.drive.parts, stage.drive.obstacles
    rigging = (
        None if stage.drive.rigging is None else stage.drive.rigging.hastened(_pace(speed, number, table.strength))
    )
    if stage.scene.time.integrator != "static":
        parts = tuple(HeldPart(_hasten(part.pin, speed), part.vertices) for part in parts)
        obstacles = tuple(replace(obstacle, table=_hasten(obstacle.table, speed)) for obstacle in obstacles)
    start = si.start.model_copy(update={"velocity": velocity, "spin": spin})
    drive = Drive(stage.body, parts, loads, gravity if any(gravity) else None, obstacles, rigging)
    begun = starting_velocity(stage.body, si.model_copy(update={"start": start}), rigging)
    return make_case(stage, f"{name}-{number:04d}", drive, begun, steps)


def make_case(stage: Stage, name: str, drive: Drive, velocity: FloatArray, steps: int) -> Case:
    """A case with this drive, in the scene's time."""
    time = stage.scene.time
    is_static = time.integrator == "static"
    return Case(
        name=name,
        drive=drive,
        velocity=velocity,
        first=0 if is_static else -time.preroll * time.substeps,
        steps=steps,
        rate=steps * time.fps / time.frames if is_static else time.fps * time.substeps,
        integrator=time.integrator,
    )


@dataclass(frozen=True)
class _Draw:
    """Random factors and turns."""

    rng: np.random.Generator
    strength: tuple[float, float]
    turn: float  #: [rad]

    def factor(self) -> float:
        return float(self.rng.uniform(*self.strength))

    def direction(self) -> FloatArray:
        vector = self.rng.standard_normal(3)
        return np.asarray(vector / np.linalg.norm(vector))

    def vary(self, vector: Vector) -> Vector:
        """The vector with another length, turned a little."""
        turned = rotate(self.direction(), self.turn * float(self.rng.uniform())) @ np.asarray(vector)
        return _vector(self.factor() * turned)


def _vector(values: FloatArray) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _vary_load(load: Load, draw: _Draw) -> Load:
    return replace(load, force=load.force.model_copy(update={"vector": draw.vary(load.force.vector)}))


def _pace(speed: float, number: int, strength: tuple[float, float]) -> float:
    """The speed of bones: in every other case fast enough to get to the end, whose poses nothing else would teach."""
    low, high = strength
    if number % 2 or speed >= 1.0 or high <= 1.0:
        return speed
    return 1.0 + (high - 1.0) * (speed - low) / (1.0 - low)


def _hasten(table: Moving, speed: float) -> Moving:
    """The pin or collider going through its motion `speed` times as fast."""
    changed: dict[str, Any] = {}
    for name in ("move", "turn"):
        motion = getattr(table, name)
        if motion is None:
            continue
        rate = getattr(motion, motion.rate)
        if rate is not None:
            faster = tuple(speed * v for v in rate) if isinstance(rate, tuple) else speed * rate
            changed[name] = motion.model_copy(update={motion.rate: faster})
        else:
            keys = [key.model_copy(update={"t": key.t / speed}) for key in motion.keys]
            changed[name] = motion.model_copy(update={"keys": keys})
    return table.model_copy(update=changed)


def last_key(drive: Drive) -> float:
    """Time [s] after which pins, colliders and bones stand still and loads are steady; infinite for endless motion."""
    times = [0.0 if drive.rigging is None else drive.rigging.course.end]
    for part in drive.parts:
        times += [time for time in (part.pin.from_, part.pin.until) if time is not None]
    for table in drive.tables():
        for motion in (table.move, table.turn):
            if motion is not None:
                times.append(math.inf if motion.keys is None else motion.keys[-1].t)
    for load in drive.loads:
        times += [time for time in (load.force.from_, load.force.until) if time is not None]
        times += [key.t for key in load.force.keys or ()]
    return max(times)


def _weaken(moment: Moment, share: float) -> Moment:
    """The moment with a share of its forces."""
    forces: list[Gravity | NodalForce] = []
    for force in moment.forces:
        if isinstance(force, Gravity):
            forces.append(replace(force, acceleration=share * np.asarray(force.acceleration)))
        elif isinstance(force, NodalForce):
            forces.append(replace(force, vector=share * np.asarray(force.vector)))
    return replace(moment, forces=tuple(forces))
