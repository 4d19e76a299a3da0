"""Text around tables: titles, notes, reasons of missing values, warnings, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Protocol

from calipers.catalogue.embeddings import METRICS
from calipers.report.shown import metric_of, sets_of
from calipers.report.table import Note
from calipers.results.caution import Caution
from calipers.results.comparison import Comparison
from calipers.results.ranking import scores_of
from calipers.results.result import Result
from calipers.results.sets import SetSummary
from calipers.results.shown import ShownScore
from calipers.results.system import SystemResult
from calipers.results.texts import TextComparison, TextResult
from calipers.score import Score
from calipers.wording.names import clean, sees
from calipers.wording.numbers import MISSING, defined, length_head, length_meaning, score_text
from calipers.wording.short_names import short
from calipers.wording.words import Quoted

Settings = Mapping[str, Any]
"""The choices of a run, as plain data."""

DIRECTIONS = {
    "↑": "higher",
    "↓": "lower",
    "→": "closer to the reference's own value",
}
USUAL = {"k": 4, "ties": "closed", "distance": "euclidean", "projection": "none"}
"""The choices that a title names only where they are others."""

GIVEN = "precomputed"
"""The embedder of vectors that a person has."""

SHOWN = 5
"""Rows behind a score that are named; all of them stand in the JSON."""
LONGEST_NAME = 200
"""Characters of a name in full."""


class HasWarnings(Protocol):
    """A set, a system or a result that has warnings."""

    @property
    def warnings(self) -> Sequence[str]:
        """The warnings."""


class HasSummary(HasWarnings, Protocol):
    """A system, with a summary and measurements that may have warnings."""

    @property
    def summary(self) -> SetSummary:
        """The summary of its set."""


def title_of(comparison: Comparison) -> str:
    """Describe what was compared with what, and how."""
    head = title(comparison.reference, comparison.settings)
    return " · ".join([head, *_given_prompts(comparison)])


def title(reference: SetSummary, settings: Settings, *, stated: Sequence[str] = ()) -> str:
    """Describe the reference and the comparison, except for what the caller has `stated`."""
    cut = f" of {reference.n_given}" if _is_cut(reference) else ""
    changed = [key for key in USUAL if is_changed(settings, key)]
    usual = ("embedder", "tokenizer", "seed", *changed)
    keys = [key for key in usual if key in settings and key not in stated]
    pins = [f"{key} {clean(settings[key])}" for key in keys]
    rows = [] if scaled_as_usual(settings) else [prepared(settings)]
    first = f"Reference: {short(reference.name)}, n = {reference.n}{cut}"
    return " · ".join([first, *pins, *rows])


def prepared(settings: Settings) -> str:
    """Describe how rows were transformed before the comparison; empty where there were no vectors.

    Examples
    --------
    >>> prepared({"embedder": "precomputed", "normalise": "none", "pca": 0.9})
    'vectors as given, MAUVE on 90 % PCA'
    >>> prepared({"embedder": "minilm", "normalise": "l2", "pca": None})
    'rows scaled to length 1'
    """
    if "embedder" not in settings and "embedders" not in settings:
        return ""
    given, share = are_given(settings), settings.get("pca")
    rows, left = ("vectors", "as given") if given else ("rows", "not scaled")
    done = left if settings.get("normalise") == "none" else "scaled to length 1"
    where = "on" if settings.get("projection") == "union" else "MAUVE on"
    return f"{rows} {done}" + (f", {where} {100 * share:.0f} % PCA" if share else "")


def head_of_view(settings: Settings, view: str) -> str:
    """Name a view at the head of its table; of given vectors, with their transformation."""
    if settings.get("embedder") != GIVEN:
        return clean(view)
    return "as given" if settings.get("normalise") == "none" else "length 1"


def scaled_as_usual(settings: Settings) -> bool:
    """Whether rows are texts or images, or neither, and were scaled by the default for them.

    Of vectors that were given, nothing is usual.
    """
    # Runs that were kept before there was a choice scaled every row
    return not are_given(settings) and settings.get("normalise", "l2") == "l2"


def are_given(settings: Settings) -> bool:
    """Whether the vectors were given, whatever made them."""
    return settings.get("samples") == "vectors" or settings.get("embedder") == GIVEN


def foot(comparison: Comparison) -> str:
    """Describe what is particular to a comparison and absent from its signature."""
    settings, sets = comparison.settings, sets_of(comparison)
    rows = "" if scaled_as_usual(settings) else prepared(settings)
    chosen = with_reason(settings)
    parts = [
        *_written(settings),
        *_cut(sets),
        *_within_prompts(comparison.systems),
        *_treated(settings, comparison.reference.word_unit),
        *(f"{way} (`shared_prompts`)" for way in _given_prompts(comparison)),
        chosen if ": " in chosen else "",
        rows,
        *(f"{key} {clean(settings[key])}" for key in USUAL if is_changed(settings, key)),
    ]
    return " · ".join(filter(None, parts))


def _cut(sets: Sequence[SetSummary]) -> Iterator[str]:
    """Say from how many samples sets were cut, where all have one size."""
    sizes = {row.n for row in sets}
    cut = sorted({row.n_given for row in sets if _is_cut(row)})
    if len(sizes) == 1 and cut:
        most = f"{cut[0]:,}" if len(cut) == 1 else f"{cut[0]:,} to {cut[-1]:,}"
        yield f"n = {sizes.pop():,} each (cut from {most})"
    elif _is_cut(sets[0]):
        yield f"reference cut from {sets[0].n_given:,}"


def with_reason(settings: Settings) -> str:
    """Name the embedder, and why the texts required another than the default.

    Examples
    --------
    >>> with_reason({"embedder": "use", "chosen": {"embedder": "use", "reason": "texts are Thai"}})
    'use: texts are Thai'
    """
    embedder, chosen = clean(settings.get("embedder") or ""), settings.get("chosen")
    if not isinstance(chosen, Mapping) or chosen.get("embedder") == "minilm":
        return embedder
    reason = clean(str(chosen.get("reason") or ""))
    return f"{embedder}: {reason}" if reason else embedder


def _written(settings: Settings) -> Iterator[str]:
    """Say which model wrote the samples of a tuning, and how it was asked."""
    made = settings.get("generation")
    if isinstance(made, Mapping):
        asked = {"none": "no prompts", "continue": "prompts continued"}
        task = clean(made.get("task") or "")
        yield f"samples of {clean(made.get('model') or '')}"
        yield asked.get(task, task)


def _given_prompts(comparison: Comparison) -> Iterator[str]:
    """Say that answers to the same prompts were scored by those to others."""
    ways = {
        way: f"by answers to other prompts{more}"
        for way, more in (("residual", ", less what their own explains"), ("others", ""))
    }
    for way, text in ways.items():
        scores = (score for system in comparison.systems for score in system.scores.values())
        if any(f"|prompts:{way}" in score.signature for score in scores):
            yield text


def _within_prompts(systems: Sequence[SystemResult]) -> Iterator[str]:
    """Say how many prompts the systems share with the reference, within which they are tested."""
    overlaps = [system.prompts for system in systems]
    counts = sorted(0 if overlap is None else overlap.shared for overlap in overlaps)
    if counts and counts[-1]:
        low = f"{counts[0]:,} to " if counts[0] < counts[-1] else ""
        rows = any(overlap is not None and overlap.by == "paired" for overlap in overlaps)
        unit = "pairs of rows" if rows else "shared prompts"
        yield f"tested within {low}{counts[-1]:,} {unit}"


def _treated(settings: Settings, unit: str) -> Iterator[str]:
    """Say what was cut off the texts, what counts as one draw, and where sets are compared.

    `unit` is what lengths count, words or characters.
    """
    if settings.get("strip_prompt"):
        yield "prompts stripped"
    if settings.get("skip_words"):
        yield f"without the first {settings['skip_words']} {unit}"
    if settings.get("match_length"):
        yield f"cut to {settings['match_length']} {unit}"
    if settings.get("cluster"):
        yield f"clusters by {clean(settings['cluster'])}"
    if settings.get("shared"):
        yield "one space for all systems"


def is_changed(settings: Settings, key: str) -> bool:
    """Whether a setting differs from its default."""
    return bool(settings.get(key, USUAL[key]) != USUAL[key])


def remarks(comparison: Comparison) -> Iterator[Note]:
    """Describe how sets were cut and clustered, and what the scores rest on."""
    for texts in (
        cut_notes(comparison.settings, sets_of(comparison)),
        seed_notes(comparison.systems),
        scope_note(comparison),
        cluster_note(comparison),
    ):
        yield from (Note("note", text) for text in texts)
    yield from detail_notes(comparison.systems, lambda key: metric_of(comparison, key).label)


def cut_notes(settings: Settings, sets: Sequence[SetSummary]) -> Iterator[str]:
    """State which sets, the reference first, were cut, and to what size."""
    limit, (_, *generated) = settings.get("max_samples"), sets
    if limit and any(row.n_given > limit for row in sets):
        yield f"larger sets cut to {limit} (`max_samples`)"
    cut = [row for row in generated if row.n < min(row.n_given, limit or row.n_given)]
    if cut:
        smallest = [row for row in generated if row.n_given == row.n]
        reason = f", the smallest ({_names(smallest)})" if smallest else ""
        yield f"all generated sets cut to {cut[0].n}{reason}; `keep_sizes` keeps them whole"


def full_names(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Return each shortened name with its full name."""
    for row in sets_of(comparison):
        if (form := short(row.name)) != clean(row.name):
            yield form, short(row.name, LONGEST_NAME)


