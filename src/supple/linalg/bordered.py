"""A sparse block matrix with a few dense rows and columns around it, solved by conjugate gradients as one.

    [ A   C ] [x]   [b]
    [ Cᵀ  B ] [q] = [c]

Neither a Schur complement nor the inverse of B beside its own rows is ever formed: the preconditioner is the inverse
diagonal blocks of A, and on top of that an exact solve for rigid motions of clusters of rows and the dense unknowns
(linalg/bordered_coarse.py). Springs come on top, each between a few block rows and the dense unknowns. Motions h of the
dense unknowns may be held: all that is above sees q - h hᵀ q instead of q, so that its zeros stay. What reads A waits
for memory, so that it may be kept in single precision, as in linalg/pcg.py; sums are in double.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.bordered_coarse import coarsen, take_out, tie_springs
from supple.linalg.bordered_spans import border_product, find_spans
from supple.linalg.dense import cholesky_solve
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.inverses import are_definite, factorise, invert_blocks
from supple.linalg.jit import njit
from supple.linalg.rigid_clusters import RigidClusters

__all__ = ["Bordered", "Handled", "fold_rows"]

FloatArray = NDArray[np.float64]


class Handled(NamedTuple):
    """Springs between block rows and the dense unknowns: gaps Σ_k w_k x_k + H q with curvature K each."""

    rows: NDArray[np.int64]
    """(m, k)"""
    weights: FloatArray
    """(m, k)"""
    curvature: FloatArray
    """(m, 3, 3)"""
    places: NDArray[np.int64]
    """Number of a spring's H, or -1 where it has none, (m,)."""
    H: FloatArray
    """(h, 3, r)"""

    @classmethod
    def none(cls, rank: int) -> "Handled":
        """No springs."""
        return cls(
            np.zeros((0, 1), np.int64), np.zeros((0, 1)), np.zeros((0, 3, 3)), np.zeros(0, np.int64),
            np.zeros((0, 3, rank)),
        )  # fmt: skip


@dataclass(eq=False)
class Bordered:
    """The matrix; A is in compressed rows of blocks of which each row's [begin, stop) count."""

    begin: NDArray[np.int64]
    stop: NDArray[np.int64]
    columns: NDArray[np.int32]
    blocks: NDArray[np.floating]
    """(k, 9)"""
    diagonal: FloatArray
    """Diagonal blocks of A with what is added to them, (n, 9)."""
    extra: FloatArray
    """Added to the diagonal of A, (n,)."""
    edge: NDArray[np.int32]
    """Block rows in which C is not zero."""
    C: FloatArray
    """Its blocks there, (e, 3, r)."""
    B: FloatArray
    """(r, r)"""
    springs: Handled
    clusters: RigidClusters
    """Of the block rows."""
    iterations: int = 0
    is_bent: bool = False
    """Whether the last solve came upon a direction along which the matrix is not positive, and went down it."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What copies with other springs share."""
    held: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """h, motions of the dense unknowns that have none of this stiffness but `grip`, orthonormal, (r, u)."""
    grip: float = 0.0

    @property
    def count(self) -> int:
        """Number of block rows."""
        return len(self.begin)

    def to_single(self) -> "Bordered":
        """The same, the blocks that count in memory of its own, in single precision."""
        start, columns, blocks = _pack(self.begin, self.stop, self.columns, self.blocks)
        return replace(self, begin=start[:-1], stop=start[1:], columns=columns, blocks=blocks)

    def multiply(self, z: FloatArray) -> FloatArray:
        """The product with z = (x, q)."""
        out = np.empty_like(z)
        split = 3 * self.count
        _multiply(self._operator, z[:split].reshape(-1, 3), z[split:], out[:split].reshape(-1, 3), out[split:])
        return out

    def solve(self, b: FloatArray, tolerance: float, most: int = 1000, *, bends: bool = False) -> FloatArray:
        """z with a residual of `tolerance` times that of zero, in the norm of the preconditioner.

        `bends`: where the matrix is not positive definite z goes as far as it is, and then along the direction in which
        it is not (`is_bent`)."""
        diagonal, operator, clusters = self.diagonal.copy(), self._operator, self.clusters
        _add_springs(self.springs.rows, self.springs.weights, self.springs.curvature, diagonal)
        if "coarse" not in self.memory:
            self.memory["coarse"] = coarsen(operator, clusters.owner, clusters.arms, clusters.count)
        coarse = self.memory["coarse"].copy()
        tie_springs(operator, clusters.owner, clusters.arms, clusters.count, coarse)
        if self.held.shape[1]:
            take_out(coarse, self.held, self.grip)
        if bends and not are_definite(diagonal):
            raise NotPositiveDefinite  # what they precondition by must be, or nothing is conjugate
        z, split = np.zeros_like(b), 3 * self.count
        levels = invert_blocks(diagonal), factorise(coarse, bends=bends), clusters.owner, clusters.arms
        done = _iterate(
            operator, levels,
            b[:split].reshape(-1, 3), b[split:], z[:split].reshape(-1, 3), z[split:], tolerance, most,
        )  # fmt: skip
        self.is_bent, self.iterations = done < 0, abs(done)
        if self.is_bent and not bends:
            raise NotPositiveDefinite
        return z

    def to_dense(self) -> FloatArray:
        """The whole matrix, column by column: for tests, and for a look at its eigenvalues."""
        size = 3 * self.count + len(self.B)
        return np.stack([self.multiply(column) for column in np.eye(size)], axis=1)

    def shift(self, share: float) -> None:
        """Give a little stiffness to motions that cost nothing: a share of the mean diagonal."""
        above = share * float(np.abs(self.diagonal[:, [0, 4, 8]]).mean()) if self.count else 0.0
        self.extra, self.memory = self.extra + above, {}
        self.diagonal = self.diagonal + above * np.eye(3).ravel()
        self.B = self.B + share * float(np.abs(np.diagonal(self.B)).mean()) * np.eye(len(self.B))

    @property
    def _operator(self) -> Any:
        return (
            self.begin, self.stop, self.columns, self.blocks, self.extra, self.edge, self.C, self.B, *self.springs,
            *self._spans, np.ascontiguousarray(self.held), self.grip,
        )  # fmt: skip

    @property
    def _spans(self) -> Any:
        """Where rows of C and of B are not zero: of domains, in those that meet there alone."""
        if "spans" not in self.memory:
            self.memory["spans"] = find_spans(self.C), find_spans(self.B.reshape(len(self.B), 1, -1))
        return self.memory["spans"]


