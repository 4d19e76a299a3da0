"""What the table of text statistics says in words: its title, notes, warnings, how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.catalogue.texts import TEXT_METRICS
from calipers.report.details import detail_notes
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
from calipers.report.text_names import text_label, text_meaning
from calipers.report.uncertain_marks import percent
from calipers.report.uncertain_numbers import APPROXIMATE, PLUS_MINUS, is_lopsided

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
    for name, row in _sets(data):
        missing: dict[str, list[str]] = {}
        for key, score in row["scores"].items():
            if score["value"] is None:
                reason = clean(score.get("reason") or "no value, and no reason was kept")
                missing.setdefault(reason, []).append(text_label(key))
        for reason, labels in missing.items():
            about.setdefault((reason, ", ".join(labels)), []).append(name)
    for (reason, shown), names in about.items():
        yield f"{', '.join(names)}, {shown}: {reason}"


def remarks(data: Data) -> Iterator[str]:
    """Say how the sets were cut, and what several files mean."""
    sets = _sets(data)
    cut = [row for _, row in sets if row["n"] < row["n_given"]]
    if cut:
        size, limit = min(row["n"] for _, row in sets), data["settings"].get("max_samples")
        smallest = [name for name, row in sets if row["n_given"] == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit or size}" + (" (--max-samples)" if limit else "")
        else:
            yield f"all sets cut to {size}, the smallest ({smallest[0]}); --keep-sizes leaves them"
    for system in data["systems"]:
        if len(system.get("seeds") or ()) > 1:
            yield f"{name_of(system)}: mean over {len(system['seeds'])} seed files"
    yield from detail_notes(data["systems"], text_label)


def warnings(data: Data) -> list[str]:
    """Give every warning once, with the sets that it is about in front of it."""
    about: dict[str, list[str]] = {}
    train = data.get("train")
    for name, row in [*_sets(data), *([(name_of(train), train)] if train else [])]:
        for text in row.get("warnings") or ():
            about.setdefault(clean(text), []).append(name)
    sets = [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in about.items()]
    return [*sets, *dict.fromkeys(clean(text) for text in data.get("warnings") or ())]


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give what each row tells, as pairs of a name and a line.

    Rows of one metric share a line where it is true of all of them.
    """
    yield "words", "median words of a text, split at spaces"
    lines: dict[str, dict[str, list[str]]] = {}
    for key in data["settings"]["metrics"]:
        alike = lines.setdefault(key.partition(":")[0], {})
        alike.setdefault(text_meaning(key), []).append(key)
    for name, alike in lines.items():
        for line, keys in alike.items():
            if not line:
                continue
            if len(keys) > 1 and len(alike) == 1:
                yield TEXT_METRICS[name].label, line
            else:
                yield from ((text_label(key), line) for key in keys)


def how_to_read(data: Data) -> Iterator[str]:
    """Say what the gap is, what the mark means, or that a number alone says little."""
    if data.get("reference") is None:
        yield (
            "A statistic of one set alone means little: the same of texts that people wrote "
            "(--reference FILE) tells whether it is high or low."
        )
    elif has_gaps(data):
        yield "gap: distance to the reference's own value; the smaller, the more alike."
    yield from intervals(data)
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


def intervals(data: Data) -> Iterator[str]:
    """Say what ± and the brackets hold, and how they tell a gap from chance."""
    scores = [score for _, row in _sets(data) for score in (row.get("scores") or {}).values()]
    held = [score for score in scores if score.get("interval")]
    if not held:
        return
    level = percent(max(score["level"] for score in held))
    brackets = ", [low,high] below where lopsided" if any(map(is_lopsided, held)) else ""
    apart = (
        "; a gap is more than chance where the intervals of both sets lie apart"
        if has_gaps(data)
        else ""
    )
    yield f"{PLUS_MINUS} {level} interval of the average at this size{brackets}{apart}."
    if any(score.get("approximate") for score in held):
        yield (
            f"{APPROXIMATE} approximate interval: from smaller sets, or of a share close to 0 or 1."
        )


def _sets(data: Data) -> list[tuple[str, Data]]:
    """The reference, named as the table names it, and the systems."""
    reference = data.get("reference")
    own = [("reference", reference)] if reference else []
    return [*own, *((name_of(row), row) for row in data["systems"])]
