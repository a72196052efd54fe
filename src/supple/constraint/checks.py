"""What constraints ask of their numbers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import MaterialError

__all__ = ["check_limits", "check_positive", "each"]

FloatArray = NDArray[np.float64]


def each(value: ArrayLike, count: int) -> FloatArray:
    """One number for all, or one for each of `count`, as an array (count,)."""
    return np.array(np.broadcast_to(np.asarray(value, np.float64), (count,)))


def check_positive(name: str, value: ArrayLike, unit: str) -> None:
    """Refuse a number that is not finite and above zero."""
    values = np.atleast_1d(np.asarray(value, np.float64))
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))
    if bad.size:
        where = f" at element {bad[0]}" if values.size > 1 else ""
        raise MaterialError(f"{name} = {values[bad[0]]:g} {unit}{where} is not positive: give a number above 0.")


def check_limits(name: str, limits: tuple[float, float], *, ropes: bool = False) -> None:
    """Refuse limits that are not 0 < low <= high, or 0 <= low for `ropes`; the high one may be infinite."""
    low, high = limits
    if not (0.0 <= low <= high and np.isfinite(low) and (ropes or low > 0.0)):
        sign = "<=" if ropes else "<"
        raise MaterialError(f"{name} = ({low:g}, {high:g}) is no range: give 0 {sign} low <= high, such as (0.9, 1.1).")
