"""The state of a body whose steps are full or reduced, and what it has learned so far."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.method.reduced.state import ReducedState
from supple.method.skipping.model import Kept, Learned
from supple.method.state import FullState, pack_live, pack_state, unpack_live, unpack_state
from supple.solve.live import Live
from supple.subspace import Basis
from supple.subspace.window import Window

__all__ = ["Memory", "Progress", "Situation", "SkippingState", "pack_skipping", "unpack_skipping"]

FloatArray = NDArray[np.float64]


class Situation(NamedTuple):
    """What a matrix and a model are made for."""

    duration: float = 0.0
    """Of a step [s]."""
    stiffness: float = 1.0
    """The factor by events."""
    pins: bytes = b""


class Progress(NamedTuple):
    """Where learning stands, in full steps."""

    passes: int = 0
    """Steps in a row that the basis of before held."""
    failing: int = 0
    """Steps since the last reduced one."""
    stale: int = 0
    """Failed steps since the basis was made."""
    wait: int = 0
    """Steps before a model is trained again."""
    pause: int = 0
    """What `wait` was last set to: it doubles while training does not pay."""
    avoid: int = 0
    """Steps before the old factor is tried again for a full one."""
    avoided: int = 0
    """What `avoid` was last set to: it grows fourfold while that fails."""
    rank: int = 0
    """Largest rank of a basis, as far as it has grown; 0 before it has."""
    recalled: int = 0
    """1 while something is in use that was kept."""
    known: int = 0
    """Steps in a row that something kept held."""
    taught: int = 0
    """Full steps that checks have found since the last training."""
    enough: int = 0
    """How many of them ask for the next training, as long as the last one was not worth it: twice as many each time."""
    renewed: int = 0
    """Reduced steps before the last training in the midst of them."""
    pushed: int = 0
    """What `failing` was when responses to pushes were found last."""
    spent: int = 0
    """Iterations of conjugate gradients that a newer matrix would have saved."""
    gain: float = 0.0
    """What a look by a few iterations misses of an error: the whole over what it finds, when both were known last."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What was learned; never changed in place, so that copies of a state share it."""

    window: Window
    situation: Situation = field(default_factory=Situation)
    progress: Progress = field(default_factory=Progress)
    basis: Basis | None = None
    """That the next full step is tested with."""
    learned: Learned | None = None
    matrix: FloatArray | None = None
    """Upper triangle of a full step's matrix, which is used again."""
    pose: FloatArray | None = None
    """Of the bones at that step, (p,)."""
    responses: tuple[FloatArray, ...] = ()
    """How the body gives way to even pushes about some of its shapes, (3 n, 3) each."""
    kept: tuple[Kept, ...] = ()
    """What was learned before and is tried before anything is learned anew, last one first."""


