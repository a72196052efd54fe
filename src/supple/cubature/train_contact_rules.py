"""From contacts that a body had with itself in several poses to rules of few of them: [TOK14] 4.3, and 4.1 to compare.

One rule for all poses needs a large part of all contacts, for a contact that is open in most poses says nothing there;
a rule for one pose needs about as many as there are coordinates.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.contact_rules import ContactRules, pack_rules
from supple.cubature.dense_problem import DenseProblem
from supple.cubature.pool import train_pool
from supple.cubature.rule import Rule
from supple.errors import SuppleWarning, TrainingError
from supple.linalg.ties import first_smallest, is_within
from supple.rig.relative_poses import RelativePoses
from supple.rig.skeleton import Skeleton

__all__ = ["Flesh", "LearnedRules", "Look", "train_contact_rules", "train_direct"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_CLOSER = 0.8  # share of what would do if errors of looks held out went with those of the others
_TRIES = 4  # rules of a pose, each fitted more closely than the one before
_RINGS = 2  # edges from known contacts within which a rule that takes all of them looks for more
_SLIGHT = 0.01  # share of the largest force of two bones in any look below which it is that share that errors count by
_ALIKE = 1e-3  # share of the size of a bone's flesh within which relative poses are the same


class Look(NamedTuple):
    """All contacts of a body with itself in one state."""

    pairs: IntArray
    """Vertices and triangles, (m, 2)."""
    forces: FloatArray
    """What each does to the coordinates, (m, r)."""


@dataclass(frozen=True, eq=False)
class Flesh:
    """Whose a body's surface is."""

    skeleton: Skeleton
    rest: FloatArray
    """Positions of all vertices [m], (n, 3)."""
    triangles: IntArray
    """Of the surface, (k, 3)."""
    owners: NDArray[np.int64]
    """Bone of every vertex, (n,)."""

    def bones_of(self, pairs: IntArray) -> NDArray[np.int64]:
        """The two bones, the lower first, of vertices and triangles that touch, (m, 2)."""
        return self.bones_at(pairs[:, 0], self.triangles[pairs[:, 1]])

    def bones_at(self, vertices: NDArray[np.integer], corners: NDArray[np.integer]) -> NDArray[np.int64]:
        """The same for vertices (m,) and corners of triangles (m, 3).

        Flesh of one bone touches itself because a neighbour moves: that beyond the nearest joint ([TOK14] 4.1).
        """
        both = np.column_stack([self.owners[vertices], _find_majority(self.owners[corners])])
        alone = np.flatnonzero(both[:, 0] == both[:, 1])
        for bone in np.unique(both[alone, 0]):
            rows = alone[both[alone, 0] == bone]
            both[rows, 1] = self._beyond_joint(int(bone), self.rest[vertices[rows]])
        return np.sort(both, axis=1)

    def triangle_owners(self) -> NDArray[np.int64]:
        """Bone of every triangle, (k,)."""
        return _find_majority(self.owners[self.triangles])

    def _beyond_joint(self, bone: int, points: FloatArray) -> NDArray[np.int64]:
        """The bones that the joints of a bone nearest to points (m, 3) lead to, (m,); itself if it has none."""
        parents, heads = self.skeleton.parents, self.skeleton.heads
        others = [int(child) for child in np.flatnonzero(parents == bone)]
        joints = [heads[child] for child in others]
        if parents[bone] >= 0:
            others.append(int(parents[bone]))
            joints.append(heads[bone])
        if not others:
            return np.full(len(points), bone)
        away = np.linalg.norm(points[:, None] - np.array(joints), axis=2)
        return np.asarray(np.array(others, np.int64)[np.argmin(away, axis=1)])

    def surface_of(self, bone: int) -> FloatArray:
        """Surface points of a bone [m], (k, 3)."""
        surface = np.unique(self.triangles)
        own = surface[self.owners[surface] == bone]
        return self.rest[own if len(own) else surface]


def _find_majority(owners: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.sort(owners, axis=1)[:, 1])  # of three, the middle has it


class LearnedRules(NamedTuple):
    """Rules and how well they fit."""

    rules: ContactRules
    training_error: float
    """The largest of all rules."""
    heldout_error: float
    most: int
    """Contacts that the fullest of all looks had."""


