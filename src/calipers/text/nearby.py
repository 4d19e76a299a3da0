"""What an unknown name was meant for, in the catalogue of texts and in that of embeddings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from calipers.errors import InputError
from calipers.text.entries import TEXT_FAMILIES, TEXT_METRICS
from calipers.text.keys import VIEW, split_text_key

ALIASES = {
    "auc": ("classifier_auc",),
    "bertscore": ("bert_score_f1",),
    "bert_score": ("bert_score_f1",),
    "bscore": ("bert_score_f1",),
    "c2st": ("classifier_accuracy",),
    "chrf++": ("chrf:words=2",),
    "compression_ratio": ("compression",),
    "ead": ("expectation_adjusted_distinct",),
    "fd": ("frechet_distance",),
    "fid": ("frechet_distance",),
    "gzip": ("compression",),
    "length": ("mean_length",),
    "mattr": ("moving_average_ttr",),
    "memorisation": ("longest_copied_span", "near_copies"),
    "memorization": ("longest_copied_span", "near_copies"),
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

MOST = 3
SHORTEST = 3
MISSPELT = 0.8
LISTED = "calipers metrics lists them all"


def unknown_text(name: str) -> InputError:
    """Say which text metric an unknown name may mean, and what measures embeddings."""
    from calipers.metrics.entries import FAMILIES, METRICS

    base = split_text_key(name)[0]
    found = _near(base, {*TEXT_METRICS, *TEXT_FAMILIES, "all"})
    elsewhere = base in METRICS or base in FAMILIES
    why = ": it measures embeddings, as calipers compare does" if elsewhere else ""
    return InputError(f"unknown text metric {base!r}{why}; {_meant(found)}")


def check_known(names: Iterable[str], *, views: Iterable[str] = ()) -> None:
    """Refuse names that neither catalogue has, with the nearest of both.

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
    from calipers.metrics.entries import FAMILIES, METRICS  # loads numba, which listing needs not
    from calipers.metrics.keys import as_option, split_key

    known = {*METRICS, *FAMILIES, *TEXT_METRICS, *TEXT_FAMILIES, "all", VIEW.removesuffix(".")}
    known |= {*views}
    for name in names:
        view, base, _ = split_key(name)
        if view or not base or base in known or as_option(base.lower()) is not None:
            continue  # whoever knows views and options says what is wrong with them
        found = _near(base, known)
        shared = [key for key in found if key in METRICS and key in TEXT_METRICS]
        found = [*found, *(f"{VIEW}{key}" for key in shared)][:MOST]
        raise InputError(f"unknown metric {base!r}; {_meant(found)}")


def _meant(found: list[str]) -> str:
    return f"did you mean {' or '.join(map(repr, found))}?" if found else LISTED


def _near(base: str, known: set[str]) -> list[str]:
    """The few keys that a name is nearest to: by another name, by its parts, by its letters."""
    plain = base.lower().strip().replace("-", "_")
    if plain in known:
        return [plain]
    for found in (ALIASES.get(plain, ()), _sized(plain), _joined(plain, known)):
        kept = [key for key in found if key.partition(":")[0] in known]
        if kept:
            return kept[:MOST]
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
    takes = TEXT_METRICS[name].takes if name in TEXT_METRICS else ()
    usual = [option.usual for option in takes if option.name == "n"]
    return [name if usual[0] == int(parts[2]) else f"{name}:n={parts[2]}"] if usual else []


def _joined(plain: str, known: set[str]) -> list[str]:
    """Find a name that was written without its lines."""
    return [name for name in known if name.replace("_", "") == plain.replace("_", "")]


def _holding(plain: str, known: set[str]) -> list[str]:
    """Find names of which it is a part, or that are a part of it; the shortest first."""
    if len(plain) < SHORTEST:
        return []
    within = [name for name in known if plain in name or (len(name) > SHORTEST and name in plain)]
    return sorted(within, key=lambda name: (len(name), name))
