"""Shapes that fold stop at themselves, and pass through themselves where contact is off."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.contact import SelfContact
from supple.errors import SuppleWarning
from supple.scene import Stage, build_scene, load_scene, parse_scene
from supple.scene.load import override
from supple.scene.schema import Scene
from supple.scene.simulate import simulate

FOLD = Path(__file__).parents[2] / "examples" / "fold.toml"
FINGER: dict[str, Any] = {
    "gravity": False,
    "time": {"fps": 24, "frames": 11},
    "mesh": {"shape": "finger", "resolution": 18},
    "material": {"young": 1e5, "poisson": 0.3, "damping_stiffness": 0.005},
    "rig": {},
    "motion": {"keys": [{"t": 0.0}, {"t": 0.4, "pose": "fist"}]},
}


def fold(scene: Scene) -> tuple[Stage, np.ndarray]:
    """The scene and where it ends [m], (n, 3)."""
    built = build_scene(scene)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # coarse folds do not always settle
        *_, last = simulate(built)
    return built, built.solver.positions(last.state)


def depth(stage: Stage, x: np.ndarray) -> float:
    """How deep the body is in itself, in mean edges of its surface."""
    found = SelfContact(stage.mesh).find(x)
    return float(found.depth.max(initial=0.0)) / stage.mesh.surface().mean_edge()


@pytest.mark.parametrize("shape", ["capsule", "finger"])
def test_a_folded_shape_stops_at_itself(shape: str) -> None:
    def load(contact: dict[str, Any]) -> Scene:
        if shape == "capsule":
            return load_scene(FOLD, {"mesh": {"resolution": 8}, "contact": contact})
        return parse_scene(override(FINGER, {"contact": contact}))

    through = depth(*fold(load({"self": False, "friction": 0.0})))
    stopped = depth(*fold(load({"self": True, "friction": 0.0})))
    assert through > 0.3
    assert stopped < 0.1
