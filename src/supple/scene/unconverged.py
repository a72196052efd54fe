"""A warning for runs of projective dynamics whose steps ended before they were near their minimum."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from supple.errors import SuppleWarning
from supple.method.projective.stopping import CONVERGENCE, MOST
from supple.scene.method_table import MethodTable
from supple.scene.progress import FrameRow

__all__ = ["warn_unconverged"]


def warn_unconverged(method: MethodTable, rows: Sequence[FrameRow]) -> None:
    """Tell how many frames of a run were not converged, how far the worst of them still had to go, and what helps."""
    told = [(row, row.change) for row in rows if row.change is not None and not row.converged]
    if not told:
        return
    worst = max(change for _, change in told)
    least = method.iterations or 10
    if method.convergence == 0.0:
        after, remedy = f"exactly {least}", f"set method.convergence = {CONVERGENCE:g}"
    else:
        most = max(method.max_iterations or MOST, least)
        after, remedy = f"at most {most}", f"raise method.max_iterations (now {most})"
    warnings.warn(
        f"steps in {len(told)} of {len(rows)} frames, the first of them frame {told[0][0].frame}, are not converged "
        f"after {after} iterations: up to {_share(worst)} of the way of a step was left; {remedy}, use more substeps, "
        'or method.name = "full".',
        SuppleWarning,
        stacklevel=3,
    )


def _share(change: float) -> str:
    return f"{100 * change:.2g} %" if change < 1.0 else f"{change:.2g} times"
