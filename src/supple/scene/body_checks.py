"""Checks of what a body is: its size, its material, its elements, and time steps that suit its vibration."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from supple.material import Material
from supple.mesh import Sheet
from supple.scene.finding import Finding
from supple.scene.stage import Stage
from supple.scene.units import UNITS
from supple.subspace.softest_period import softest_period

__all__ = ["check_elements", "check_materials", "check_poisson", "check_scale", "check_self_weight", "check_time_step"]

PLAUSIBLE_SIZE = (1e-3, 50.0)
PLAUSIBLE_YOUNG = (100.0, 1e9)
PLAUSIBLE_DENSITY = (50.0, 20_000.0)
LOCKING_POISSON = 0.45
LONG_STEP = 0.25
STEPS_A_PERIOD = 10
FEWEST_STEPS_A_PERIOD = 4
METRIC = ("m", "dm", "cm", "mm", "um", "km")  #: units of which one is named as likely
FRAMES_THAT_SHOW = 2  #: frames a period from which on they show a vibration that is damped otherwise
MANY_SUBSTEPS = 1000  #: more are no advice to give


def check_scale(stage: Stage) -> Iterator[Finding]:
    """A body far from the size of things that are simulated, usually a wrong `units`."""
    size = stage.mesh.size()
    low, high = PLAUSIBLE_SIZE
    if not low <= size <= high:
        unit = _likely_unit(stage)
        perhaps = "" if unit is None else f' (perhaps "{unit}")'
        yield Finding(
            "warning",
            "scale",
            f'the body is {size:.3g} m across with units = "{stage.scene.units}": '
            f"if that is not meant, set units{perhaps}.",
        )


def check_materials(stage: Stage) -> Iterator[Finding]:
    """Stiffness or density far from anything soft."""
    for name, material in stage.materials.items():
        young = _young(material)
        if not PLAUSIBLE_YOUNG[0] <= young <= PLAUSIBLE_YOUNG[1]:
            yield Finding(
                "warning",
                "stiffness",
                f"{name} has young = {young:.3g} Pa, far from fat (3e3), muscle (3e4) and rubber (1e6): "
                "give it in pascals, or use a preset.",
            )
        if not PLAUSIBLE_DENSITY[0] <= material.density <= PLAUSIBLE_DENSITY[1]:
            yield Finding(
                "warning",
                "density",
                f"{name} has density = {material.density:.3g} kg/m³, far from flesh (1000): use kg/m³.",
            )


def check_poisson(stage: Stage) -> Iterator[Finding]:
    """Poisson ratios at which linear tetrahedra turn too stiff."""
    if isinstance(stage.mesh, Sheet):
        return
    for name, material in stage.materials.items():
        poisson = material.lam / (2.0 * (material.lam + material.mu))
        if poisson > LOCKING_POISSON + 1e-12:
            yield Finding(
                "warning" if poisson > 0.49 else "note",
                "locking",
                f"{name} has poisson = {poisson:.4g}: linear tetrahedra bend too stiffly above 0.45, "
                "so lower it or use a finer mesh.",
            )


def check_self_weight(stage: Stage) -> Iterator[Finding]:
    """A body that its own weight would squash."""
    for name, material in stage.materials.items():
        strain = _weight_strain(stage, material)
        if strain > 1.0:
            yield Finding(
                "warning",
                "self-weight",
                f"{name} is so soft that its own weight strains it by about {100 * strain:.0f} %: {_lighten(stage)}.",
            )


def _weight_strain(stage: Stage, material: Material) -> float:
    """Strain by which a body as high as it is long sags under its own weight."""
    gravity = stage.drive.gravity
    if gravity is None or isinstance(stage.mesh, Sheet):  # which folds, and is meant to
        return 0.0
    extent = float(np.max(np.subtract(*reversed(stage.mesh.bounds()))))
    return material.density * float(np.linalg.norm(gravity)) * extent / _young(material)


def _lighten(stage: Stage) -> str:
    """What makes a body bear its own weight: another unit where that is the likely fault, or another material."""
    unit = _likely_unit(stage)
    if unit is None:
        return "raise young, or lower density"
    factor, size, mass = UNITS[unit] / stage.scene.metres, stage.mesh.size(), float(stage.body.mass.sum())
    return (
        f"it is {size:.3g} m across and weighs {_weight_text(mass)}, which units = "
        f'"{unit}" would make {factor * size:.3g} m and {_weight_text(factor**3 * mass)}; set that, or raise young'
    )


def _weight_text(mass: float) -> str:
    return f"{mass:,.0f} kg" if mass >= 1000.0 else f"{mass:.3g} kg"


def _likely_unit(stage: Stage) -> str | None:
    """The metric unit that makes the body nearest to a metre across, where the scene has another and the body would
    bear its own weight."""
    size, here = stage.mesh.size(), stage.scene.metres
    unit = min(METRIC, key=lambda name: abs(math.log(size * UNITS[name] / here)))
    strain = max(_weight_strain(stage, material) for material in stage.materials.values()) * UNITS[unit] / here
    return None if UNITS[unit] == here or strain > 1.0 else unit


def check_time_step(stage: Stage) -> Iterator[Finding]:
    """Steps too long for the body's own vibration, or too short to be worth it."""
    time = stage.scene.time
    if time.integrator == "static":
        return
    if time.step > LONG_STEP:
        yield Finding(
            "warning", "time step", f"a time step is {time.step:.3g} s long: raise time.fps or time.substeps."
        )
        return
    if isinstance(stage.mesh, Sheet):
        return
    yield from _check_vibration(stage)
    crossing = stage.quality.min_edge / max(m.wave_speed for m in stage.materials.values())
    if time.step < 0.01 * crossing:
        yield Finding(
            "warning",
            "time step",
            f"a time step takes {1e3 * time.step:.3g} ms, less than a hundredth of what a wave needs to cross "
            "one tetrahedron: fewer time.substeps give the same motion.",
        )


