"""Newton's method in a subspace, one compiled call per step.

The stiffness is made once a step, at the extrapolated coordinates, and kept while residuals fall fast; where they do
not, it is made again, and where they grow the step starts over from its beginning with a line search on the energy.
The function below is a template: the names energy, stress and roots are those of the materials
(cubature/reduced_kernels.py), pull, stiffen, height and shift those of the loads (method/reduced/loads.py), all others
those of the space (method/reduced/space.py).
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float32, float64, get_num_threads, int64
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.reduced_kernels import PointLoops
from supple.elastic import EXACT, PROJECTED
from supple.linalg.apart import call_apart
from supple.linalg.blas import square_address
from supple.linalg.compiled import compile_copy
from supple.linalg.vectors import add_to, are_equal, copy_into
from supple.method.reduced.space import WHOLE, SpaceLoops

__all__ = [
    "CAPPED", "CONVERGED", "INDEFINITE", "NOT_FINITE", "NO_DESCENT", "STALLED", "Found", "Given", "LoadLoops",
    "Scratch", "call_materials", "is_large", "make_names", "minimise_whole", "newton_kernel", "square_kernel",
]  # fmt: skip

Given = tuple[Any, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Data of the loads, beginning, guess and settings, as `_minimise` takes them."""
Found = tuple[NDArray[np.float64], int, int, float, float, int]
"""What `_minimise` returns."""
CONVERGED = 0
CAPPED = 5  #: status of a step that used up its stiffnesses: finite, and no farther off than where it began
STALLED, NOT_FINITE, NO_DESCENT, INDEFINITE = 1, 2, 3, 4
REASONS = {
    STALLED: "no convergence in the Newton iterations allowed",
    NOT_FINITE: "the forces are not finite",
    NO_DESCENT: "no step of the line search lowers the energy",
    INDEFINITE: "the stiffness matrix is not positive definite",
}
_FALLS_FAST = 0.25  # residuals that fall less than this make the stiffness anew
_ARMIJO, _SMALLEST_STEP = 1e-4, 2.0**-20
_CLEAR = 0.1  # a full step that leaves so little of the residual needs no look at the energy
_PARALLEL_FROM = 1_000_000  # rank² times elements that are worth a second thread; halves are summed in one order


class LoadLoops(NamedTuple):
    """What a potential of loads over positions z answers; `data` is a tuple of arrays."""

    pull: Callable[..., Any]
    """pull(z, data, g): fill g with the gradient."""
    stiffen: Callable[..., Any]
    """stiffen(z, data, K): add the Hessian to the lower triangle."""
    height: Callable[..., Any]
    """height(z, data): the energy [J] and the size of its terms."""
    shift: Callable[..., Any]
    """shift(z, d, t, out): positions moved by t d."""
    name: str


class Scratch(NamedTuple):
    """Memory that steps use again and again; it holds nothing between them."""

    address: int
    L: NDArray[np.float32]
    signs: NDArray[np.bool_]
    stack: NDArray[np.float32]
    halves: NDArray[np.float32]
    K: NDArray[np.float64]

    @classmethod
    def of(cls, elements: ReducedElements, unknowns: int) -> "Scratch":
        """For elements and a number of unknowns."""
        count, rank = elements.count, elements.rank
        return cls(
            square_address(),
            np.empty((count, 9, 9), np.float32),
            np.empty((count, 9), np.bool_),
            np.empty((9 * count, elements.single.shape[2]), np.float32),
            np.zeros((2, rank, rank), np.float32),
            np.zeros((unknowns, unknowns)),
        )


@cache
def newton_kernel(
    loops: PointLoops, loads: LoadLoops, large: bool, space: SpaceLoops | None = None
) -> Callable[..., Any]:
    """The compiled `_minimise` for materials, a kind of loads and a kind of space, by default that of a whole body."""
    names, kind = make_names(loops, loads, large, space or WHOLE)
    return compile_copy(_minimise, f"{kind}_{large}", names)


def make_names(loops: PointLoops, loads: LoadLoops, large: bool, space: SpaceLoops) -> tuple[dict[str, Any], str]:
    """The names that templates of Newton's method use, and what tells them from those of others."""
    if large:
        get_num_threads()  # starts the threads: a loop from the cache that calls a parallel one does not
    names = {**call_materials(loops), **loads._asdict(), **space._asdict()}
    names["square"] = square_kernel(loops, large, space)
    kind = f"{loops.name}_{loads.name}_{space.name}"
    names["descend"] = compile_copy(_descend, kind, names)
    # Called once: by itself it would be compiled once more
    names["search"] = compile_copy(_search, kind, names, inline="always")
    return names, kind


@cache
def square_kernel(loops: PointLoops, large: bool, space: SpaceLoops | None = None) -> Callable[..., Any]:
    """The compiled stiffness of a kind of space, by default that of a whole body."""
    return compile_copy((space or WHOLE).square, f"{loops.name}_{large}", call_materials(loops), parallel=large)


@cache
def call_materials(loops: PointLoops) -> dict[str, Any]:
    """The loops, called where they are: they take most of the compiler's time and of a step's, which calls them often
    and for all elements at once."""
    F, table, bounds = float64[::1], float64[:, ::1], int64[::1]
    some = F, table, bounds, int64, int64, int64
    return {
        "energy": call_apart(loops.energy, (F, table, bounds, int64)),
        "stress": call_apart(loops.stress, (*some, F)),
        "roots": call_apart(loops.roots, (*some, float32[:, :, ::1], boolean[:, ::1])),
    }


