"""Entries on texts that repeat themselves, or do not end."""

from __future__ import annotations

from calipers import text
from calipers.text.entries.metric import FROM_ZERO, TextMetric
from calipers.text.entries.options import order
from calipers.text.keys import Option

ENTRIES = (
    TextMetric(
        name="repetition_frequency",
        family="repetition",
        tells="share of texts that end in a repeated phrase",
        read=lambda held, _: text.repetition_frequency(held.texts),
        source="Pillutla et al., JMLR 2023, section 6.3, after Holtzman et al., ICLR 2020",
        blind="repeats that do not reach the end of the text, or vary a word",
    ),
    TextMetric(
        name="rep_n",
        family="repetition",
        tells="share of the n-grams of a text that it has had before",
        read=lambda held, options: text.rep_n(held.texts, order=options["n"]),
        source="Welleck et al. (unlikelihood training), ICLR 2020",
        blind="repeats across texts; rises with length alone",
        takes=(order(4),),
    ),
    TextMetric(
        name="self_repetition",
        family="repetition",
        tells="how often the n-grams of a text stand in other texts of its set",
        read=lambda held, options: text.self_repetition(held.texts, order=options["n"]),
        source="Salkar et al., AACL 2022",
        blind="paraphrase; rises with length and with the number of texts alone",
        takes=(order(4),),
        range=FROM_ZERO,
        sized=True,
    ),
    TextMetric(
        name="non_termination",
        family="repetition",
        tells="share of texts that were cut off rather than ended",
        read=lambda held, options: text.non_termination(held.texts, limit=options["limit"] or None),
        source="Welleck et al., EMNLP 2020, by a limit; else by the last character",
        blind="a text cut right after a full stop; titles, verse and lists count as cut off",
        takes=(
            Option(
                name="limit",
                usual=0,
                tells="tokens at which generation was stopped; 0 where that is not known",
                least=0,
            ),
        ),
        on_request=True,
    ),
)
