"""What the package needs can be installed without a compiler, and it works where a part has no wheel."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
WITHOUT_ARM_WHEELS = {"ipctk", "mkl", "pyamg", "wildmeshing"}  # Linux on aarch64
ARM = {"platform_machine": "aarch64", "platform_system": "Linux", "sys_platform": "linux"}


@pytest.mark.parametrize("extra", [None, "test", "view", "docs", "video"])
def test_nothing_that_linux_on_arm_installs_lacks_a_wheel(extra: str | None) -> None:
    needed = [Requirement(line) for line in (PROJECT["dependencies"] if extra is None else EXTRAS[extra])]
    installed = {one.name for one in needed if one.marker is None or one.marker.evaluate(ARM)}
    assert installed & WITHOUT_ARM_WHEELS == set()


def test_viser_is_bounded_while_its_server_is_patched() -> None:
    for extra in ("view", "test"):
        [viser] = [one for one in map(Requirement, EXTRAS[extra]) if one.name == "viser"]
        assert {part.operator for part in viser.specifier} == {">=", "<"}


ABSENT = """
import pkgutil, sys
sys.modules.update(dict.fromkeys(("ipctk", "mkl", "pyamg", "pypardiso", "wildmeshing")))
import supple
from supple.linalg import direct
direct._list_places = lambda: iter(())
for module in pkgutil.walk_packages(supple.__path__, "supple."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
from supple.cli import main
for arguments in (["run", "beam.toml"], ["run", "static.toml"]):
    assert main([*arguments, "--frames", "2", "-q"]) == 0
"""


def test_scenes_run_without_the_packages_that_have_no_wheel_everywhere(tmp_path: Path) -> None:
    beam = '[mesh]\nshape = "beam"\nresolution = 5\n[[pin]]\nselect = "min x"\n[output]\nfiles = ["{}.npz"]\n'
    (tmp_path / "beam.toml").write_text(beam.format("beam"))
    (tmp_path / "static.toml").write_text(beam.format("static") + '[time]\nintegrator = "static"\n')
    done = subprocess.run([sys.executable, "-c", ABSENT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.glob("*.npz")} == {"beam.npz", "static.npz"}
