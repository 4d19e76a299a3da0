"""A page for each metric of the catalogue, with a fault that it does not see, measured anew."""

from __future__ import annotations

import math
import re
from dataclasses import MISSING
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import tables
from failures import BlindSpot, blind_spots
from worked_examples import WORKED, Worked

from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.keys import Option
from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, LIKELIHOODS
from calipers.catalogue.metric import Family, Metric, MetricKind
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.command import commands
from calipers.options.option import Group, options_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "metrics"

BETTER = {"higher": "higher", "lower": "lower", "closest": "closest to the reference's own"}

CATALOGUES: dict[MetricKind, tuple[str, str, dict[str, Family], dict[str, Metric]]] = {
    "embeddings": ("", "On embeddings", dict(FAMILIES), dict(METRICS)),
    "texts": ("text.", "On the texts themselves", dict(TEXT_FAMILIES), dict(TEXT_METRICS)),
    "likelihoods": (
        "likelihood.",
        "On what a language model says of the texts",
        dict(LIKELIHOOD_FAMILIES),
        dict(LIKELIHOODS),
    ),
}
"""Kind of metric to how its pages' names begin, its heading, families and metrics."""

COMMANDS = {
    "both": (
        "calipers compare --reference human.jsonl model.jsonl --metrics {key}",
        'calipers.compare(human, {{"model": texts}}, metrics=["{key}"])',
    ),
    "own": (
        "calipers text model.jsonl --reference human.jsonl --metrics {key}",
        'calipers.measure_texts({{"model": texts}}, reference=human, metrics=["{key}"])',
    ),
    "aligned": (
        "calipers text model.jsonl --reference references.jsonl --aligned --metrics {key}",
        """calipers.measure_texts(
    {{"model": texts}}, reference=references, aligned=True, metrics=["{key}"]
)""",
    ),
    "scored": (
        "calipers likelihood model.jsonl --reference human.jsonl --model gpt2 --metrics {key}",
        """calipers.likelihood(
    {{"model": texts}}, reference=human, model="gpt2", metrics=["{key}"]
)""",
    ),
    "decoder": (
        "calipers likelihood model.jsonl --model gpt2 --decoding top_p=0.9 --metrics {key}",
        """calipers.likelihood(
    {{"model": texts}}, model="gpt2", decoding="top_p=0.9", metrics=["{key}"]
)""",
    ),
    "models": (
        """calipers likelihood model.jsonl --reference human.jsonl --model gpt2-large \\
    --generator gpt2 --metrics {key}""",
        """calipers.likelihood(
    {{"model": texts}},
    reference=human,
    model="gpt2-large",
    generator="gpt2",
    metrics=["{key}"],
)""",
    ),
}
"""What a metric looks at to how it is run, in a shell and in Python."""

NEAREST = ("k", "ties", "distance", "normalise")
CELLS = ("buckets", "projection", "normalise", "seed")
SETTINGS: dict[MetricKind, dict[str, tuple[str, ...]]] = {
    "embeddings": {
        "support": NEAREST,
        "copying": ("distance", "normalise"),
        "entropy": ("k", "distance", "projection", "normalise"),
        "frontier": CELLS,
        "prd": ("projection", "normalise", "seed"),
        "classifier": ("projection", "normalise", "seed"),
        "ot": CELLS,
        "mmd": ("projection", "normalise", "seed"),
        "variety": ("normalise", "seed"),
    },
    "texts": dict.fromkeys(TEXT_FAMILIES, ("tokenizer", "keep_sizes")) | {"aligned": ("aligned",)},
    "likelihoods": {
        "predictability": ("model", "fit_on"),
        "variety": ("model", "tokenizer"),
        "decoder": ("model", "decoding"),
        "models": ("model", "generator"),
    },
}
"""Kind of metric and family to the options of the command that its value depends on most."""

COMMAND_OF: dict[MetricKind, str] = {
    "embeddings": "compare",
    "texts": "text",
    "likelihoods": "likelihood",
}

GUIDES: dict[tuple[MetricKind, str], tuple[str, ...]] = {
    ("embeddings", "support"): ("experiments.md",),
    ("embeddings", "frontier"): ("divergences.md", "smoothing.md", "estimators.md"),
    ("embeddings", "prd"): ("divergences.md",),
    ("embeddings", "classifier"): ("two_sample.md",),
    ("likelihoods", "models"): ("estimators.md",),
}
"""Guides that tell more of a family; those of every page are in `related`."""

SECTIONS = (
    "Formula",
    "Worked example",
    "How to run it",
    "Parameters",
    "What it does not see",
    "Related",
)
"""What every page has, in this order, below what the metric tells."""


