"""The state of a body whose steps [KJ09] decides about."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.method.skipping.model import Learned
from supple.method.skipping.paper_basis import Grown
from supple.method.state import FullState, pack_live, pack_state, unpack_live, unpack_state
from supple.solve.live import Live
from supple.subspace import Basis

__all__ = ["PaperState", "pack_paper", "unpack_paper"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PaperState:
    """A full state, or coordinates in a subspace."""

    time: float
    """[s]"""
    grown: Grown = field(default_factory=Grown)
    situation: bytes = b""
    """Stiffness and pins that the basis is for."""
    full: FullState | None = None
    learned: Learned | None = None
    """What reduced steps are taken in: U, in dynamics with the error column as its last."""
    motion: FloatArray | None = None
    """Coordinates, velocities and accelerations in it, (3, r)."""
    pose: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Of the rig, (p,)."""
    live: Live = field(default_factory=Live)
    taken: int = 0
    """s_current of Algorithm 6."""
    allowed: int = 0
    """s_max of Algorithm 6."""
    upper: float = 0.0
    """τ_upper of Algorithm 4 [N]."""
    estimate: float = 0.0
    """The last estimate of the error, in units of the longest side."""
    left: bool = False
    """Whether the error column ended the last reduced steps."""


_NUMBERS = ("time", "taken", "allowed", "upper", "estimate", "left")


def pack_paper(state: PaperState) -> dict[str, NDArray[np.generic]]:
    """The state as plain arrays."""
    arrays: dict[str, NDArray[np.generic]] = {"pose": state.pose, **pack_live(state.live)}
    arrays |= {name: getattr(state.grown, name) for name in ("recent", "poses", "answers")}
    if state.full is not None:
        arrays |= {f"full/{name}": array for name, array in pack_state(state.full).items()}
    if state.motion is not None:
        arrays["motion"] = state.motion
    arrays |= _pack_learned("grown", state.grown.learned) | _pack_learned("learned", state.learned)
    numbers = {name: getattr(state, name) for name in _NUMBERS} | {"same": state.learned is state.grown.learned}
    arrays["situation"] = np.frombuffer(state.situation, np.uint8)
    return {"paper": np.array(json.dumps(numbers)), **arrays}  # floats survive JSON exactly


def unpack_paper(arrays: Mapping[str, NDArray[np.generic]], mass: FloatArray) -> PaperState:
    """The state that was packed, of a body with these masses [kg], (n,)."""
    numbers = json.loads(str(arrays["paper"]))
    own = _unpack_learned("grown", arrays, mass)
    recent, poses = (np.asarray(arrays[name], np.float64) for name in ("recent", "poses"))
    learned = own if numbers.pop("same") else _unpack_learned("learned", arrays, mass)
    kept = {name.removeprefix("full/"): array for name, array in arrays.items() if name.startswith("full/")}
    return PaperState(
        grown=Grown(own, recent, poses, np.asarray(arrays["answers"], np.float32)),
        pose=np.asarray(arrays["pose"], np.float64),
        situation=np.asarray(arrays["situation"], np.uint8).tobytes(),
        full=unpack_state(kept) if kept else None,
        learned=learned,
        motion=np.asarray(arrays["motion"], np.float64) if "motion" in arrays else None,
        live=unpack_live(arrays),
        **numbers,
    )


def _pack_learned(name: str, learned: Learned | None) -> dict[str, NDArray[np.generic]]:
    if learned is None:
        return {}
    rule, basis = learned.rule, learned.basis
    return {
        f"{name}/columns": basis.columns, f"{name}/importance": basis.importance, f"{name}/source":
        np.array(basis.source), f"{name}/members": rule.members, f"{name}/weights": rule.weights, f"{name}/offset":
        learned.offset, f"{name}/numbers": np.array([rule.training_error, learned.stiffness]),
    }  # fmt: skip


def _unpack_learned(name: str, arrays: Mapping[str, NDArray[np.generic]], mass: FloatArray) -> Learned | None:
    if f"{name}/columns" not in arrays:
        return None
    columns, importance, weights, offset, numbers = (
        np.asarray(arrays[f"{name}/{key}"], np.float64)
        for key in ("columns", "importance", "weights", "offset", "numbers")
    )
    basis = Basis(columns, mass, str(arrays[f"{name}/source"]), importance)
    rule = Rule(np.asarray(arrays[f"{name}/members"], np.int64), weights, float(numbers[0]), trainer="greedy")
    return Learned(basis, rule, offset, float(numbers[1]))
