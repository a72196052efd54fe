"""The bodies of [TOK14]: characters of soft flesh that touch themselves, poses to learn from, and poses to play."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.settings import ContactSettings
from supple.elastic import Body, Damping
from supple.material import Corotational
from supple.rig import SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import make_character, make_shape

__all__ = ["CASES", "Case", "make_case"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

#: As the authors' code has it, Eq. (7): half of the stiffness also holds sideways, so that creases come to rest.
CONTACT = ContactSettings(self_contact=True, friction=0.0, alpha=0.5)
_MOST_FULL = 4  # frames of full space at paper size, each of which takes minutes
_FLESH = Corotational(young=5e3, poisson=0.3)


@dataclass(frozen=True, eq=False)
class Case:
    """A body and its poses."""

    name: str
    body: Body
    rig: SkinnedRig
    learned: FloatArray
    """Poses to learn from, one after another from rest on, (t, p)."""
    played: FloatArray
    """Poses to play, none of them learned from, (f, p)."""
    rank: int
    """Of shapes; columns of contact forces come in addition."""
    paper: Row
    """The paper's figures."""
    step: float = 1.0
    """Time from a pose to the next [s]."""
    integrator: str = "static"
    most_full: int = 10**6
    """Frames that full space plays, at most; where steps are static it leaves some out."""
    repeats: bool = True
    """Whether full space is asked twice."""
    beside: int = 2
    """Newton iterates of a pose that the basis knows beside its equilibrium, where the way there was long."""

    @property
    def shown(self) -> NDArray[np.int64]:
        """Numbers of the frames that full space plays, the last among them."""
        count = len(self.played) - 1
        return np.unique(np.linspace(0, count - 1, min(count, self.most_full)).round().astype(np.int64))


class Sketch(NamedTuple):
    """What a case is made of."""

    shape: str
    keys: Sequence[str]
    """Named poses, gone through after rest."""
    share: float
    """How far to them."""
    sizes: dict[str, tuple[int, int, int, int]]
    """Tets, poses to learn from and to play, rank."""
    paper: Row
    integrator: str = "static"
    farther: float = 0.0
    """How far at paper size, if farther: a coarse mesh would be crushed."""
    beside: int = 2
    """At paper size, where more poses need fewer iterates."""
    late: float = 0.5
    """Power of the shares of a single way at which poses to learn from lie, at paper size: contact comes late."""


def _paper(tets: int, domains: int, poses: int, rank: int, full: float, reduced: float, *more: float) -> Row:
    keys = "contacts_full", "contacts_rule", "contact_speedup_mean", "contact_speedup_max", "contact_share_max"
    return {
        "case": "[TOK14]", "tets": tets, "domains": domains, "poses": poses, "rank": rank,
        "full_ms": full, "reduced_ms": reduced, "speedup": full / reduced, **dict(zip(keys, more, strict=True)),
    }  # fmt: skip


CASES = {
    "cylinder": Sketch(
        "cylinder", ("folded",), 0.8, {"small": (3_000, 12, 14, 18), "paper": (118_389, 14, 14, 18)},
        _paper(118_389, 2, 12, 20, 7820.0, 20.0, 4127, 15, 16.0, 52.0, 0.46), farther=1.15, late=1 / 3,
    ),
    "finger": Sketch(
        "finger", ("curled",), 1.0, {"small": (4_000, 12, 14, 18), "paper": (248_869, 17, 20, 24)},
        _paper(248_869, 3, 17, 60, 15900.0, 53.0, 4930, 81, 10.0, 20.0, 0.44),
    ),
    "arm": Sketch(
        "arm", ("down",), 1.15, {"small": (6_000, 12, 60, 18), "paper": (171_492, 27, 60, 36)},
        _paper(171_492, 5, 27, 161, 20860.0, 77.0, 1264, 74, 7.0, 11.0, 0.43), "newmark",
    ),
    "hand": Sketch(
        "hand", ("fist", "pointing", "victory"), 0.8, {"small": (6_000, 36, 20, 40), "paper": (458_071, 72, 40, 60)},
        _paper(458_071, 10, 120, 300, 28450.0, 171.0, 3025, 445, 2.0, 5.0, 0.42), beside=0,
    ),
}  # fmt: skip


def make_case(name: str, size: str) -> Case:
    """A case at size "small" or "paper"."""
    sketch = CASES[name]
    count, poses, frames, rank = sketch.sizes[size]
    mesh, character = make_shape(sketch.shape, elements=count), make_character(sketch.shape)
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, character.skeleton))
    is_static = sketch.integrator == "static"
    body = Body.build(mesh, _FLESH, held.pins, Damping() if is_static else Damping(mass=2.0, stiffness=0.02))
    far = max(sketch.share, sketch.farther) if size == "paper" else sketch.share
    keys = np.array([rig.neutral, *(far * character.poses[key] for key in sketch.keys)])
    evenly = np.linspace(0.0, 1.0, poses + 1)[1:]
    late = sketch.late if size == "paper" else 0.5
    learned = _go_through(keys, evenly**late if len(keys) == 2 else evenly)
    way = np.linspace(0.0, 1.0, frames + 1) if is_static else _fall(frames)
    return Case(
        name, body, rig, learned, _go_through(keys, 0.98 * way), rank, sketch.paper,
        1.0 if is_static else 1.0 / 60.0, sketch.integrator,
        _MOST_FULL if size == "paper" and is_static else 10**6, size != "paper",
        sketch.beside if size == "paper" else 2,
    )  # fmt: skip


def _fall(frames: int) -> FloatArray:
    """Shares of a way that begins and ends at rest, gone in two thirds of the frames."""
    at = np.minimum(np.arange(frames + 1) / (2 * frames / 3), 1.0)
    return np.asarray(at**2 * (3.0 - 2.0 * at))


def _go_through(keys: FloatArray, way: FloatArray) -> FloatArray:
    """Poses at shares of the way through keys (k, p)."""
    at = way * (len(keys) - 1)
    low = np.minimum(at.astype(int), len(keys) - 2)
    share = (at - low)[:, None]
    return np.asarray((1.0 - share) * keys[low] + share * keys[low + 1])