def seed_notes(systems: Sequence[SystemResult | TextResult]) -> Iterator[str]:
    """State which systems consist of several files."""
    for system in systems:
        if len(system.seeds) > 1:
            yield f"{short(system.name)}: mean over {len(system.seeds)} seed files"


def scope_note(comparison: Comparison) -> Iterator[str]:
    """State that systems share a space, where they do."""
    if comparison.settings.get("shared"):
        yield (
            "all systems share one projection and one set of cells (`shared`): adding or removing "
            "a system changes the scores of the others"
        )


def cluster_note(comparison: Comparison) -> Iterator[str]:
    """State what counts as one draw, and how many draws each set has."""
    settings = comparison.settings
    field = settings.get("cluster")
    if field is None:
        return
    sets = [("the reference", comparison.reference)]
    sets += [(short(system.name), system.summary) for system in comparison.systems]
    counts = [f"{row.clusters} of {row.n} samples in {name}" for name, row in sets]
    tests = "; tests against the reference use one sample of each"
    yield (
        f"clusters by {clean(field)!r} (`cluster`), which count as drawn together: "
        f"{', '.join(counts)}{tests if settings.get('level') is not None else ''}"
    )


def reasons(comparison: Comparison, metrics: Sequence[ShownScore]) -> Iterator[Note]:
    """Explain every dash in the table."""
    about: dict[tuple[str, str], list[str]] = {}
    for row, system in enumerate(comparison.systems):
        for reason, missing in _reasons_of(comparison, metrics, row).items():
            about.setdefault((reason, ", ".join(missing)), []).append(short(system.name))
    yield from missing_notes(about, MISSING)


