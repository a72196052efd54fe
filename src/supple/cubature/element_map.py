"""Elements in the order of the mesh: deformation gradients as linear maps of displacements, and stresses."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.jit import njit

__all__ = ["ElementMap"]

FloatArray = NDArray[np.float64]


class ElementMap:
    """B_e of every element: F_e = I + B_e u_e."""

    def __init__(self, body: Body) -> None:
        count = len(body.mesh.tets)
        self.tets = np.empty((count, 4), np.int32)
        self.inverse = np.empty((count, 3, 3))
        """Inverse rest edges [1/m]."""
        self.volume = np.empty(count)
        """Rest volumes [m³]."""
        self.part = np.empty(count, np.int64)
        """Which of the body's parts an element belongs to."""
        for number, part in enumerate(body.parts):
            self.tets[part.ids] = part.tets.T
            self.inverse[part.ids] = part.inverse.T.reshape(-1, 3, 3)
            self.volume[part.ids] = part.volume
            self.part[part.ids] = number
        self._materials = [part.material for part in body.parts]

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.tets)

    def gradients(self, fields: FloatArray, who: slice | NDArray[np.integer]) -> FloatArray:
        """G_e = B_e U_e of the elements `who` for displacement fields U (3 n, r), (k, 9, r); rows F_00, F_01 ..."""
        tets, rank = self.tets[who], fields.shape[1]
        out = np.empty((len(tets), 9, rank))
        shaped = np.ascontiguousarray(fields).reshape(len(fields) // 3, 3, rank)
        _fill_gradients(shaped, tets, self.inverse[who], out)
        return out

    def stresses(self, change: FloatArray, who: slice | NDArray[np.integer]) -> NDArray[np.float32]:
        """First Piola-Kirchhoff stresses times volumes [J] of the elements `who` where F = I + `change`, (k, 9, t)."""
        F = change.transpose(2, 0, 1).reshape(change.shape[2], change.shape[0], 3, 3) + np.eye(3)
        P = self.stresses_at(F, who)
        return P.reshape(*P.shape[:2], 9).transpose(1, 2, 0)

    def stresses_at(self, F: FloatArray, who: slice | NDArray[np.integer]) -> NDArray[np.float32]:
        """The same at F, (t, k, 3, 3) both."""
        parts = self.part[who]
        P = np.empty(F.shape, np.float32)
        for number in np.unique(parts):
            own = parts == number
            chosen = slice(None) if own.all() else own
            P[:, chosen] = self._materials[number].stress(F[:, chosen])
        P *= self.volume[who].astype(np.float32)[:, None, None]
        return P


@njit(cache=True, fastmath={"contract"})
def _fill_gradients(fields: FloatArray, tets: NDArray[np.int32], inverse: FloatArray, out: FloatArray) -> None:
    for e in range(len(tets)):
        base, one, two, three = fields[tets[e, 0]], fields[tets[e, 1]], fields[tets[e, 2]], fields[tets[e, 3]]
        for i in range(3):
            for j in range(3):
                a, b, c = inverse[e, 0, j], inverse[e, 1, j], inverse[e, 2, j]
                row = out[e, 3 * i + j]
                for k in range(row.size):
                    u = base[i, k]
                    row[k] = a * (one[i, k] - u) + b * (two[i, k] - u) + c * (three[i, k] - u)