def page(kind: MetricKind, metric: Metric, spot: BlindSpot) -> str:
    """Write the page of one metric."""
    key = metric.keys[0] if metric.side == "models" else metric.name
    better = BETTER[metric.better] if metric.ranked else "neither end"
    facts = [
        ("key", f"`{key}`"),
        ("in tables", metric.label.replace("*", "\\*")),
        ("family", f"{metric.family}: {CATALOGUES[kind][2][metric.family].question}"),
        ("range", tables._range(metric)),
        ("better", better),
    ]
    if metric.parity:
        facts.append(("equal to", metric.parity))
    if metric.equal is not None:
        facts.append(("a set against itself", f"{metric.equal:g}"))
    if metric.extra:
        facts.append(("needs", f"`pip install 'calipers[{metric.extra}]'`"))
    if kind == "embeddings":
        facts.append(("measured", "on request" if metric.on_request else "by default"))
    worked = WORKED[kind][metric.name]
    told = [
        f"# {_title(metric, key)}",
        f"{_sentence(metric.tells)}",
        "```{list-table}\n:widths: 25 75\n\n"
        + "\n".join(f"* - {name}\n  - {value}" for name, value in facts)
        + "\n```",
        "## Formula",
        f"$$\n{worked.formula}\n$$",
        f"Source: {metric.source}. [Symbols and definitions](../maths.md).",
        "## Worked example",
        f"```python\n{worked.doctest}```",
        worked.by_hand,
        "## How to run it",
        _run(kind, metric, key),
        "## Parameters",
        _parameters(kind, metric, key),
        "## What it does not see",
        _sentence(metric.blind),
        _shown(key, metric, spot),
        "## Related",
        related(kind, metric, spot, worked),
    ]
    return "\n\n".join(told) + "\n"


def _parameters(kind: MetricKind, metric: Metric, key: str) -> str:
    """List the options of the key, and the settings that move the value most."""
    rows = [
        (f"{option.name}, in `{key}:…`", option.tells, _choices(option).replace("|", "\\|"))
        for option in metric.options
        if key.partition(":")[2] not in option.words
    ]
    settings = [*SETTINGS[kind][metric.family], *(["c"] if metric.scaled else [])]
    rows += [_setting(COMMAND_OF[kind], name) for name in settings]
    return tables._table(("parameter", "what it changes", "choices, default"), rows)


def _setting(command: str, name: str) -> tuple[str, str, str]:
    """One option of a command: its flag, the first sentence of its text, its default."""
    (field, about), *_ = (pair for pair in options_of(_options(command)) if pair[0].name == name)
    told = tables.ROLE.sub(r"`\1`", about.text).replace("|", "\\|")
    first = re.split(r"(?<!et al)\. (?=[A-Z])", told)[0]
    flags = about.flags(name)
    default = "" if field.default in (None, MISSING) else f"`{field.default}`"
    return f"`{flags[0] if flags else name}`", first.removesuffix("."), default


@cache
def _options(command: str) -> type[Group]:
    record = commands()[command]
    group: type[Group] = record.load(record.options)
    return group


def related(kind: MetricKind, metric: Metric, spot: BlindSpot, worked: Worked) -> str:
    """Link the metrics of the family, the one that sees the fault, the function and the guides."""
    prefix, _, _, metrics = CATALOGUES[kind]
    family = [each.name for each in metrics.values() if each.family == metric.family]
    place = family.index(metric.name)
    near = [name for name in family[max(0, place - 4) : place + 5] if name != metric.name]
    lines = []
    if near:
        links = ", ".join(f"[`{name}`]({prefix}{name}.md)" for name in near)
        lines.append(f"- Of the same family: {links}")
    seen_by = spot.fault.seen_by
    if seen_by and seen_by != metric.name and seen_by in metrics:
        lines.append(f"- Sees the fault above: [`{seen_by}`]({prefix}{seen_by}.md)")
    if functions := _functions(worked.code):
        links = ", ".join(f"{{doc}}`{name} <../api/{name.lower()}>`" for name in functions)
        lines.append(f"- On arrays, texts or counts of your own: {links}")
    guides = {"embeddings": "scores.md", "texts": "text.md", "likelihoods": "likelihood.md"}
    pages = [guides[kind], *GUIDES.get((kind, metric.family), ()), "which_metric.md"]
    links = ", ".join(
        f"[{page.removesuffix('.md').replace('_', ' ')}](../{page})" for page in pages
    )
    lines.append(f"- Guides: {links}")
    return "\n".join(lines)


IMPORT = re.compile(r"^>>> from (calipers[\w.]*) import (.+)$", re.MULTILINE)


def _functions(code: str) -> list[str]:
    """Name the public functions that an example imports, as the API reference has them."""
    found = []
    for module, names in IMPORT.findall(code):
        if module in ("calipers", "calipers.metrics", "calipers.text"):
            owners = {id(getattr(import_module("calipers"), name)) for name in _public("calipers")}
            for name in names.split(", "):
                value = getattr(import_module(module), name)
                owner = "calipers" if id(value) in owners else module
                found.append(f"{owner}.{name}")
    return found


