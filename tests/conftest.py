"""What the tests of all rooms share."""

import os
from pathlib import Path

import pytest

from families import FamilyScheduling, rank
from supple._threads import available_threads, set_threads


@pytest.fixture(scope="session", autouse=True)
def _share_cores() -> None:
    """Tests that run beside each other share the cores instead of fighting for them."""
    set_threads(available_threads() // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.fixture(scope="session", autouse=True)
def _keep_nothing() -> None:
    """What tests work out is not kept for later ones, nor among the user's files."""
    os.environ["SUPPLE_CACHE"] = "off"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real meshes, rigs and motions beside the repository; without it the test is skipped."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder shared/data beside the repository is absent")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order in which families of tests run; within them nothing changes."""
    items.sort(key=lambda item: rank(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FamilyScheduling:
    """Processes share out families, not files: what one has compiled another would compile at the same time."""
    return FamilyScheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not tried for want of a browser, which a row of dots does not."""
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if "no Chromium" in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests of the viewer's page were not tried: no chromium or google-chrome is on the PATH.",
            yellow=True,
        )
