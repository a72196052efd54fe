"""What constraints ask of their numbers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, refuse
from supple.errors import MaterialError

__all__ = ["check_limits", "each"]

FloatArray = NDArray[np.float64]


def each(value: ArrayLike, count: int, where: str, unit: str) -> FloatArray:
    """One number above 0 for all, or one for each of `count`, as an array (count,); `where` is "Class(argument)"."""
    shape = () if np.ndim(value) == 0 else (count,)
    numbers = as_floats(value, where, shape, unit=unit, above=0.0, error=MaterialError)
    return np.array(np.broadcast_to(numbers, (count,)))


def check_limits(where: str, limits: tuple[float, float], *, ropes: bool = False) -> None:
    """Refuse limits that are not 0 < low <= high, or 0 <= low for `ropes`; the high one may be infinite."""
    low, high = as_floats(limits, where, (2,), finite=False, error=MaterialError)
    if not (0.0 <= low <= high and np.isfinite(low) and (ropes or low > 0.0)):
        sign = "<=" if ropes else "<"
        refuse(where, f"({low:g}, {high:g})", f"0 {sign} low <= high, such as (0.9, 1.1)", error=MaterialError)