@njit(cache=True, fastmath={"contract", "nsz"})
def fold_rows(rows, begin, end, columns, blocks, first, U, out):
    """Add A U_s of chosen block rows, each from its block `begin` to its block `end`, to out (k, 3, r); U (s, 3, r)
    belongs to columns from `first` on."""
    rank = U.shape[2]
    for k in range(len(rows)):
        row = rows[k]
        y0, y1, y2 = out[k, 0], out[k, 1], out[k, 2]
        for m in range(begin[row], end[row]):
            u = U[columns[m] - first]
            a, b, c = blocks[m, 0], blocks[m, 1], blocks[m, 2]
            d, e, f = blocks[m, 3], blocks[m, 4], blocks[m, 5]
            g, h, i = blocks[m, 6], blocks[m, 7], blocks[m, 8]
            for j in range(rank):
                p, s, t = u[0, j], u[1, j], u[2, j]
                y0[j] += a * p + b * s + c * t
                y1[j] += d * p + e * s + f * t
                y2[j] += g * p + h * s + i * t


@njit(cache=True)
def _pack(begin, stop, columns, blocks):
    """Where each row begins, (n + 1,), and its columns and blocks, rounded, without what does not count."""
    start = np.zeros(len(begin) + 1, np.int64)
    for row in range(len(begin)):
        start[row + 1] = start[row] + stop[row] - begin[row]
    numbers, out = np.empty(start[-1], np.int32), np.empty((start[-1], 9), np.float32)
    for row in range(len(begin)):
        for k in range(stop[row] - begin[row]):
            numbers[start[row] + k] = columns[begin[row] + k]
            for i in range(9):
                out[start[row] + k, i] = blocks[begin[row] + k, i]
    return start, numbers, out


@njit(cache=True, fastmath={"contract", "nsz"})
def _multiply(matrix, x, q, out, low):
    """Fill the product with (x, q); returns the square of (x, q) in the matrix."""
    begin, stop, columns, blocks, extra, edge, C, B, rows, weights, curvature, places, H, spans, ends = matrix[:15]
    held, grip = matrix[15:]
    rank, total, part = len(q), 0.0, np.zeros(held.shape[1])
    if held.shape[1]:
        part = np.dot(q, held)
        q = q - np.dot(held, part)
    for row in range(len(begin)):
        a, b, c = extra[row] * x[row, 0], extra[row] * x[row, 1], extra[row] * x[row, 2]
        for m in range(begin[row], stop[row]):
            v = columns[m]
            p, s, t = x[v, 0], x[v, 1], x[v, 2]
            a += blocks[m, 0] * p + blocks[m, 1] * s + blocks[m, 2] * t
            b += blocks[m, 3] * p + blocks[m, 4] * s + blocks[m, 5] * t
            c += blocks[m, 6] * p + blocks[m, 7] * s + blocks[m, 8] * t
        out[row, 0], out[row, 1], out[row, 2] = a, b, c
        total += a * x[row, 0] + b * x[row, 1] + c * x[row, 2]
    low[:] = 0.0
    total += border_product(edge, C, B, spans, ends, x, q, out, low)
    gap, push = np.empty(3), np.empty(3)
    for m in range(rows.shape[0]):
        gap[:] = 0.0
        for k in range(rows.shape[1]):
            w = weights[m, k]
            if w != 0.0:
                for i in range(3):
                    gap[i] += w * x[rows[m, k], i]
        h = places[m]
        if h >= 0:
            for i in range(3):
                for j in range(rank):
                    gap[i] += H[h, i, j] * q[j]
        for i in range(3):
            push[i] = curvature[m, i, 0] * gap[0] + curvature[m, i, 1] * gap[1] + curvature[m, i, 2] * gap[2]
            total += push[i] * gap[i]
        for k in range(rows.shape[1]):
            w = weights[m, k]
            if w != 0.0:
                for i in range(3):
                    out[rows[m, k], i] += w * push[i]
        if h >= 0:
            for i in range(3):
                for j in range(rank):
                    low[j] += H[h, i, j] * push[i]
    if held.shape[1]:
        total += grip * np.dot(part, part)
        low += np.dot(held, grip * part - np.dot(low, held))
    return total


