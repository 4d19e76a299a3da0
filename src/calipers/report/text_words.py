"""What the table of text statistics says in words: its title, notes, warnings, how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.report.names import clean
from calipers.report.numbers import size_text
from calipers.report.text_content import (
    BEST,
    Data,
    arrow,
    best_of,
    has_gaps,
    name_of,
)
from calipers.report.text_names import LABELS, MEANINGS, text_label

ARROWS = {"↑": "↑ higher is better", "↓": "↓ lower is better"}


def title(data: Data) -> str:
    """Say what was measured, and how."""
    settings, reference = data["settings"], data.get("reference")
    about = "Texts alone, without a reference"
    if reference is not None:
        about = f"Reference: {name_of(reference)}, n = {size_text(reference)}"
    rows = ["row by row"] if settings.get("aligned") else []
    pins = [f"{key} {clean(settings[key])}" for key in ("tokenizer", "seed") if key in settings]
    return " · ".join([about, *rows, *pins])


def reasons(data: Data) -> Iterator[str]:
    """Say for every dash in the table why there is no value."""
    about: dict[tuple[str, str], list[str]] = {}
    rows = [row for row in (data.get("reference"), *data["systems"]) if row]
    for row in rows:
        missing: dict[str, list[str]] = {}
        for key, score in row["scores"].items():
            if score["value"] is None:
                reason = clean(score.get("reason") or "no value, and no reason was kept")
                missing.setdefault(reason, []).append(text_label(key))
        for reason, labels in missing.items():
            about.setdefault((reason, ", ".join(labels)), []).append(name_of(row))
    for (reason, shown), names in about.items():
        yield f"{', '.join(names)}, {shown}: {reason}"


def remarks(data: Data) -> Iterator[str]:
    """Say how the sets were cut, and what several files mean."""
    sets = [row for row in (data.get("reference"), *data["systems"]) if row]
    cut = [row for row in sets if row["n"] < row["n_given"]]
    if cut:
        size, limit = min(row["n"] for row in sets), data["settings"].get("max_samples")
        smallest = [name_of(row) for row in sets if row["n_given"] == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit or size}" + (" (--max-samples)" if limit else "")
        else:
            yield f"all sets cut to {size}, the smallest ({smallest[0]}); --keep-sizes leaves them"
    for system in data["systems"]:
        if len(system.get("seeds") or ()) > 1:
            yield f"{name_of(system)}: mean over {len(system['seeds'])} seed files"


def warnings(data: Data) -> list[str]:
    """Give every warning once, with the sets that it is about in front of it."""
    about: dict[str, list[str]] = {}
    for row in (data.get("reference"), *data["systems"], data.get("train")):
        for text in (row or {}).get("warnings") or ():
            about.setdefault(clean(text), []).append(name_of(row or {}))
    sets = [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in about.items()]
    return [*sets, *dict.fromkeys(clean(text) for text in data.get("warnings") or ())]


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give what each row tells, as pairs of a name and a line."""
    names: dict[str, list[str]] = {}
    for key in data["settings"]["metrics"]:
        names.setdefault(key.partition(":")[0], []).append(key)
    for name, keys in names.items():
        if name in MEANINGS:
            yield (text_label(keys[0]) if len(keys) == 1 else LABELS[name][1]), MEANINGS[name]


def how_to_read(data: Data) -> Iterator[str]:
    """Say what the gap is, what the mark means, or that a number alone says little."""
    if data.get("reference") is None:
        yield (
            "A statistic of one set alone means little: the same of texts that people wrote "
            "(--reference FILE) tells whether it is high or low."
        )
    elif has_gaps(data):
        yield "gap: distance to the reference's own value; the smaller, the more alike."
    arrows = "".join(arrow(data, key) for key in data["settings"]["metrics"])
    words = [text for mark, text in ARROWS.items() if mark in arrows]
    if any(best_of(data, key) is not None for key in data["settings"]["metrics"]):
        words.append(f"{BEST} closest to the reference, or best, of its row")
    if words:
        yield "; ".join(words)
    yield (
        "More: --metrics all; calipers metrics text lists them. Full precision and signatures: "
        "--json FILE, or .to_dict() in Python."
    )
