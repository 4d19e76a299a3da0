"""Entries on the lengths and the vocabulary of one set."""

from __future__ import annotations

from calipers import text
from calipers.text.entries.metric import FROM_ZERO, TextMetric
from calipers.text.keys import Option

UNIT_OF_LENGTH = Option(
    name="unit",
    usual="tokens",
    tells="what is counted",
    words=("tokens", "words", "characters"),
)

ENTRIES = (
    TextMetric(
        name="mean_length",
        family="words",
        tells="mean length of a text",
        read=lambda held, options: text.mean_length(held.texts, unit=options["unit"]),
        source="a count; Le Bronnec et al., ACL 2024, and Pillutla et al., JMLR 2023, report it",
        blind="everything but length",
        takes=(UNIT_OF_LENGTH,),
        range=FROM_ZERO,
    ),
    TextMetric(
        name="median_length",
        family="words",
        tells="length of the text in the middle",
        read=lambda held, options: text.median_length(held.texts, unit=options["unit"]),
        source="a count",
        blind="everything but length; how long the longest are",
        takes=(UNIT_OF_LENGTH,),
        on_request=True,
        range=FROM_ZERO,
    ),
    TextMetric(
        name="length_spread",
        family="words",
        tells="standard deviation of the lengths; near 0 where all were cut alike",
        read=lambda held, options: text.length_spread(held.texts, unit=options["unit"]),
        source="a count",
        blind="everything but length",
        takes=(UNIT_OF_LENGTH,),
        on_request=True,
        range=FROM_ZERO,
    ),
    TextMetric(
        name="vocabulary_size",
        family="words",
        tells="how many different tokens a set uses",
        read=lambda held, _: text.vocabulary_size(held.texts),
        source="a count; it grows with the number of tokens (Heaps' law)",
        blind="how often each is used; longer texts alone raise it",
        range=FROM_ZERO,
        sized=True,
    ),
    TextMetric(
        name="zipf_coefficient",
        family="words",
        tells="how steeply frequency falls from common to rare tokens",
        read=lambda held, options: text.zipf_coefficient(held.texts, top=options["top"]),
        source="Holtzman et al., ICLR 2020; Pillutla et al., JMLR 2023, section 6.3",
        blind="word order and meaning: shuffled words score the same",
        takes=(
            Option(name="top", usual=5000, tells="most frequent tokens that are fitted", least=2),
        ),
        range=FROM_ZERO,
        sized=True,
    ),
)
