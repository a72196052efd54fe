"""Poses settled in full space, kept on disk one by one as they come: a stopped training goes on, a repeated one reads.

Where flesh comes to rest depends on the poses before, so that the stamp of each knows all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import ConvergenceError, FileFormatError
from supple.io.files import write_atomically, writing
from supple.io.npz_file import NpzFile
from supple.io.npz_zip import pack_npz
from supple.method.full.solver import FullSolver
from supple.method.pose_statics import PoseStatics, settle_pose
from supple.method.rig_fingerprint import fingerprint_rig
from supple.rig import SkinnedRig
from supple.solve import Force

__all__ = ["StaticsRecorder", "record_statics"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StaticsRecorder:
    """Settles poses of one body, those of the last call once only."""

    body: Body
    rig: SkinnedRig
    contact: ContactSettings
    forces: Sequence[Force]
    folder: Path | None
    say: Callable[[str], None]
    _last: dict[bytes, list[PoseStatics | None]] = field(default_factory=dict)

    def settle(self, poses: FloatArray) -> list[PoseStatics | None]:
        """What the full solver goes through in poses (t, p)."""
        key = poses.tobytes()
        if key not in self._last:
            self._last.clear()
            self.say(f"contact is learned from every Newton iterate of {len(poses)} poses, settled in full space")
            self._last[key] = record_statics(
                self.body, self.rig, poses, self.contact, forces=self.forces, folder=self.folder, say=self.say
            )
        return self._last[key]


def record_statics(
    body: Body,
    rig: SkinnedRig,
    poses: FloatArray,
    contact: ContactSettings,
    *,
    forces: Sequence[Force] = (),
    tolerance: float = 1e-4,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[PoseStatics | None]:
    """What the full solver goes through in poses (t, p), one after another from the neutral one on: read where the
    folder has it, else settled and kept. None where there is no equilibrium; the way then goes on from the one before.
    """
    solver = FullSolver(body, integrator="static", tolerance=tolerance, contact=contact, rig=rig)
    stamp = _stamp(body, rig, contact, forces, tolerance)
    before, x, pairs = rig.neutral, rig.rest, NO_PAIRS
    found: list[PoseStatics | None] = []
    for number, pose in enumerate(poses):
        stamp = hashlib.sha256((stamp + pose.tobytes().hex()).encode()).hexdigest()
        path = None if folder is None else folder / f"statics-{number:04d}.npz"
        known = None if path is None else _read(path, stamp, x.shape, say)
        if known is None:
            try:
                known = settle_pose(solver, rig, (before, pose), x, pairs, forces)
            except ConvergenceError:
                say(f"pose {number} has no equilibrium in full space and is left out")
                found.append(None)
                continue
            if path is not None:
                _write(path, stamp, known)
        before, x, pairs = pose, known.x, known.pairs
        found.append(known)
    return found


def _stamp(body: Body, rig: SkinnedRig, contact: ContactSettings, forces: Sequence[Force], tolerance: float) -> str:
    """All that decides what is found, but for the poses."""
    sets = [[np.asarray(one).tolist() for one in pair] for pair in contact.ignored]
    told = [body.hash(), fingerprint_rig(rig), repr(contact), sets, repr(list(forces)), tolerance]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _read(path: Path, stamp: str, shape: tuple[int, ...], say: Callable[[str], None]) -> PoseStatics | None:
    if not path.exists():
        return None
    try:
        with NpzFile(path) as file:
            if str(file.read("stamp")) != stamp:
                say(f"{path} holds another pose (the scene has changed): it is settled anew")
                return None
            known = PoseStatics(file.read("x"), file.read("iterates"), file.read("pairs"))
    except (FileFormatError, TypeError, ValueError):
        known = None
    if known is None or known.x.shape != shape or known.iterates.shape[1:] != shape or known.pairs.shape[1:] != (2,):
        say(f"{path} is damaged: it is settled anew")
        return None
    return known


def _write(path: Path, stamp: str, statics: PoseStatics) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, pack_npz({"stamp": np.array(stamp), **statics._asdict()}))
