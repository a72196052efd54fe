"""Anderson's mixing: fixed points of maps that are dear to evaluate, in fewer evaluations."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Anderson"]

FloatArray = NDArray[np.float64]
_WINDOW = 8  # changes remembered
_CONDITION = 1e-8  # of what is left of them in a least-squares fit


class Anderson:
    """Follows z, g(z) from evaluation to evaluation and says where to look next."""

    def __init__(self) -> None:
        self._last: tuple[FloatArray, FloatArray] | None = None
        self._changes: list[tuple[FloatArray, FloatArray]] = []

    def mix(self, z: FloatArray, mapped: FloatArray) -> FloatArray:
        """The next z, after g(z) was found to be `mapped`.

        The combination of what was seen whose residual g(z) - z is smallest; a sum of values of g, so that it keeps
        every linear relation that these have.
        """
        residual = (mapped - z).ravel()
        if self._last is not None:
            before, mapped_before = self._last
            if np.linalg.norm(residual) > 2.0 * np.linalg.norm(before):
                self._changes.clear()  # something else than before is going on
            self._changes.append((residual - before, mapped.ravel() - mapped_before))
            self._changes = self._changes[-_WINDOW:]
        self._last = residual, mapped.ravel().copy()
        if not self._changes:
            return mapped
        residuals, values = (np.stack(fields, axis=1) for fields in zip(*self._changes, strict=True))
        shares = np.linalg.lstsq(residuals, residual, rcond=_CONDITION)[0]
        return np.asarray(mapped - (values @ shares).reshape(mapped.shape))
