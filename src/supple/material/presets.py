"""Everyday materials in SI units, as starting points."""

from dataclasses import dataclass

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True)
class Preset:
    """Stiffness and density of one substance, within the range the literature gives for it."""

    young: float
    """Young's modulus [Pa]."""
    poisson: float
    density: float
    """[kg/m³]."""
    source: str


PRESETS: dict[str, Preset] = {
    "skin": Preset(2.0e5, 0.45, 1100.0, "indentation and suction on human skin give 0.05 to 1 MPa"),
    "fat": Preset(3.0e3, 0.45, 920.0, "adipose tissue, 1 to 20 kPa"),
    "muscle": Preset(3.0e4, 0.45, 1060.0, "relaxed skeletal muscle across the fibres, 10 to 60 kPa"),
    "rubber": Preset(1.0e6, 0.47, 1100.0, "soft vulcanised rubber and silicone, 0.5 to 5 MPa"),
    "gelatine": Preset(8.0e3, 0.45, 1030.0, "dessert to ballistic gelatine, 3 to 100 kPa"),
}
