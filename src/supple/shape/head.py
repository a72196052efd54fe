"""A head on its neck, with ears, hollow where the skull is; it is cut off at the neck, y = 0, and faces z."""

from scipy.spatial.transform import Rotation

from supple.shape.bone import Bone
from supple.shape.distance import (
    Field,
    cone,
    ellipsoid,
    mirrored,
    moved,
    smooth_difference,
    smooth_union,
    sphere,
    stood,
    tube,
)
from supple.shape.sketch import Sketch

__all__ = ["HEIGHT", "SKETCH", "draw"]

HEIGHT = 0.33  #: as drawn [m]

_NECK = (0.0, 0.095, -0.028)

#: Two bones, in the neck and in the base of the skull.
SKETCH = Sketch(
    bones=(
        Bone("neck", None, (0.0, 0.015, -0.035), _NECK, x=(-30, 30), y=(-40, 40), z=(-20, 20)),
        Bone("head", "neck", _NECK, (0.0, 0.142, -0.02), x=(-50, 45), y=(-75, 75), z=(-40, 40)),
    ),
    poses={
        "nod": {"head": (35, 0, 0)},
        "look_up": {"neck": (-10, 0, 0), "head": (-35, 0, 0)},
        "look_left": {"neck": (0, 15, 0), "head": (0, 55, 0)},
        "look_right": {"neck": (0, -15, 0), "head": (0, -55, 0)},
        "tilt": {"neck": (0, 0, -8), "head": (0, 0, -25)},
    },
    motion=(
        (0.0, "rest"), (0.4, "look_left"), (0.8, "look_right"), (1.2, "look_left"), (1.6, "look_right"), (2.0, "rest"),
        (2.5, "nod"), (3.0, "look_up"), (3.5, "tilt"), (4.0, "rest"),
    ),
)  # fmt: skip


def draw() -> Field:
    """A head with a face, ears and a neck around a closed cavity."""
    neck = tube(((0, -0.02, -0.04), 0.062), ((0, 0.05, -0.032), 0.053), ((0, 0.14, -0.02), 0.054))
    solid = smooth_union([smooth_union([neck, _skull()], 0.03), mirrored(_ear())], 0.012)
    hollow = ellipsoid((0, 0.232, -0.012), (0.052, 0.062, 0.066))
    return stood(smooth_difference(_add_face(solid), hollow, 0.005), 0.008)


def _skull() -> Field:
    crown = ellipsoid((0, 0.235, -0.014), (0.08, 0.096, 0.098))
    cheeks = mirrored(ellipsoid((0.034, 0.188, 0.048), (0.034, 0.036, 0.036)))
    jaw = mirrored(tube(((0.052, 0.165, 0.0), 0.022), ((0.016, 0.120, 0.058), 0.022)))
    face = ellipsoid((0, 0.175, 0.035), (0.056, 0.07, 0.056))
    mouth = ellipsoid((0, 0.152, 0.054), (0.034, 0.032, 0.036))
    return smooth_union([crown, face, mouth, cheeks, jaw, sphere((0, 0.112, 0.066), 0.021)], 0.03)


def _add_face(solid: Field) -> Field:
    sockets = mirrored(ellipsoid((0.034, 0.212, 0.103), (0.022, 0.014, 0.02)))
    eyes = mirrored(sphere((0.033, 0.211, 0.072), 0.0175))
    brow = mirrored(tube(((0.010, 0.232, 0.082), 0.010), ((0.048, 0.236, 0.062), 0.010)))
    nose = tube(((0, 0.222, 0.082), 0.009), ((0, 0.190, 0.109), 0.013))
    nostrils = mirrored(sphere((0.011, 0.186, 0.098), 0.010))
    upper = tube(((-0.028, 0.1465, 0.0885), 0.005), ((0, 0.1525, 0.0965), 0.0075), ((0.028, 0.1465, 0.0885), 0.005))
    lower = tube(((-0.024, 0.1395, 0.0895), 0.005), ((0, 0.1355, 0.0955), 0.008), ((0.024, 0.1395, 0.0895), 0.005))
    dented = smooth_difference(smooth_union([solid, brow], 0.02), sockets, 0.016)
    return smooth_union([dented, eyes, smooth_union([nose, nostrils], 0.008), upper, lower], 0.004)


def _ear() -> Field:
    """A shell that stands off the side, hollowed in front."""
    shell = ellipsoid((0, 0, 0), (0.0135, 0.044, 0.031))
    lobe = cone((0, -0.02, 0.004), (0, -0.035, 0.008), 0.012, 0.010)
    bowl = ellipsoid((0.012, 0.004, 0.004), (0.010, 0.024, 0.016))
    ear = smooth_difference(smooth_union([shell, lobe], 0.01), bowl, 0.006)
    return moved(ear, Rotation.from_euler("ZY", [-12, -28], degrees=True).as_matrix(), (0.088, 0.205, -0.022))