@njit(cache=True)
def _add_springs(rows, weights, curvature, diagonal):
    """Add the springs' own diagonal blocks."""
    for m in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            for l in range(rows.shape[1]):
                w = weights[m, k] * weights[m, l]
                if w != 0.0 and rows[m, k] == rows[m, l]:
                    for i in range(9):
                        diagonal[rows[m, k], i] += w * curvature[m, i // 3, i % 3]


@njit(cache=True, fastmath={"contract", "nsz"})
def _precondition(levels, r, s, z, w, moves):
    """Fill (z, w) from the residual (r, s), of which `moves`, (6 k + r,), has what the clusters see and is overwritten;
    returns their product."""
    inverse, factor, owner, arms = levels
    size = len(factor) - len(s)
    moves[size:] = s
    cholesky_solve(factor, moves)
    total = 0.0
    for v in range(len(r)):
        a, b, c, row = r[v, 0], r[v, 1], r[v, 2], 6 * owner[v]
        x = inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
        y = inverse[v, 3] * a + inverse[v, 4] * b + inverse[v, 5] * c
        u = inverse[v, 6] * a + inverse[v, 7] * b + inverse[v, 8] * c
        if row < size:
            p, q, t = moves[row + 3], moves[row + 4], moves[row + 5]
            x += moves[row] + q * arms[v, 2] - t * arms[v, 1]
            y += moves[row + 1] + t * arms[v, 0] - p * arms[v, 2]
            u += moves[row + 2] + p * arms[v, 1] - q * arms[v, 0]
        z[v, 0], z[v, 1], z[v, 2] = x, y, u
        total += x * a + y * b + u * c
    for i in range(len(s)):
        w[i] = moves[size + i]
        total += w[i] * s[i]
    return total


@njit(cache=True, fastmath={"contract", "nsz"})
def _move(alpha, levels, p, y, x, r, moves):
    """x + alpha p and r - alpha y in one pass, and what clusters see of the latter."""
    _, factor, owner, arms = levels
    moves[:] = 0.0
    for v in range(len(r)):
        for i in range(3):
            x[v, i] += alpha * p[v, i]
            r[v, i] -= alpha * y[v, i]
        a, b, c, row = r[v, 0], r[v, 1], r[v, 2], 6 * owner[v]
        if row < len(factor):
            moves[row] += a
            moves[row + 1] += b
            moves[row + 2] += c
            moves[row + 3] += arms[v, 1] * c - arms[v, 2] * b
            moves[row + 4] += arms[v, 2] * a - arms[v, 0] * c
            moves[row + 5] += arms[v, 0] * b - arms[v, 1] * a


@njit(cache=True, fastmath={"contract", "nsz"})
def _iterate(matrix, levels, b, c, x, q, tolerance, most):
    """Iterations; less their sign where the matrix is not positive along a direction, with a step down that."""
    r, s = b.copy(), c.copy()
    p, d = np.zeros_like(r), np.zeros_like(s)
    y, e = np.zeros_like(r), np.zeros_like(s)
    z, w = np.empty_like(r), np.empty_like(s)
    moves = np.empty(len(levels[1]))
    _move(0.0, levels, p, y, x, r, moves)
    rz = _precondition(levels, r, s, z, w, moves)
    if rz == 0.0:
        return 0
    p[:], d[:] = z, w
    goal, square = tolerance * tolerance * rz, rz  # p·p in the norm of the preconditioner
    for done in range(1, most + 1):
        pq = _multiply(matrix, p, d, y, e)
        if not pq > 0.0:  # as far as the preconditioner says
            alpha = rz / max(square, -pq)
            _move(alpha, levels, p, y, x, r, moves)
            for i in range(len(d)):
                q[i] += alpha * d[i]
            return -done
        alpha = rz / pq
        _move(alpha, levels, p, y, x, r, moves)
        for i in range(len(d)):
            q[i] += alpha * d[i]
            s[i] -= alpha * e[i]
        new = _precondition(levels, r, s, z, w, moves)
        if new <= goal:
            return done
        beta = new / rz
        rz, square = new, new + beta * beta * square
        for v in range(len(p)):
            for i in range(3):
                p[v, i] = z[v, i] + beta * p[v, i]
        for i in range(len(d)):
            d[i] = w[i] + beta * d[i]
    return most
