"""What the tests of all rooms share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real meshes, rigs and motions beside the repository; without it the test is skipped."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder shared/data beside the repository is absent")
    return folder
