"""Entries on texts that repeat each other, or were taken from the reference or the training set."""

from __future__ import annotations

from calipers import text
from calipers.text.entries.metric import FROM_ZERO, TextMetric
from calipers.text.entries.options import AGAINST, order
from calipers.text.keys import Option

ENTRIES = (
    TextMetric(
        name="exact_duplicates",
        family="copies",
        tells="share of texts that occur earlier in the set, character for character",
        read=lambda held, options: text.exact_duplicates(
            held.texts, fold=options["compare"] == "folded"
        ),
        source="a count",
        blind="copies that differ in a single character",
        takes=(
            Option(
                name="compare",
                usual="exact",
                tells="whether letter case and white space matter",
                words=("exact", "folded"),
            ),
        ),
        sized=True,
    ),
    TextMetric(
        name="near_duplicates",
        family="copies",
        tells="share of texts that share most of their n-grams with another text",
        read=lambda held, options: text.near_duplicates(
            held.texts, held.against, order=options["n"], threshold=options["threshold"]
        ),
        source="Broder, SEQUENCES 1997 (MinHash); Lee et al., ACL 2022",
        blind="paraphrase; misses some pairs near the threshold, by chance",
        takes=(
            order(5),
            Option(
                name="threshold",
                usual=0.8,
                tells="Jaccard similarity from which on two texts are near duplicates",
                least=0.01,
                most=1,
                whole=False,
            ),
            Option(
                name="against",
                usual="itself",
                tells="in which set near copies are looked for",
                words=("itself", "reference", "train"),
            ),
        ),
        shown=("near_duplicates", "near_duplicates:train"),
        on_request=True,
        sized=lambda options: options["against"] == "itself",
        extra="duplicates",
        package="datasketch",
    ),
    TextMetric(
        name="novelty",
        family="copies",
        tells="share of n-grams that the reference, or the training set, does not hold",
        read=lambda held, options: text.novelty(
            held.texts, held.references, order=options["n"], of=options["of"]
        ),
        source="McCoy et al. (RAVEN), TACL 2023",
        blind="ideas taken over in other words; falls as the other set grows",
        side="against",
        takes=(
            order(4),
            Option(
                name="of",
                usual="tokens",
                tells="whether an n-gram counts as often as it occurs, or once",
                words=("tokens", "types"),
            ),
            AGAINST,
        ),
        shown=("novelty", "novelty:train"),
        better="higher",
        sized=lambda options: options["of"] == "types",
    ),
    TextMetric(
        name="longest_copied_span",
        family="copies",
        tells="tokens of the longest passage of a text that the other set holds too",
        read=lambda held, options: text.longest_copied_span(
            held.texts, held.references, over=options["over"]
        ),
        source="after Carlini et al., ICLR 2023, and McCoy et al. (RAVEN), TACL 2023",
        blind="copies with a changed word in each line; common phrases count as copies",
        side="against",
        takes=(
            Option(
                name="over",
                usual="mean",
                tells="the mean over texts, or the longest of all",
                words=("mean", "largest"),
            ),
            AGAINST,
        ),
        shown=("longest_copied_span", "longest_copied_span:train"),
        range=FROM_ZERO,
        better="lower",
        sized=lambda options: options["over"] == "largest",
    ),
)
