"""The materials that every test of a material goes through."""

from collections.abc import Callable

import pytest

from supple.material import MATERIALS, ArrudaBoyce, Material
from supple.material.barrier import Barrier


def make(name: str) -> Material:
    if name == "arruda_boyce":
        return ArrudaBoyce(shear=3e4, segments=8.0, bulk=4e5)
    if name == "barrier":
        return Barrier(young=1e5, poisson=0.42)
    return MATERIALS[name](young=1e5, poisson=0.42)  # type: ignore[call-arg]


@pytest.fixture
def make_material() -> Callable[[str], Material]:
    return make


@pytest.fixture(params=[*sorted(MATERIALS), "barrier"])
def material(request: pytest.FixtureRequest) -> Material:
    return make(request.param)
