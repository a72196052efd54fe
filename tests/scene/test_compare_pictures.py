"""Pictures of a comparison show what they say."""

from typing import Any

from supple.scene import parse_scene, set_stage
from supple.scene.compare import Contestant, compare_methods, under_full
from supple.scene.compare_pictures import RIG_HEIGHT, RIG_PANELS, RIG_WIDTH, Gallery

ROD: dict[str, Any] = {
    "mesh": {"shape": "capsule", "resolution": 4},
    "time": {"frames": RIG_PANELS},
    "gravity": False,
}


def gallery(**tables: Any) -> Gallery:
    """The full solver beside itself."""
    built = under_full(set_stage(parse_scene({**ROD, **tables})), "direct")
    comparison = compare_methods(Contestant("full", built), [Contestant("again", built)])
    return Gallery(comparison, comparison.entries[0])


def test_rig_is_drawn_alone_below_the_body_that_it_carries() -> None:
    bent = {"keys": [{"t": 0.1, "pose": "bent"}]}
    picture = gallery(rig={"rest": "posed"}, motion=bent).draw_rig()
    assert picture is not None
    assert picture.shape[0] == 2 * RIG_HEIGHT + 4
    panels = slice(0, RIG_PANELS * (RIG_WIDTH + 4) - 4)
    above, below = picture[:RIG_HEIGHT, panels], picture[RIG_HEIGHT + 4 :, panels]
    body = below[..., 0].astype(int) - below[..., 2] > 40  # the colour of flesh, which the coloured row has not
    assert 0.05 < body.mean() < 0.9
    assert not (above[..., 0].astype(int) - above[..., 2] > 40)[body].mean() > 0.5


def test_body_without_rig_has_no_such_picture() -> None:
    assert gallery(pin=[{"select": "min x"}]).draw_rig() is None
