"""Inertia in a subspace that changes with the pose, from products of its examples: nothing per vertex.

With Ĝ_ij = U_iᵀ M U_j the sum Σ w_i(a) w_j(b) Ĝ_ij is U(a)ᵀ M U(b) exactly, so that motion is carried from one basis to
the next as the full mass matrix would. If the frame of the root turned by Q in between, Σ Q_kl N_kl takes the place of
Ĝ, with N_kl = U_i^(k)ᵀ M U_j^(l) of the columns' components k and l. Pairs of examples are stored for i <= j, row by
row; the others are their transposes. Columns of regions that do not overlap have no product: only blocks of regions
that do are kept, one after another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["find_blocks", "mix_products", "pack_products", "turn_away", "turn_products"]

_CHUNK = 512  # numbers
# Sums may be reordered into vector lanes; the order is fixed by the code, not by the run
_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


def find_blocks(owners: NDArray[np.int64], gram: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows and columns of products (p, r, r) that are not zero, [row, its end, column, its end], (k, 4), by the region
    of every coordinate (r,); no owners at all are one region."""
    rank = gram.shape[1]
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]]) if len(owners) else np.zeros(1, np.int64)
    ranges = [(begin, end) for begin, end in zip(starts, [*starts[1:], rank], strict=True)]
    met = [(*a, *b) for a in ranges for b in ranges if gram[:, a[0] : a[1], b[0] : b[1]].any()]
    return np.array(met, np.int64).reshape(-1, 4)


def pack_products(blocks: NDArray[np.int64], products: NDArray[Any]) -> NDArray[Any]:
    """The blocks of products (..., r, r) one after another, (..., size)."""
    parts = [products[..., a:b, c:d].reshape(*products.shape[:-2], (b - a) * (d - c)) for a, b, c, d in blocks]
    return np.ascontiguousarray(np.concatenate(parts, axis=-1))


@_kernel
def mix_products(gram, blocks, w, before, y, M, carried):
    """Fill M (r, r) with U(w)ᵀ M U(w), and carried[s] (r,) with U(w)ᵀ M U(before[s]) y[s].

    gram (m (m + 1) / 2, size) in blocks (k, 4), w (m,), before (2, m), y (2, r).
    """
    size, rank, at = gram.shape[1], M.shape[0], 0
    # What M and what carries from the two moments is made of, the latter as products stand and as their transposes
    own, now, then = np.zeros(size), np.zeros(size), np.zeros(size)
    now_back, then_back = np.zeros(size), np.zeros(size)
    for begin in range(0, size, _CHUNK):  # few at a time, which stay in the nearest cache
        end, pair = min(begin + _CHUNK, size), 0
        for i in range(w.size):
            for j in range(i, w.size):
                both, a, b = w[i] * w[j], w[i] * before[0, j], w[i] * before[1, j]
                c, d = w[j] * before[0, i], w[j] * before[1, i]
                if both != 0.0 or a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                    A, both = gram[pair, begin:end], 0.5 * both if i == j else both
                    _add_three(A, both, a, b, own[begin:end], now[begin:end], then[begin:end])
                    if i != j:
                        _add_two(A, c, d, now_back[begin:end], then_back[begin:end])
                pair += 1
    M[:] = 0.0
    carried[:] = 0.0
    for n in range(blocks.shape[0]):
        begin, end, left, right = blocks[n]
        width = right - left
        for k in range(begin, end):
            mine, out = own[at : at + width], M[k, left:right]
            for l in range(width):
                out[l] = mine[l]
            for s in range(2):
                line = (now if s == 0 else then)[at : at + width]
                across = (now_back if s == 0 else then_back)[at : at + width]
                other, whole, total, factor = y[s, left:right], carried[s, left:right], 0.0, y[s, k]
                for l in range(width):
                    total += line[l] * other[l]
                    whole[l] += factor * across[l]
                carried[s, k] += total
            at += width
    for k in range(rank):
        M[k, k] *= 2.0
        for l in range(k):
            M[k, l] += M[l, k]
            M[l, k] = M[k, l]


@_kernel
def _add_three(A, a, b, c, first, second, third):
    for t in range(A.size):
        first[t] += a * A[t]
        second[t] += b * A[t]
        third[t] += c * A[t]


@_kernel
def _add_two(A, a, b, first, second):
    for t in range(A.size):
        first[t] += a * A[t]
        second[t] += b * A[t]


@_kernel
def turn_away(turns, ratio, out):
    """Fill out (2, 3, 3) with what becomes of places by R₀ᵀ of the first of turns (3, 3, 3) after the two others, less
    themselves, as velocities count them; whether there is any."""
    largest = 0.0
    for s in range(2):
        factor = -ratio if s else 1.0 + ratio
        for i in range(3):
            for j in range(3):
                total = -1.0 if i == j else 0.0
                for k in range(3):
                    total += turns[0, k, i] * turns[s + 1, k, j]
                out[s, i, j] = factor * total
                largest = max(largest, abs(out[s, i, j]))
    return largest > 0.0


@_kernel
def turn_products(turned, blocks, w, before, y, turns, out):
    """Add Σ_s U(w)ᵀ M turns[s] U(before[s]) y[s] to out (r,), with matrices turns (2, 3, 3).

    turned (m (m + 1) / 2, 9, size) in blocks (k, 4), w (m,), before (2, m), y (2, r).
    """
    count, rank, pair = w.size, out.size, 0
    x, z = np.empty(rank, turned.dtype), np.empty(rank, turned.dtype)
    there, back = np.empty(rank, turned.dtype), np.empty(rank, turned.dtype)
    for i in range(count):
        for j in range(i, count):
            used = w[i] * (before[0, j] + before[1, j]) + w[j] * (before[0, i] + before[1, i])
            if used > 0.0:
                there[:] = 0.0
                back[:] = 0.0
                for k in range(3):
                    for l in range(3):
                        for b in range(rank):
                            x[b] = turns[0, k, l] * before[0, j] * y[0, b] + turns[1, k, l] * before[1, j] * y[1, b]
                            z[b] = turns[0, l, k] * before[0, i] * y[0, b] + turns[1, l, k] * before[1, i] * y[1, b]
                        A, at = turned[pair, 3 * k + l], 0
                        for n in range(blocks.shape[0]):
                            begin, end, left, right = blocks[n]
                            ahead, behind = x[left:right], back[left:right]
                            for a in range(begin, end):
                                row, total, factor = A[at : at + ahead.size], x[0] - x[0], z[a]
                                at += ahead.size
                                if i == j:
                                    for b in range(ahead.size):
                                        total += row[b] * ahead[b]
                                else:
                                    for b in range(ahead.size):
                                        total += row[b] * ahead[b]
                                        behind[b] += factor * row[b]
                                there[a] += total
                for a in range(rank):
                    out[a] += w[i] * there[a]
                    if i != j:
                        out[a] += w[j] * back[a]
            pair += 1
