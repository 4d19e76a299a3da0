"""The default embedder of texts, chosen by the languages that they are written in.

**minilm** is a model of English. **use** reads the sixteen that it was trained on, and three that
it reads as well. **characters** reads none, and so compares what is in any script, code or
sequences by its characters. The first of these that covers every language of the run is chosen,
once, over all of its sets: a language that a twentieth of the texts of any set are in must be read.
Whether texts are in a language at all, the reference decides: a single system that writes nonsense
changes no other's scores. Latin texts that show no language (names, lists, random words) count as
English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from calipers.embedders.catalogue import AUTO, NAMED
from calipers.errors import InputError
from calipers.samples.languages import OLD, SIMPLE, TextLanguages, is_described

if TYPE_CHECKING:
    from calipers.samples import SampleSet

READS: Mapping[str, frozenset[str]] = {
    "minilm": frozenset({"English"}),
    "use": frozenset(
        {
            *("Arabic", SIMPLE, OLD, "Dutch", "English", "French", "German", "Italian"),
            *("Japanese", "Korean", "Polish", "Portuguese", "Russian", "Spanish", "Thai"),
            *("Turkish", "Galician", "Indonesian or Malay"),
        }
    ),
}
"""An embedder to the languages that it reads; in the order in which they are preferred.

Those that it was trained on, and the last two of `use`, in which it finds the English original of a
message as often as in those (``research/experiments/language_names.py --translations``).
"""

ELSE = "characters"
"""What compares all other texts."""

USUAL = {"images": "efficientnet", "vectors": "precomputed"}
"""Kind of samples to the embedder that reads them where none is named; texts decide theirs."""

LISTED = 3
"""Most languages that a sentence names."""

_DIGITS = 4


@dataclass(frozen=True)
class Automatic:
    """An embedder chosen by the languages of the texts.

    Attributes
    ----------
    embedder
        Its name.
    reason
        Why, as a sentence says it.
    found
        The name of each set to what its texts are written in.
    """

    embedder: str
    reason: str
    found: Mapping[str, TextLanguages]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, for the settings of a result."""
        return {
            "embedder": self.embedder,
            "reason": self.reason,
            "languages": {name: _rounded(read.languages) for name, read in self.found.items()},
            "scripts": {name: _rounded(read.scripts) for name, read in self.found.items()},
        }

    def of(self, sets: Sequence[SampleSet]) -> Automatic:
        """Return the same choice with the languages of other sets."""
        return replace(self, found=_by_name(sets, _found(sets)))


def _rounded(shares: Mapping[str, float]) -> dict[str, float]:
    return {name: round(share, _DIGITS) for name, share in shares.items()}


def is_automatic(embedder: object) -> bool:
    """Whether no embedder is named, so that the texts decide."""
    return embedder is None or (isinstance(embedder, str) and embedder == AUTO)


def usual_embedder(samples: SampleSet) -> str:
    """Return the name of the default embedder of samples.

    Raises
    ------
    InputError
        If they hold token ids, which belong to a model.
    """
    if samples.kind == "texts":
        return choose_embedder([samples]).embedder
    if samples.kind not in USUAL:
        raise InputError(
            f"{samples.name}: holds token ids, which need the model that they belong to; name "
            "it with `embedder`"
        )
    return USUAL[samples.kind]


def choose_embedder(sets: Sequence[SampleSet], *, alone: bool = False) -> Automatic:
    """Choose the embedder for the texts of a run.

    Parameters
    ----------
    sets
        Sets of texts, the reference first.
    alone
        Whether none of them is a reference: then texts are no language where all sets are.
    """
    found = _found(sets)
    kinds = [read.kind for read in (found if alone else found[:1]) if read.n]
    kind = kinds[0] if kinds and all(kinds) else None
    noticed = _noticed(found)
    embedder = ELSE if kind else _reading_all(noticed)
    by_name = _by_name(sets, found)
    return Automatic(embedder, _reason(embedder, noticed, kind), by_name)


def _found(sets: Sequence[SampleSet]) -> list[TextLanguages]:
    return [samples.languages or TextLanguages({}, {}, 0) for samples in sets]


def _by_name(sets: Sequence[SampleSet], found: Sequence[TextLanguages]) -> dict[str, TextLanguages]:
    """Put the files of one system together."""
    named: dict[str, list[TextLanguages]] = {}
    for samples, read in zip(sets, found, strict=True):
        named.setdefault(samples.name, []).append(read)
    return {name: TextLanguages.joined(parts) for name, parts in named.items()}


def _noticed(found: Sequence[TextLanguages]) -> tuple[str, ...]:
    """The languages that must be read, the most common first."""
    total: dict[str, float] = {}
    for read in found:
        for name in read.noticed:
            total[name] = total.get(name, 0.0) + read.languages[name]
    return tuple(sorted(total, key=lambda name: (-total[name], name)))


def _reading_all(languages: Sequence[str]) -> str:
    wanted = set(languages)
    offered = (name for name in READS if name in NAMED)
    return next((name for name in offered if wanted <= READS[name]), ELSE)


def _reason(embedder: str, languages: Sequence[str], kind: str | None) -> str:
    what = kind or listed(languages)
    unread = ", so meaning is not read" if embedder == ELSE else ""
    return f"texts are {what}{unread}" if what else "texts show no other language"


def listed(languages: Sequence[str]) -> str:
    """Name a few languages, as in a sentence.

    Examples
    --------
    >>> listed(["Thai"]), listed(["Thai", "English"]), listed(["Devanagari script"])
    ('Thai', 'Thai and English', 'in Devanagari script')
    """
    if len(languages) > LISTED:
        return f"in {len(languages)} languages"
    names = [f"in {name}" if is_described(name) else name for name in languages]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def unread_languages(
    embedder: str, sets: Sequence[SampleSet]
) -> dict[str, tuple[Sequence[str], float]]:
    """Find the languages of sets that an embedder does not read, as far as that is known.

    Returns
    -------
    dict
        The name of each set with such texts to their languages and their share, 0 to 1.
    """
    covered = READS.get(embedder)
    lost: dict[str, tuple[Sequence[str], float]] = {}
    for name, read in _by_name(sets, _found(sets)).items() if covered is not None else ():
        names = [language for language in read.noticed if language not in (covered or ())]
        if names:
            lost[name] = names, min(1.0, sum(read.languages[language] for language in names))
    return lost


def check_kept(chosen: Automatic, sets: Sequence[SampleSet]) -> None:
    """Refuse sets in languages that the embedder chosen for a kept reference does not read.

    Parameters
    ----------
    chosen
        What was chosen for the reference.
    sets
        The sets that are compared with it.

    Raises
    ------
    InputError
        If half of the texts of a set or more are in other languages.
    """
    wanted = [name for read in chosen.found.values() for name in read.noticed]
    for name, (names, share) in unread_languages(chosen.embedder, sets).items():
        if share >= 0.5:
            raise InputError(
                f"{name}: the texts are {listed(names)}, which {chosen.embedder} does not read; it "
                f"was chosen by the reference alone, whose {chosen.reason}. Make the reference "
                f"with an embedder that reads both: `embedder={_reading_all([*wanted, *names])!r}`"
            )
