"""Scenes drawn from a seed, run as a user runs them, and what is wrong with what comes out.

`python tests/random_scenes.py --seed 7 --count 200` prints a row for each scene and exits with 1 where one has a fault.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.io import open_cache
from supple.scene.build import set_stage
from supple.scene.launch import Launch, launch
from supple.scene.load import load_scene
from supple.scene.progress import SilentListener
from supple.scene.toml import write_toml

METHODS = ("full", "full", "full", "projective", "hyperreduced", "skipping", "reduced", "condensation", "posespace")
SOLIDS = ("beam", "thin_beam", "box", "sphere", "capsule", "cylinder", "x", "finger")
RIGGED = ("capsule", "cylinder", "finger")
MODELS = ("stable_neo_hookean", "neo_hookean", "corotational", "stvk", "arruda_boyce")
INTEGRATORS = {  # of methods that do not know them all
    "posespace": ("implicit_euler",),
    "projective": ("implicit_euler",),
    "hyperreduced": ("implicit_euler",),
    "condensation": ("implicit_euler", "static"),
}
TRAINED = ("reduced", "posespace", "condensation")
TRAINING = {"cases": 1, "max_cases": 1, "heldout": 1, "steps": 6, "max_rank": 12}
FRAMES = 5


@dataclass
class Outcome:
    """How a random scene went."""

    number: int
    method: str
    error: str | None = None  #: of a run that was refused or stopped, in a sentence
    fault: str | None = None  #: what must not happen
    warnings: list[str] = field(default_factory=list)
    inverted: int = 0  #: most inverted tets of a written frame


def draw_scene(seed: int, number: int) -> dict[str, Any]:
    """The tables of scene `number` of a seed."""
    rng = np.random.default_rng([seed, number])
    method = METHODS[number % len(METHODS)]
    posed = method == "posespace"
    rigged = posed or (method in ("full", "reduced") and rng.random() < 0.25)
    shape = str(rng.choice(RIGGED if rigged else SOLIDS))
    integrator = str(rng.choice(INTEGRATORS.get(method, ("implicit_euler", "newmark", "static"))))
    tables: dict[str, Any] = {
        "gravity": False if rng.random() < 0.2 else [float(value) for value in 9.81 * rng.normal(size=3)],
        "time": {
            "fps": float(rng.choice([12.0, 24.0, 60.0])),
            "substeps": int(rng.integers(1, 4)),
            "frames": FRAMES,
            "integrator": integrator,
        },
        "mesh": {"shape": shape, "elements": int(rng.integers(150, 450))},
        "material": _draw_material(rng),
        "method": {
            "name": method,
            **({"tolerance": 0.3} if method in ("reduced", "posespace", "condensation") else {}),
        },
        "training": dict(TRAINING),
    }
    if rigged:
        tables["rig"] = {"rest": "posed" if posed else str(rng.choice(["neutral", "posed"]))}
    elif integrator == "static" or rng.random() < 0.6:
        tables["pin"] = _draw_pins(rng)
    if rng.random() < 0.4 or method == "condensation":
        tables["collider"] = [_draw_collider(rng)]
    if not rigged and integrator != "static" and rng.random() < 0.4:
        tables["start"] = {"velocity": _vector(rng, 1.0), "spin": _vector(rng, 4.0)}
    return tables


def _draw_material(rng: np.random.Generator) -> dict[str, Any]:
    model = str(rng.choice(MODELS))
    density = float(rng.uniform(500.0, 2000.0))
    if model == "arruda_boyce":
        return {"model": model, "shear": float(10 ** rng.uniform(3.5, 6)), "bulk": float(10 ** rng.uniform(5, 7))}
    return {
        "model": model,
        "young": float(10 ** rng.uniform(3.5, 6.5)),
        "poisson": float(rng.uniform(0.0, 0.45)),
        "density": density,
    }


def _draw_pins(rng: np.random.Generator) -> list[dict[str, Any]]:
    axis = str(rng.choice(["x", "y", "z"]))
    pins: list[dict[str, Any]] = [{"select": f"min {axis} 10%"}]
    if rng.random() < 0.4:
        keys = [{"t": 0.0, "by": [0.0, 0.0, 0.0]}, {"t": 0.1, "by": _vector(rng, 0.2)}]
        pins.append({"select": f"max {axis} 10%", "move": keys})
    return pins


def _draw_collider(rng: np.random.Generator) -> dict[str, Any]:
    friction = float(rng.choice([0.0, 0.5]))
    if rng.random() < 0.5:
        return {"shape": "plane", "at": [0.0, float(-rng.uniform(0.55, 0.8)), 0.0], "friction": friction}
    keys = [{"t": 0.0, "by": [0.0, 0.0, 0.0]}, {"t": 0.2, "by": [0.0, 0.2, 0.0]}]
    place = [0.0, float(-rng.uniform(0.75, 0.9)), 0.0]
    return {"shape": "sphere", "size": {"radius": 0.2}, "at": place, "friction": friction, "move": keys}


def _vector(rng: np.random.Generator, size: float) -> list[float]:
    return [float(value) for value in size * rng.normal(size=3)]


def run_random(seed: int, number: int, folder: Path) -> Outcome:
    """Scene `number` of a seed, run as the command line runs it, and judged."""
    tables = draw_scene(seed, number)
    outcome = Outcome(number, tables["method"]["name"])
    file, output = folder / f"scene-{number}.toml", folder / f"scene-{number}.npz"
    file.write_text(write_toml(tables), encoding="utf-8")
    facts: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            facts = launch(Launch(file, [output]), SilentListener(), lambda _: None, outcome.warnings.append)
        except SuppleError as error:
            outcome.error = str(error)
        except Exception:
            outcome.fault = traceback.format_exc()
    outcome.warnings += [str(one.message) for one in heard]
    if outcome.fault is None and output.exists():
        outcome.fault = _find_fault(outcome, file, output, facts.get("rows"))
        if outcome.fault is None and facts and facts["pinned"] < facts["vertices"]:  # else there is nothing to solve
            outcome.fault = _find_constant(facts["rows"])
    return outcome


def _find_fault(outcome: Outcome, file: Path, output: Path, rows: list[dict[str, Any]] | None) -> str | None:
    """What is wrong with a recording and the rows of its run; `rows` is None where it stopped."""
    tets = set_stage(load_scene(file)).mesh.tets
    cache = open_cache(output)
    worst = np.inf
    for number, index in enumerate(cache.indices):
        x = cache.positions(number)
        if not np.isfinite(x).all():
            return f"frame {index} holds positions that are not finite"
        corners = x[tets]
        volumes = np.linalg.det(corners[:, 1:] - corners[:, :1])
        inverted = int((volumes <= 0.0).sum())
        worst = min(worst, float(volumes.min()))
        outcome.inverted = max(outcome.inverted, inverted)
        if rows is not None and number > 0 and rows[number - 1]["inverted"] != inverted:
            return f"frame {index} has {inverted} inverted tets and its row says {rows[number - 1]['inverted']}"
    told = [*outcome.warnings, outcome.error or ""]
    if outcome.inverted and not any("invert" in text for text in told):
        return f"{outcome.inverted} tets are inverted and nothing says so"
    return None


def _find_constant(rows: list[dict[str, Any]]) -> str | None:
    """A figure that is the same in all rows of a body that moves, so that it was not measured."""
    if not any(row["kinetic_energy"] for row in rows):
        return None
    for key in ("residual", "estimated_error"):
        values = {row[key] for row in rows}
        if len(values) == 1 and values != {None}:
            return f"{key} is {values.pop()} in all {len(rows)} rows"
    return None


def main() -> int:
    """Run many scenes and print a row for each."""
    parser = argparse.ArgumentParser(description="Random scenes, run and judged.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    faults = 0
    for number in range(given.first, given.first + given.count):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run_random(given.seed, number, Path(folder))
        faults += outcome.fault is not None
        print(json.dumps(vars(outcome)), flush=True)
    print(f"{given.count} scenes, {faults} with a fault", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
