"""Laws of contact, compiled into what calls them."""

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from supple.method import frozen_contacts
from supple.method.frozen_contacts import FrozenContacts, push_back

FloatArray = NDArray[np.float64]


@njit(fastmath={"contract"})
def push_all(touch: FrozenContacts, gaps: FloatArray, pushes: FloatArray, aside: FloatArray) -> None:
    """A loop that fuses what it multiplies and adds."""
    for i in range(len(gaps)):
        push_back(touch, i, gaps[i], aside, pushes[i])


def test_laws_are_not_fused_by_loops_that_call_them(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is fused depends on whether the loop was compiled or loaded: only strict laws give the same bytes in both
    rng = np.random.default_rng(0)
    count, zero = 40, np.zeros(40)
    normal, gaps = rng.normal(size=(2, count, 3))
    touch = FrozenContacts(
        np.zeros((3 * count, 1)), zero, np.zeros((count, 3)), normal, *rng.random((2, count)), zero, gaps, np.ones(1)
    )
    compiled, interpreted, aside = np.empty((count, 3)), np.empty((count, 3)), np.empty(3)
    push_all(touch, gaps, compiled, aside)
    monkeypatch.setattr(frozen_contacts, "_split", frozen_contacts._split.py_func)
    for i in range(count):
        push_back.py_func(touch, i, gaps[i], aside, interpreted[i])
    assert compiled.tobytes() == interpreted.tobytes()