def missing_notes(about: Mapping[tuple[str, str], list[str]], sign: str = "") -> Iterator[Note]:
    """Explain missing values, by reason and metric, for the systems concerned."""
    for (reason, missing), names in about.items():
        text = f"{', '.join(names)}, {missing}: {reason}"
        yield Note("missing", text, sign, about=tuple(names))


def warnings(result: Result, sets: Sequence[tuple[str, HasWarnings]]) -> Iterator[Note]:
    """Return every warning once, preceded by the names of the sets concerned.

    Those that could change the verdict come first, the worst of them before the others.

    Parameters
    ----------
    result
        What was found; its own warnings are about no set.
    sets
        What else has warnings, with the name that the note gives it.
    """
    about: dict[str, list[str]] = {}
    for name, row in sets:
        for text in row.warnings:
            about.setdefault(clean(text), []).append(name)
    texts = [(tuple(dict.fromkeys(names)), text) for text, names in about.items()]
    texts += [((), text) for text in dict.fromkeys(map(clean, _warnings_of(result)))]
    rows = [result, *(row for _, row in sets)]
    weights = {clean(caution.text): caution.weight for row in rows for caution in _cautions_of(row)}
    for names, text in sorted(texts, key=lambda warning: -weights.get(warning[1], 0)):
        of = f"{', '.join(names)}: " if names else ""
        yield Note("warning", of + text, about=names)


def sets_with_warnings(result: Comparison | TextComparison) -> list[tuple[str, HasWarnings]]:
    """Return everything with warnings in a comparison, by the names of its sets."""
    return [
        *_named(result.reference),
        *((short(system.name), row) for system in result.systems for row in both(system)),
        *_named(result.train),
    ]


def both(system: HasSummary) -> tuple[HasWarnings, HasWarnings]:
    """Return the parts of a system that have warnings: its summary, and its measurements."""
    return system.summary, system


