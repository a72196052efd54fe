"""Characters out of USD: UsdSkel's skeletons, skinning, blend shapes and animations."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleWarning
from supple.io.binding import bind_weights, hang_parts, name_apart
from supple.io.character import Character, Clip, Part
from supple.io.limits import check_count
from supple.io.usd_read import UsdContent
from supple.rig import Influences

__all__ = ["load_usd_character"]

FloatArray = NDArray[np.float64]


def load_usd_character(path: Path, metres: float | None = None) -> Character:
    """The character of a stage; its unit is of `metres`, or else what the stage says, which by USD is 1 cm if nothing.

    Skinning is UsdSkel's: skinning methods, bind and rest transforms, blend shapes with what lies between them.
    """
    content = UsdContent(path, "character")
    unit = content.facts["metres_per_unit"] if metres is None else metres
    with content.source.parsing("a USD character"):
        character = _Reader(content, unit).read()
    if metres is None and not content.facts["stated"] and character.skeleton is not None:
        points = np.concatenate([part.vertices for part in character.parts])
        warnings.warn(
            f"{path} does not say its unit of length, which by USD's rule is 1 cm, so that it is "
            f"{np.ptp(points, axis=0).max():.3g} m across; give units if it is another.",
            SuppleWarning,
            stacklevel=2,
        )
    return character


class _Reader:
    """Puts together what the script left."""

    def __init__(self, content: UsdContent, metres: float) -> None:
        self.content, self.facts, self.metres = content, content.facts, metres
        self.notes: list[str] = list(self.facts["notes"])
        self.names: list[str] = []
        self.parents: list[int] = []
        self.heads: list[FloatArray] = []
        self.moves: list[FloatArray] = []  # (k, j, 4, 4) each
        self.firsts: list[int] = []  # number of each skeleton's first joint
        self.carries: list[FloatArray] = []  # what takes bound points of each to rest

    def read(self) -> Character:
        facts, source = self.facts, self.content.source
        for number, fact in enumerate(facts["skeletons"]):
            self._add_skeleton(number, fact)
        parts = [self._read_part(number, fact) for number, fact in enumerate(facts["parts"])]
        check_count(source.name, sum(len(part.vertices) for part in parts), "vertices")
        heads = self.metres * np.array(self.heads).reshape(-1, 3)
        skeleton, order, parts = hang_parts(self.names, self.parents, heads, parts)
        return Character(
            source.name, tuple(parts), skeleton, self._read_clip(parts, order), facts["up_axis"], self.metres,
            tuple(self.notes),
        )  # fmt: skip

    def _add_skeleton(self, number: int, fact: dict[str, Any]) -> None:
        """Joints of a skeleton at rest: as bound, with the first where the stage has it."""
        binds, rest, moves = (
            np.array(self.content.array(f"skel{number}.{what}")) for what in ("binds", "rest", "moves")
        )
        for values in (rest, moves):
            self.content.source.check_finite(values, "joints")
        parents = self.content.array(f"skel{number}.parents")
        carry = rest[int(np.argmin(parents >= 0))]
        first = len(self.names)
        self.firsts.append(first)
        self.carries.append(carry)
        self.names += [name.rsplit("/", 1)[-1] for name in fact["names"]]
        self.parents += [int(parent) + first if parent >= 0 else -1 for parent in parents]
        self.heads += list((carry @ binds)[:, :3, 3])
        self.moves.append(moves @ np.linalg.inv(carry))

    def _read_part(self, number: int, fact: dict[str, Any]) -> Part:
        content, skel = self.content, int(fact["skel"])
        given = np.array(content.array(f"{number}.points"))
        places = None if skel >= 0 else np.array(content.array(f"{number}.places"))
        carry = self.carries[skel] @ content.array(f"{number}.bind") if places is None else places[0]
        turned = bool(fact["turned"]) != bool(np.linalg.det(carry[:3, :3]) < 0.0)
        faces = content.faces(str(number), len(given), turned=turned, uv=fact["uv"])
        bind = np.diag([self.metres] * 3 + [1.0]) @ carry
        vertices = given @ bind[:3, :3].T + bind[:3, 3]
        content.source.check_finite(vertices, "points")
        targets = {}
        if fact["targets"]:
            offsets = np.array(content.array(f"{number}.offsets")) @ bind[:3, :3].T
            content.source.check_finite(offsets, "blend shapes")
            targets = dict(zip(name_apart(fact["targets"]), offsets, strict=True))
        part = Part(
            fact["name"], fact["path"], vertices, faces.counts, faces.indices, None, fact.get("method", "linear"),
            faces.uv, fact["material"], targets, bind,
        )  # fmt: skip
        return self._hang(part, number, skel, places)

    def _hang(self, part: Part, number: int, skel: int, places: FloatArray | None) -> Part:
        """The part with what moves it: joints of its skeleton, or a joint of its own where it is moved without one."""
        count = len(part.vertices)
        if places is None:
            joints, weights = (np.array(self.content.array(f"{number}.{what}")) for what in ("joints", "weights"))
            size = len(self.facts["skeletons"][skel]["names"])
            found, notes = bind_weights(self.content.source, part.name, joints, weights, size, part.vertices)
            self.notes += notes
            if found is not None:
                found = replace(found, joints=found.joints + np.int32(self.firsts[skel]))
            return replace(part, influences=found)
        if len(places) < 2 or (places == places[0]).all():
            return part
        self.names.append(part.name)
        self.parents.append(-1)
        self.heads.append(places[0][:3, 3])
        self.moves.append((places @ np.linalg.inv(places[0]))[:, None])
        own = np.full((count, 1), len(self.names) - 1, np.int32)
        return replace(part, influences=Influences(own, np.ones((count, 1))))

    def _read_clip(self, parts: list[Part], order: NDArray[np.intp]) -> tuple[Clip, ...]:
        codes = np.array(self.facts["codes"], np.float64)
        if not len(codes):
            return ()
        moves = np.concatenate([np.zeros((len(codes), 0, 4, 4)), *self.moves], axis=1)[:, order]
        shares = {
            number: np.array(self.content.array(f"{number}.shares"))
            for number, part in enumerate(parts)
            if part.targets
        }
        for values in shares.values():
            self.content.source.check_finite(values, "weights of blend shapes")
        names = [fact["clip"] for fact in self.facts["skeletons"] if fact["clip"]]
        fps = float(self.facts["fps"])
        turns, shifts = moves[:, :, :3, :3].copy(), self.metres * moves[:, :, :3, 3]
        return (Clip(names[0] if names else "clip", fps, codes / fps, turns, shifts, shares),)
