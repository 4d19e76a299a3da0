"""Entries that hold texts against a whole set of references, by their n-grams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calipers import text
from calipers.text.entries.memo import Memo
from calipers.text.entries.metric import FROM_ZERO, Held, TextMetric
from calipers.text.entries.options import order
from calipers.text.keys import Option

if TYPE_CHECKING:
    from calipers.text.string_metrics import StringScores

PILLUTLA = "Pillutla et al., JMLR 2023, section 7.5.4"
SPARSE = "sense; where few texts share an n-gram, balls hold everything and it measures nothing"
KERNEL = Option(
    name="kernel",
    usual="ngram",
    tells="by the n-grams that texts share, or by subsequences with gaps, which is slow",
    words=("ngram", "subsequence"),
)
_KEPT = Memo()


def _scores(held: Held, options: Mapping[str, Any]) -> StringScores:
    """All scores of a string kernel, which share the work."""
    kernel = options["kernel"]
    return _KEPT.get(
        held,
        kernel,
        lambda: text.string_scores(
            held.texts, held.references, kernel=kernel, seed=held.seed, threads=held.threads
        ),
    )


ENTRIES = (
    TextMetric(
        name="corpus_match_bleu",
        family="strings",
        tells="how much of each text is found anywhere in the reference: quality",
        read=lambda held, options: text.corpus_match_bleu(
            held.texts, held.references, order=options["n"], threads=held.threads
        ),
        source="Yu et al. (SeqGAN), AAAI 2017; Zhu et al. (Texygen), SIGIR 2018, section 2.3",
        blind="missing variety: one good text many times over scores high; sense",
        side="against",
        takes=(order(4),),
        better="higher",
    ),
    TextMetric(
        name="string_mauve",
        family="strings",
        tells="how close the two sets are by nearest texts under a string kernel",
        read=lambda held, options: _scores(held, options).mauve,
        source=PILLUTLA,
        blind=SPARSE,
        side="against",
        takes=(KERNEL,),
        on_request=True,
        better="higher",
        sized=True,
    ),
    TextMetric(
        name="string_precision",
        family="strings",
        tells="share of texts inside the reference's support under a string kernel: quality",
        read=lambda held, options: _scores(held, options).precision,
        source=f"{PILLUTLA}, with Kynkäänniemi et al., NeurIPS 2019, equation 1",
        blind=SPARSE,
        side="against",
        takes=(KERNEL,),
        on_request=True,
        better="higher",
        sized=True,
    ),
    TextMetric(
        name="string_recall",
        family="strings",
        tells="share of the reference inside the texts' support under a string kernel: diversity",
        read=lambda held, options: _scores(held, options).recall,
        source=f"{PILLUTLA}, with Kynkäänniemi et al., NeurIPS 2019, equation 2",
        blind=SPARSE,
        side="against",
        takes=(KERNEL,),
        on_request=True,
        better="higher",
        sized=True,
    ),
    TextMetric(
        name="string_density",
        family="strings",
        tells="how many references surround a text under a string kernel, relative to k: quality",
        read=lambda held, options: _scores(held, options).density,
        source=f"{PILLUTLA}, with Naeem et al., ICML 2020, equation 3",
        blind=SPARSE,
        side="against",
        takes=(KERNEL,),
        on_request=True,
        range=FROM_ZERO,
        better="higher",
        sized=True,
    ),
    TextMetric(
        name="string_coverage",
        family="strings",
        tells="share of references with a text nearby under a string kernel: diversity",
        read=lambda held, options: _scores(held, options).coverage,
        source=f"{PILLUTLA}, with Naeem et al., ICML 2020, equation 4",
        blind=SPARSE,
        side="against",
        takes=(KERNEL,),
        on_request=True,
        better="higher",
        sized=True,
    ),
)