@dataclass(frozen=True, eq=False)
class SkippingState:
    """A full state, or coordinates in what was learned; both where bones take a reduced body along."""

    time: float
    """[s]"""
    memory: Memory
    full: FullState | None = None
    motion: FloatArray | ReducedState | None = None
    """Coordinates, velocities and accelerations in a reduced step, (3, r); with a frame where the body has one."""
    live: Live = field(default_factory=Live)
    elastic: float = 0.0
    """Size of the elastic force on the coordinates."""
    defect: FloatArray | None = None
    """What the rule lacked of the forces on the coordinates where a static step last ended in full space, (r,)."""
    excess: FloatArray | None = None
    """What the rule had more of these than all elements at the end of the last step in motion, (r,)."""
    scale: float = 0.0
    """Largest velocity [m/s], in statics largest displacement [m], that errors are relative to; root of mean square."""
    since: int = 0
    """Reduced steps since the last check."""
    interval: int = 1
    """Reduced steps to the next one."""
    skipped: int = 0
    """Reduced steps since the last full one."""
    estimate: float = 0.0
    """Error of a step at the last check, in the measure of the tolerance."""
    load: FloatArray | None = None
    """Forces on the vertices in the last step [N], (n, 3)."""
    trend: FloatArray | None = None
    """By how much they had changed [N], (n, 3)."""
    turn: FloatArray | None = None
    """By how much the pose of the bones had changed, (p,)."""
    strays: bool = False
    """Whether that pose was unlike those seen."""
    touched: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Vertices that have touched something since it was first touched in a row of steps, sorted."""


def pack_skipping(state: SkippingState) -> dict[str, NDArray[np.generic]]:
    """The state as plain arrays."""
    memory, learned = state.memory, state.memory.learned
    arrays: dict[str, NDArray[np.generic]] = {}
    if state.full is not None:
        arrays |= {f"full/{name}": array for name, array in pack_state(state.full).items()}
    arrays |= pack_live(state.live)
    found: dict[str, NDArray[np.generic] | None] = {"load": state.load, "trend": state.trend, "touched": state.touched}
    if isinstance(state.motion, ReducedState):
        found |= {f"framed/{name}": array for name, array in state.motion.pack().items()}
    else:
        found["motion"] = state.motion
    found |= {"turn": state.turn, "defect": state.defect, "excess": state.excess}
    found |= {"matrix": memory.matrix, "pose": memory.pose}
    for k, response in enumerate(memory.responses):
        found[f"response{k}"] = response
    if memory.window.fields:
        found |= {
            "fields": np.stack(memory.window.fields),
            "gram": memory.window.gram,
            "poses": np.stack(memory.window.poses),
        }
    bases = {"basis": memory.basis, "learned": None if learned is None else learned.basis}
    for k, kept in enumerate(memory.kept):
        bases[f"kept{k}"] = kept.basis
        found |= {f"kept{k}/members": kept.rule.members, f"kept{k}/weights": kept.rule.weights}
    for name, basis in bases.items():
        if basis is not None:
            found |= {f"{name}/columns": basis.columns, f"{name}/importance": basis.importance}
            found[f"{name}/source"] = np.array(basis.source)
    if learned is not None:
        found |= {"members": learned.rule.members, "weights": learned.rule.weights, "offset": learned.offset}
    numbers = {name: getattr(state, name) for name in _NUMBERS} | {
        "progress": list(memory.progress),
        "duration": memory.situation.duration,
        "stiffness": memory.situation.stiffness,
        "rule": None if learned is None else [learned.rule.training_error, learned.stiffness],
        "kept": [
            [kept.rule.training_error, learned is not None and kept.rule is learned.rule, kept.tried]
            for kept in memory.kept
        ],
    }
    arrays |= {name: array for name, array in found.items() if array is not None}
    arrays["pins"] = np.frombuffer(memory.situation.pins, np.uint8)
    return {"skipping": np.array(json.dumps(numbers)), **arrays}  # floats survive JSON exactly


_NUMBERS = ("time", "elastic", "scale", "since", "interval", "skipped", "estimate", "strays")


def unpack_skipping(arrays: Mapping[str, NDArray[np.generic]], mass: FloatArray) -> SkippingState:
    """The state that was packed, of a body with these masses [kg], (n,)."""
    numbers = json.loads(str(arrays["skipping"]))
    found = {name: np.asarray(arrays[name], np.float64) for name in _FIELDS if name in arrays}
    known = numbers.get("kept", [])

    def basis(name: str) -> Basis | None:
        if f"{name}/columns" not in arrays:
            return None
        columns, importance = (np.asarray(arrays[f"{name}/{part}"], np.float64) for part in ("columns", "importance"))
        return Basis(columns, mass, str(arrays[f"{name}/source"]), importance)

    window = Window(mass)
    if "fields" in found:
        window = Window(mass, tuple(found["fields"]), found["gram"], tuple(found["poses"]))
    learned, own = None, basis("learned")
    if own is not None:
        error, stiffness = numbers["rule"]
        rule = Rule(np.asarray(arrays["members"], np.int64), found["weights"], error, trainer="pool")
        learned = Learned(own, rule, found["offset"], stiffness)
    kept = []
    for k, (error, is_used, tried) in enumerate(known):
        space = basis(f"kept{k}")
        assert space is not None
        members, weights = (arrays[f"kept{k}/{part}"] for part in ("members", "weights"))
        rule = Rule(np.asarray(members, np.int64), np.asarray(weights, np.float64), error, trainer="pool")
        kept.append(Kept(space, learned.rule if is_used and learned is not None else rule, tried))
    pins = np.asarray(arrays["pins"], np.uint8).tobytes()
    situation = Situation(numbers["duration"], numbers["stiffness"], pins)
    progress = Progress(*numbers["progress"])
    named = sorted(name for name in arrays if name.startswith("response"))
    responses = tuple(np.asarray(arrays[name], np.float64) for name in named)
    memory = Memory(
        window, situation, progress, basis("basis"), learned, found.get("matrix"), found.get("pose"), responses,
        tuple(kept),
    )  # fmt: skip
    full, framed = (
        {name.removeprefix(kind): array for name, array in arrays.items() if name.startswith(kind)}
        for kind in ("full/", "framed/")
    )
    motion = ReducedState.unpack(framed) if framed else found.get("motion")
    touched = np.asarray(arrays.get("touched", ()), np.int32)
    return SkippingState(
        memory=memory, full=unpack_state(full) if full else None, motion=motion, live=unpack_live(arrays),
        load=found.get("load"), trend=found.get("trend"), turn=found.get("turn"), touched=touched,
        defect=found.get("defect"), excess=found.get("excess"),
        **{name: numbers[name] for name in _NUMBERS},
    )  # fmt: skip


_FIELDS = (
    "motion", "load", "trend", "turn", "defect", "excess", "matrix", "pose", "fields", "gram", "poses", "weights",
    "offset",
)  # fmt: skip