def minimise_whole(
    elements: ReducedElements, rest: NDArray[np.float64], scratch: Scratch, loads: LoadLoops, given: Given
) -> Found:
    """What Newton's method finds in one space for all elements; `rest`: their deformation gradients without q."""
    s = scratch
    found: Found = newton_kernel(elements.loops, loads, is_large(elements))(
        s.address, elements.gradient, elements.single, rest, elements.table, elements.bounds, *given,
        s.L, s.signs, s.stack, s.halves, s.K,
    )  # fmt: skip
    return found


def is_large(elements: ReducedElements) -> bool:
    """Whether the stiffness of these elements is worth a second thread."""
    return elements.rank**2 * elements.count >= _PARALLEL_FROM


def _descend(G, rest, table, bounds, data, z, F, P, inner, g):
    """Fill g with the gradient at z, F with the deformation there and `inner` with the elastic part; returns |g|."""
    rank = rank_of(G)
    strain(G, z[:rank], F)
    add_to(F, rest)
    stress(F, table, bounds, 0, 0, table.shape[1], P)
    gather(P, G, inner)
    pull(z, data, g)
    add_to(g, inner)
    return np.sqrt(np.dot(g, g))


def _search(G, rest, table, bounds, data, z, d, g, F, ahead):
    """Fill `ahead` with positions along -d that lower the energy enough; with the whole step, and False, if none do."""
    rank, slope = rank_of(G), -np.dot(g, d)
    lift, scale = height(z, data)
    strain(G, z[:rank], F)
    add_to(F, rest)
    inside = energy(F, table, bounds, 0)
    here, limit = inside + lift, 1e-15 * (scale + abs(inside))
    t = 1.0
    while t >= _SMALLEST_STEP:
        shift(z, d, -t, ahead)
        strain(G, ahead[:rank], F)
        add_to(F, rest)
        there = energy(F, table, bounds, 0) + height(ahead, data)[0]
        if there <= here + _ARMIJO * t * slope + limit:
            return True
        t *= 0.5
    shift(z, d, -1.0, ahead)
    return False


def _minimise(address, G, single, rest, table, bounds, data, begin, guess, settings, L, signs, stack, pieces, K):
    """Positions z, iterations, stiffnesses made, residual [relative], elastic force there, status.

    settings: tolerance, reference, floor, most iterations; where there are more, also the most stiffnesses to make, and
    whether the first of them is in K already, as a factor.
    """
    rank, unknowns = rank_of(G), K.shape[0]
    tolerance, reference, floor, most = settings[0], settings[1], settings[2], int(settings[3])
    most_made, ready = (settings[4], settings[5] > 0.0) if settings.size > 4 else (np.inf, False)
    F, P = np.empty(rest.size), np.empty(rest.size)
    inner, g, g_there, d = np.empty(rank), np.empty(unknowns), np.empty(unknowns), np.empty(unknowns)
    z, ahead = guess.copy(), np.empty(guess.size)
    goal = max(tolerance * reference, floor)
    stiffnesses, stale, careful, status = int(ready), not ready, False, STALLED
    size, iteration, searched = np.inf, 0, False
    fresh = True  # the gradient at z is not known yet
    while iteration <= most:
        if fresh:
            before, size = size, descend(G, rest, table, bounds, data, z, F, P, inner, g)
            fresh = False
            if not np.isfinite(size) or (not careful and size > before):
                if careful or (are_equal(begin, guess) and not np.isfinite(size)):
                    status = NOT_FINITE
                    break
                # Extrapolated too far: from the beginning again, with care
                copy_into(begin, z)
                careful, fresh, size = True, True, np.inf
                iteration += 1
                continue
            stale = stale or size > _FALLS_FAST * before
        if size <= goal:
            status = CONVERGED
            break
        if iteration == most:
            break
        if stale or careful:
            if stiffnesses >= most_made:
                status = CAPPED
                break
            # As numbers of no fixed value: a form that is written here would have a square compiled for it
            square(address, single, G, F, table, bounds, np.int64(EXACT), L, signs, stack, pieces)
            join(pieces, G, K)
            stiffen(z, data, K)
            if not factor(K, G):
                square(address, single, G, F, table, bounds, np.int64(PROJECTED), L, signs, stack, pieces)
                join(pieces, G, K)
                stiffen(z, data, K)
                if not strengthen(K, G):
                    status = INDEFINITE
                    break
            stiffnesses += 1
            stale = False
        copy_into(g, d)
        solve(K, G, d)
        iteration += 1
        if not careful:
            shift(z, d, -1.0, ahead)
            z, ahead = ahead, z
            fresh = True
            continue
        shift(z, d, -1.0, ahead)
        there = descend(G, rest, table, bounds, data, ahead, F, P, inner, g_there)
        if there <= _CLEAR * size:  # near the end energies are too close to tell apart, while residuals still fall
            z, ahead, g, g_there, size = ahead, z, g_there, g, there
            continue
        if not search(G, rest, table, bounds, data, z, d, g, F, ahead):
            # Energies too close to tell apart: the residual decides
            if searched or size > 1e3 * goal:
                status = NO_DESCENT
                break
            searched = True
        z, ahead = ahead, z
        fresh = True
    elastic = np.sqrt(np.dot(inner, inner))
    return z, iteration, stiffnesses, size / max(reference, floor), elastic, status
