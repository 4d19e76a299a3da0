"""Write the tables of metrics and of options in README.md and docs/ from where they are stated.

``python docs/tables.py`` writes what stands between the marks; ``--check`` only compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import MISSING
from math import inf
from pathlib import Path

from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, LIKELIHOODS
from calipers.catalogue.metric import Family, Metric
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.command import commands
from calipers.options.option import Group, options_of

ROOT = Path(__file__).parent.parent
ARROWS = {"higher": " ↑", "lower": " ↓", "closest": ""}
BETTER = {"higher": "higher", "lower": "lower", "closest": "closest to the reference's own"}


def of_default() -> str:
    """The metrics that a comparison measures unless others are asked for."""
    rows = [
        (f"`{metric.name}`", metric.meaning, _side(metric), metric.parity or metric.source)
        for metric in METRICS.values()
        if not metric.on_request
    ]
    return _table(("key", "what it tells", "range", "equal to, or from"), rows)


def of_headline() -> str:
    """The metrics that the first screen shows."""
    rows = [
        (
            metric.label.removeprefix("Clf ").replace("*", "\\*"),
            f"`{metric.name}`",
            metric.tells,
            _side(metric),
        )
        for metric in METRICS.values()
        if metric.headline or metric.name == "classifier_auc"
    ]
    return _table(("column", "key", "what it tells", "range"), rows)


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


ROLE = re.compile(r":\w+:`~?([\w.]+)`")
"""What Sphinx makes a link of."""

COMMANDS = {
    record.name: record.load(record.options) for record in commands().values() if record.options
}
"""The options of every command that has any."""


def of_command(group: type[Group]) -> str:
    """The options of a command: in Python, on the command line, and what they do."""
    rows = []
    for each, about in sorted(options_of(group), key=lambda pair: pair[1].last):
        flags = [f"`{flag}`" for flag in about.flags(each.name)]
        flags += [] if about.off is None else [f"`{about.off[0]}`"]
        default = "" if each.default in (None, MISSING) else f"`{each.default!r}`"
        told = ROLE.sub(r"`\1`", about.text).replace("|", "\\|")
        rows.append((f"`{each.name}`", ", ".join(flags), default, told))
    return _table(("in Python", "on the command line", "default", "what it does"), rows)


def written(path: Path) -> str:
    """A page with its tables as they are stated now."""
    tables = {
        **{f"options of {name}": of_command(group) for name, group in COMMANDS.items()},
        "headline": of_headline(),
        "default": of_default(),
        "embeddings": of_page(FAMILIES.values(), METRICS.values()),
        "texts": of_page(TEXT_FAMILIES.values(), TEXT_METRICS.values()),
        "likelihoods": of_page(LIKELIHOOD_FAMILIES.values(), LIKELIHOODS.values()),
    }
    text = path.read_text("utf-8")
    for name, table in tables.items():
        kind = "" if name.startswith("options") else "metrics: "
        start, end = f"<!-- {kind}{name} -->\n", f"<!-- end of {kind}{name} -->"
        if start in text:
            before, _, rest = text.partition(start)
            text = f"{before}{start}{table}{end}{rest.partition(end)[2]}"
    return text


def _row(metric: Metric) -> tuple[str, ...]:
    asked = "" if metric.on_request else " •"
    name = metric.keys[0] if metric.side == "models" else metric.name
    options = "".join(f", `:{option.name}`" for option in metric.options if name == metric.name)
    better = BETTER[metric.better] if metric.ranked else "neither end"
    source = metric.source + (f"; equal to {metric.parity}" if metric.parity else "")
    return (
        f"`{name}`{options}{asked}",
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


PAGES = tuple(
    ROOT / page for page in ("README.md", "docs/scores.md", "docs/metrics.md", "docs/options.md")
)


def main() -> int:
    """Write the pages, or say which are not as they are stated."""
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