def _check_vibration(stage: Stage) -> Iterator[Finding]:
    """Steps in which the softest vibration is damped away, though frames would show it, or shown at a wrong speed."""
    time = stage.scene.time
    keeps, enough = time.integrator == "newmark", FEWEST_STEPS_A_PERIOD * time.step
    least = 0.0 if keeps else FRAMES_THAT_SHOW / time.fps
    if enough <= least:
        return
    period = softest_period(stage.body, enough)
    if least <= period < enough:
        wanted = math.ceil(STEPS_A_PERIOD / (period * time.fps))
        remedy = f"set time.substeps = {wanted}" if wanted <= MANY_SUBSTEPS else "lower young"
        static = "" if stage.scene.method.is_projective else ', or time.integrator = "static" where loads are slow'
        yield Finding(
            "warning" if keeps and time.step > period else "note",
            "time step",
            f"a time step takes {1e3 * time.step:.3g} ms and the softest vibration of the body about "
            f"{1e3 * period:.3g} ms, {_what_is_lost(stage, period)}: {remedy}{static}.",
        )


def _what_is_lost(stage: Stage, period: float) -> str:
    """What a vibration of some period [s] looks like in steps of the scene."""
    time = stage.scene.time
    if time.integrator == "implicit_euler":
        return "which implicit_euler damps away within one swing"
    angle = math.pi * time.step / period
    return f"which {time.integrator} shows {angle / math.atan(angle):.2g} times as slow"


def check_elements(stage: Stage) -> Iterator[Finding]:
    """Badly shaped tetrahedra."""
    if isinstance(stage.mesh, Sheet):
        return
    quality = stage.quality
    if quality.slivers:
        share = quality.slivers / len(stage.mesh.tets)
        yield Finding(
            "warning" if share > 0.01 else "note",
            "slivers",
            f"{quality.slivers} of {len(stage.mesh.tets)} tetrahedra are slivers (the worst is number "
            f"{quality.worst_tet}): they bend too stiffly, so mesh the body again with  supple mesh.",
        )


def _young(material: Material) -> float:
    """Young's modulus [Pa] at rest."""
    return material.mu * (3.0 * material.lam + 2.0 * material.mu) / (material.lam + material.mu)
