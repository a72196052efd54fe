"""Draw the pictures of the gallery: every example is run as it stands and drawn as a strip.

python docs/gallery.py [NAME ...]        all of them, or those named; some minutes in all
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

from supple.scene import load_scene, prepare_scene, run_scene, set_stage
from supple.scene.draw import Drawing, draw_recording

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
PICTURES = ROOT / "docs" / "_static" / "gallery"
WIDTH, HEIGHT, COLOURS = 230, 210, 96  #: of a panel; so few colours that a strip takes some 15 kB
#: Colours where the plain shape says little.
FIELDS = {"cantilever": "von_mises", "core": "von_mises", "hanging": "displacement", "jelly": "displacement"}


def draw_example(scene: Path) -> Path:
    """Run an example and draw it; where the picture lies."""
    target = PICTURES / f"{scene.stem}.png"
    target.parent.mkdir(exist_ok=True)
    built = prepare_scene(set_stage(load_scene(scene, allow_code=True)))
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "run.npz"
        run_scene(built, [recording])
        panels = min(4, built.scene.time.frames + 1)
        draw_recording(
            recording, target, Drawing(strip=panels, field=FIELDS.get(scene.stem), width=WIDTH, height=HEIGHT)
        )
    if scene.stem in FIELDS:
        return target  # all its colours
    with Image.open(target) as strip:
        strip.quantize(COLOURS, Image.Quantize.MEDIANCUT).save(target, optimize=True)
    return target


if __name__ == "__main__":
    for scene in EXAMPLES:
        if len(sys.argv) == 1 or scene.stem in sys.argv[1:]:
            picture = draw_example(scene)
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1024:.0f} kB", flush=True)
