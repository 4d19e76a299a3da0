"""Write the tables of metrics and of options, and the list of the commands' public names.

The tables are in README.md and docs/, the names in ``src/calipers/__init__.py``, where type
checkers read them. ``python docs/tables.py`` writes what is between the marks, from the catalogue,
the option groups and the records of the commands; ``--check`` only compares.
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
from calipers.command import HOME, commands, public_names
from calipers.options.option import Group, options_of

ROOT = Path(__file__).parent.parent
ARROWS = {"higher": " ↑", "lower": " ↓", "closest": " →"}


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
    """All metrics, family by family; what several in a row do not detect is said of the first."""
    listed, tables = list(metrics), []
    for family in families:
        rows = [_row(metric) for metric in listed if metric.family == family.name]
        blind = [row[-1] for row in rows]
        rows = [
            (*row[:-1], "the same" if place and blind[place - 1] == row[-1] else row[-1])
            for place, row in enumerate(rows)
        ]
        heads = ("key", "what it tells", "range", "what it does not detect")
        tables.append(f"### {family.name}: {family.question}\n\n{_table(heads, rows)}")
    return "\n".join(tables)


ROLE = re.compile(r":\w+:`~?([\w.]+)`")
"""What Sphinx makes a link of."""


def of_commands() -> str:
    """The options of every command that has any, in the order of the help."""
    groups = [
        (record.name, record.load(record.options))
        for record in commands().values()
        if record.options
    ]
    return "\n".join(f"## {name}\n\n{of_command(group)}" for name, group in groups)


def of_command(group: type[Group]) -> str:
    """The options of a command: in Python, on the command line, and what they do."""
    rows = []
    for field, about in sorted(options_of(group), key=lambda pair: pair[1].last):
        flags = [f"`{flag}`" for flag in about.flags(field.name)]
        flags += [] if about.off is None else [f"`{about.off[0]}`"]
        default = "" if field.default in (None, MISSING) else f"`{field.default!r}`"
        effect = ROLE.sub(r"`\1`", about.text).replace("|", "\\|")
        rows.append((f"`{field.name}`", ", ".join(flags), default, effect))
    return _table(("in Python", "on the command line", "default", "what it does"), rows)


def of_names() -> str:
    """The public names of the commands, as imports that type checkers see."""
    lines = [
        f"    from {module} import {name} as {name}\n"
        for name, (module, _) in public_names().items()
        if module.startswith(HOME)
    ]
    return "".join(sorted(lines, key=lambda line: (line.split()[1], line.split()[3]))) + "\n"


def written(path: Path) -> str:
    """A page with its tables as they are stated now."""
    tables = {
        "<!-- {} -->": {
            "options": of_commands,
            "metrics: headline": of_headline,
            "metrics: embeddings": lambda: of_page(FAMILIES.values(), METRICS.values()),
            "metrics: texts": lambda: of_page(TEXT_FAMILIES.values(), TEXT_METRICS.values()),
            "metrics: likelihoods": lambda: of_page(
                LIKELIHOOD_FAMILIES.values(), LIKELIHOODS.values()
            ),
        },
        "    # {}": {"names of the commands": of_names},
    }
    text = path.read_text("utf-8")
    marked = [(mark, name, make) for mark, made in tables.items() for name, make in made.items()]
    for mark, name, make in marked:
        start, end = mark.format(name) + "\n", mark.format(f"end of {name}")
        if start in text:
            before, _, rest = text.partition(start)
            text = f"{before}{start}{make()}{end}{rest.partition(end)[2]}"
    return text


def _row(metric: Metric) -> tuple[str, ...]:
    asked = "" if metric.on_request else " •"
    name = metric.keys[0] if metric.side == "models" else metric.name
    options = "".join(f", `:{option.name}`" for option in metric.options if name == metric.name)
    return (
        f"`{name}`{options}{asked}",
        metric.tells,
        _side(metric),
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
    ROOT / page
    for page in (
        *("README.md", "docs/metrics.md", "docs/options.md"),
        "src/calipers/__init__.py",
    )
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
