"""Fills a closed surface with conforming tets in a process of its own: `conform_child.py IN.npz OUT.npz EDGE`.

The mesher is native code that some surfaces crash or keep busy for ever. It imports nothing of supple. IN holds
`vertices` and `triangles`, OUT gets `vertices` and `tets`; EDGE is the wanted length of edges as a share of the
diagonal of the bounding box.
"""

import os
import sys
from pathlib import Path

import numpy as np


def main(source: str, target: str, edge: float) -> None:
    """Read, mesh, write."""
    import wildmeshing

    with np.load(source, allow_pickle=False) as arrays:
        vertices, triangles = arrays["vertices"], arrays["triangles"]
    os.chdir(Path(target).parent)  # it leaves files where it runs
    mesher = wildmeshing.Tetrahedralizer(stop_quality=10, edge_length_r=edge, max_threads=1)
    mesher.set_log_level(6)
    mesher.set_mesh(vertices, triangles.astype(np.int32))
    mesher.tetrahedralize()
    points, tets, *_ = mesher.get_tet_mesh()
    np.savez(target, vertices=np.asarray(points, np.float64), tets=np.asarray(tets, np.int64))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
