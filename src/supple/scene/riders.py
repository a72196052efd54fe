"""Eyes, clothes and antlers: what is drawn of a character beside its body, and follows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.io import RenderMesh
from supple.mesh import Embedding, edge_lengths
from supple.rig import SkinnedRig, find_bone_crossings
from supple.scene.source import Source

__all__ = ["seat_riders"]

FAR = 2.0  #: edges of the tetrahedra from which on a vertex is not near flesh
MANY = 0.2  #: share of a part's vertices that are far, from which on it rides on bones


def seat_riders(source: Source, skin: SkinnedRig | None) -> Source:
    """The source with what flesh does not carry well riding on the bones it hangs on.

    Those are parts that follow a single joint, as eyes and teeth do, and those that stand out from the body, and tips
    of the body that are too thin to be filled. All else, as clothes, stays in the flesh that is nearest.
    Tetrahedra that bones cross move as the bones do, so that a vertex which follows one of these from afar goes with
    the bone.
    """
    figure, render = source.figure, source.render
    if figure is None or render is None or skin is None or figure.influences is None:
        return source
    crossings = find_bone_crossings(source.mesh.vertices, source.mesh.tets, skin.skeleton)
    dense = skin.influences.dense(len(skin.skeleton))
    seats = np.full(len(skin.skeleton), -1)
    for bone in np.unique(crossings.bones):
        tets = crossings.tets[crossings.bones == bone]
        seats[bone] = tets[np.argmax(dense[source.mesh.tets[tets], bone].min(axis=1))]
    old = render.embedding
    reach = FAR * float(edge_lengths(source.mesh).mean())
    away = np.linalg.norm(
        render.surface.vertices - source.mesh.vertices[old.corners].mean(axis=1), axis=1
    )  # fmt: skip
    tets, begin = old.tets.copy(), 0
    for part in figure.character.parts:
        chosen = slice(begin, begin + len(part.vertices))
        begin += len(part.vertices)
        if part.influences is None:
            continue
        main, far = part.influences.main_joints(), away[chosen] > reach
        if figure.riders[chosen].any() and (len(np.unique(main)) == 1 or far.mean() > MANY):
            far[:] = True
        tets[chosen] = np.where(far & (seats[main] >= 0), seats[main], tets[chosen])
    return replace(source, render=RenderMesh(render.surface, _embed_in(source, render.surface.vertices, tets)))


def _embed_in(source: Source, points: NDArray[np.float64], tets: NDArray[np.int32]) -> Embedding:
    """Points as weighted sums of the corners of the given tetrahedra, inside or not."""
    corners = source.mesh.vertices[source.mesh.tets[tets]]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    local = np.linalg.solve(edges, (points - corners[:, 0])[:, :, None])[:, :, 0]
    weights = np.column_stack([1.0 - local.sum(axis=1), local])
    return Embedding(tets.astype(np.int32), weights, source.mesh.tets[tets])
