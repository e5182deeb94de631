"""The site: the same Markdown pages that a Git host shows, with a reference from the code."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "extensions"))

project = "dproo"
version = release = version_of("dproo")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_pages",
    "root_links",
    "typesetting",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_favicon = "../src/dproo/web/static/mark.svg"
html_title = f"dproo {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

highlight_language = "none"
myst_heading_anchors = 3
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!dproo\.).*"),  # what others document is not looked up
    ("py:.*", r"dproo\..*\.(Counted|Own_co)"),  # variables of types
    ("py:.*", r"dproo\..*\.(Assurance|Elimination|Noise|Pass|Ratio|Step)"),  # parts
]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_use_ivar = True
python_use_unqualified_type_names = True
