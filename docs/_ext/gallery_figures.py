"""Keeps the figures of the gallery: matplotlib figures that are made without pyplot."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

from calipers.report.plots import save_figure


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that is the last value of a block, and return the lines that show it."""
    value = block_vars["example_globals"].get("___")
    if not isinstance(value, Figure):
        return ""
    path = next(block_vars["image_path_iterator"])
    save_figure(value, path)
    block_vars["example_globals"]["___"] = None
    return str(figure_rst([path], gallery_conf["src_dir"]))


def _get_sg_image_scraper() -> Any:
    """Return what sphinx-gallery calls after each block."""
    return scrape
