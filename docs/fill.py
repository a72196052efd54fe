"""Parts of the pages that come from the code, so that they cannot fall behind it.

A page holds a line `<!-- fill: NAME -->`; it is replaced by what the function NAME below returns.
"""

import re
from pathlib import Path
from typing import Any

from supple.material import PRESETS
from supple.scene import scene_reference
from supple.scene.demo_table import DEMOS
from supple.shape import SHAPES
from supple.solve import linear

MARK = re.compile(r"^<!-- fill: (\w+) -->$", re.MULTILINE)
EXAMPLES = Path(__file__).parent.parent / "examples"


def gallery() -> str:
    """Every example: what its first line says, its picture (drawn by gallery.py) and how to run it."""
    parts = []
    for scene in sorted(EXAMPLES.glob("*.toml")):
        lines = scene.read_text(encoding="utf-8").splitlines()
        about = lines[0].removeprefix("# ")
        run = next(line.removeprefix("#").strip() for line in lines if line.startswith("#   supple "))
        picture = f"![{about}](_static/gallery/{scene.stem}.png)"
        parts.append(f"## {scene.stem}\n\n{about}\n\n{picture}\n\n```text\n{run}\n```")
    return "\n\n".join(parts)


def demos() -> str:
    """The demonstrations as a table."""
    lines = ["| command | what it shows | more |", "| --- | --- | --- |"]
    lines += [f"| `supple demo {d.name}` | {d.about} | [page]({d.page}) |" for d in DEMOS.values()]
    return "\n".join(lines)


def presets() -> str:
    """The material presets as a table."""
    lines = ["| preset | young [Pa] | poisson | density [kg/m³] | range in the literature |", "| --- |" + " --- |" * 4]
    lines += [f"| `{name}` | {p.young:g} | {p.poisson:g} | {p.density:g} | {p.source} |" for name, p in PRESETS.items()]
    return "\n".join(lines)


def shapes() -> str:
    """The built-in shapes as a table."""
    lines = ["| shape | what it is | `size` keys and defaults [m] | cells | bones |", "| --- |" + " --- |" * 4]
    for shape in SHAPES.values():
        sizes = ", ".join(f"`{key}` {value:g}" for key, value in shape.sizes.items())
        bones = len(shape.character().skeleton) if shape.animate else ""
        lines.append(f"| `{shape.name}` | {shape.summary} | {sizes} | {shape.resolution} | {bones} |")
    return "\n".join(lines)


def characters() -> str:
    """The built-in shapes with bones as a table."""
    lines = ["| shape | bones | poses | its own motion |", "| --- | --- | --- | --- |"]
    for shape in SHAPES.values():
        if shape.animate is not None:
            own = shape.character()
            poses = ", ".join(f"`{name}`" for name in own.poses)
            lines.append(f"| `{shape.name}` | {len(own.skeleton)} | {poses} | {own.motion.duration:g} s, looped |")
    return "\n".join(lines)


def linear_rule() -> str:
    """The rule that chooses a linear solver as a table."""
    least, most = linear.DIRECT_AT_LEAST, linear.DIRECT_AT_MOST
    scaled = f"{linear.DIRECT_PER_REACH:g} unknowns times the reach, at least {least:,} and at most {most:,}"
    return "\n".join(
        [
            "| problem | `direct` up to | above |",
            "| --- | --- | --- |",
            f"| dynamic | {scaled} | `pcg` |",
            "| static | any number | - |",
            f"| static, held, from {linear.TRIED_FROM_STATIC:,} unknowns on, where a trial load at rest takes no more "
            "iterations than the root of the unknowns | - | `pcg` |",
        ]
    )


def training_keys() -> str:
    """The keys of `[training]` as a table."""
    return _list_keys("[training]")


def collider_keys() -> str:
    """The keys of `[[collider]]` as a table."""
    return _list_keys("[[collider]]")


def contact_keys() -> str:
    """The keys of `[contact]` as a table."""
    return _list_keys("[contact]")


def rig_keys() -> str:
    """The keys of `[rig]` as a table."""
    return _list_keys("[rig]")


def deformer_keys() -> str:
    """The keys of `[[rig.deformer]]` as a table."""
    return _list_keys("[[rig.deformer]]")


def blend_shape_keys() -> str:
    """The keys of `[[rig.blend_shape]]` as a table."""
    return _list_keys("[[rig.blend_shape]]")


def correction_keys() -> str:
    """The keys of `[[rig.correction]]` as a table."""
    return _list_keys("[[rig.correction]]")


def motion_keys() -> str:
    """The keys of `[motion]` as a table."""
    return _list_keys("[motion]")


def pose_keys() -> str:
    """The keys of one key of `[motion]` as a table."""
    return _list_keys("motion.keys")


def _list_keys(table: str) -> str:
    """The keys of one table of the scene file."""
    section = scene_reference().split(f"## `{table}`\n")[1].split("\n## ")[0]
    return section[section.index("| key |") :].strip()


FILLERS = {
    "blend_shape_keys": blend_shape_keys,
    "characters": characters,
    "collider_keys": collider_keys,
    "contact_keys": contact_keys,
    "correction_keys": correction_keys,
    "deformer_keys": deformer_keys,
    "demos": demos,
    "gallery": gallery,
    "linear_rule": linear_rule,
    "motion_keys": motion_keys,
    "pose_keys": pose_keys,
    "presets": presets,
    "rig_keys": rig_keys,
    "scene_reference": scene_reference,
    "shapes": shapes,
    "training_keys": training_keys,
}


def fill_page(app: Any, page: str, content: list[str]) -> None:
    """Replace the marks in a page that is being read."""
    content[0] = MARK.sub(lambda found: FILLERS[found[1]](), content[0])


def tame_docstring(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep |x|, *, and names that end in _ as they are: docstrings here are plain text with `code` in it."""
    for place, line in enumerate(lines):
        pieces = re.split(r"(`[^`]*`)", line)
        pieces[::2] = [re.sub(r"([|*\\])|(?<=\w)(_)(?!\w)", r"\\\1\2", piece) for piece in pieces[::2]]
        lines[place] = "".join(pieces)


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("source-read", fill_page)
    app.connect("autodoc-process-docstring", tame_docstring)
    return {"parallel_read_safe": True}
