"""Lengths of a scene file turned into metres, once, at the border."""

from __future__ import annotations

from supple.scene.section import AnySection, Unit, change_marked

__all__ = ["UNITS", "UNITS_RULE", "to_metres"]

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "um": 1e-6, "km": 1000.0, "in": 0.0254, "ft": 0.3048}

UNITS_RULE = (
    "Lengths, positions and velocities of the scene and of the files it names are in `units`; "
    "pascals, kg/m³, newtons, m/s² (gravity) and seconds are always SI."
)


def to_metres(section: AnySection, metres: float) -> AnySection:
    """The table with every length and velocity multiplied by `metres`, the size of one scene unit [m]."""
    if metres == 1.0:
        return section
    return change_marked(section, Unit, lambda unit, value: value * metres if unit.scales else value)
