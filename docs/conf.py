"""How the documentation is built: ``make docs``, or ``sphinx-build -W docs build/docs``.

Nothing is fetched, neither at build time nor when a page is read: fonts are those of the system,
formulas are MathML, and the search index lies beside the pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE)]

import calipers  # noqa: E402

project = "Calipers"
author = "The Calipers authors"
copyright = "The Calipers authors"
release = version = calipers.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "repository_pages",
    "metric_pages",
    "api_pages",
    "llms_txt",
]
exclude_patterns = [
    "_ext",
    "_static",
    "gallery_src",
    "gallery/*.ipynb",
    "gallery/*.py",
    "tables.py",
]
suppress_warnings = ["config.cache"]
nitpicky = False

# Markdown
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "html_image"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Docstrings
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
autodoc_class_signature = "separated"
autosummary_generate = False  # api_pages writes the pages
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False

# The gallery
sphinx_gallery_conf = {
    "examples_dirs": ["gallery_src"],
    "gallery_dirs": ["gallery"],
    "image_scrapers": ("gallery_figures",),
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}

# Copy buttons: on commands and programs, without prompts and what they print
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# HTML
html_theme = "pydata_sphinx_theme"
html_title = f"Calipers {release}"
html_static_path = ["_static"]
html_css_files = ["calipers.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "Calipers"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}
html_sidebars = {key: [] for key in ("index", "tutorial", "which_metric")}
html_context = {"default_mode": "auto"}


def setup(app):
    """Take docstrings as plain text: the texts of options serve help pages too."""
    app.connect("autodoc-process-docstring", as_plain_text, priority=900)  # after numpydoc


def as_plain_text(app, what, name, obj, options, lines):
    """Keep bars, ``|T(Q) - T(P)|``, from naming substitutions, and examples from being links."""
    for place, line in enumerate(lines):
        parts = re.split(r"(``.*?``|`[^`]*`)", line)
        for i in range(0, len(parts), 2):
            escaped = parts[i].replace("|", r"\|")
            parts[i] = re.sub(r"https?://host[^\s,;)]*", r"``\g<0>``", escaped)
        lines[place] = "".join(parts)
