"""Conjugate gradients on block matrices, every pass fused.

The preconditioner adds two parts, both of which see contacts: the inverse diagonal blocks, for what changes from vertex
to vertex, and an exact solve for rigid motions of clusters of vertices, for what is smooth; without the second the
iterations grow with the number of elements across the body, which matters where inertia does not hold them down.
Springs that join vertices, as where two surfaces stick to each other, may be many times stiffer than elements; where
they are, a few sweeps over the springs alone take the place of the inverse blocks. The matrix is stored in single
precision: its products are summed in double, half the bytes move, and a Newton step asks for a few digits only. Sums
run over clusters, each in one order: threads change nothing.
"""

import numpy as np
from numba import get_num_threads, prange, set_num_threads
from numpy.typing import NDArray

from supple.linalg.blocks import BlockRows
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.inverses import are_definite, invert_blocks, invert_dense
from supple.linalg.jit import njit
from supple.linalg.overlay import Overlay
from supple.linalg.pattern import BlockPattern
from supple.linalg.rigid_clusters import RigidClusters
from supple.linalg.springs import add_clustered, add_diagonal, add_product, relax_joined

__all__ = ["ConjugateGradients"]

FloatArray = NDArray[np.float64]
_CLUSTERS, _SMALLEST_CLUSTER = 100, 200
_PARALLEL_FROM = 10_000  # vertices; threads meet four times an iteration, and wait where others use the cores
_STIFF = 3.5  # median of springs by diagonal blocks from which on sweeps over springs cost less than iterations
_NO_SPRINGS = np.zeros((0, 1), np.int64), np.zeros((0, 1, 3)), np.zeros((0, 3, 3))


