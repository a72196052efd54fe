"""A character that is ready to be simulated: all that a step in pose space looks at, made once."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.pose_rules import PoseRules
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body
from supple.errors import TrainingError
from supple.method.posespace.pairs import find_pairs
from supple.method.posespace.regions import sign_regions
from supple.rig import PoseSpace, Rig
from supple.rig.root import Root
from supple.subspace.pose_bases import PoseBases
from supple.subspace.self_touch import SelfTouch

__all__ = ["PoseSpaceModel", "assemble", "products_by_axes"]

FloatArray = NDArray[np.float64]
Single = NDArray[np.float32]

CORNERS = 12  #: rows of columns at the corners of an element


@dataclass(frozen=True, eq=False)
class PoseSpaceModel:
    """m examples of n vertices in r coordinates; c elements and i particles give the forces."""

    poses: FloatArray
    """Of the examples, their roots at the neutral place, (m, p)."""
    points: FloatArray
    """The same as `Rig.embed` gives them [m], (m, e)."""
    columns: Single
    """U_i at every vertex in the frame of the root, (m, n, 3, r); if they turn with the flesh, as the neutral pose sees
    them."""
    edges: Single
    """What they change along the edges of the elements, (c, m, 9, r): from the first corner to corner a + 1 along axis
    k at 3 k + a. Columns that turn with the flesh are kept at the corners, (c, m, 12, r): of corner a along axis k at
    3 a + k."""
    gram: FloatArray
    """U_iᵀ M U_j for i <= j, (m (m + 1) / 2, r, r)."""
    turned: Single
    """The same of components k and l of the columns at 3 k + l, (m (m + 1) / 2, 9, r, r); none without a root, or if
    columns turn with the flesh."""
    gravity: FloatArray
    """Σ m U_i [kg^½], (m, 3, r); if columns turn with the flesh, what the rule of the particles misses of it."""
    elements: NDArray[np.int64]
    """Of the rule, those of one kind of material together, (c,)."""
    corners: NDArray[np.int64]
    """Their vertices, (c, 4)."""
    volumes: FloatArray
    """At rest, with the sign that the order of the corners gives [m³], (c,)."""
    moduli: FloatArray
    """(3, c)"""
    weights: FloatArray
    """(m, c)"""
    stiffness: FloatArray
    """Factors of the stiffness of the elements, (m, c); none of them where it is the same in all poses."""
    particles: NDArray[np.int64]
    """Vertices at which the rig's acceleration is felt, (i,)."""
    masses: FloatArray
    """Their masses times weights [kg], (m, i)."""
    stiffest: float
    """Largest eigenvalue of the stiffness at the first pose [1/s²]."""
    owners: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Region of every coordinate, (r,), in ascending order; none where there is one region only."""
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 4), np.int64))
    """Vertices of contacts that may open, as in `PosePairs`, (k, 4)."""
    pair_weights: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    """(k, 4)"""
    pair_normals: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    """(m, k, 3), or none."""
    pair_thickness: FloatArray = field(default_factory=lambda: np.zeros(0))
    """[m], (k,)"""
    corrected: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """Poses in which the rig is corrected where it drove the body into itself, (q, p)."""
    corrections: Single = field(default_factory=lambda: np.zeros((0, 0, 3), np.float32))
    """What is added to it there [m], (q, n, 3)."""
    error: float | None = None
    """Relative error against the full solver, where it was measured."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was asked, chosen and achieved: plain values, as JSON knows them."""

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.columns.shape[3])

    @property
    def turning(self) -> bool:
        """Whether columns turn with the flesh: U(p) = R(p) Σ w_i R_iᵀ U_i with a turn R(p) of every vertex."""
        return bool(self.edges.shape[2] == CORNERS)

    @property
    def watched(self) -> NDArray[np.int64]:
        """Vertices that a step asks the rig for, in ascending order, (v,)."""
        return np.unique(np.concatenate([self.corners.ravel(), self.particles, self.pairs.ravel()]))

    def correct(self, rig: Rig) -> Rig:
        """A rig with the corrections of this model."""
        return PoseSpace(rig, self.corrected, self.corrections) if len(self.corrections) else rig

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        own = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in own if isinstance(value, np.ndarray)}

    def hash(self) -> str:
        """Fingerprint of everything that decides how a body moves under this model."""
        digest = hashlib.sha256()
        for array in self.arrays().values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def tell(self) -> dict[str, Any]:
        """What there is beside rank and elements, by name."""
        bytes_run = sum(array.nbytes for name, array in self.arrays().items() if name != "columns")
        return {
            "poses": len(self.poses),
            "particles": len(self.particles),
            "step_bytes": bytes_run,
            "column_bytes": self.columns.nbytes,
            "regions": len(np.unique(self.owners)) or 1,
            "contacts": len(self.pairs),
        }


