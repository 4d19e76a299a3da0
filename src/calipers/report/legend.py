"""What is said beside a table: titles, notes, why values miss, warnings, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.report.names import VIEWS, clean
from calipers.report.numbers import MISSING, score_text
from calipers.report.shown import Metric, metric_of, scores_of, short
from calipers.report.table import Data, Note

DIRECTIONS = {
    "↑": "higher is better",
    "↓": "lower is better",
    "→": "closer to the reference's own value is better",
}
USUAL = {"k": 4, "ties": "closed", "distance": "euclidean", "projection": "none"}
"""The choices that a title names only where they are others."""

GIVEN = "precomputed"
"""The embedder of vectors that a person has."""

SHOWN = 5
"""Rows behind a score that are named; all of them stand in the JSON."""


def title(data: Data, *, said: Sequence[str] = ()) -> str:
    """Say what was compared with what, and how; leave out what a caller has `said` before."""
    reference, settings = data["reference"], data.get("settings", {})
    cut = _cut(reference)
    size = f"n = {reference.get('n')}" + (f" of {reference['n_given']}" if cut else "")
    changed = [key for key in USUAL if is_changed(settings, key)]
    usual = ("embedder", "tokenizer", "seed", *changed)
    keys = [key for key in usual if key in settings and key not in said]
    pins = [f"{key} {clean(settings[key])}" for key in keys]
    rows = [] if scaled_as_usual(data) else [prepared(data)]
    first = f"Reference: {short(reference['name'])}, {size}"
    return " · ".join([first, *pins, *rows, *_given_prompts(data)])


def prepared(data: Data) -> str:
    """Say what was done to the rows before they were compared; empty where no vectors were.

    Examples
    --------
    >>> prepared({"settings": {"embedder": "precomputed", "normalise": "none", "pca": 0.9}})
    'vectors as given, MAUVE on 90 % PCA'
    >>> prepared({"settings": {"embedder": "minilm", "normalise": "l2", "pca": None}})
    'rows scaled to length 1'
    """
    settings = data.get("settings", {})
    if "embedder" not in settings and "embedders" not in settings:
        return ""
    given, share = are_given(settings), settings.get("pca")
    rows, left = ("vectors", "as given") if given else ("rows", "not scaled")
    done = left if settings.get("normalise") == "none" else "scaled to length 1"
    where = "on" if settings.get("projection") == "union" else "MAUVE on"
    return f"{rows} {done}" + (f", {where} {100 * share:.0f} % PCA" if share else "")


def head_of_view(data: Data, view: str) -> str:
    """Name a view at the head of its table; of given vectors, say what was done to them."""
    settings = data.get("settings", {})
    if settings.get("embedder") != GIVEN:
        return clean(view)
    return "as given" if settings.get("normalise") == "none" else "length 1"


def scaled_as_usual(data: Data) -> bool:
    """Whether the rows are texts or images, or neither, and were scaled as those usually are.

    Of vectors that were given, nothing is usual.
    """
    settings = data.get("settings", {})
    # Runs that were kept before there was a choice scaled every row
    return not are_given(settings) and settings.get("normalise", "l2") == "l2"


def are_given(settings: Data) -> bool:
    """Whether a person gave the vectors, whatever made them."""
    return settings.get("samples") == "vectors" or settings.get("embedder") == GIVEN


def foot(data: Data) -> str:
    """Say what was compared, in a line below the tables."""
    reference, settings = data["reference"], data.get("settings", {})
    systems = list(data.get("systems", ()))
    sizes = sorted({int(row["n"]) for row in [reference, *systems]})
    given = [_given(row) for row in [reference, *systems]]
    if len(sizes) == 1:
        size = f"n = {sizes[0]:,} each"
        cut = sorted({n for n in given if n > sizes[0]})
        if cut:
            most = f"{cut[0]:,}" if len(cut) == 1 else f"{cut[0]:,} to {cut[-1]:,}"
            size += f" (cut from {most})"
    else:
        own = sorted({int(row["n"]) for row in systems})
        most = f"{own[0]:,}" if len(own) == 1 else f"{own[0]:,} to {own[-1]:,}"
        size = f"n = {size_of(reference)} (reference), {most}"
    embedder = clean(settings.get("embedder") or "")
    tokenizer = f"tokenizer {clean(settings['tokenizer'])}" if settings.get("tokenizer") else ""
    changed = [f"{key} {clean(settings[key])}" for key in USUAL if is_changed(settings, key)]
    seed = f"seed {settings['seed']}" if "seed" in settings else ""
    rows = "" if scaled_as_usual(data) else prepared(data)
    named = "" if rows and embedder == GIVEN else embedder
    parts = [
        *_written(settings),
        size,
        *_within_prompts(systems),
        *_treated(settings),
        *(f"{way} (--shared-prompts)" for way in _given_prompts(data)),
        named,
        tokenizer,
        rows,
        seed,
        *changed,
    ]
    return " · ".join(filter(None, parts))


def _written(settings: Data) -> Iterator[str]:
    """Say which model wrote the samples of a tuning, and how it was asked."""
    made = settings.get("generation")
    if isinstance(made, Mapping):
        asked = {"none": "no prompts", "continue": "prompts continued"}
        task = clean(made.get("task") or "")
        yield f"samples of {clean(made.get('model') or '')}"
        yield asked.get(task, task)


def _given_prompts(data: Data) -> Iterator[str]:
    """Say that answers to the same prompts were scored by those to others."""
    ways = {
        way: f"by answers to other prompts{more}"
        for way, more in (("residual", ", less what their own explains"), ("others", ""))
    }
    for way, text in ways.items():
        scores = (s for row in data.get("systems", ()) for s in row.get("scores", {}).values())
        if any(f"|prompts:{way}" in (score.get("signature") or "") for score in scores):
            yield text


def _within_prompts(systems: Sequence[Data]) -> Iterator[str]:
    """Say how many prompts the systems share with the reference, within which they are tested."""
    found = [system.get("prompts") or {} for system in systems]
    counts = sorted(int(each.get("shared") or 0) for each in found)
    if counts and counts[-1]:
        low = f"{counts[0]:,} to " if counts[0] < counts[-1] else ""
        rows = any(each.get("by") == "paired" for each in found)
        unit = "pairs of rows" if rows else "shared prompts"
        yield f"tested within {low}{counts[-1]:,} {unit}"


def _treated(settings: Data) -> Iterator[str]:
    """Say what was cut off the texts, what counts as one draw, and where sets are compared."""
    if settings.get("strip_prompt"):
        yield "prompts stripped"
    if settings.get("skip_words"):
        yield f"without the first {settings['skip_words']} words"
    if settings.get("match_length"):
        yield f"cut to {settings['match_length']} words"
    if settings.get("cluster"):
        yield f"clusters by {clean(settings['cluster'])}"
    if settings.get("shared"):
        yield "one space for all systems"


def size_of(row: Data) -> str:
    """Write the size of a set with its thousands apart, and of how many it was cut."""
    given, n = _given(row), int(row["n"])
    return f"{n:,}" if given == n else f"{n:,} of {given:,}"


def is_changed(settings: Data, key: str) -> bool:
    """Whether a choice is not the usual one."""
    return bool(settings.get(key, USUAL[key]) != USUAL[key])


def remarks(data: Data) -> Iterator[Note]:
    """Say how the sets were cut and held together, and what stands behind the scores."""
    for told in (cut_notes, seed_notes, scope_note, cluster_note):
        yield from (Note("note", text) for text in told(data))
    yield from detail_notes(data.get("systems", ()), lambda key: metric_of(data, key).label)


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
            yield f"{short(system['name'])}: mean over {len(system['seeds'])} seed files"


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
    named += [(short(system["name"]), system) for system in data.get("systems", ())]
    counts = [f"{row.get('clusters')} of {row['n']} samples in {name}" for name, row in named]
    tests = "; tests against the reference take one sample of each"
    yield (
        f"clusters by {clean(field)!r} (--cluster), which count as drawn together: "
        f"{', '.join(counts)}{tests if data['settings'].get('level') is not None else ''}"
    )


def reasons(data: Data, metrics: Sequence[Metric]) -> Iterator[Note]:
    """Say for every dash in the table why there is no value."""
    systems = [short(system["name"]) for system in data.get("systems", ())]
    about: dict[tuple[str, str], list[str]] = {}
    for row, system in enumerate(systems):
        for reason, missing in _reasons_of(data, metrics, row).items():
            about.setdefault((reason, ", ".join(missing)), []).append(system)
    yield from missing_notes(about, MISSING)


def missing_notes(about: Mapping[tuple[str, str], list[str]], sign: str = "") -> Iterator[Note]:
    """Say why values miss, by the reason and the metrics, for the systems without them."""
    for (reason, missing), names in about.items():
        text = f"{', '.join(names)}, {missing}: {reason}"
        yield Note("missing", text, sign, about=tuple(names))


def warnings(data: Any, sets: Sequence[tuple[str, Any]]) -> Iterator[Note]:
    """Give every warning once, with the names of the sets that it is about in front of it.

    Those that could change the verdict come first, the worst of them before the others.
    """
    if not isinstance(data, Mapping):
        data = vars(data)
    sets = [(name, row if isinstance(row, Mapping) else vars(row)) for name, row in sets]
    about: dict[str, list[str]] = {}
    for name, row in sets:
        for text in row.get("warnings") or ():
            about.setdefault(clean(text), []).append(name)
    found = [(tuple(dict.fromkeys(names)), text) for text, names in about.items()]
    found += [((), text) for text in dict.fromkeys(map(clean, data.get("warnings") or ()))]
    rows = [data, *(row for _, row in sets)]
    cautions = [
        c if isinstance(c, Mapping) else vars(c) for row in rows for c in row.get("cautions") or ()
    ]
    weights = {clean(c["text"]): c["weight"] for c in cautions}
    for known, text in sorted(found, key=lambda warning: -weights.get(warning[1], 0)):
        named = f"{', '.join(known)}: " if known else ""
        yield Note("warning", named + text, about=known)


def sets_of(data: Data) -> list[tuple[str, Data]]:
    """Give all sets of a comparison by their names."""
    sets = [data.get("reference"), *data.get("systems", ()), data.get("train")]
    return [(short(row["name"]), row) for row in sets if row]


def detail_notes(systems: Sequence[Data], label: Callable[[str], str]) -> Iterator[Note]:
    """Name the weightiest rows behind each score of each system.

    Parameters
    ----------
    systems
        Each with its ``name`` and ``scores``; what a score lists stands under ``details``, rows
        of which the first field names the thing and the others are numbers.
    label
        Gives the name of a score by its key.
    """
    for system in systems:
        for key, score in (system.get("scores") or {}).items():
            rows = score.get("details") or ()
            if rows:
                more = f"; {len(rows) - SHOWN} more in the JSON" if len(rows) > SHOWN else ""
                shown = "; ".join(map(_row_text, rows[:SHOWN]))
                text = f"{clean(system['name'])}, {label(key)}: {shown}{more}"
                yield Note("detail", text, about=(system["name"], key))


def meanings(data: Data, metrics: Sequence[Metric]) -> Iterator[tuple[str, str]]:
    """Give what each column tells, as pairs of a name and a line."""
    if any(row.get("words") for row in [data["reference"], *data.get("systems", ())]):
        yield "words", "median length of a sample"
    yield from dict.fromkeys((each.label, each.meaning) for each in metrics if each.meaning)
    for view in dict.fromkeys(metric.view for metric in metrics):
        if view in VIEWS:
            yield view, f"scores by {VIEWS[view]}"


def arrows(metrics: Sequence[Metric]) -> Iterator[Note]:
    """Explain the arrows."""
    shown = {metric.arrow for metric in metrics}
    yield from (Note("mark", text, sign) for sign, text in DIRECTIONS.items() if sign in shown)


def more(metrics: Sequence[Metric]) -> Note:
    """Say where the rest is that the table leaves out."""
    rest = "Full precision and signatures: --json FILE, or .to_dict() in Python."
    complete = {metric.metric for metric in metrics} >= METRICS.keys()
    others = "More metrics: --metrics all; calipers metrics lists them. "
    return Note("how", rest if complete else others + rest)


def made_by(data: Any) -> str:
    """Name the version that made the numbers."""
    if not isinstance(data, Mapping):
        return f"Calipers {clean(data.version)}"
    return f"Calipers {clean(data.get('calipers') or 'of unknown version')}"


def sizes(data: Data) -> str:
    """Say how many samples every system has; empty where they differ."""
    counts = {system.get("n") for system in data.get("systems", ())}
    return f"n = {counts.pop()} for each system" if len(counts) == 1 else ""


def _reasons_of(data: Data, metrics: Sequence[Metric], row: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for metric in metrics:
        score = scores_of(data, metric)[row]
        if score_text(score) == MISSING:
            name = f"{metric.label} by {clean(metric.view)}" if metric.view else metric.key
            found.setdefault(_reason(score), []).append(name)
    return found


def _reason(score: Data | None) -> str:
    if score is None:
        return "not computed"
    return clean(score.get("reason") or "no value, and no reason was kept")


def _given(row: Data) -> int:
    return int(row["n"] if row.get("n_given") is None else row["n_given"])


def _cut(row: Data) -> bool:
    return _given(row) != int(row["n"])


def _names(rows: Sequence[Data], most: int = 3) -> str:
    names = [short(row["name"]) for row in rows]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")


def _row_text(row: Data) -> str:
    """Write a row: its name in quotation marks, then its numbers.

    Examples
    --------
    >>> _row_text({"phrase": "a lot of", "texts": 34, "ratio": None, "p_value": 0.0019116})
    "'a lot of' (texts 34, p value 0.0019)"
    """
    (_, name), *numbers = row.items()
    said = (
        f"{field.replace('_', ' ')} {value:.2g}"
        if isinstance(value, float)
        else f"{field.replace('_', ' ')} {value:,}"
        for field, value in numbers
        if value is not None
    )
    return f"{clean(str(name))!r} ({', '.join(said)})"