@cache
def _public(module: str) -> tuple[str, ...]:
    return tuple(import_module(module).__all__)


def _title(metric: Metric, key: str) -> str:
    label = metric.label.replace("*", "\\*")
    return label if label.lower().replace(" ", "_") == key else f"{label} (`{key}`)"


def _choices(option: Option) -> str:
    words = ", ".join(f"`{word}`" for word in option.forms)
    return words if option.words else f"a number, `{option.written(option.default)}` by default"


def _run(kind: MetricKind, metric: Metric, key: str) -> str:
    side = metric.side
    if kind == "likelihoods":
        side = {"decoder": "decoder", "models": "models"}.get(metric.family, "scored")
    shell, python = (line.format(key=key) for line in COMMANDS.get(side, COMMANDS["own"]))
    python = f'result = {python}\nresult["model"]["{key}"].value'
    return f"```sh\n{shell}\n```\n\n```python\n{python}\n```"


def _shown(key: str, metric: Metric, spot: BlindSpot) -> str:
    """Write what the metric says of an honest and of a faulty set, which a reader can compare."""
    what = {
        "embeddings": "The reference is 400 vectors of ten clusters in 8 dimensions; the "
        "honest set is 400 more of them.",
        "texts": "The reference is 120 paragraphs of Python's documentation; the honest set is "
        "120 others.",
        "likelihoods": "The reference is 120 paragraphs of Python's documentation, the honest "
        "set is 120 others, "
        "and the model an n-gram model of order 3, fitted to the rest.",
    }[metric.kind]
    if metric.family == "models":
        what = (
            "The reference is 120 paragraphs of Python's documentation. The model is an n-gram "
            "model of order 3, the generator one of order 2, both fitted to other paragraphs; the "
            "honest set is 120 texts that the generator wrote."
        )
    if spot.examples:
        what = "The honest texts say what their references say, in other words."
    rows = [("honest", _number(spot.honest)), (spot.fault.title.lower(), _number(spot.faulty))]
    head: tuple[str, ...] = ("generated set", f"`{key}`")
    if spot.reference is not None:
        rows = [("the reference itself", _number(spot.reference)), *rows]
    if spot.seen is not None:
        head = (*head, f"`{spot.fault.seen_by}`")
        seen = [_number(value) for value in spot.seen]
        seen = ["", *seen] if spot.reference is not None else seen
        rows = [(*row, value) for row, value in zip(rows, seen, strict=True)]
    verdict = {
        "higher": "Higher is better: the faulty set scores at least as well.",
        "lower": "Lower is better: the faulty set scores at least as well.",
        "closest": "Closest to the reference's own value is best: the faulty set is found "
        "about as good.",
    }[metric.better]
    if spot.seen is not None:
        verdict += f" `{spot.fault.seen_by}` sees the fault."
    parts = [
        f"### For example: {_lower(spot.fault.title)}",
        f"{spot.fault.told} {what}",
        tables._table(head, rows),
    ]
    if spot.examples:
        parts.append(tables._table(("one of them", "text"), list(spot.examples)))
    return "\n\n".join([*parts, verdict + " The numbers were measured when this page was built."])


def _number(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    if abs(value) < 5e-4:
        return "0.000"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text.replace("*", "\\*") + ("" if text.endswith(".") else ".")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def index() -> str:
    """Write the page that lists all metrics."""
    parts = [
        "# Metrics",
        "The page of a metric has its formula, an example by hand, how to run it, its "
        "parameters, and a "
        "fault that it does not see, with the numbers. [Which metric for which question]"
        "(../which_metric.md) helps to choose; [one table](../metrics.md) shows them all.",
        "```{toctree}\n:maxdepth: 1\n\nAll metrics in one table <../metrics>\n```",
    ]
    for prefix, heading, families, metrics in CATALOGUES.values():
        parts.append(f"## {heading}")
        for family in families.values():
            names = [m for m in metrics.values() if m.family == family.name]
            rows = [
                (f"[`{m.name}`]({prefix}{m.name}.md)", m.tells.replace("*", "\\*")) for m in names
            ]
            links = "\n".join(f"{m.name} <{prefix}{m.name}>" for m in names)
            parts += [
                f"### {family.name.capitalize()}: {family.question}",
                tables._table(("metric", "what it tells"), rows),
                f"```{{toctree}}\n:hidden:\n\n{links}\n```",
            ]
    return "\n\n".join(parts) + "\n"


def write(app: Sphinx) -> None:
    """Write all pages below the source folder, but those that are as they should be."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    pages = {"index.md": index()}
    spots = blind_spots()
    for kind, (prefix, _, _, metrics) in CATALOGUES.items():
        for metric in metrics.values():
            pages[f"{prefix}{metric.name}.md"] = page(kind, metric, spots[kind, metric.name])
    for stale in folder.glob("*.md"):
        if stale.name not in pages:
            stale.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
