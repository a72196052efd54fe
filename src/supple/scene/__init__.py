"""Scene files: their schema, the objects they describe, running, recording and checking them."""

from supple.scene.build import build_scene, set_stage
from supple.scene.defaults import open_scene
from supple.scene.doctor import Finding, diagnose, examine
from supple.scene.drive import Drive
from supple.scene.load import load_scene, parse_scene
from supple.scene.prepare import prepare_scene, train_scene
from supple.scene.progress import FrameRow, Listener, SilentListener
from supple.scene.record import Recorder
from supple.scene.reference import scene_reference
from supple.scene.replay import load_events
from supple.scene.run import RunResult, run_scene
from supple.scene.schema import Scene
from supple.scene.simulate import Simulated, simulate, start_scene
from supple.scene.stage import Built, Stage
from supple.scene.training import train_model

__all__ = [
    "Built",
    "Drive",
    "Finding",
    "FrameRow",
    "Listener",
    "Recorder",
    "RunResult",
    "Scene",
    "SilentListener",
    "Simulated",
    "Stage",
    "build_scene",
    "diagnose",
    "examine",
    "load_events",
    "load_scene",
    "open_scene",
    "parse_scene",
    "prepare_scene",
    "run_scene",
    "scene_reference",
    "set_stage",
    "simulate",
    "start_scene",
    "train_model",
    "train_scene",
]
