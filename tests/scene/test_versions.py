"""Scenes that events change on the way."""

from pathlib import Path

import numpy as np
import pytest

from supple.errors import SceneError
from supple.io import load_checkpoint
from supple.scene import SilentListener, build_scene, parse_scene, run_scene, simulate
from supple.scene.change import change_scene, check_changes
from supple.scene.versions import Versions
from supple.solve import AddPin, RemovePin, SetGravity, SetScene, SetStiffness, event_from_dict
from supple.solve.live import Live

TABLES = {
    "mesh": {"shape": "box", "resolution": 2},
    "material": {"young": 1e4},
    "time": {"frames": 6, "substeps": 2, "preroll": 1},
    "pin": [{"select": "min y"}],
    "output": {"checkpoint": 4},
}
PROJECTIVE = SetScene({"method": {"name": "projective"}})
DAMPED = SetScene({"material": {"damping_mass": 5.0}})


def test_the_log_alone_says_what_makes_a_frame() -> None:
    log = {2: (PROJECTIVE, SetGravity((0.0, 1.0, 0.0))), 4: (DAMPED,)}
    versions = Versions(build_scene(parse_scene(TABLES)), log)
    assert versions.at(6).body.damping.mass == 5.0  # out of order, and before it was asked for
    assert [versions.at(frame).solver.name for frame in (-1, 0, 2, 3, 6)] == ["full"] * 3 + ["projective"] * 2
    assert versions.at(4).body.damping.mass == 0.0
    log[6] = (SetScene({"method": {"name": "full"}}),)
    assert versions.at(7).solver.name == "full"
    log[6] = (*log[6], PROJECTIVE)  # in the same frame, while it stands
    assert versions.at(7).solver.name == "projective"


def test_run_that_was_stopped_after_a_change_goes_on_bit_for_bit(tmp_path: Path) -> None:
    class Fails(SilentListener):
        def frame(self, row: object) -> None:
            if row.frame == 5:  # type: ignore[attr-defined]
                raise RuntimeError

    log = {1: (SetStiffness(2.0), RemovePin((0, 1), "x")), 2: (PROJECTIVE,), 3: (DAMPED,)}
    run_scene(build_scene(parse_scene(TABLES)), [tmp_path / "whole.npz"], events=log)
    with pytest.raises(RuntimeError):
        run_scene(build_scene(parse_scene(TABLES)), [tmp_path / "a.npz"], events=log, listener=Fails())
    assert "memory_0" in load_checkpoint(tmp_path / "a.npz.checkpoint.npz")[0]  # of projective steps
    run_scene(build_scene(parse_scene(TABLES)), [tmp_path / "a.npz"], events=log, resume=True)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    *_, last = simulate(build_scene(parse_scene(TABLES)), events=log)
    assert last.state.live.stiffness == 2.0
    assert last.state.live.released.vertices.tolist() == [0, 1]


def test_settings_of_a_method_are_forgotten_with_it() -> None:
    scene = parse_scene({**TABLES, "method": {"tolerance": 1e-6}})
    assert change_scene(scene, {"method": {"tolerance": 1e-3}}).method.tolerance == 1e-3
    wide = change_scene(scene, {"method": {"name": "hyperreduced", "radius": 2.0}})
    assert (wide.method.radius, wide.method.tolerance) == (2.0, None)
    other = change_scene(wide, {"method": {"name": "condensation"}})
    assert other.method.radius is None  # which is another length there
    back = change_scene(other, {"method": {"name": "full"}})
    assert back.method.residual == 1e-6
    assert change_scene(back, {"method": {"tolerance": 1e-2}}).method.residual == 1e-2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"method": {"name": "best"}}, "frame 3 changes the scene"),
        ({"method": {"tolerance": -1.0}}, "tolerance"),
        ({"material": {"damping_mass": -1.0}}, "damping_mass"),
    ],
)
def test_changes_that_make_no_scene_are_refused_before_the_run(changes: dict[str, object], said: str) -> None:
    with pytest.raises(SceneError, match=said):
        check_changes(parse_scene(TABLES), {3: (SetScene(changes),)})  # type: ignore[arg-type]


@pytest.mark.parametrize("changes", [{}, {"mesh": {"shape": "beam"}}, {"method": 3}, [1]])
def test_other_tables_do_not_change_on_the_way(changes: object) -> None:
    with pytest.raises(SceneError, match="makes no sense"):
        event_from_dict({"kind": "SetScene", "changes": changes})


def test_settings_are_told_again() -> None:
    x = np.zeros((5, 3))
    live = Live().after((SetStiffness(2.0), RemovePin((1, 2), "xy"), AddPin((3,)), AddPin((1,), "z")), x)
    again = Live().after(live.retell(), x)
    assert again.stiffness == 2.0
    for name in ("added", "released"):
        one, other = getattr(live, name), getattr(again, name)
        assert np.array_equal(one.vertices, other.vertices)
        assert np.array_equal(one.held, other.held)
