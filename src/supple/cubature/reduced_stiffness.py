"""The product that costs most of a reduced step: K = Σ Gᵀ H G as a square, half the work of a general product.

With H = Σ ± l lᵀ over its eigenvectors, K is the square of the rows lᵀG with positive sign less that of the others.
Both stand in one stack, the former from its top and the latter from its bottom.
"""

from supple.elastic import EXACT, VISCOUS
from supple.linalg.blas import add_square
from supple.linalg.jit import njit
from supple.linalg.small import point

__all__ = ["square_rows"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def square_rows(address, G, L, signs, begin, end, form, stack, K):
    """Lower triangle of K (r, r) of elements begin to end, in a form of elastic/kernels.py.

    G (c, 9, w), L (c, 9, 9), stack (9 c, w), w >= r, and K in single precision; rows 9 begin to 9 end of the stack
    are used, and of them as many whole vectors of the processor as have the first r columns.
    """
    top, bottom = 9 * begin, 9 * end
    width = min((K.shape[0] + 15) // 16 * 16, stack.shape[1])
    for e in range(begin, end):
        for i in range(9):
            if form == VISCOUS and 3 <= i < 6:
                continue
            if signs[e, i]:
                row = top
                top += 1
            elif form == EXACT:
                bottom -= 1
                row = bottom
            else:
                continue
            combine(L[e, i], G[e], stack[row, :width])
    add_square(address, stack, 9 * begin, top, 1.0, 0.0, K)
    if bottom < 9 * end:
        add_square(address, stack, bottom, 9 * end, -1.0, 1.0, K)


@point
def combine(l, G, out):
    """out = lᵀ G, (r,)."""
    l0, l1, l2, l3, l4, l5, l6, l7, l8 = l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8]
    for j in range(out.size):
        # Three sums, so that a processor need not wait for one long chain
        first = l0 * G[0, j] + l1 * G[1, j] + l2 * G[2, j]
        second = l3 * G[3, j] + l4 * G[4, j] + l5 * G[5, j]
        third = l6 * G[6, j] + l7 * G[7, j] + l8 * G[8, j]
        out[j] = first + second + third
