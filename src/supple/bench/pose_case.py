"""Characters of the pose-space benchmarks, like those of [XB16], and what it reports of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.bench.pose_regions import APE, ARM, BEAR
from supple.elastic import Body
from supple.rig import Rig
from supple.scene.build import set_stage
from supple.scene.load import parse_scene
from supple.solve import Gravity, Inputs, Moment
from supple.subspace.regions import Region

__all__ = ["CASES", "FPS", "PAPER", "Actor", "PoseCase", "make_actor"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

FPS = 90.0  #: one step a frame
_DOWN = (Gravity(np.array([0.0, -9.81, 0.0])),)


@dataclass(frozen=True)
class PoseCase:
    """A character, how large its model is, and for how long it moves."""

    scene: Mapping[str, Any]
    tets: int
    rank: int
    poses: int
    frames: int
    smaller: tuple[int, ...] = ()
    """Other ranks to measure, of the whole body, with the loosest rules."""
    regions: tuple[Region, ...] = ()
    """What its columns are spread over beside the whole body."""


class Actor(NamedTuple):
    """A character on its way."""

    body: Body
    rig: Rig
    poses: FloatArray
    """Of its motion, one a frame, (t, p)."""

    def inputs(self) -> list[Inputs]:
        """The steps of the motion under gravity."""
        pins = self.body.pins.vertices
        moments = [Moment(k / FPS, self.rig.positions(p, pins), _DOWN, pose=p) for k, p in enumerate(self.poses)]
        return [Inputs(first, second) for first, second in pairwise(moments)]


def make_actor(case: PoseCase) -> Actor:
    """The character of a case, its tets fitted to its rig."""
    scene = {**case.scene, "mesh": {**case.scene["mesh"], "elements": case.tets}}
    scene["time"] = {"fps": FPS, "frames": case.frames}
    stage = set_stage(parse_scene(scene))
    rigging = stage.drive.rigging
    assert rigging is not None
    poses = np.array([rigging.course.pose(frame / FPS) for frame in range(case.frames + 1)])
    return Actor(stage.body, rigging.rig, poses)


def _flesh(model: str, young: float) -> dict[str, Any]:
    return {"model": model, "young": young, "poisson": 0.4, "damping_stiffness": 0.003}


_ARM = {"mesh": {"shape": "arm"}, "material": _flesh("stvk", 3e4), "rig": {"rest": "posed"}}
_X = {
    "mesh": {"shape": "x"},
    "material": _flesh("stable_neo_hookean", 1e6),
    "rig": {"rest": "posed", "hold": "max y 5%", "bones": False, "deformer": [{"kind": "bend"}]},
    "motion": {"keys": [{"t": 0.6, "bend": 135}, {"t": 1.6, "bend": -135}, {"t": 2.0, "pose": "rest"}]},
}
_BEAR = {
    "mesh": {"shape": "bear"},
    "material": _flesh("stvk", 6e4),
    "rig": {"rest": "posed", "bones": False, "deformer": [{"kind": "wire"}]},
    "motion": {"keys": [{"t": 0.6, "pose": "sniff"}, {"t": 1.2, "pose": "look_back"}, {"t": 2.0, "pose": "rest"}]},
}
_APE = {"mesh": {"shape": "ape"}, "material": _flesh("stvk", 6e4), "rig": {"rest": "posed"}}

#: By name and size.
CASES: dict[str, dict[str, PoseCase]] = {
    "arm": {"small": PoseCase(_ARM, 2_000, 20, 4, 60), "paper": PoseCase(_ARM, 8_122, 45, 10, 180, (), ARM)},
    "x": {"small": PoseCase(_X, 2_000, 20, 5, 60), "paper": PoseCase(_X, 9_303, 30, 9, 180)},
    "bear": {"small": PoseCase(_BEAR, 3_000, 20, 4, 60), "paper": PoseCase(_BEAR, 12_762, 100, 8, 180, (), BEAR)},
    "ape": {
        "small": PoseCase(_APE, 3_000, 20, 4, 60),
        "paper": PoseCase(_APE, 16_297, 100, 4, 180, (50, 25, 10), APE),
    },
}

_KEYS = (
    "tets", "rank", "regions", "poses", "cub_int", "cub_inert", "ms_core", "ms_dyn", "ms_render", "ms_total", "fps",
    "memory_mb", "speedup",
)  # fmt: skip
#: Table 3 of [XB16], on eight threads.
PAPER: dict[str, Row] = {
    "arm": dict(zip(_KEYS, (8_122, 45, 3, 10, 192, 45, 0.31, 0.50, 0.05, 0.87, 1150.0, 11.0, 60.0), strict=True)),
    "x": dict(zip(_KEYS, (9_303, 30, 1, 3, 144, 50, 0.15, 0.38, 0.05, 0.59, 1700.0, 4.2, 105.0), strict=True)),
    "bear": dict(zip(_KEYS, (12_762, 100, 6, 8, 336, 200, 0.41, 0.94, 0.07, 1.43, 700.0, 7.3, 40.0), strict=True)),
    "ape": dict(zip(_KEYS, (16_297, 100, 6, 4, 144, 119, 0.39, 0.84, 0.11, 1.33, 750.0, 7.9, 125.0), strict=True)),
}