def detail_notes(
    systems: Sequence[SystemResult | TextResult], label: Callable[[str], str]
) -> Iterator[Note]:
    """Name the rows with the largest effect on each score of each system.

    Parameters
    ----------
    systems
        What a score lists stands in its ``details``, rows of which the first field names the thing
        and the others are numbers.
    label
        Gives the name of a score by its key.
    """
    for system in systems:
        for key, score in system.scores.items():
            rows = score.details
            if rows:
                more = f"; {len(rows) - SHOWN} more in the JSON" if len(rows) > SHOWN else ""
                shown = "; ".join(map(_row_text, rows[:SHOWN]))
                text = f"{clean(system.name)}, {label(key)}: {shown}{more}"
                yield Note("detail", Quoted(text), about=(system.name, key))


def meanings(comparison: Comparison, metrics: Sequence[ShownScore]) -> Iterator[tuple[str, str]]:
    """Return what each column measures, as pairs of a name and a line."""
    if any(row.words for row in sets_of(comparison)):
        head = length_head(sets_of(comparison))
        yield head, length_meaning(head)
    yield from dict.fromkeys((metric.label, metric.meaning) for metric in metrics if metric.meaning)
    for view in dict.fromkeys(metric.view for metric in metrics):
        if seen := sees(view, comparison.settings.get("samples")):
            yield view, f"scores by {seen}"


def directions(metrics: Sequence[ShownScore]) -> Iterator[Note]:
    """Explain the arrows in one note."""
    shown = {metric.arrow for metric in metrics}
    (first, *others) = [sign for sign in DIRECTIONS if sign in shown] or [""]
    if first:
        more = "".join(f", {sign} {DIRECTIONS[sign]}" for sign in others)
        yield Note("sign", f"{DIRECTIONS[first]}{more} is better", first)


def more(metrics: Sequence[ShownScore]) -> Note:
    """State where the rest of a shortened table is."""
    rest = "Full precision and signatures: `.to_dict()`."
    complete = {metric.metric for metric in metrics} >= METRICS.keys()
    others = "More metrics: `metrics='all'`; calipers metrics lists them. "
    return Note("how", rest if complete else others + rest)


def made_by(result: Result) -> str:
    """Name the version that computed the numbers."""
    return f"Calipers {clean(getattr(result, 'version', '') or 'of unknown version')}"


def sizes(systems: Sequence[SystemResult | TextResult]) -> str:
    """State the number of samples of every system; empty where they differ."""
    counts = {system.summary.n for system in systems}
    return f"n = {counts.pop()} for each system" if len(counts) == 1 else ""


def reason_of(score: Score | None) -> str:
    """Explain why a score has no value."""
    if score is None:
        return "not computed"
    return clean(score.reason or "no value; no reason was recorded")


def _reasons_of(
    comparison: Comparison, metrics: Sequence[ShownScore], row: int
) -> dict[str, list[str]]:
    missing: dict[str, list[str]] = {}
    for metric in metrics:
        score = scores_of(comparison, metric)[row]
        if score_text(score) == MISSING:
            name = f"{metric.label} by {clean(metric.view)}" if metric.view else metric.key
            missing.setdefault(reason_of(score), []).append(name)
    return missing


def _warnings_of(result: Result) -> Sequence[str]:
    warnings: Sequence[str] = getattr(result, "warnings", ())
    return warnings


def _cautions_of(row: object) -> Sequence[Caution]:
    cautions: Sequence[Caution] = getattr(row, "cautions", ())
    return cautions


def _named(row: SetSummary | None) -> Iterator[tuple[str, SetSummary]]:
    if row is not None:
        yield short(row.name), row


def _is_cut(row: SetSummary) -> bool:
    return row.n_given != row.n


def _names(rows: Sequence[SetSummary], most: int = 3) -> str:
    names = [short(row.name) for row in rows]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")


def _row_text(row: Mapping[str, Any]) -> str:
    """Write a row: its name in quotation marks, then its numbers.

    Examples
    --------
    >>> _row_text({"phrase": "a lot of", "texts": 34, "ratio": None, "p_value": 0.0019116})
    "'a lot of' (texts 34, p value 0.0019)"
    """
    (_, name), *numbers = row.items()
    texts = (
        f"{field.replace('_', ' ')} {value:.2g}"
        if not isinstance(value, Integral)
        else f"{field.replace('_', ' ')} {value:,}"
        for field, value in numbers
        if defined(value) is not None
    )
    return f"{clean(str(name))!r} ({', '.join(texts)})"
