"""Every snippet of the documentation and of the README runs, and what they say about the code is so."""

import ast
import importlib
import inspect
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from little_man import LittleMan
from supple.cli import app, main
from supple.io import save_surface, save_tets
from supple.mesh import TriMesh
from supple.rig import SkinnedRig, heat_weights
from supple.scene import diagnose, parse_scene, prepare_scene, set_stage, simulate
from supple.scene.defaults import open_scene
from supple.scene.demo_table import DEMOS, pick_demo
from supple.scene.interrupt import StopRequest
from supple.scene.load import override
from supple.shape import make_character, make_shape

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "supple"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("guides/*.md")), ROOT / "README.md"]

FENCE = re.compile(r"^```([\w{}-]*)[^\n`]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HOLE = "\0"  # where a value stands in a text
INSTALL = re.compile(r"pip install (-e )?(\.|'\.\[[\w{}]+\]')(?![\w/])")  # in a checkout
FILE_NAME = re.compile(r"# (\w+\.toml)")
SMALL = {"frames": 2, "preroll": 1, "substeps": 2, "elements": 600, "resolution": 4, "frame": 1, "strip": 2, "cases": 2}
BONES = """HIERARCHY
ROOT hips
{
OFFSET -0.3 0 0
CHANNELS 3 Zrotation Xrotation Yrotation
JOINT left_thigh
{
OFFSET 0.3 0 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0.3 0 0
}
}
}
MOTION
Frames: 3
Frame Time: 1.0
0 0 0 0 0 0
0 0 0 0 5 0
0 0 0 0 10 0
"""
WALK = "0 -0.3 0".join(BONES.rsplit("0.3 0 0", 1))  # the thigh hangs down
SMALL_SCENE = {
    "mesh": {"shape": "beam", "resolution": 4},
    "time": {"frames": 1},
    "pin": [{"select": "min x"}],
}


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    text: str


def blocks(page: Path, *kinds: str) -> list[Block]:
    found = [Block(*match.groups()) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]
    return [block for block in found if block.kind in kinds]


def scenes_of(page: Path) -> list[Block]:
    """Its scenes, but those that need the package ipctk where it has no wheel."""
    found = blocks(page, "toml")
    if find_spec("ipctk") is None:
        found = [block for block in found if not re.search(r"^(ccd|edges) = true", block.text, re.MULTILINE)]
    return found


def pages_with(*kinds: str) -> list[Any]:
    return [named(page) for page in PAGES if blocks(page, *kinds)]


def named(page: Path) -> Any:
    return pytest.param(page, id=f"{page.parent.name}-{page.stem}" if page.parent.name == "guides" else page.stem)


def shrink(text: str) -> str:
    """The same scene, or command, at a size that runs in no time."""
    for key, value in SMALL.items():
        text = re.sub(rf"(\b{key} = )\d+", rf"\g<1>{value}", text)
        text = re.sub(rf"(--{key} )\d+", rf"\g<1>{value}", text)
    return text


def paint(surface: TriMesh) -> str:
    """The surface as a PLY with a colour and with `hold`, which is 1 at the top, at its vertices."""
    names = [f"property float {name}" for name in ("x", "y", "z", "red", "green", "blue", "hold")]
    rows = [f"{x} {y} {z} {float(x > 0)} 0 0 {float(y > 0)}" for x, y, z in surface.vertices.tolist()]
    faces = [f"3 {a} {b} {c}" for a, b, c in surface.triangles.tolist()]
    head = ["ply", "format ascii 1.0", f"element vertex {len(rows)}", *names, f"element face {len(faces)}"]
    return "\n".join([*head, "property list uchar int vertex_indices", "end_header", *rows, *faces]) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files a reader would have."""
    monkeypatch.chdir(tmp_path)
    ball = make_shape("sphere", resolution=4)
    save_tets("body.msh", ball)
    save_surface("body.obj", ball.surface())
    Path("body.ply").write_text(paint(ball.surface()))
    save_surface("skin.obj", make_shape("sphere", resolution=6).surface())
    rod, bones = make_shape("capsule", resolution=4), make_character("capsule")
    rig = SkinnedRig(bones.skeleton, heat_weights(rod, bones.skeleton), rod.vertices)
    skin = rod.surface()
    save_surface("fat.obj", skin.moved(skin.vertices * [1.0, 1.2, 1.2]))
    save_surface("bent.obj", skin.moved(rig.positions(bones.poses["bent"])[rod.surface_vertices()]))
    man = LittleMan()
    man.tree["animations"][0]["channels"].pop()  # its blend shape, which a page warns of
    man.save(Path("character.glb"))
    Path("walk.bvh").write_text(WALK)
    Path("bones.bvh").write_text(BONES)
    Path("beam.toml").write_text('[mesh]\nshape = "beam"\nresolution = 5\n[[pin]]\nselect = "min x"\n')
    return tmp_path


@pytest.fixture
def short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps to learn from, and no plots of what was learned."""
    monkeypatch.setattr("supple.scene.cases.MOST", 12)
    monkeypatch.setattr("supple.scene.compare_launch.make_plots", lambda comparison: {})


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("page", pages_with("toml"))
def test_scenes_of_a_page_run(page: Path, folder: Path) -> None:
    for block in scenes_of(page):
        tables = tomllib.loads(shrink(block.text))
        whole = "mesh" in tables
        scene = parse_scene(tables if whole else override(SMALL_SCENE, tables), page.name, folder)
        assert [now.frame for now in simulate(prepare_scene(set_stage(scene)))][-1] == scene.time.frames


@pytest.mark.parametrize("page", pages_with("toml"))
def test_doctor_says_nothing_of_a_pages_scenes_that_the_page_does_not(page: Path, folder: Path) -> None:
    quoted = [words for words in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8")) if words.count(" ") > 3]
    for block in scenes_of(page):
        tables = tomllib.loads(block.text)
        scene = parse_scene(tables if "mesh" in tables else override(SMALL_SCENE, tables), page.name, folder)
        found = [finding.text for finding in diagnose(set_stage(scene))]
        assert [text for text in found if not any(words in text for words in quoted)] == [], block.text


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{page.stem}_page"  # a module in a file: kernels are compiled from their source
    text = "\n".join(block.text for block in blocks(page, "python"))
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    importlib.import_module(name)


@contextmanager
def stopped_at_once(announce: object) -> Iterator[StopRequest]:
    request = StopRequest()
    request.asked = True
    yield request


def perform(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run one command line; one that resumes finds a run that was stopped."""
    arguments = shlex.split(shrink(command), comments=True)[1:]
    if arguments[0] == "render":
        arguments += ["--width", "64", "--height", "48"]
    if arguments[0] == "mesh":
        arguments.append("--overwrite")  # a mesh of that name is there for the scenes of the page
    if "--resume" in arguments:
        with monkeypatch.context() as patch:
            patch.setattr("supple.scene.run.stop_on_interrupt", stopped_at_once)
            assert main([word for word in arguments if word != "--resume"]) == 1
    assert main(arguments) == 0, command


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("page", pages_with("console", "sh", ""))
def test_commands_of_a_page_succeed(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "supple.scene.demo.run_demo", lambda folder, listener, say, name, **_: {"demo": pick_demo(name).name}
    )
    monkeypatch.setattr("supple.bench.registry.measure_gemm", lambda: 125.0)
    for name in (
        "full",
        "io",
        "mesh",
        "reduced",
        "cubature",
        "contact",
        "contact_folds",
        "contact_cylinder",
        "rig",
        "hyper_drop",
        "skip_beam",
        "pose_ape",
        "view",
    ):
        monkeypatch.setattr(f"supple.bench.{name}.run", lambda size: [{"size": size}])
    monkeypatch.setattr("supple.bench.character.run", lambda size, mesh: [{"size": size}])
    monkeypatch.setattr(
        "supple.view.launch.view_file", lambda look, *rest: {"scene": open_scene(look.source).mesh.shape}
    )
    for block in blocks(page, "toml", "console", "sh", ""):
        if block.kind == "toml":
            if name_of_file := FILE_NAME.match(block.text):
                Path(name_of_file[1]).write_text(shrink(block.text), encoding="utf-8")
            continue
        for command in re.split(r"\n|&&", block.text):
            if command.strip().startswith("supple "):
                perform(command.strip(), monkeypatch)


@pytest.mark.parametrize("page", [page for page in pages_with("text") if page.id != "commands"])
def test_commands_of_a_page_that_need_other_files_have_the_options_they_name(page: Path) -> None:
    for block in blocks(page, "text"):
        for line in block.text.splitlines():
            if line.startswith("supple "):
                words = re.split(r"  +", line)[0]
                app.parse_args(shlex.split(words, comments=True)[1:], print_error=False, exit_on_error=False)


@pytest.mark.parametrize("page", [named(page) for page in PAGES])
def test_files_and_functions_that_a_page_names_exist(page: Path) -> None:
    for line in page.read_text(encoding="utf-8").splitlines():
        names = re.findall(r"`([\w/]+\.py)`", line)
        assert all((SOURCE / name).is_file() for name in names if "/" in name), line
        pair = re.search(r"\| `(\w+)` \| `([\w/]+/\w+\.py)` \|$", line)
        if pair and not line.startswith(f"| `{pair[1]}`"):
            text = (SOURCE / pair[2]).read_text(encoding="utf-8")
            assert re.search(rf"\b(def|class) {pair[1]}\b", text), line


@pytest.mark.parametrize("page", sorted({demo.page for demo in DEMOS.values()}))
def test_page_of_a_method_names_functions_limits_and_its_benchmark(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(re.findall(r"^\|.*`[\w/]+/\w+\.py`", text, re.MULTILINE)) >= 5  # what is where
    assert re.search(r"^## .*cannot do$", text, re.MULTILINE)
    assert "supple bench" in text or "benchmarks.md" in text


def test_guide_for_every_job_is_named_on_the_front_pages() -> None:
    guides = {path.name for path in DOCS.glob("guides/*.md")}
    assert guides >= {"jiggle.md", "self-contact.md", "collisions.md", "long-runs.md", "any-mesh.md", "choosing.md"}
    for front in (ROOT / "README.md", DOCS / "index.md"):
        text = front.read_text(encoding="utf-8")
        assert {name for name in guides if f"guides/{name.removesuffix('.md')}" not in text} == set()
        assert "trouble" in text  # when it goes wrong


def test_gallery_has_a_picture_of_every_example() -> None:
    drawn, examples = (
        sorted(path.stem for path in folder.glob(pattern))
        for folder, pattern in ((DOCS / "_static" / "gallery", "*.png"), (ROOT / "examples", "*.toml"))
    )
    assert drawn == examples


def test_pictures_and_pages_that_a_page_links_to_exist() -> None:
    missing = [
        f"{page.name}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []


def test_every_room_with_public_names_is_in_the_api() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py") if "__all__" in path.read_text(encoding="utf-8")}
    listed = set(re.findall(r"automodule:: supple\.(\w+)", (DOCS / "api.md").read_text(encoding="utf-8")))
    assert rooms <= listed


def test_every_paper_that_is_cited_is_in_the_bibliography() -> None:
    known = set(re.findall(r"^\*\*\[(\w+)\]\*\*", (DOCS / "bibliography.md").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [path.read_text(encoding="utf-8") for path in (*PAGES, *SOURCE.rglob("*.py"))]
    cited = {key for text in texts for key in re.findall(r"\[([A-Z][A-Za-z]*\d\d)\](?!\()", text)}
    assert cited <= known


def sentences() -> Iterator[list[str]]:
    """Every text of the code, cut where a value is filled in."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [one.value if isinstance(one, ast.Constant) else None for one in node.values]
                yield "".join(HOLE if part is None else part for part in parts).split(HOLE)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield [node.value]


def may_say(parts: list[str], message: str) -> bool:
    """Whether a text with short values filled in where it is cut can hold a message that spans one of the values."""
    for before, after in pairwise(parts):
        start = max((k for k in range(len(message)) if before.endswith(message[:k])), default=0)
        stop = max((k for k in range(len(message)) if after.startswith(message[len(message) - k :])), default=0)
        value = message[start : len(message) - stop]
        if start and stop and re.fullmatch(r"[\w.]+( [\w.]+)?", value):
            return True
    return False


def test_messages_of_the_trouble_page_are_those_of_the_code() -> None:
    code = list(sentences())
    messages = re.findall(r"^\| `([^`]+)` \|", (DOCS / "trouble.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(messages) > 15
    plain = HOLE.join(part for parts in code for part in parts)
    spanning = [message for message in messages if message not in plain]
    assert [message for message in spanning if not any(may_say(parts, message) for parts in code)] == []
    assert not any("{" in message for message in messages)


def test_a_message_is_known_by_the_words_around_its_values() -> None:
    parts = ["contacts did not settle in ", " rounds: use more"]
    assert may_say(parts, "did not settle in 16 rounds")
    assert not may_say(parts, "did not settle in {outcome.rounds} rounds")
    assert not may_say(parts, "did not settle in 16 turns")


def test_supple_is_installed_by_the_same_line_everywhere() -> None:
    texts = [*PAGES, ROOT / "CONTRIBUTING.md", *SOURCE.rglob("*.py"), *ROOT.glob("examples/**/*.*")]
    lines = [line for path in texts for line in re.findall(r"pip install ?.*", path.read_text(encoding="utf-8"))]
    assert len(lines) > 10
    assert [line for line in lines if not INSTALL.match(line)] == []
    extras = {name for line in lines for name in re.findall(r"'\.\[(\w+)\]'", line)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extras <= set(project["optional-dependencies"])


def test_commands_page_lists_exactly_the_options_there_are() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    known = {
        name
        for verb in app
        if not verb.startswith("-")
        for argument in app[verb].assemble_argument_collection()
        for name in argument.names
        if name.startswith("-")
    }
    listed = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)) - {"--help", "-vv", "-m"}
    assert listed == known


def test_json_of_a_run_holds_the_keys_the_page_lists(folder: Path) -> None:
    section = re.search(r"The JSON of a run holds (.*?)\n\n", (DOCS / "commands.md").read_text(), re.DOTALL)
    assert section is not None
    assert main(["run", "beam.toml", "--frames", "1", "--json", "result.json", "-q"]) == 0
    result = json.loads(Path("result.json").read_text())
    assert set(re.findall(r"`(\w+)`", section[1])) == set(result) - {"verb", "failed", "compile_s"}


@pytest.mark.usefixtures("short_training")
def test_json_of_a_comparison_holds_the_keys_the_page_lists(folder: Path) -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    listed = re.search(
        r"The JSON holds `(scene, page, .*?)`;.*?has `(.*?)`, and `error` has `(.*?)`\.", text, re.DOTALL
    )
    assert listed is not None
    assert main(["compare", "beam.toml", "--frames", "2", "--json", "result.json", "-q"]) == 0
    result = json.loads(Path("result.json").read_text())
    found = [result, result["methods"][0], result["methods"][0]["error"]]
    for keys, facts in zip(listed.groups(), found, strict=True):
        assert set(re.findall(r"\w+", keys)) == set(facts) - {"verb", "failed", "compile_s"}


@pytest.mark.parametrize(("name", "first"), [("full", "tets"), ("mesh", "shape"), ("rig", "vertices")])
def test_columns_of_a_benchmark_are_those_of_the_code(name: str, first: str) -> None:
    section = re.search(rf"^## {name}$(.*?)^## ", (DOCS / "benchmarks.md").read_text(), re.MULTILINE | re.DOTALL)
    row = re.search(
        rf'return \{{(\s*"{first}":.*?)^    \}}', (SOURCE / f"bench/{name}.py").read_text(), re.MULTILINE | re.DOTALL
    )
    assert section is not None
    assert row is not None
    cells = re.findall(r"^\| (`[^|]*`) \|", section[1], re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(cells)) == re.findall(r'^ {8}"(\w+)":', row[1], re.MULTILINE)


def test_columns_of_the_contact_benchmark_are_those_of_the_code() -> None:
    from supple.bench.contact import _STEP_KEYS

    section = re.search(r"^## contact$(.*?)^## ", (DOCS / "benchmarks.md").read_text(), re.MULTILINE | re.DOTALL)
    code = (SOURCE / "bench/contact.py").read_text(encoding="utf-8")
    row = re.search(r'return \{(\s*"case":.*?)^    \}', code, re.MULTILINE | re.DOTALL)
    assert section is not None
    assert row is not None
    cells = " ".join(re.findall(r"^\| (`[^|]*`) \|", section[1], re.MULTILINE))
    assert re.findall(r"`(\w+)`", cells) == [*re.findall(r'^ {8}"(\w+)":', row[1], re.MULTILINE), *_STEP_KEYS]


def test_numbers_of_the_solver_page_are_those_of_the_code() -> None:
    from supple.linalg.direct import Pardiso
    from supple.linalg.reused import ReusedFactor
    from supple.method import outer
    from supple.method.halving import MOST_HALVINGS
    from supple.solve import newton

    text = " ".join((DOCS / "solver.md").read_text(encoding="utf-8").split())
    assert f"fewer than {Pardiso._PARALLEL_FROM:,} unknowns" in text
    assert (MOST_HALVINGS, "up to six times over" in text) == (6, True)
    assert (ReusedFactor.patience, "more than six iterations" in text) == (6, True)
    assert f"after {outer.MOST_ROUNDS} rounds" in text
    assert (outer._SETTLED, "a thousandth at most, friction by a twentieth" in text) == (
        {"contact": 1e-3, "friction": 5e-2},
        True,
    )
    assert f"cut below {newton._OVERSHOT:g}" in text


def test_columns_of_the_reduced_benchmark_are_those_of_the_code() -> None:
    section = re.search(r"^## reduced$(.*?)^## ", (DOCS / "benchmarks.md").read_text(), re.MULTILINE | re.DOTALL)
    code = (SOURCE / "bench/reduced.py").read_text(encoding="utf-8")
    rows = re.findall(r"return (\{\s*\"\w+\":.*?\})", code, re.DOTALL)
    assert section is not None
    assert len(rows) == 2
    cells = " ".join(re.findall(r"^\| (`[^|]*`) \|", section[1], re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", cells)) == {"material", *re.findall(r'"(\w+)":', "".join(rows))}


def test_numbers_of_the_reduced_pages_are_those_of_the_code() -> None:
    from supple.cubature import check, train
    from supple.method import novelty, reach
    from supple.method.reduced import carry
    from supple.scene import cases, method_table, training_basis, training_search
    from supple.subspace import interface

    text = {
        name: " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split()) for name in ("reduced", "subspaces")
    }
    page, rules = text["reduced"], text["subspaces"]
    assert f"{cases.FEWEST} to {cases.MOST} steps" in page
    assert f"at most {cases.LONGEST} steps" in page
    assert f"up to {cases.LONGEST_HELDOUT} steps" in page
    assert (method_table.ACCURACY, "(1 % when it is not given)" in page) == (0.01, True)
    search = training_search
    assert (search.TRIES, search.PROJECTION, search.FORCES, search.STALLED) == (6, 0.25, 1.0, 0.9)
    assert (training_basis.MODES, "ten vibration modes" in page) == (10, True)
    assert f"more than {reach.BEYOND:g} times" in page
    assert f"more than {100 * novelty._MISSED:g} %" in page
    assert (carry._FAR, "a thousandth of the body's size" in page) == (1e-3, True)
    assert "samples that it was not trained on is within the tolerance" in rules
    assert f"within {100 * check._OFF_PITCH:g} %" in rules
    assert (check._FIRST, inspect.signature(check.frequency_errors).parameters["count"].default, train._TRIES) == (
        5,
        10,
        10,
    )
    assert f"k = {interface.BOND:g} E ℓ" in rules
