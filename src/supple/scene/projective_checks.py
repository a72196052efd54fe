"""What to know before a scene runs under projective dynamics."""

from __future__ import annotations

from collections.abc import Iterator

from supple.scene.finding import Finding
from supple.scene.stage import Stage

__all__ = ["check_contact_keys", "check_spaces"]

PENALTY_KEYS = ("stiffness", "alpha", "edges")


def check_contact_keys(stage: Stage) -> Iterator[Finding]:
    """Settings of penalty contact, where contact holds without them."""
    table, method = stage.scene.contact, stage.scene.method
    if table is None or not (method.is_projective or method.name == "posespace"):
        return
    remedy = (
        "at sampled vertices: remove it, or raise method.candidates" if method.is_projective else "firmly: remove it"
    )
    for key in PENALTY_KEYS:
        if getattr(table, key):
            yield Finding(
                "note",
                "contact",
                f'contact.{key} says nothing under method.name = "{method.name}", whose contact holds {remedy}.',
            )


def check_spaces(stage: Stage) -> Iterator[Finding]:
    """Spaces larger than what they stand for."""
    method, vertices = stage.scene.method, len(stage.mesh.vertices)
    if method.name == "hyperreduced" and (method.handles or 0) > vertices // 4:
        yield Finding(
            "note",
            "spaces",
            f"method.handles = {method.handles} have as many unknowns as {4 * (method.handles or 0):,} vertices where "
            f'the mesh has {vertices:,}: use fewer, or method.name = "projective".',
        )
