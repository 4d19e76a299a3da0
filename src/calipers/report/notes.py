"""What a table says in words: its title, how sets were cut, why values miss, what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.report.content import BEST, Data, Metric, scores_of
from calipers.report.details import detail_notes
from calipers.report.names import (
    VIEWS,
    WIDEST_NAME,
    clean,
    shorten,
)
from calipers.report.numbers import MISSING, score_text
from calipers.report.text_names import text_label

DIRECTIONS = {
    "higher": "↑ higher is better",
    "lower": "↓ lower is better",
    "closest": "≈ closer to the reference's own value is better",
}
USUAL = {"k": 4, "ties": "closed", "distance": "euclidean", "projection": "none"}
"""The choices that a title names only where they are others."""


def title(data: Data, *, said: Sequence[str] = ()) -> str:
    """Say what was compared with what, and how; leave out what a caller has `said` before."""
    reference, settings = data["reference"], data.get("settings", {})
    cut = _cut(reference)
    size = f"n = {reference.get('n')}" + (f" of {reference['n_given']}" if cut else "")
    changed = [key for key, value in USUAL.items() if settings.get(key, value) != value]
    usual = ("embedder", "tokenizer", "seed", *changed)
    keys = [key for key in usual if key in settings and key not in said]
    pins = [f"{key} {clean(settings[key])}" for key in keys]
    return " · ".join([f"Reference: {_name(reference)}, {size}", *pins])


def remarks(data: Data) -> Iterator[str]:
    """Say how the sets were cut and held together, and what stands behind the scores."""
    yield from cut_notes(data)
    yield from seed_notes(data)
    yield from scope_note(data)
    yield from cluster_note(data)
    yield from detail_notes(data.get("systems", ()), lambda key: text_label(key.rpartition(".")[2]))


def cut_notes(data: Data) -> Iterator[str]:
    """Say which sets were cut, and to what."""
    settings, systems = data.get("settings", {}), list(data.get("systems", ()))
    limit = settings.get("max_samples")
    if limit and any(_given(row) > limit for row in [data["reference"], *systems]):
        yield f"larger sets cut to {limit} (--max-samples)"
    cut = [row for row in systems if row["n"] < min(_given(row), limit or _given(row))]
    if cut:
        smallest = [row for row in systems if _given(row) == row["n"]]
        names = _names(smallest)
        reason = f", the smallest ({names})" if smallest else ""
        yield f"all generated sets cut to {cut[0]['n']}{reason}; --keep-sizes leaves them"


def seed_notes(data: Data) -> Iterator[str]:
    """Say which systems stand for several files."""
    for system in data.get("systems", ()):
        if len(system.get("seeds") or ()) > 1:
            yield f"{_name(system)}: mean over {len(system['seeds'])} seed files"


def scope_note(data: Data) -> Iterator[str]:
    """Say that systems share a space, where they do."""
    if data.get("settings", {}).get("shared"):
        yield (
            "all systems share one projection and one set of cells (--shared): adding or removing "
            "a system changes the scores of the others"
        )


def cluster_note(data: Data) -> Iterator[str]:
    """Say what counts as one draw, and how many of them each set has."""
    field = data.get("settings", {}).get("cluster")
    if field is None:
        return
    named = [("the reference", data["reference"])]
    named += [(_name(system), system) for system in data.get("systems", ())]
    counts = [f"{row.get('clusters')} of {row['n']} samples in {name}" for name, row in named]
    tests = "; tests against the reference take one sample of each"
    yield (
        f"clusters by {clean(field)!r} (--cluster), which count as drawn together: "
        f"{', '.join(counts)}{tests if data['settings'].get('level') is not None else ''}"
    )


def reasons(data: Data, metrics: Sequence[Metric]) -> Iterator[str]:
    """Say for every dash in the table why there is no value."""
    systems = [_name(system) for system in data.get("systems", ())]
    about: dict[tuple[str, str], list[str]] = {}
    for row, system in enumerate(systems):
        for reason, missing in _reasons_of(data, metrics, row).items():
            about.setdefault((reason, ", ".join(missing)), []).append(system)
    for (reason, missing_names), names in about.items():
        yield f"{', '.join(names)}, {missing_names}: {reason}"


def warnings(data: Data) -> list[str]:
    """Give every warning once, with the sets that it is about in front of it."""
    about: dict[str, list[str]] = {}
    for row in [data["reference"], *data.get("systems", ()), data.get("train") or {}]:
        for text in row.get("warnings") or ():
            about.setdefault(clean(text), []).append(_name(row))
    sets = [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in about.items()]
    return [*sets, *dict.fromkeys(clean(text) for text in data.get("warnings") or ())]


def legend(data: Data, metrics: Sequence[Metric]) -> Iterator[tuple[str, str]]:
    """Give what each column tells, as pairs of a name and a line."""
    if any(row.get("words") for row in [data["reference"], *data.get("systems", ())]):
        yield "words", "median length of a sample"
    yield from dict.fromkeys((each.label, each.meaning) for each in metrics if each.meaning)
    for view in dict.fromkeys(metric.view for metric in metrics):
        if view in VIEWS:
            yield view, f"scores by {VIEWS[view]}"


def marks(metrics: Sequence[Metric], *, best_shown: bool) -> str:
    """Explain the arrows and the mark."""
    directions = {metric.direction for metric in metrics}
    arrows = [text for direction, text in DIRECTIONS.items() if direction in directions]
    return "; ".join([*arrows, *([f"{BEST} best of its column"] if best_shown else [])])


def more(metrics: Sequence[Metric]) -> str:
    """Say where the rest is that the table leaves out."""
    rest = "Full precision and signatures: --json FILE, or .to_dict() in Python."
    complete = {metric.metric for metric in metrics} >= METRICS.keys()
    return rest if complete else f"More metrics: --metrics all; calipers metrics lists them. {rest}"


def _reasons_of(data: Data, metrics: Sequence[Metric], row: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for metric in metrics:
        score = scores_of(data, metric)[row]
        if score_text(score) == MISSING:
            name = f"{metric.label} by {clean(metric.view)}" if metric.view else metric.key
            found.setdefault(_reason(score), []).append(name)
    return found


def _reason(score: Mapping[str, Any] | None) -> str:
    if score is None:
        return "not computed"
    return clean(score.get("reason") or "no value, and no reason was kept")


def _given(row: Mapping[str, Any]) -> int:
    return int(row["n"] if row.get("n_given") is None else row["n_given"])


def _cut(row: Mapping[str, Any]) -> bool:
    return _given(row) != int(row["n"])


def _name(row: Mapping[str, Any]) -> str:
    return shorten(clean(row["name"]), WIDEST_NAME)


def _names(rows: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    names = [_name(row) for row in rows]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")
