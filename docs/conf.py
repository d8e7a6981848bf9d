"""The site: `make docs` builds it into docs/_build/html."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["LINKARMS_QUIET"] = "1"

from linkarms import __version__  # noqa: E402

project = "linkarms"
author = "The linkarms developers"
copyright = author
version = release = __version__
language = "en"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "root_pages",
    "reproduction_page",
]
exclude_patterns = ["_build", "**sg_execution_times.rst"]  # the second: left by earlier builds
templates_path = ["_templates"]

# Markdown
myst_enable_extensions = ["colon_fence", "dollarmath", "fieldlist", "html_image"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_html_meta = {
    "description lang=en": "linkarms groups noisy sources into clusters with as few samples as possible and a promised error probability."
}
suppress_warnings = ["config.cache"]

# the API reference
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# the gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/[a-z]\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,  # that page loads scripts from other hosts
    "show_signature": False,
    "reference_url": {"linkarms": None},
    "doc_module": ("linkarms",),
    "backreferences_dir": None,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "copyfile_regex": r".*\.csv",
}

# the pages
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "linkarms"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["linkarms.css"]
html_js_files = [("player.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "changes": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "linkarms"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