class ConjugateGradients:
    """Solves positive-definite systems of one pattern whose block rows lie at `points` [m], (n, 3)."""

    notices_indefinite = True

    def __init__(
        self,
        pattern: BlockPattern,
        points: FloatArray,
        *,
        two_levels: bool = True,
        max_iterations: int = 3000,
        follows_bends: bool = False,
    ) -> None:
        """`follows_bends`: a matrix that is not positive definite has an answer too, one that goes as far as it is and
        then along the direction in which it is not (`is_bent`)."""
        self.name = "two-level PCG" if two_levels else "block-Jacobi PCG"
        self._rows = BlockRows.build(pattern)
        self._max_iterations, self._two_levels = max_iterations, two_levels
        clusters = max(min(8, pattern.count), min(_CLUSTERS, pattern.count // _SMALLEST_CLUSTER))
        rigid = RigidClusters.build(points, clusters)
        self._order, self._start, self._owner, self._arms = rigid.order, rigid.start, rigid.owner, rigid.arms
        # Rows in the order of the clusters: a product that jumps about in memory takes twice as long
        first, lengths = self._rows.start[self._order], np.diff(self._rows.start)[self._order]
        self._first = np.concatenate([[0], np.cumsum(lengths)])
        self._place = np.repeat(first - self._first[:-1], lengths) + np.arange(self._first[-1])
        self._columns = self._rows.columns[self._place]
        self.iterations = 0
        """Iterations of the last solve."""
        self.follows_bends, self.is_bent = follows_bends, False

    def prepare(self, data: FloatArray, overlay: Overlay | None = None, *, same: bool = False) -> None:
        """Take the matrix whose upper triangle is `data`, plus the overlay; `same`: only that has changed."""
        if not same:
            self._blocks = self._rows.fill(data, np.float32)[self._place]
            self._diagonal = _diagonal_blocks(data, self._rows.pattern)
            self._clustered = self._coarsen()
        self._springs = _NO_SPRINGS
        if overlay is not None:
            self._springs = (overlay.rows, overlay.weights, np.ascontiguousarray(overlay.curvature))
        diagonal, coarse = self._diagonal.copy(), self._clustered.copy()
        rows, weights, curvature = self._springs
        own = diagonal[:, 0] + diagonal[:, 4] + diagonal[:, 8]
        ratio = np.trace(curvature, axis1=1, axis2=2) / own[rows[:, 0]]
        joins = (np.count_nonzero(weights, axis=(1, 2)) > 3) & (ratio > 0.0)
        joins &= bool(joins.any()) and float(np.median(ratio[joins])) > _STIFF
        add_diagonal(rows[~joins], weights[~joins], curvature[~joins], diagonal)
        rows, weights, curvature = rows[joins], weights[joins], curvature[joins]
        place = np.full(len(diagonal), -1)
        place[rows] = 0
        face = np.flatnonzero(place == 0)
        place[face] = np.arange(len(face))
        self._joined = face, place[rows], weights, curvature, diagonal[face]
        add_diagonal(rows, weights, curvature, diagonal)
        if self.follows_bends and not are_definite(diagonal):
            raise NotPositiveDefinite  # what they precondition by must be, or nothing is conjugate
        self._inverse: FloatArray = invert_blocks(diagonal)
        if self._two_levels:
            add_clustered(*self._springs, self._owner, self._arms, coarse)
        self._coarse = invert_dense(coarse, bends=self.follows_bends)

    def _coarsen(self) -> FloatArray:
        """ZᵀAZ for the rigid motions Z of the clusters; nothing where there is one level only."""
        size = 6 * (len(self._start) - 1) if self._two_levels else 0
        coarse = np.zeros((size, size))
        if size:
            _coarsen(
                self._first, self._columns, self._blocks, self._order, self._start, self._owner, self._arms, coarse
            )
        return coarse

    def solve(self, b: FloatArray, tolerance: float, most: int | None = None) -> FloatArray:
        """x with |A x - b| <= tolerance |b| in the norm of the preconditioner, or as far as `most` iterations go."""
        n = self._rows.pattern.count
        x = np.zeros((n, 3))
        threads = get_num_threads()
        set_num_threads(threads if n >= _PARALLEL_FROM else 1)
        try:
            done = _iterate(
                self._first, self._columns, self._blocks, self._inverse,
                self._order, self._start, self._owner, self._arms, self._coarse, *self._springs, *self._joined,
                b.reshape(n, 3), x, np.zeros((4, n, 3)), np.zeros((4, len(self._joined[0]), 3)),
                tolerance, self._max_iterations if most is None else most,
            )  # fmt: skip
        finally:
            set_num_threads(threads)
        self.is_bent = done < 0
        if self.is_bent and not self.follows_bends:
            raise NotPositiveDefinite
        self.iterations = abs(done)
        return x.ravel()

    @property
    def memory(self) -> int:
        """Bytes held."""
        rows = self._rows.columns, self._rows.source, self._columns, self._place
        return int(self._blocks.nbytes + self._inverse.nbytes + sum(array.nbytes for array in rows))


def _diagonal_blocks(data: FloatArray, pattern: BlockPattern) -> FloatArray:
    """The symmetric diagonal blocks, (n, 9)."""
    p, step = pattern.rows, pattern.lengths
    a, b, c = data[p], data[p + 1], data[p + 2]
    d, e, f = data[p + step], data[p + step + 1], data[p + 2 * step - 1]
    return np.stack([a, b, c, b, d, e, c, e, f], axis=1)


@njit(cache=True, parallel=True, fastmath={"contract", "nsz"})
def _coarsen(start, columns, blocks, order, cluster, owner, arms, out):
    """out = ZᵀAZ, where Z holds the rigid motions of each cluster: displacements t + w x arm."""
    for k in prange(cluster.size - 1):
        left = np.empty((6, 3))
        for i in range(cluster[k], cluster[k + 1]):
            v = order[i]
            r0, r1, r2 = arms[v, 0], arms[v, 1], arms[v, 2]
            for m in range(start[i], start[i + 1]):
                w = columns[m]
                s0, s1, s2 = arms[w, 0], arms[w, 1], arms[w, 2]
                for j in range(3):
                    a, b, c = blocks[m, j], blocks[m, 3 + j], blocks[m, 6 + j]  # column j of the block
                    left[0, j], left[1, j], left[2, j] = a, b, c
                    left[3, j], left[4, j], left[5, j] = r1 * c - r2 * b, r2 * a - r0 * c, r0 * b - r1 * a
                row, column = 6 * k, 6 * owner[w]
                for p in range(6):
                    a, b, c = left[p, 0], left[p, 1], left[p, 2]
                    out[row + p, column] += a
                    out[row + p, column + 1] += b
                    out[row + p, column + 2] += c
                    out[row + p, column + 3] += s1 * c - s2 * b
                    out[row + p, column + 4] += s2 * a - s0 * c
                    out[row + p, column + 5] += s0 * b - s1 * a


_kernel = njit(cache=True, fastmath={"contract", "nsz"})


@njit(cache=True)
def _sum_in_order(values):
    """The sum, in one order; inside a parallel function `values.sum()` would follow the threads."""
    total = 0.0
    for value in values:
        total += value
    return total


_MOVE, _PRECONDITION, _TURN, _MULTIPLY = (np.int64(k) for k in range(4))  # no literals: one copy serves all


@_kernel
def _iterate(
    start, columns, blocks, inverse, order, cluster, owner, arms, coarse, rows, weights, curvature, face, places,
    joint_weights, joint_curvature, own, b, x, work, face_work, tolerance, max_iterations,
):  # fmt: skip
    r, z, p, q = work[0], work[1], work[2], work[3]
    partial, moments = np.empty(cluster.size - 1), np.empty(6 * (cluster.size - 1))
    for v in range(b.shape[0]):
        for j in range(3):
            r[v, j] = b[v, j]
    matrix, second = (start, columns, blocks, inverse), (order, cluster, arms, coarse)
    rz, goal, done = 1.0, 0.0, -1
    alpha, square = 0.0, 0.0
    while True:
        _sweep(_MOVE, alpha, matrix, second, x, work, partial, moments)
        _sweep(_PRECONDITION, 0.0, matrix, second, x, work, partial, moments)
        new = _sum_in_order(partial)
        if face.size:
            new += relax_joined(face, places, joint_weights, joint_curvature, own, inverse, r, z, face_work)
        done += 1
        if done == 0:
            goal = tolerance * tolerance * new
        if new <= goal or done >= max_iterations:
            return done
        beta = new / rz if done else 0.0
        rz = new
        square = new + beta * beta * square  # p·p in the norm of the preconditioner
        _sweep(_TURN, beta, matrix, second, x, work, partial, moments)
        _sweep(_MULTIPLY, 0.0, matrix, second, x, work, partial, moments)
        pq = _sum_in_order(partial) + add_product(rows, weights, curvature, p, q)
        if pq <= 0.0:  # a direction along which the matrix is not positive: down it by what the preconditioner says
            _sweep(_MOVE, rz / max(square, -pq), matrix, second, x, work, partial, moments)
            return -1 - done
        alpha = rz / pq


@njit(cache=True, parallel=True, fastmath={"contract", "nsz"})
def _sweep(what, factor, matrix, second, x, work, partial, moments):
    """One pass over all vertices, cluster by cluster. One parallel loop for four passes: each takes seconds to compile.

    matrix: rows, columns and blocks of A, and D⁻¹; second: clusters of vertices, their arms and (ZᵀAZ)⁻¹;
    work: r, z, p and q; partial: sums of the clusters; moments: force and torque of r on each.
    """
    start, columns, blocks, inverse = matrix
    order, cluster, arms, coarse = second
    r, z, p, q = work[0], work[1], work[2], work[3]
    for k in prange(cluster.size - 1):
        own, number = order[cluster[k] : cluster[k + 1]], np.int64(k)  # threads count without a sign
        if what == _MOVE:
            _move(own, factor, arms, x, r, p, q, moments[6 * k : 6 * k + 6])
        elif what == _PRECONDITION:
            partial[k] = _precondition(own, number, inverse, arms, coarse, moments, r, z)
        elif what == _TURN:
            for v in own:
                for j in range(3):
                    p[v, j] = z[v, j] + factor * p[v, j]
        else:
            partial[k] = _multiply(own, cluster[k], start, columns, blocks, p, q)


@_kernel
def _move(own, alpha, arms, x, r, p, q, moments):
    """The new x and r of some vertices, the force and torque of r on them."""
    f0, f1, f2, t0, t1, t2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for v in own:
        for j in range(3):
            x[v, j] += alpha * p[v, j]
            r[v, j] -= alpha * q[v, j]
        a, e, c = r[v, 0], r[v, 1], r[v, 2]
        f0 += a
        f1 += e
        f2 += c
        t0 += arms[v, 1] * c - arms[v, 2] * e
        t1 += arms[v, 2] * a - arms[v, 0] * c
        t2 += arms[v, 0] * e - arms[v, 1] * a
    moments[0], moments[1], moments[2], moments[3], moments[4], moments[5] = f0, f1, f2, t0, t1, t2


@_kernel
def _precondition(own, k, inverse, arms, coarse, moments, r, z):
    """z = D⁻¹ r + Z (ZᵀAZ)⁻¹ Zᵀ r at the vertices of cluster k, and r·z."""
    m0, m1, m2, w0, w1, w2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if coarse.shape[0]:
        six = coarse[6 * k : 6 * k + 6]
        for j in range(coarse.shape[0]):  # six sums at once: one would wait for itself
            moment = moments[j]
            m0 += six[0, j] * moment
            m1 += six[1, j] * moment
            m2 += six[2, j] * moment
            w0 += six[3, j] * moment
            w1 += six[4, j] * moment
            w2 += six[5, j] * moment
    total = 0.0
    for v in own:
        a, e, c = r[v, 0], r[v, 1], r[v, 2]
        z0 = inverse[v, 0] * a + inverse[v, 1] * e + inverse[v, 2] * c
        z1 = inverse[v, 3] * a + inverse[v, 4] * e + inverse[v, 5] * c
        z2 = inverse[v, 6] * a + inverse[v, 7] * e + inverse[v, 8] * c
        z0 += m0 + w1 * arms[v, 2] - w2 * arms[v, 1]
        z1 += m1 + w2 * arms[v, 0] - w0 * arms[v, 2]
        z2 += m2 + w0 * arms[v, 1] - w1 * arms[v, 0]
        z[v, 0], z[v, 1], z[v, 2] = z0, z1, z2
        total += z0 * a + z1 * e + z2 * c
    return total


@_kernel
def _multiply(own, first, start, columns, blocks, p, q):
    """q = A p at some vertices, whose rows follow each other from that number on, and p·q."""
    total = 0.0
    for i in range(own.size):
        v = own[i]
        s0, s1, s2 = 0.0, 0.0, 0.0
        for m in range(start[first + i], start[first + i + 1]):
            w = columns[m]
            p0, p1, p2 = p[w, 0], p[w, 1], p[w, 2]
            s0 += blocks[m, 0] * p0 + blocks[m, 1] * p1 + blocks[m, 2] * p2
            s1 += blocks[m, 3] * p0 + blocks[m, 4] * p1 + blocks[m, 5] * p2
            s2 += blocks[m, 6] * p0 + blocks[m, 7] * p1 + blocks[m, 8] * p2
        q[v, 0], q[v, 1], q[v, 2] = s0, s1, s2
        total += p[v, 0] * s0 + p[v, 1] * s1 + p[v, 2] * s2
    return total
