"""Names of joints in the dialects of many programs, and which of them mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["match_joints", "part_of"]

#: What programs call the joint at the beginning of a part of the body.
PARTS = {
    "hips": "hips hip pelvis root",
    "spine": "spine back lowerback abdomen torso spine0 spine01 waist lowerspine",
    "chest": "chest spine1 spine02 upperback thorax ribs shoulders upperspine",
    "upper chest": "upperchest spine2 spine03",
    "neck": "neck neck1 neck01",
    "head": "head skull",
    "clavicle": "clavicle collar shoulder collarbone",
    "upper arm": "upperarm arm uparm upperarm01 humerus",
    "forearm": "forearm lowerarm elbow loarm lowerarm01 radius",
    "hand": "hand wrist",
    "thigh": "thigh upleg upperleg upperleg01 femur",
    "shin": "shin leg lowerleg knee calf loleg lowerleg01 tibia",
    "foot": "foot ankle",
    "toes": "toes toe toebase ball",
}
#: Words that mean the first part, or the second in a skeleton that has one of these words for the first.
EITHER = {
    "shoulder": ("upper arm", "clavicle", "upperarm arm uparm upperarm01 humerus"),
    "foot": ("foot", "toes", "ankle"),
    "leg": ("thigh", "shin", "thigh upleg upperleg upperleg01 hip femur"),
}
SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
PREFIX = re.compile(r"^(?:mixamorig\d*|bip0*1|def|org|mch)[:_\-. ]+", re.IGNORECASE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Name = tuple[str, str]


def match_joints(source: Sequence[str], target: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """For joints of the target: a joint of the source, and whether its name had to be guessed.

    First the same name, then the same but for case and punctuation, then the same part of the body.
    """
    found: dict[str, tuple[str, bool]] = {name: (name, False) for name in target if name in set(source)}
    for view, guess in ((_plain_names, False), (_parts, True)):
        taken = {name for name, _ in found.values()}
        given = [(key, name) for name, key in view(source).items() if name not in taken]
        known = dict(reversed(given))  # of several for one part the first, which is nearest to the root
        for name, key in view(target).items():
            if name not in found and key[1] and key in known:
                found[name] = (known.pop(key), guess)
    return {name: found[name] for name in target if name in found}


def part_of(names: Sequence[str]) -> dict[str, str]:
    """The part of the body that every joint begins, such as "left shin"; empty where the name tells none."""
    return {name: f"{side} {part}".strip() if part else "" for name, (side, part) in _parts(names).items()}


def _plain_names(names: Sequence[str]) -> dict[str, Name]:
    """Side and word of every joint; helpers, whose names begin with _, after the others."""
    return {name: _split_name(name) for name in sorted(names, key=lambda name: name.startswith("_"))}


def _parts(names: Sequence[str]) -> dict[str, Name]:
    """Side and part of every joint; the words that mean one of two parts are told by what else the skeleton has."""
    plain = _plain_names(names)
    words = {word for _, word in plain.values()}
    known = {word: part for part, listed in reversed(PARTS.items()) for word in listed.split()}
    for word, (first, second, decisive) in EITHER.items():
        known[word] = second if words & set(decisive.split()) else first
    sided = known | {"hip": "thigh"}
    return {name: (side, (sided if side else known).get(word, "")) for name, (side, word) in plain.items()}


def _split_name(name: str) -> Name:
    """Side ("left", "right" or "") and the rest of a name in lower case without punctuation."""
    words = [word.lower() for word in WORD.findall(PREFIX.sub("", name))]
    sides = [word for word in words if word in SIDES]
    if sides:
        words.remove(sides[0])
        return SIDES[sides[0]], "".join(words)
    whole = "".join(words)
    # "lthigh", "rknee": a side grown onto a word that is known without it
    if whole[:1] in ("l", "r") and any(whole[1:] in listed.split() for listed in PARTS.values()):
        return SIDES[whole[0]], whole[1:]
    return "", whole