def assemble(
    body: Body, rig: Rig, bases: PoseBases, rules: PoseRules, *, touch: SelfTouch | None = None
) -> PoseSpaceModel:
    """The model of a body, its rig, its subspaces and rules; `touch` made its bases aware of contact."""
    _refuse_unfit(body, bases, rules)
    root = Root.of(rig)
    m, n, r = len(bases.poses), len(body.mass), bases.rank
    fields = bases.blended.reshape(m, n, 3, r)
    first = ReducedElements.build(
        body.posed(bases.rest[0], pose=bases.poses[0]), bases.columns[0], rules.elements, rules.weights[0]
    )
    elements = ElementMap(body)
    several = bases.owners is not None and len(np.unique(bases.owners)) > 1
    owners = np.array(bases.owners if several else np.zeros(r), np.int64)
    tets = elements.tets[rules.elements]
    changes = edge_changes if bases.turns is None else corner_columns
    reached = sign_regions(owners, changes(fields, tets)) if several else np.ones((len(tets), 1), np.bool_)
    # Elements of a kind of material together, and of these those that the same regions reach
    order = np.lexsort([*reached.T, _kinds(body)[elements.part[rules.elements]]])
    who = rules.elements[order]
    corners = elements.tets[who].astype(np.int64)
    x = body.mesh.vertices[corners]
    heavy = np.sqrt(body.mass)[:, None, None] * fields
    pairs = list(combinations_with_replacement(heavy, 2))
    touching = find_pairs(touch, bases.rest)
    turns = root.turns and bases.turns is None
    turned = [products_by_axes(a, b).astype(np.float32) for a, b in pairs] if turns else []
    return PoseSpaceModel(
        poses=np.array(bases.poses, np.float64),
        points=np.array([rig.embed(root.still(pose)) for pose in bases.poses]),
        columns=fields.astype(np.float32),
        edges=np.ascontiguousarray(changes(fields, corners), np.float32),
        gram=np.array([a.reshape(3 * n, r).T @ b.reshape(3 * n, r) for a, b in pairs]),
        turned=np.array(turned, np.float32).reshape(-1, 9, r, r),
        gravity=_gravity(body, bases, rules),
        elements=who,
        corners=corners,
        volumes=np.linalg.det((x[:, 1:] - x[:, :1]).transpose(0, 2, 1)) / 6.0,
        moduli=first.table[1:].copy(),
        weights=np.ascontiguousarray(rules.weights[:, order] * body.grading()[who]),
        stiffness=_stiffness(body, bases.poses)[:, who],
        particles=np.asarray(rules.inertia_vertices, np.int64),
        masses=rules.inertia_weights * body.mass[rules.inertia_vertices],
        stiffest=float(np.linalg.eigvalsh(first.stiffness(np.zeros(r)))[-1]),
        owners=owners if several else owners[:0],
        pairs=touching.vertices,
        pair_weights=touching.weights,
        pair_normals=touching.normals if len(touching.vertices) else np.zeros((0, 0, 3)),
        pair_thickness=touching.thickness,
        facts={"alignment": bases.alignment, "frequencies": dict(bases.frequencies), "rules": dict(rules.errors)},
    )


def edge_changes(fields: FloatArray, corners: NDArray[np.integer]) -> FloatArray:
    """What columns (m, n, 3, r) change along the edges of tets (c, 4), (c, m, 9, r)."""
    changes = fields[:, corners[:, 1:]] - fields[:, corners[:, :1]]  # (m, c, 3 edges, 3 axes, r)
    return np.asarray(changes.transpose(1, 0, 3, 2, 4).reshape(len(corners), len(fields), 9, -1))


def corner_columns(fields: FloatArray, corners: NDArray[np.integer]) -> FloatArray:
    """Columns (m, n, 3, r) at the corners of tets (c, 4), (c, m, 12, r)."""
    return np.asarray(fields[:, corners].transpose(1, 0, 2, 3, 4).reshape(len(corners), len(fields), CORNERS, -1))


def _gravity(body: Body, bases: PoseBases, rules: PoseRules) -> FloatArray:
    """Σ m U_i, less what the rule of the particles has of it where gravity is felt at those, (m, 3, r)."""
    fields = bases.columns.reshape(len(bases.poses), len(body.mass), 3, -1)
    whole: FloatArray = np.einsum("n,mnkr->mkr", body.mass, fields)
    if bases.turns is None:
        return whole
    who = rules.inertia_vertices
    felt = np.einsum("mi,mikr->mkr", rules.inertia_weights * body.mass[who], fields[:, who])
    return np.asarray(whole - felt)


def _kinds(body: Body) -> NDArray[np.int64]:
    """The kind of material of each of the body's parts, numbered as they come."""
    kinds: dict[Any, int] = {}
    return np.array([kinds.setdefault(part.material.response, len(kinds)) for part in body.parts])


def _stiffness(body: Body, poses: FloatArray) -> FloatArray:
    """Factors of the stiffness of all tets in poses, (m, tets), or (0, tets) where they are always 1."""
    found = [] if body.stiffening is None else [body.stiffening.at(pose) for pose in poses]
    return np.array(found).reshape(-1, len(body.mesh.tets))


def products_by_axes(a: FloatArray, b: FloatArray) -> FloatArray:
    """U_i^(k)ᵀ M U_j^(l) at 3 k + l, (9, r, r), of columns times the roots of the masses, (n, 3, r) each."""
    return np.array([a[:, k].T @ b[:, l] for k in range(3) for l in range(3)])


def _refuse_unfit(body: Body, bases: PoseBases, rules: PoseRules) -> None:
    m, n = len(bases.poses), len(body.mass)
    if bases.columns.shape[:2] != (m, 3 * n) or bases.rest.shape != (m, n, 3):
        raise TrainingError(
            f"the subspaces are of {bases.rest.shape[1]} vertices where the body has {n}: make them from this body."
        )
    if rules.weights.shape != (m, len(rules.elements)) or rules.inertia_weights.shape != (
        m,
        len(rules.inertia_vertices),
    ):
        raise TrainingError(f"the rules have no weights for {m} poses: train them for these subspaces.")
    if not len(rules.elements):
        raise TrainingError("the rule has no elements, so nothing would resist: train again.")
