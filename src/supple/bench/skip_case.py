"""Scenes of the skipping benchmarks, each with the thresholds that [KJ09] gives it.

Beam and pendulum are of the paper's material (λ = 2e4, μ = 1e5) but lighter, and swing to the end of a run, by a good
part of their length: the beam is damped little, the pendulum so that its limbs come to rest. Both are about a metre
long, as the paper's fill a unit cube.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.io.load import load_mesh
from supple.io.save import save_tets
from supple.mesh import TetMesh, tetrahedralise
from supple.mesh.winding import SurfaceDistance
from supple.scene import Stage, parse_scene, set_stage
from supple.shape.catalogue import SHAPES
from supple.shape.distance import Field, moved, scaled, smooth_union

__all__ = ["Case", "make_beam", "make_head", "make_pendulum"]

_STVK = {
    "model": "stvk", "young": 6.5e5 / 3.0, "poisson": 1.0 / 12.0, "density": 100.0, "damping_mass": 0.1,
    "damping_stiffness": 2e-5,
}  # fmt: skip
_FLESH = {"model": "arruda_boyce", "shear": 5e3, "segments": 5e3, "bulk": 1e5, "density": 1000.0}
_KICK = 15, 29.4  # steps and m/s², sideways: three times the weight
_SWING = 70, 80, 15.0  # first and last step, m/s²: what makes the pendulum swing
_LIMBS = 1e-3  # s, damping by stiffness as in the authors' code: limbs come to rest, the swing goes on
_APART = 0.8  # of a body's height, from one to the next: they overlap by the rest
_CALM = ("look_left", "look_right", "rest", "nod", "look_up", "tilt", "look_right", "nod", "look_left", "rest")
_SKULL = {"centre": (0.0, 0.232, -0.012), "radius": 0.068}  # m: the walls of its cavity are held
_TURN = 1.0  # s from one pose of the calm head to the next
_SHAKE = 0.15  # s, of the one that shakes


@dataclass(frozen=True, eq=False)
class Case:
    """A scene and how long it is run."""

    name: str
    stage: Stage
    steps: int
    error: float
    """τ_error of the paper."""

    @property
    def is_static(self) -> bool:
        """Whether motion has no inertia."""
        return self.stage.scene.time.integrator == "static"


def make_beam(tets: int, steps: int, dt: float = 0.01, kick: float | None = None, error: float = 1e-2) -> Case:
    """A thin beam, held at one end and let go; at the time `kick` [s] it is pushed sideways."""
    force = []
    if kick is not None:
        until = kick + (_KICK[0] + 0.5) * dt
        force = [{"kind": "body", "vector": (0.0, 0.0, _KICK[1]), "from": kick + 0.5 * dt, "until": until}]
    scene = {
        "mesh": {"shape": "beam", "size": {"length": 1.0, "width": 0.08, "height": 0.08}, "elements": tets},
        "pin": [{"select": "min x"}],
        "force": force,
        "material": _STVK,
    }
    return _make("beam", scene, steps, dt, "newmark", error)


def make_pendulum(tets: int, steps: int, body: Path | None = None, dt: float = 0.01) -> Case:
    """Four fused bodies that hang from the uppermost, pushed sideways for a tenth of a second."""
    first, last, strength = _SWING
    push = {"kind": "body", "vector": (strength, 0.0, 0.3 * strength), "from": first * 0.01, "until": last * 0.01}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pendulum.npz"
        save_tets(file, _fuse(body, tets))
        scene = {
            "mesh": {"file": str(file)},
            "pin": [{"select": "max y 3%"}],
            "force": [push],
            "material": {**_STVK, "damping_stiffness": _LIMBS},
        }
        return _make("pendulum", scene, steps, dt, "newmark", 5e-3)


def make_head(tets: int, steps: int, dt: float = 0.01, *, rich: bool = False, error: float = 5e-3) -> Case:
    """A head on its neck that looks about slowly, or shakes as if to be rid of a bee; bones skin it, flesh hangs."""
    scene = {
        "mesh": {"shape": "head", "elements": tets},
        "rig": {"hold": ["min y 4%", {"sphere": _SKULL}]},
        "motion": {"keys": _shake() if rich else _look(), "between": "spline", "clamp": True},
        "material": _FLESH,
    }
    return _make("rich head" if rich else "head", scene, steps, dt, "static", error)


def _make(name: str, scene: Mapping[str, Any], steps: int, dt: float, integrator: str, error: float) -> Case:
    time = {"fps": 1.0 / dt, "substeps": 1, "frames": steps, "integrator": integrator}
    return Case(name, set_stage(parse_scene({**scene, "time": time})), steps, error)


def _look() -> list[dict[str, Any]]:
    """Keys of ten seconds."""
    return [{"t": 0.0, "pose": "rest"}, *({"t": _TURN * (k + 1), "pose": pose} for k, pose in enumerate(_CALM))]


def _shake() -> list[dict[str, Any]]:
    """Keys of six seconds: turns about all axes, ever others."""
    rng, keys = np.random.default_rng(0), [{"t": 0.0, "pose": "rest"}]
    for k in range(1, int(6.0 / _SHAKE) + 1):
        x, y, z = rng.uniform(-1.0, 1.0, 3) * (25.0, 50.0, 25.0)
        keys.append({"t": k * _SHAKE, "head": [x, (-1) ** k * abs(y), z], "neck": [0.3 * x, 0.3 * y, 0.3 * z]})
    return keys


def _fuse(body: Path | None, tets: int) -> TetMesh:
    """Four copies of a body, or of a built-in creature, one below the other, every second upside down; a metre high."""
    if body is None:
        field = SHAPES["creature"].distance()
    else:
        found = load_mesh(body)
        surface = found.surface() if isinstance(found, TetMesh) else found
        solid = SurfaceDistance(surface)
        field = Field(solid, *solid.bounds())
    inside = tetrahedralise(field, resolution=24).vertices  # bounds of a field may be wide
    low, high = inside.min(axis=0), inside.max(axis=0)
    centred = scaled(moved(field, np.eye(3), -0.5 * (low + high)), 1.0 / float((high - low)[1]))
    turned = np.diag([-1.0, -1.0, 1.0])  # upside down: feet meet feet, and heads heads
    chain = [moved(centred, turned if k % 2 else np.eye(3), (0.0, -_APART * k, 0.0)) for k in range(4)]
    return tetrahedralise(scaled(smooth_union(chain, 0.05), 1.0 / (1.0 + 3.0 * _APART)), elements=tets, keep=1.0)
