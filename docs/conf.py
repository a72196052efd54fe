"""How the documentation is built: offline, from Markdown, with tables taken from the code."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import supple

project = "supple"
author = "the authors of supple"
copyright = "the authors of supple, MIT licence"
version = release = supple.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "fill"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"supple {release}"
html_copy_source = False
language = "en_GB"

myst_heading_anchors = 3

default_role = "literal"  # docstrings write `name` for code
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings carry shapes and units; spelt-out array types would hide them
autodoc_default_options = {"members": True, "exclude-members": "model_config"}
