"""The reduced element, the same in every method: F = F₀ + G q on the elements of a rule, and nothing per vertex.

The reduced force is the sum of w Gᵀ P, the reduced stiffness the sum of w Gᵀ H G. Elements are stacked so that both
are matrix products. Forces are in double precision; the products that make the stiffness are in single, since Newton's
method corrects itself.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.reduced_kernels import PointLoops, point_loops
from supple.cubature.reduced_stiffness import square_rows
from supple.elastic import EXACT, Body
from supple.linalg.blas import square_address
from supple.linalg.mirror import mirror
from supple.material.response import Response

__all__ = ["ReducedElements"]

FloatArray = NDArray[np.float64]
_VECTOR = 16  # numbers


@dataclass(frozen=True, eq=False)
class ReducedElements:
    """Weighted elements as seen from a subspace, those of one kind of material together."""

    ids: NDArray[np.int64]
    """Number of each element in the mesh, (c,)."""
    responses: tuple[Response, ...]
    bounds: NDArray[np.int64]
    """Elements of kind k stand from bounds[k] to bounds[k + 1]."""
    gradient: FloatArray
    """G, (9 c, r): row 9 e + k is the derivative of entry k of element e's F by the coordinates."""
    rest: FloatArray
    """F₀, (9 c,)."""
    table: FloatArray
    """Volume times weight [m³] and the three moduli, (4, c)."""

    @classmethod
    def build(
        cls,
        body: Body,
        columns: FloatArray,
        members: NDArray[np.integer],
        weights: FloatArray,
        offset: FloatArray | None = None,
        elements: ElementMap | None = None,
    ) -> "ReducedElements":
        """The elements `members` of a body, each counted `weights` times, for displacements u₀ + U q with U (3 n, r)
        and an offset u₀ [m], (n, 3); `elements` is the body's map where it was made before."""
        elements = ElementMap(body) if elements is None else elements
        kind_of: dict[Response, int] = {}
        kinds = np.array([kind_of.setdefault(part.material.response, len(kind_of)) for part in body.parts])
        order = np.argsort(kinds[elements.part[members]], kind="stable")
        who = np.asarray(members)[order]
        kind = kinds[elements.part[who]]
        used = sorted(set(kind.tolist()))
        moduli = np.array([part.material.moduli for part in body.parts])
        rest = np.tile(np.eye(3).ravel(), len(who))
        if offset is not None:
            rest += elements.gradients(offset.reshape(-1, 1), who).ravel()
        return cls(
            who,
            tuple(response for response, number in kind_of.items() if number in used),
            np.concatenate([[0], np.cumsum([np.count_nonzero(kind == number) for number in used])]).astype(np.int64),
            np.ascontiguousarray(elements.gradients(columns, who).reshape(9 * len(who), columns.shape[1])),
            rest,
            np.ascontiguousarray(
                np.vstack([elements.volume[who] * np.asarray(weights)[order], moduli[elements.part[who]].T])
            ),
        )

    @property
    def count(self) -> int:
        """Number of elements."""
        return int(self.table.shape[1])

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.gradient.shape[1])

    @cached_property
    def loops(self) -> PointLoops:
        """The compiled loops over these elements."""
        return point_loops(self.responses)

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """G in single precision, (c, 9, w); narrow rows are filled up with zeros to vectors of the processor."""
        width = max(self.rank, _VECTOR)
        out = np.zeros((self.count, 9, width), np.float32)
        out[:, :, : self.rank] = self.gradient.reshape(self.count, 9, self.rank)
        return out

    def with_stiffness(self, factor: float) -> "ReducedElements":
        """The same elements with their energy multiplied."""
        return replace(self, table=self.table * np.array([factor, 1.0, 1.0, 1.0])[:, None])

    def without(self, others: NDArray[np.integer]) -> "ReducedElements":
        """The same elements, those whose numbers are among `others` (ascending) with no weight."""
        kept = np.ones(len(self.ids))
        if len(others):
            place = np.minimum(np.searchsorted(others, self.ids), len(others) - 1)
            kept[others[place] == self.ids] = 0.0
        return replace(self, table=np.vstack([self.table[:1] * kept, self.table[1:]]))

    def none(self) -> "ReducedElements":
        """None of them, over the same coordinates."""
        return replace(
            self, ids=self.ids[:0], bounds=np.zeros_like(self.bounds), gradient=self.gradient[:0], rest=self.rest[:0],
            table=np.zeros((4, 0)),
        )  # fmt: skip

    def strain(self, q: FloatArray) -> FloatArray:
        """Deformation gradients F₀ + G q at coordinates q (r,), (9 c,)."""
        return self.rest + self.gradient @ q

    def gather(self, P: FloatArray) -> FloatArray:
        """Gᵀ P, (r,), of stresses times volumes and weights (9 c,) [J]."""
        return P @ self.gradient

    def energy(self, q: FloatArray) -> float:
        """Elastic energy [J] at coordinates q (r,)."""
        return self.energy_of(self.strain(q))

    def energy_of(self, F: FloatArray) -> float:
        """Elastic energy [J] of deformation gradients F (9 c,)."""
        return float(self.loops.energy(F, self.table, self.bounds, 0))

    def volume_ratios(self, F: FloatArray) -> FloatArray:
        """Volume ratio J of every element, (c,), of deformation gradients F (9 c,)."""
        return np.asarray(np.linalg.det(F.reshape(-1, 3, 3)))

    def stress(self, F: FloatArray) -> FloatArray:
        """Stresses times volumes and weights [J], (9 c,), of deformation gradients F (9 c,)."""
        out = np.empty_like(self.rest)
        self.loops.stress(F, self.table, self.bounds, 0, 0, self.count, out)
        return out

    def force(self, q: FloatArray) -> FloatArray:
        """Derivative of the energy by the coordinates, (r,)."""
        return self.gather(self.stress(self.strain(q)))

    def roots(self, F: FloatArray) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """L (c, 9, 9) of the second derivatives ± l lᵀ of the energy by F (9 c,), and their signs, (c, 9)."""
        L, signs = np.empty((self.count, 9, 9), np.float32), np.empty((self.count, 9), np.bool_)
        self.loops.roots(F, self.table, self.bounds, 0, 0, self.count, L, signs)
        return L, signs

    def square(self, L: NDArray[np.float32], signs: NDArray[np.bool_], form: int) -> FloatArray:
        """Gᵀ H G of all elements, (r, r), in single precision; H from `roots`."""
        return self.square_some(L, signs, form, 0, self.count, self.rank)

    def square_some(
        self, L: NDArray[np.float32], signs: NDArray[np.bool_], form: int, begin: int, end: int, rank: int
    ) -> FloatArray:
        """Gᵀ H G of elements begin to end for the first coordinates, (rank, rank), in single precision."""
        K = np.zeros((rank, rank), np.float32)
        stack = np.empty((9 * self.count, self.single.shape[2]), np.float32)
        square_rows(square_address(), self.single, L, signs, begin, end, form, stack, K)
        return mirror(K.T)

    def stiffness(self, q: FloatArray, *, form: int = EXACT) -> FloatArray:
        """Second derivative of the energy by the coordinates in single precision, (r, r)."""
        return self.square(*self.roots(self.strain(q)), form)
