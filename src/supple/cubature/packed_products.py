"""Products with a packed G: rows of a domain's elements hold its own coordinates only, side by side from column 0 on.

`groups` (g, 4) say whose they are: elements groups[k, 0] to groups[k, 1] know coordinates groups[k, 2] to groups[k, 3].
"""

from supple.linalg.jit import njit

__all__ = ["gather_packed", "strain_packed"]

# Sums may be reordered into vector lanes; the order is fixed by the code, not by the run.
_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


@_kernel
def strain_packed(G, groups, q, F):
    """Fill F (9 c,) with G q."""
    for k in range(groups.shape[0]):
        own = q[groups[k, 2] : groups[k, 3]]
        rows, out = G[9 * groups[k, 0] : 9 * groups[k, 1]], F[9 * groups[k, 0] : 9 * groups[k, 1]]
        for i in range(out.size):
            row, total = rows[i], 0.0
            for j in range(own.size):
                total += row[j] * own[j]
            out[i] = total


@_kernel
def gather_packed(P, G, groups, out):
    """Fill out (r,) with Gᵀ P."""
    out[:] = 0.0
    for k in range(groups.shape[0]):
        own = out[groups[k, 2] : groups[k, 3]]
        rows, values = G[9 * groups[k, 0] : 9 * groups[k, 1]], P[9 * groups[k, 0] : 9 * groups[k, 1]]
        for i in range(values.size):
            row, value = rows[i], values[i]
            for j in range(own.size):
                own[j] += value * row[j]
