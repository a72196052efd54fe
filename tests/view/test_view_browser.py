"""The page in a real browser."""

import gc
import http.client
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import ConvergenceError
from supple.io import open_cache
from supple.view.guard import Guard
from supple.view.launch import Builder, Look
from supple.view.page import Page
from supple.view.player import Player, Shown
from supple.view.recording import DRAWN, FORMATS
from supple.view.server import open_server, stop_server

WIDTH, HEIGHT = 900, 500
CANVAS = """(() => { const all = [...document.querySelectorAll('canvas')].map(each => each.getBoundingClientRect());
const {left, top, width, height} = all.reduce((a, b) => a.width * a.height > b.width * b.height ? a : b);
return [left, top, width, height]; })()"""
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
SCENE = """
[time]
fps = 60
substeps = 1
[mesh]
shape = "box"
size = { length = 0.4, height = 0.2, width = 0.2 }
resolution = 4
[material]
young = 3e4
density = 1000
damping_mass = 2.0
[[pin]]
select = "min x"
[[collider]]
shape = "sphere"
size = { radius = 0.08 }
at = [0.15, -0.3, 0.0]
"""
POSED = """
[time]
fps = 60
substeps = 1
[mesh]
shape = "beam"
resolution = 6
[material]
young = 2e5
damping_mass = 4.0
[rig]
rest = "posed"
hold = "min x 5%"
bones = false
deformer = [{ kind = "bend", name = "curl", start = [-0.3, 0.0, 0.0], end = [0.4, 0.0, 0.0], about = [0.0, 0.0, 1.0] }]
[motion]
keys = [{ t = 0.0, curl = 0.0 }]
[training]
poses = [{ curl = 20.0 }]
max_poses = 3
heldout = 1
cases = 1
[method]
name = "posespace"
rank = 8
tolerance = 0.5
"""
PILE = """
[time]
fps = 60
substeps = 1
[material]
young = 3e4
damping_mass = 2.0
[contact]
friction = 0.4
[[body]]
name = "slab"
mesh = { shape = "box", size = { length = 0.4, width = 0.4, height = 0.1 }, resolution = 3 }
pin = [{ select = "min y" }]
[[body]]
name = "block"
at = [0.0, 0.101, 0.0]
mesh = { shape = "box", size = { length = 0.2, width = 0.2, height = 0.1 }, resolution = 2 }
"""
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@dataclass
class Opened:
    """A page in the browser, and the player behind it."""

    page: Any
    player: Player
    guard: Guard
    folder: Path
    seen: list[Shown]
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """What the page complained of, but for viser's own word when a panel scrolls."""
        return [error for error in self.errors if "passive event listener" not in error]

    def wait(self, passes: Callable[[Shown], bool], seconds: float = 20.0) -> Shown:
        """What is shown, as soon as it passes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if passes(self.seen[-1]):
                return self.seen[-1]
            self.page.wait_for_timeout(20)
        raise AssertionError(f"never shown; the last frame was {self.seen[-1].last}")

    def picture(self) -> Any:
        """The middle of the page, as numbers."""
        import io

        from PIL import Image

        shot = self.page.screenshot(clip={"x": 60, "y": 90, "width": 400, "height": 380})
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), np.int16)

    def place(self, point: np.ndarray[Any, Any]) -> tuple[float, float]:
        """Where a point of the scene [m] is on the page [pixels]."""
        client = next(iter(self.page.server.get_clients().values()))
        camera = client.camera
        eye, target, up = (np.asarray(v) for v in (camera.position, camera.look_at, camera.up_direction))
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, up) / np.linalg.norm(np.cross(ahead, up))
        away = self.page.room.enter(point) - eye
        depth = away @ ahead
        left, top, width, height = self.page.evaluate(CANVAS)
        scale = 0.5 * height / (np.tan(0.5 * camera.fov) * depth)
        return left + 0.5 * width + scale * (away @ right), top + 0.5 * height - scale * (away @ np.cross(right, ahead))


@contextmanager
def visiting(browser: Any, folder: Path, text: str) -> Iterator[Opened]:
    """A tab of the browser in which a scene is shown."""
    source = folder / "box.toml"
    source.write_text(text)
    builder = Builder(Look(source, {}))
    guard = Guard("127.0.0.1")
    server = open_server(guard, "supple: box.toml")
    server.scene.configure_default_lights(cast_shadow=False)  # which takes a processor long
    player, seen = Player(builder.begin(lambda _: None), builder), []
    put = player.shown.put
    player.shown.put = lambda shown: (seen.append(shown), seen[:-400].clear(), put(shown))  # type: ignore[func-returns-value,method-assign,assignment]
    page = Page(server, player, source, folder)
    page.start()
    thread = threading.Thread(target=player.run, daemon=True)
    thread.start()
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    found = Opened(tab, player, guard, folder, seen)
    tab.server, tab.room = server, None
    tab.on("console", lambda said: found.errors.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: found.errors.append(str(error)))
    tab.on("request", lambda request: found.requests.append(request.url))
    tab.goto(f"{guard.url}?fixedDpr=0.5")  # fewer pixels for a processor to draw
    tab.get_by_text("steps of").wait_for(timeout=60_000)
    tab.room = page.room
    yield found
    tab.close()
    player.close()
    thread.join(20.0)
    stop_server(server)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("viser")
    with playwright.sync_playwright() as automation:
        started = automation.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield started
        started.close()


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with visiting(browser, tmp_path_factory.mktemp("view"), SCENE) as found:
        yield found


def test_page_loads_without_errors_and_without_the_internet(opened: Opened) -> None:
    assert opened.requests
    own = (f"http://127.0.0.1:{opened.guard.port}/", f"blob:http://127.0.0.1:{opened.guard.port}/", "data:")
    assert [url for url in opened.requests if not url.startswith(own)] == []
    assert opened.errors == []


def test_body_moves_when_played_and_stands_when_paused(opened: Opened) -> None:
    before = opened.picture()
    opened.page.keyboard.press("Space")
    opened.wait(lambda shown: shown.last >= 20)
    opened.page.get_by_text("Pause", exact=True).click(force=True)
    stood = opened.wait(lambda shown: not shown.playing).last
    opened.page.wait_for_timeout(700)
    after = opened.picture()
    assert (np.abs(after - before).max(axis=2) > 40).mean() > 0.003
    opened.page.wait_for_timeout(500)
    assert (np.abs(opened.picture() - after).max(axis=2) > 40).mean() < 0.0005
    assert opened.seen[-1].last == stood
    opened.page.keyboard.press("ArrowRight")
    opened.wait(lambda shown: shown.last == stood + 1)
    opened.page.keyboard.press("ArrowLeft")
    assert opened.wait(lambda shown: shown.now.frame == stood).last == stood + 1
    opened.page.keyboard.press("r")
    opened.wait(lambda shown: shown.last == 0)


def holds(shown: Shown) -> list[Any]:
    """What the solver, or those of several bodies, are held by."""
    state = shown.now.state
    return [grab for one in getattr(state, "states", (state,)) for grab in one.live.grabs]


def pull_and_let_go(opened: Opened, frames: int, part: slice = slice(None)) -> None:
    """Drag the far end of the body, or of one of several, upwards, see it come along, and let it go."""
    shown = opened.seen[-1]
    opened.page.wait_for_timeout(300)
    own = shown.x[part]
    corner = own[int(np.argmax(own @ [1.0, 0.3, 0.3]))]
    x, y = opened.place(corner + 0.1 * (own.mean(axis=0) - corner))
    mouse = opened.page.mouse
    mouse.move(x, y)
    mouse.down()
    for way in np.linspace(0.0, 1.0, 8):
        mouse.move(x + 20 * way, y - 90 * way)
        opened.page.wait_for_timeout(60)
    opened.player.play()
    opened.wait(lambda now: now.last >= shown.last + frames)
    assert len(holds(opened.seen[-1])) == 1
    (grab,) = opened.seen[-1].take.held().values()
    held = np.asarray(grab.weights) @ opened.seen[-1].x[list(grab.vertices)]
    began = np.asarray(grab.weights) @ shown.x[list(grab.vertices)]
    assert np.linalg.norm(held - grab.target) < 0.5 * np.linalg.norm(began - grab.target)
    assert held[1] > began[1] + 0.01
    mouse.up()
    opened.wait(lambda shown: not holds(shown))
    assert opened.seen[-1].take.held() == {}
    opened.player.pause()
    opened.wait(lambda shown: not shown.playing)


def test_drag_pulls_the_picked_point_to_the_pointer_and_lets_go(opened: Opened) -> None:
    opened.wait(lambda shown: shown.last == 0)
    pull_and_let_go(opened, 40)


def test_drag_outlasts_the_colour_that_it_began_on(opened: Opened) -> None:
    opened.player.reset()
    opened.wait(lambda shown: shown.last == 0)
    opened.player.colour("J")
    shown = opened.wait(lambda shown: shown.field == "J" and shown.values is not None)
    assert np.ptp(shown.values) < 1e-9  # whatever colour round-off gives it at rest, pulled at it gets another
    pull_and_let_go(opened, 30)
    opened.player.colour("")


def test_collider_is_dragged(opened: Opened) -> None:
    opened.page.keyboard.press("r")
    shown = opened.wait(lambda shown: shown.last == 0)
    x, y = opened.place(np.array([0.15, -0.3, 0.0]))
    opened.page.wait_for_timeout(300)
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    for way in np.linspace(0.0, 1.0, 5):
        opened.page.mouse.move(x - 60 * way, y)
        opened.page.wait_for_timeout(60)
    opened.page.mouse.up()
    opened.page.wait_for_timeout(200)
    opened.player.step()
    shown = opened.wait(lambda shown: shown.last == 1)
    (placed,) = shown.take.built.drive.placements(1.0)
    assert placed.translation[0] < 0.15 - 0.01


def test_another_method_goes_on_from_the_same_frame_in_colours(opened: Opened) -> None:
    before = opened.wait(lambda shown: shown.last >= 1)
    opened.page.get_by_text("Method", exact=True).click()
    opened.page.get_by_role("combobox", name="Name").click()
    opened.page.get_by_role("option", name="hyperreduced").click()
    shown = opened.wait(lambda shown: shown.following.solver.name == "hyperreduced", 120.0)  # kernels may be compiled
    assert (shown.take, shown.last) == (before.take, before.last)
    assert np.array_equal(shown.x, before.x)
    pull_and_let_go(opened, 30)
    opened.player.colour("displacement")
    shown = opened.wait(lambda shown: shown.field == "displacement" and shown.values is not None)
    assert shown.built.solver.name == "hyperreduced"
    assert shown.values is not None
    assert shown.values.max() > 0.0
    opened.page.wait_for_timeout(500)
    colours = opened.picture().reshape(-1, 3)
    assert (np.ptp(colours, axis=1) > 60).mean() > 0.005  # not grey: painted
    opened.player.colour("")


def test_error_is_told_and_the_page_lives_on(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = opened.seen[-1].take.built.solver

    def fail(*_: object) -> None:
        raise ConvergenceError("element 3 turned inside out: use more substeps.")

    with monkeypatch.context() as broken:
        broken.setattr(solver, "step", fail)
        opened.player.play()
        opened.page.get_by_text("element 3 turned inside out").first.wait_for(timeout=10_000)
    last = opened.seen[-1].last
    opened.player.play()
    opened.wait(lambda shown: shown.last > last and not shown.error)


def test_three_hundred_frames_take_no_more_memory(opened: Opened) -> None:
    browser = opened.page.context.new_cdp_session(opened.page)

    def resident() -> int:
        gc.collect()
        pages = Path("/proc/self/statm")
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 0

    def heap() -> float:
        browser.send("HeapProfiler.collectGarbage")
        return float(browser.send("Runtime.getHeapUsage")["usedSize"])

    opened.player.play()
    begin = opened.seen[-1].last
    opened.wait(lambda shown: shown.last >= begin + 60)
    before, kept = resident(), heap()
    opened.wait(lambda shown: shown.last >= begin + 360, 40.0)
    opened.player.pause()
    assert resident() - before < 10e6  # 2 MB were seen, of frames that are kept to go back to
    assert heap() - kept < 2e6  # of 15 MB; 0.3 MB less were seen


def test_frames_and_events_are_kept_where_the_server_says(opened: Opened) -> None:
    opened.page.get_by_text("Keep", exact=True).click()
    opened.page.get_by_role("button", name="Save").click()
    opened.page.get_by_text("Saved box-1.jsonl").wait_for(timeout=20_000)
    assert (opened.folder / "box-1.toml").exists()
    assert '"name": "hyperreduced"' in (opened.folder / "box-1.jsonl").read_text()
    opened.player.reset()
    opened.wait(lambda shown: shown.last == 0)
    for frame in (1, 2):
        opened.player.step()
        opened.wait(lambda shown, frame=frame: shown.last == frame)
    for number, suffix in enumerate(FORMATS, start=2):
        opened.page.get_by_role("combobox", name="Format").click()
        opened.page.get_by_role("option", name=suffix, exact=True).click()
        opened.page.get_by_role("button", name="Save").click()
        if suffix == ".mp4" and find_spec("imageio_ffmpeg") is None:  # which is told, and no harm done
            opened.page.get_by_text("pip install '.[video]'").first.wait_for(timeout=20_000)
            (opened.folder / f"box-{number}.mp4").touch()
            continue
        opened.page.get_by_text(f"Saved box-{number}{suffix}").wait_for(timeout=20_000)
        kept = opened.folder / f"box-{number}{suffix}"
        if suffix in DRAWN:
            assert kept.stat().st_size > 1000
        elif suffix == ".obj":
            assert len(list(opened.folder.glob(f"box-{number}*.obj"))) == 3
        else:
            assert open_cache(kept).frames == 3


def test_strangers_are_refused(opened: Opened) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    port, token = opened.guard.port, opened.guard.token

    def ask(path: str, host: str) -> int:
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        asked.request("GET", path, headers={"Host": host})
        return asked.getresponse().status

    own = f"127.0.0.1:{port}"
    assert ask(f"/{token}/", own) == 200
    assert ask("/wrong/", own) == ask("/", own) == ask(f"/{token}/", f"evil.example:{port}") == 403
    for path, origin in (("wrong", f"http://{own}"), (token, "http://evil.example")):
        with pytest.raises(InvalidStatus, match="403"):
            connect(f"ws://{own}/{path}", origin=origin, subprotocols=["viser-v0"])  # type: ignore[arg-type,list-item]


def test_closed_tab_stops_the_work(opened: Opened) -> None:
    assert opened.faults == []  # nothing went wrong in all of this
    opened.player.play()
    opened.wait(lambda shown: shown.playing)
    opened.page.goto("about:blank")
    opened.page.wait_for_timeout(700)
    stood = opened.seen[-1].last
    opened.page.wait_for_timeout(500)
    assert opened.seen[-1].last == stood


def test_pose_space_is_pulled_at_too(browser: Any, tmp_path: Path) -> None:
    with visiting(browser, tmp_path, POSED) as opened:
        pull_and_let_go(opened, 25)
        assert opened.seen[-1].built.solver.name == "posespace"


def test_one_of_several_bodies_is_pulled_off_the_other(browser: Any, tmp_path: Path) -> None:
    with visiting(browser, tmp_path, PILE) as opened:
        built = opened.seen[-1].built
        assert list(built.members) == ["slab", "block"]
        rest = opened.seen[-1].x[built.spans()["block"]]
        pull_and_let_go(opened, 25, built.spans()["block"])
        moved = opened.seen[-1].x
        assert moved[built.spans()["block"], 1].mean() > rest[:, 1].mean() + 0.01
        assert abs(moved[built.spans()["slab"], 1].max() - 0.05) < 0.01  # which stays where it is pinned
        assert opened.faults == []
