"""Which tests run by the same process: those that need the same kernels, which the first of them compiles."""

import pytest
from xdist.scheduler import LoadScopeScheduling

FAMILIES = {  # by parts of the names of files, of which the first that fits decides
    "projective": ("projective", "hyper", "constraint/", "tie_scene", "thickness", "thin_parts"),
    "pose space": ("pose", "test_player"),
    "condensation": ("condensation",),
    "skipping": ("skipping", "paper_estimator", "skip.py"),
    "bones": ("skinned", "articulated", "selfcontact", "contact_rules", "bench_rules", "rig_training", "hand_standin"),
    "reduced": ("reduced", "cubature/", "training", "contact_scene", "compare"),
}
#: Tests of all methods, each of which goes where there is time.
LAST = ("tests/test_docs.py", "tests/test_examples.py", "tests/scene/test_random_scenes.py")


def family(nodeid: str) -> str:
    """Tests of one family go to one process, one after the other; other files are families of their own."""
    path = nodeid.partition("::")[0]
    if path in LAST:
        return nodeid
    return next((name for name, parts in FAMILIES.items() if any(part in path for part in parts)), path)


def rank(nodeid: str) -> int:
    """Families first, then other files, and last what needs kernels of them all."""
    name = family(nodeid)
    return len(FAMILIES) + 1 if name == nodeid else list(FAMILIES).index(name) if name in FAMILIES else len(FAMILIES)


class FamilyScheduling(LoadScopeScheduling):
    """Hands families to processes in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)  # type: ignore[arg-type]
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return family(nodeid)
