"""A scene of several bodies in the viewer."""

from pathlib import Path

import numpy as np

from supple.scene import parse_scene
from supple.scene.toml import write_toml
from supple.solve import Move, Release
from supple.view import Take
from supple.view.fields import ERROR, find_values, list_fields
from supple.view.launch import Builder, Look
from supple.view.overlays import list_overlays
from supple.view.player import Shown
from supple.view.reference import Reference
from supple.view.surface import Surface

SCENE = {
    "time": {"frames": 4, "fps": 30, "substeps": 1},
    "material": {"young": 3e4},
    "contact": {"friction": 0.4},
    "body": [
        {
            "name": "slab",
            "mesh": {"shape": "box", "size": {"length": 0.4, "width": 0.4, "height": 0.1}, "resolution": 4},
            "pin": [{"select": "min y"}],
        },
        {
            "name": "box",
            "at": [0, 0.101, 0],
            "mesh": {"shape": "box", "size": {"length": 0.2, "width": 0.2, "height": 0.1}, "resolution": 3},
            "method": {"name": "hyperreduced", "handles": 20, "clusters": 20},
        },
    ],
}


def test_bodies_are_shown_coloured_and_pulled_at(tmp_path: Path) -> None:
    source = tmp_path / "pile.toml"
    source.write_text(write_toml(parse_scene(SCENE).keys(), "a test"))
    builder = Builder(Look(source, {}))
    take = Take(builder.begin(lambda _: None), lambda stage: builder(stage, lambda _: None))
    built, own = take.built, take.built.spans()["box"]
    assert list_fields(built) == ["displacement", "J", "von_mises", "contact_force", ERROR]
    for _ in range(3):
        take.advance()
    x = built.solver.positions(take.now.state)
    for name in list_fields(built)[:-1]:
        values = find_values(name, built, take.now, x)
        assert values.shape == (len(x),)
        assert values[own].max() > 0.0
    shown = Shown(take, built, built, take.now, x, take.now.frame, True, None)
    assert set(list_overlays(built)) == {"pins", "contacts"}
    assert all(np.isfinite(find(shown)).all() and len(find(shown)) for find, _ in list_overlays(built).values())
    away = Reference(take).positions(take.now.frame, lambda _: None) - x
    assert 0.0 < np.abs(away).max() < 0.01
    corner = x[own][np.argmax(x[own].sum(axis=1))]
    take.act(Surface(built.mesh).grab("pull", x, corner, 300.0))
    take.act(Move("pull", tuple(corner + [0.0, 0.3, 0.0])))
    for _ in range(4):
        take.advance()
    assert built.solver.positions(take.now.state)[own, 1].max() > corner[1] + 0.02
    assert take.held()["pull"].target == tuple(corner + [0.0, 0.3, 0.0])  # whichever body it is
    take.act(Release("pull"))
    assert take.held() == {}
