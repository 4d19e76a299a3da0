"""The tables of metrics in the documentation are those of the catalogue."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "metric_tables.py"
SPEC = importlib.util.spec_from_file_location("metric_tables", SCRIPT)
tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_a_page_is_as_the_catalogue_has_it(page):
    assert tables.written(page) == page.read_text("utf-8"), "run make tables"


def test_every_metric_stands_in_the_page_of_all():
    text = (SCRIPT.parent / "metrics.md").read_text("utf-8")
    for name in [*tables.METRICS, *tables.TEXT_METRICS]:
        assert f"\n| `{name}`" in text
