"""Regions of the characters of [XB16], around limbs: how many of them, and columns of each, are as in its section 9."""

from supple.subspace.regions import Region

__all__ = ["APE", "ARM", "BEAR"]

Point = tuple[float, float, float]


def _pair(name: str, begin: Point, end: Point, rank: int) -> tuple[Region, Region]:
    """A limb of the left side, and that of the right."""
    left = Region(f"left_{name}", begin, end, rank)
    return left, Region(f"right_{name}", (-begin[0], *begin[1:]), (-end[0], *end[1:]), rank)


#: Three of 15.
ARM = (
    Region("torso", (0.0, 0.04, 0.0), (0.0, 0.43, 0.0), 15),
    Region("upper_arm", (0.2, 0.45, -0.005), (0.42, 0.437, -0.01), 15),
    Region("forearm", (0.48, 0.434, -0.008), (0.80, 0.43, 0.006), 15),
)
#: 20 for head and body, 15 for limbs.
BEAR = (
    Region("head", (0.0, 1.0, 0.68), (0.0, 0.95, 0.98), 20),
    Region("body", (0.0, 0.80, -0.55), (0.0, 0.86, 0.25), 20),
    *_pair("arm", (0.225, 0.45, 0.24), (0.22, 0.10, 0.32), 15),
    *_pair("leg", (0.245, 0.42, -0.42), (0.22, 0.10, -0.56), 15),
)
#: 10 for legs, 20 for the rest.
APE = (
    Region("head", (0.0, 1.30, 0.12), (0.0, 1.42, 0.17), 20),
    Region("body", (0.0, 0.62, -0.05), (0.0, 1.10, 0.0), 20),
    *_pair("arm", (0.42, 0.93, 0.01), (0.575, 0.29, 0.13), 20),
    *_pair("leg", (0.20, 0.45, 0.02), (0.24, 0.07, 0.06), 10),
)
