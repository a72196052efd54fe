"""What a skinned model must find again in the rig it serves."""

import hashlib
from collections.abc import Mapping
from typing import Any

from supple.errors import TrainingError
from supple.rig import SkinnedRig

__all__ = ["fingerprint_rig", "refuse_other_rig"]

REASONS = {
    "joints": "has {theirs} joints where this one has {ours}",
    "skeleton": "has other bones",
    "weights": "moves its vertices by other weights",
    "mode": "is skinned by {theirs} where this one is by {ours}",
}


def fingerprint_rig(rig: SkinnedRig) -> dict[str, Any]:
    """The rig part by part, as JSON has it; names of joints do not count."""
    skeleton, influences = rig.skeleton, rig.influences
    return {
        "joints": len(skeleton),
        "skeleton": _digest(skeleton.parents.tobytes(), skeleton.heads.tobytes(), skeleton.tails.tobytes()),
        "weights": _digest(influences.joints.tobytes(), influences.weights.tobytes()),
        "mode": rig.mode,
    }


def _digest(*pieces: bytes) -> str:
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def refuse_other_rig(stored: Mapping[str, Any], rig: SkinnedRig, source: str) -> None:
    """Raise what differs between the rig a model was trained for, by its fingerprint, and this one."""
    own = fingerprint_rig(rig)
    for part, reason in REASONS.items():
        theirs, ours = stored.get(part), own[part]
        if theirs != ours:
            sentence = reason.format(theirs=theirs, ours=ours).replace("_", " ")
            raise TrainingError(f"{source} was trained for another rig, which {sentence}: train again.")
