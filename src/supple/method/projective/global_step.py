"""The global step of projective dynamics: one prefactored matrix for x, y and z, pins eliminated axis by axis."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.contact.delassus import Delassus
from supple.linalg.ldlt import LDLT
from supple.solve.events import Grab

__all__ = ["GlobalStep"]

FloatArray = NDArray[np.float64]


class GlobalStep:
    """A⁻¹ over the coordinates that are free; axes held alike share a factor."""

    def __init__(self, matrix: Any, held: NDArray[np.bool_], factor: LDLT | None = None) -> None:
        """Of a matrix (n, n) in the order of elimination, its rows held along axes (n, 3).

        `factor` may be that of the matrix without pins.
        """
        self._held = held
        self._groups: list[tuple[list[int], LDLT]] = []
        for axis in range(3):
            for axes, _ in self._groups:
                if np.array_equal(held[:, axes[0]], held[:, axis]):
                    axes.append(axis)
                    break
            else:
                bare = factor is not None and not held[:, axis].any()
                own = factor if bare and factor is not None else LDLT(_eliminate(matrix, held[:, axis]))
                self._groups.append(([axis], own))
        self._grabs: tuple[Grab, ...] = ()
        self._pulls: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._delassus: Delassus | None = None

    def delassus(self, skin: NDArray[np.int32], number: NDArray[np.integer]) -> Delassus:
        """Compliances of contacts, with the positions of vertices `skin` as coordinates; v stands in row number[v]."""
        if self._delassus is None:
            count, axes = len(self._held), 1 if len(self._groups) == 1 else 3
            rows = sp.csr_array((np.ones(len(skin)), (skin, np.arange(len(skin)))), shape=(count, len(skin)))

            def respond(vertices: NDArray[np.int32]) -> FloatArray:
                found = np.empty((axes, len(vertices), len(skin)))
                together = 3 // axes  # vertices whose columns one solve gives
                for first in range(0, len(vertices), together):
                    some = number[vertices[first : first + together]]
                    load = np.zeros((count, 3))
                    load[some, np.arange(len(some))] = 1.0
                    if axes == 3:
                        load[some] = 1.0
                    moved = self.solve(np.where(self._held, 0.0, load))[number[skin]].T
                    if axes == 3:
                        found[:, first] = moved
                    else:
                        found[0, first : first + len(some)] = moved[: len(some)]
                return found

            self._delassus = Delassus(rows, respond, axes)
        return self._delassus

    def pulled(self, grabs: tuple[Grab, ...], number: NDArray[np.integer]) -> None:
        """Let the springs of grabs belong to the matrix from now on; vertex v stands in row number[v].

        A few springs change its inverse by a matrix of low rank (Woodbury), which is cheaper than another factor.
        Where their far ends are does not matter.
        """
        shape = [(grab.vertices, grab.weights, grab.stiffness) for grab in grabs]
        if shape == [(grab.vertices, grab.weights, grab.stiffness) for grab in self._grabs]:
            return
        self._grabs, self._pulls, self._delassus = grabs, [], None
        weights = np.zeros((len(self._held), len(grabs)))
        for column, grab in enumerate(grabs):
            np.add.at(weights[:, column], number[list(grab.vertices)], grab.weights)
        for axes, factor in self._groups if grabs else ():
            free = np.where(self._held[:, axes[:1]], 0.0, weights)
            padded = np.pad(free, ((0, 0), (0, -len(grabs) % 3)))
            reach = np.hstack([factor.solve(padded[:, k : k + 3]) for k in range(0, padded.shape[1], 3)])
            reach = reach[:, : len(grabs)]
            core = np.diag([1.0 / grab.stiffness for grab in grabs]) + free.T @ reach
            self._pulls.append((free, reach, np.asarray(np.linalg.inv(core), np.float64)))

    def solve(self, residual: FloatArray) -> FloatArray:
        """A⁻¹ times residuals (n, 3) that vanish where pins hold; they may be overwritten."""
        out = np.empty_like(residual) if len(self._groups) > 1 else residual
        for group, (axes, factor) in enumerate(self._groups):
            solved = factor.solve(residual, out if len(axes) == 3 else None)
            if self._pulls:
                weights, reach, core = self._pulls[group]
                solved -= reach @ (core @ (weights.T @ solved))
            if len(axes) == 3:
                return solved
            out[:, axes] = solved[:, axes]
        return out

    @property
    def memory(self) -> int:
        """Bytes of the factors."""
        return sum(factor.memory for _, factor in self._groups)


def _eliminate(matrix: Any, held: NDArray[np.bool_]) -> sp.csr_array:
    """The matrix with the rows and columns of held unknowns replaced by those of the identity."""
    free = sp.diags_array((~held).astype(np.float64))
    return sp.csr_array(free @ matrix @ free + sp.diags_array(held.astype(np.float64)))
