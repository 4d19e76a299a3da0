"""Suggestions for names and options that no catalogue has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import AXES
from calipers.catalogue.keys import TEXT, VIEW, Option, split_key, split_text_key
from calipers.catalogue.likelihoods import LIKELIHOOD, LIKELIHOOD_FAMILIES, LIKELIHOODS, STATISTICS
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.errors import InputError, did_you_mean, unknown_name

ALIASES = {
    "auc": ("classifier_auc",),
    "bertscore": ("bert_score_f1",),
    "bert_score": ("bert_score_f1",),
    "bscore": ("bert_score_f1",),
    "moverscore": ("mover_score",),
    "wmd": ("mover_score",),
    "c2st": ("classifier_accuracy",),
    "chrf++": ("chrf:words=2",),
    "compression_ratio": ("compression",),
    "ead": ("expectation_adjusted_distinct",),
    "fd": ("frechet_distance",),
    "fid": ("frechet_distance",),
    "gzip": ("compression",),
    "length": ("mean_length",),
    "gen_ppl": ("perplexity",),
    "mattr": ("moving_average_ttr",),
    "memorisation": ("longest_copied_span", "near_copies"),
    "memorization": ("longest_copied_span", "near_copies"),
    "ppl": ("perplexity",),
    "rouge_l": ("rouge",),
    "rougel": ("rouge",),
    "rougelsum": ("rouge:rougeLsum",),
    "ttr": ("moving_average_ttr", "distinct"),
    "vendi_score": ("vendi",),
    "zipf": ("zipf_coefficient",),
    "zstd": ("compression:zstd",),
}
"""Names from elsewhere, in small letters, to the keys of these catalogues."""

NUMBERED = {"rep": "rep_n", "seq_rep": "rep_n", "selfbleu": "self_bleu"}
"""What names that end in the size of an n-gram start with, where it is no name itself."""

ELSEWHERE = {
    "train": "a training set (`train`) adds these scores automatically",
    "group=": "a field of groups (`group`) adds these scores automatically",
    "own=": "a field of groups (`group`) adds these scores automatically",
}
"""The options of scores that come without being asked for."""

MOST = 3
SHORTEST = 3
MISSPELT = 0.8
LISTED = "calipers metrics lists them all"


def check_known(names: Iterable[str], *, views: Iterable[str] = ()) -> None:
    """Refuse names that neither catalogue has, naming the nearest of both.

    Parameters
    ----------
    names
        As a person wrote them.
    views
        What may stand for all metrics of a view.

    Raises
    ------
    InputError
        If a name, without its view and options, is no metric, no family and no option.
    """
    known = {*METRICS, *FAMILIES, *TEXT_METRICS, *TEXT_FAMILIES, "all", TEXT, *views}
    known |= {*LIKELIHOODS, *LIKELIHOOD_FAMILIES, LIKELIHOOD}
    for name in names:
        view, base, _ = split_key(name)
        if view or not base or base in known or _axis(base.lower()) is not None:
            continue  # whoever knows views and options says what is wrong with them
        near = _near(base, known)
        shared = [key for key in near if key in METRICS and key in TEXT_METRICS]
        near = [*near, *(f"{VIEW}{key}" for key in shared)][:MOST]
        raise InputError(f"unknown metric {base!r}; {_meant(near)}")


def unknown(base: str, words: Sequence[str]) -> InputError:
    """Build the error for an unknown metric on embeddings, with suggestions."""
    known, low = {*METRICS, *FAMILIES, "all"}, base.lower()
    if low in known:
        return InputError(f"unknown metric {base!r}; did you mean {low!r}?")
    axis = _axis(low)
    if axis is None:
        near = difflib.get_close_matches(low, sorted(known), n=3, cutoff=0.5)
        return InputError(f"unknown metric {base!r}; {_meant(near)}")
    word = f"{low}=0.5" if low in axis.weighted else low
    first = "divergence" if axis.name == "divergence" else "frontier"
    keys = (":".join((metric, word, *words)) for metric in ("mauve", first))
    meant = " or ".join(map(repr, keys))
    return InputError(f"{base!r} is {axis.article}, an option of a metric; did you mean {meant}?")


def unknown_text(name: str) -> InputError:
    """Build the error for an unknown text metric, with suggestions."""
    base = split_text_key(name)[0]
    near = _near(base, {*TEXT_METRICS, *TEXT_FAMILIES, "all"})
    why = ""
    if base in METRICS or base in FAMILIES:
        why = ": it measures embeddings, as calipers compare does"
    elif base in LIKELIHOODS or base in LIKELIHOOD_FAMILIES:
        why = ": calipers likelihood measures it, by a language model"
    return InputError(f"unknown text metric {base!r}{why}; {_meant(near)}")


def unknown_likelihood(name: str) -> InputError:
    """Build the error for an unknown metric on language-model likelihoods, with suggestions."""
    base = split_text_key(name)[0]
    near = _near(base, {*LIKELIHOODS, *LIKELIHOOD_FAMILIES, "all"})
    why = ""
    if base in TEXT_METRICS or base in TEXT_FAMILIES:
        why = ": calipers text measures it, without a language model"
    elif base in METRICS or base in FAMILIES:
        why = ": it measures embeddings, as calipers compare does"
    return InputError(f"unknown likelihood metric {base!r}{why}; {_meant(near)}")


STARS_OWN = {
    "estimator": "estimates by counts of cells",
    "smoothing": "has its own smoothing",
    "points": "averages over cells, which give one mean",
}
"""Why a score with a star does not take an option of the plain one."""


def refused(metric: str, words: Sequence[str], word: str, options: Sequence[Option]) -> InputError:
    """Build the error for an option that a metric on embeddings does not accept."""
    key, axis = f"{metric}:{word}", _axis(word)
    for start, way in ELSEWHERE.items():
        if word.startswith(start):
            return InputError(f"metric {metric!r} takes no option; found {key!r}; {way}")
    if word == "model" and metric in LIKELIHOODS:
        return InputError(
            f"{key!r} compares the probabilities of two language models: `calipers.likelihood` "
            "measures it, with `reference`, `model` and `generator`"
        )
    if not options:
        return InputError(f"metric {metric!r} takes no option; found {key!r}")
    plain = METRICS[metric].alias_of if metric in METRICS else None
    if plain and axis is not None and axis.name in STARS_OWN:
        why = STARS_OWN[axis.name]
        return InputError(f"{key!r}: {metric} {why}; ask for {':'.join((plain, *words))!r}")
    if axis is None:
        return _unknown_option(key, word, options)
    taken = next((option for option in options if option.name == axis.name), None)
    if taken is not None:
        return InputError(f"{key!r}: {unknown_name(taken.name, word, taken.words)}")
    listed = " and ".join(option.article for option in options)
    return InputError(f"metric {metric!r} takes no {axis.name}, only {listed}; found {key!r}")


def refused_text(metric: str, _: Sequence[str], word: str, options: Sequence[Option]) -> InputError:
    """Build the error for an option that a metric on texts does not accept."""
    key = f"{metric}:{word}"
    if not options:
        return InputError(f"metric {metric!r} takes no option; found {key!r}")
    name, equals, value = word.partition("=")
    for option in options:
        if equals and option.words and name == option.name:
            return InputError(f"{key!r}: {unknown_name(name, value, option.words)}")
    if word.isdigit() and not options[0].words:
        meant = f"{options[0].name}={word}"
        return InputError(f"{key!r}: a number needs its name; did you mean {meant}?")
    return _unknown_option(key, word, options)


def _unknown_option(key: str, word: str, options: Sequence[Option]) -> InputError:
    known = [form for option in options for form in option.forms]
    if word.lower() in known:
        return InputError(f"{key!r}: unknown option {word!r}; did you mean {word.lower()!r}?")
    return InputError(f"{key!r}: {unknown_name('option', word, known)}")


def _axis(word: str) -> Option | None:
    """What a word chooses of an estimate; None where it is unknown."""
    return next((axis for axis in AXES if axis.holds(word)), None)


def _meant(keys: Sequence[str]) -> str:
    return did_you_mean(keys) if keys else LISTED


def _near(base: str, known: set[str]) -> list[str]:
    """The few keys that a name is nearest to: by another name, by its parts, by its letters."""
    plain = base.lower().strip().replace("-", "_")
    if plain in known:
        return [plain]
    for candidates in (ALIASES.get(plain, ()), _sized(plain), _joined(plain, known)):
        listed = [key for key in candidates if key.partition(":")[0] in known]
        if listed:
            return listed[:MOST]
    near = difflib.get_close_matches(plain, sorted(known), n=MOST, cutoff=0.6)
    if near and difflib.SequenceMatcher(None, plain, near[0]).ratio() >= MISSPELT:
        return near
    return [*dict.fromkeys([*_holding(plain, known), *near])][:MOST]


def _sized(plain: str) -> list[str]:
    """Read a size at the end: ``distinct_2``, ``rouge1``, ``rep_4``."""
    parts = re.fullmatch(r"([a-z_]+?)_?([1-9])", plain)
    if parts is None:
        return []
    name = NUMBERED.get(parts[1], parts[1])
    if name == "rouge":
        return [f"rouge:rouge{parts[2]}"]
    options = STATISTICS[name].options if name in STATISTICS else ()
    default = [option.default for option in options if option.name == "n"]
    return [name if default[0] == int(parts[2]) else f"{name}:n={parts[2]}"] if default else []


def _joined(plain: str, known: set[str]) -> list[str]:
    """Find a name that was written without its lines."""
    return [name for name in known if name.replace("_", "") == plain.replace("_", "")]


def _holding(plain: str, known: set[str]) -> list[str]:
    """Find names of which it is a part, or that are a part of it; the shortest first."""
    if len(plain) < SHORTEST:
        return []
    within = [name for name in known if plain in name or (len(name) > SHORTEST and name in plain)]
    return sorted(within, key=lambda name: (len(name), name))