def train_contact_rules(
    flesh: Flesh,
    poses: FloatArray,
    looks: Sequence[Sequence[Look]],
    heldout: Sequence[Sequence[Look]],
    scale: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> LearnedRules:
    """Rules of all bones that touch in poses (t, p), from the looks of each pose; errors of forces times `scale` (r,).

    Looks held out judge; every rule is to be right to the share `tolerance` of the forces of its pose, or of a
    hundredth of the largest that its bones exert in any pose: what touches that slightly moves nothing.
    """
    if not len(poses) == len(looks) == len(heldout):
        raise TrainingError(f"{len(looks)} and {len(heldout)} looks do not belong to {len(poses)} poses: give as many.")
    bones = [[flesh.bones_of(look.pairs) for look in some] for some in looks]
    judged = [[flesh.bones_of(look.pairs) for look in some] for some in heldout]
    touching = np.unique(np.concatenate([np.zeros((0, 2), np.int64), *(b for some in bones for b in some)]), axis=0)
    found, errors, judgements = [], [0.0], [0.0]
    transforms = [flesh.skeleton.transforms(pose) for pose in poses]
    for one in touching:
        chosen = [_restrict(some, owners, one) for some, owners in zip(looks, bones, strict=True)]
        others = [_restrict(some, owners, one) for some, owners in zip(heldout, judged, strict=True)]
        seen = RelativePoses.of(flesh.skeleton, int(one[0]), int(one[1]), flesh.surface_of(int(one[1])), poses)
        at = np.array([seen.locate(*transform)[0] for transform in transforms])
        kept = _group(at, [sum(len(look.pairs) for look in some) for some in chosen], seen)
        forces = [float(np.linalg.norm(scale * look.forces.sum(axis=0))) for pose in chosen for look in pose]
        slight = _SLIGHT * max(forces)
        rules = [_train_one(flesh, chosen[pose], others[pose], scale, slight, tolerance, rng) for pose in kept]
        errors += [rule.training_error for rule in rules]
        judgements += [rule.heldout_error for rule in rules]
        found.append(pack_rules(seen, at[kept], [(rule.pairs, rule.weights) for rule in rules]))
    most = max((len(look.pairs) for some in looks for look in some), default=0)
    return LearnedRules(ContactRules(tuple(found)), max(errors), max(judgements), most)


def train_direct(
    looks: Sequence[Sequence[Look]], scale: FloatArray, tolerance: float, rng: np.random.Generator
) -> tuple[Rule, int]:
    """One rule for the contacts of all poses, [TOK14] 4.1, and how many contacts there were: a baseline."""
    flat = [look for some in looks for look in some if len(look.pairs)]
    vertices, forces = _tabulate(flat, scale)
    return train_pool(DenseProblem(forces), tolerance, rng), len(vertices)


def _restrict(some: Sequence[Look], owners: Sequence[NDArray[np.int64]], bones: NDArray[np.int64]) -> list[Look]:
    """The contacts of two bones in each look."""
    rows = [np.flatnonzero((own == bones).all(axis=1)) for own in owners]
    return [Look(look.pairs[r], look.forces[r]) for look, r in zip(some, rows, strict=True)]


def _group(at: FloatArray, counts: Sequence[int], seen: RelativePoses) -> NDArray[np.int64]:
    """Poses, ascending, of which no two are alike: of each group the one with most contacts."""
    near = _ALIKE * seen.size
    kept: list[int] = []
    for pose in np.argsort(-np.asarray(counts), kind="stable"):
        if all(np.linalg.norm(at[pose] - at[other]) > near for other in kept):
            kept.append(int(pose))
    return np.sort(np.array(kept, np.int64))


def _tabulate(some: Sequence[Look], scale: FloatArray) -> tuple[IntArray, FloatArray]:
    """Vertices that touch in any look, (c,), and what their contacts do in each, (c, looks, r)."""
    vertices = np.unique(np.concatenate([look.pairs[:, 0] for look in some]))
    forces = np.zeros((len(vertices), len(some), len(scale)))
    for number, look in enumerate(some):
        np.add.at(forces[:, number], np.searchsorted(vertices, look.pairs[:, 0]), look.forces * scale)
    return vertices, forces


class _Fitted(NamedTuple):
    """The rule of one pose and how well it fits."""

    pairs: IntArray
    weights: FloatArray
    training_error: float
    heldout_error: float


def _train_one(
    flesh: Flesh,
    some: Sequence[Look],
    others: Sequence[Look],
    scale: FloatArray,
    slight: float,
    tolerance: float,
    rng: np.random.Generator,
) -> _Fitted:
    """The rule of one pose, fitted as closely as it takes to be right about looks held out, where errors of forces
    below `slight` count by that; of no contact where nothing touches, or without any force."""
    some = [look for look in some if len(look.pairs) and look.forces.any()]
    if not some:
        return _Fitted(np.zeros((0, 2), np.int32), np.zeros(0), 0.0, 0.0)
    problem, aim, tries = DenseProblem(_tabulate(some, scale)[1]), tolerance, []
    for _ in range(_TRIES):
        rule = train_pool(problem, aim, rng)
        described = _describe(some, rule)
        tries.append(_Fitted(*described, rule.training_error, _judge(others, *described, scale, slight)))
        if is_within(tries[-1].heldout_error, tolerance):
            break
        aim *= max(_CLOSER * tolerance / tries[-1].heldout_error, 0.5)
    else:
        every = _take_all(flesh, some)
        if len(every[0]) <= len(scale):
            tries.append(_Fitted(*every, 0.0, _judge(others, *every, scale, slight)))
    best = tries[first_smallest([one.heldout_error for one in tries])]
    if best.training_error > tolerance:
        warnings.warn(
            f"a contact rule misses {100 * best.training_error:.2g} % of the forces where {100 * tolerance:.2g} % was "
            "asked for.",
            SuppleWarning,
            stacklevel=3,
        )
    return best


def _take_all(flesh: Flesh, some: Sequence[Look]) -> tuple[IntArray, FloatArray]:
    """All contacts, each for itself, and the vertices near theirs, which begin at the same triangles.

    Few contacts that just begin to touch say nothing of the next ones, and cost nothing to look at.
    """
    pairs = _first_pairs(some)
    for _ in range(_RINGS):
        faces = flesh.triangles[np.isin(flesh.triangles, pairs[:, 0]).any(axis=1)]
        begin, end = faces[:, [0, 1, 2, 0, 1, 2]].ravel(), faces[:, [1, 2, 0, 2, 0, 1]].ravel()
        known = np.isin(begin, pairs[:, 0])
        place = np.searchsorted(pairs[:, 0], begin[known])
        wider = np.concatenate([pairs, np.column_stack([end[known], pairs[place, 1]])])
        pairs = wider[np.unique(wider[:, 0], return_index=True)[1]].astype(np.int32)
    return pairs, np.ones(len(pairs))


def _first_pairs(some: Sequence[Look]) -> IntArray:
    """Vertices that touch in any look, ascending, each with the triangle of the first look that knows it, (c, 2)."""
    pairs = np.concatenate([look.pairs for look in some])
    return pairs[np.unique(pairs[:, 0], return_index=True)[1]]


def _describe(some: Sequence[Look], rule: Rule) -> tuple[IntArray, FloatArray]:
    """Pairs of a rule and their weights."""
    return _first_pairs(some)[rule.members], rule.weights


def _judge(some: Sequence[Look], pairs: IntArray, weights: FloatArray, scale: FloatArray, slight: float) -> float:
    """Relative error of a rule's forces in looks that it was not trained by: root of the mean square."""
    squares = []
    for look in some:
        if not len(look.pairs):
            continue
        wanted = scale * look.forces.sum(axis=0)
        place = np.searchsorted(pairs[:, 0], look.pairs[:, 0])
        place[place == len(pairs)] = 0
        known = pairs[place, 0] == look.pairs[:, 0] if len(pairs) else np.zeros(len(look.pairs), bool)
        share = np.where(known, weights[place], 0.0) if len(pairs) else np.zeros(len(look.pairs))
        found = scale * (share @ look.forces)
        squares.append(float(((found - wanted) ** 2).sum() / max((wanted**2).sum(), slight**2)))
    return float(np.sqrt(np.mean(squares))) if squares else 0.0
