import numpy as np
import pytest
from projective_helpers import bar

from supple.elastic import Pins
from supple.errors import SceneError
from supple.method.choose_spaces import choose_spaces
from supple.method.hyperreduced.model import SpaceSizes

SMALL = SpaceSizes(handles=6, radius=1.5, clusters=20)
FITTED = SpaceSizes(handles=12, radius=2.0, functions=24, samples=140, projection="fit")


@pytest.mark.parametrize("sizes", [SMALL, FITTED])
@pytest.mark.parametrize("held", [False, True])
def test_a_smaller_tolerance_takes_larger_spaces_and_keeps_it(held: bool, sizes: SpaceSizes) -> None:
    pins = Pins.of(np.flatnonzero(bar().vertices[:, 0] == 0.0)) if held else None
    body = bar(8, pins=pins)
    loose, tight = choose_spaces(body, 0.5, sizes=sizes), choose_spaces(body, 0.1, sizes=sizes)
    assert loose.error <= 0.5
    assert tight.error <= 0.1
    assert tight.sizes.handles > loose.sizes.handles
    assert f"{tight.sizes.handles} handles" in tight.describe()
    assert [error for _, error in tight.tried][-1] == tight.error


def test_what_cannot_be_met_is_told_by_its_error() -> None:
    choice = choose_spaces(bar(8), 1e-9, sizes=SMALL, steps=5)
    assert choice.error > 1e-9
    assert choice.error == min(error for _, error in choice.tried)
    with pytest.raises(SceneError, match="tolerance = 2"):
        choose_spaces(bar(4), 2.0)
