"""Write the tables of metrics in README.md and docs/metrics.md from the catalogue.

``python docs/metric_tables.py`` writes what stands between the marks; ``--check`` only compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import inf
from pathlib import Path

from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.metric import Family, Metric
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS

ROOT = Path(__file__).parent.parent
ARROWS = {"higher": " ↑", "lower": " ↓", "closest": ""}
BETTER = {"higher": "higher", "lower": "lower", "closest": "closest to the reference's own"}


def of_readme() -> str:
    """The metrics that a comparison measures unless others are asked for."""
    rows = [
        (f"`{metric.name}`", metric.meaning, _side(metric), metric.parity or metric.source)
        for metric in METRICS.values()
        if not metric.on_request
    ]
    return _table(("key", "what it tells", "range", "equal to, or from"), rows)


def of_page(families: Iterable[Family], metrics: Iterable[Metric]) -> str:
    """All metrics, family by family."""
    listed = list(metrics)
    return "\n".join(
        f"### {family.name}: {family.question}\n\n"
        + _table(
            ("key", "what it tells", "range", "better", "source", "what it does not detect"),
            [_row(metric) for metric in listed if metric.family == family.name],
        )
        for family in families
    )


def written(path: Path) -> str:
    """A page with its tables as the catalogue has them now."""
    tables = {
        "default": of_readme(),
        "embeddings": of_page(FAMILIES.values(), METRICS.values()),
        "texts": of_page(TEXT_FAMILIES.values(), TEXT_METRICS.values()),
    }
    text = path.read_text("utf-8")
    for name, table in tables.items():
        start, end = f"<!-- metrics: {name} -->\n", f"<!-- end of metrics: {name} -->"
        if start in text:
            before, _, rest = text.partition(start)
            text = f"{before}{start}{table}{end}{rest.partition(end)[2]}"
    return text


def _row(metric: Metric) -> tuple[str, ...]:
    asked = "" if metric.on_request else " •"
    options = "".join(f", `:{option.name}`" for option in metric.options)
    better = BETTER[metric.better] if metric.ranked else "neither end"
    source = metric.source + (f"; equal to {metric.parity}" if metric.parity else "")
    return (
        f"`{metric.name}`{options}{asked}",
        metric.tells,
        _range(metric),
        better,
        source,
        metric.blind,
    )


def _side(metric: Metric) -> str:
    """The range, and which end is good."""
    return f"{_range(metric)}{ARROWS[metric.better] if metric.ranked else ''}"


def _range(metric: Metric) -> str:
    low, high = metric.range
    if low == -inf:
        return "any number"
    return f"{low:g} and up" if high == inf else f"{low:g} to {high:.3g}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


PAGES = (ROOT / "README.md", ROOT / "docs" / "metrics.md")


def main() -> int:
    """Write the pages, or say which are not as the catalogue has them."""
    stale = [page for page in PAGES if written(page) != page.read_text("utf-8")]
    if "--check" not in sys.argv[1:]:
        for page in stale:
            page.write_text(written(page), "utf-8")
        return 0
    for page in stale:
        sys.stderr.write(f"{page.relative_to(ROOT)}: run make tables\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
