"""The demonstrations there are: one scene file each in the folder `demos`, run by `supple demo NAME`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from supple.errors import SceneError
from supple.scene.training_poses import POSESPACE

__all__ = ["DEMOS", "FIRST", "Demo", "pick_demo"]

_PICTURES = "supple.picture.ahead"  # compiles what draws


@dataclass(frozen=True)
class Demo:
    """A demonstration of one method."""

    name: str  #: of its scene file, and on the command line
    about: str
    page: str  #: of the documentation, where more is said about the method
    ahead: tuple[tuple[str, ...], ...] = ((_PICTURES,),)  #: modules, with arguments, that compile what it needs last

    @property
    def scene(self) -> str:
        """The scene file, as the user finds it in the folder."""
        return (files("supple.scene") / "demos" / f"{self.name}.toml").read_text(encoding="utf-8")


_ALL = (
    Demo(
        "posespace",
        "a rigged figure walks; soft tissue in well under a millisecond a step",
        "posespace.md",
        ((POSESPACE, "stable_neo_hookean"), (_PICTURES,)),
    ),
    Demo("full", "a creature is shaken, hops and turns: the solver that the others are held against", "solver.md", ()),
    Demo("reduced", "a beam swings in a subspace that is trained to 5 %", "reduced.md"),
    Demo("skipping", "a long swing learns a subspace on its way and skips most full steps", "skipping.md"),
    Demo("selfcontact", "a finger curls into itself; a few contacts stand for all", "self-contact.md"),
    Demo("condensation", "a bar is pinched: full space there, a subspace everywhere else", "condensation.md"),
    Demo("projective", "a rubber glove, a shell, hangs by its thumb", "projective.md"),
    Demo("hyperreduced", "a creature drops onto a floor, without training", "hyper-reduced.md"),
)
DEMOS = {demo.name: demo for demo in _ALL}
FIRST = _ALL[0].name  #: what `supple demo` shows when nothing is named


def pick_demo(name: str) -> Demo:
    """The demonstration of that name; any other name is refused."""
    if name not in DEMOS:
        raise SceneError(f"there is no demonstration {name!r}: name one of {', '.join(DEMOS)}.")
    return DEMOS[name]
