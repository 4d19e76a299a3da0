"""Entries on how varied the texts of one set are."""

from __future__ import annotations

from calipers import text
from calipers.text.entries.metric import FROM_ZERO, TextMetric
from calipers.text.entries.options import order
from calipers.text.keys import Option

JMLR = "Pillutla et al., JMLR 2023, section 6.3"
FRIEDMAN = "Friedman and Dieng, TMLR 2023"
FROM_ONE = (1.0, float("inf"))
SENSE = "sense: random words look most varied of all"

ENTRIES = (
    TextMetric(
        name="distinct",
        family="diversity",
        tells="share of n-grams that are different, over the whole set or within each text",
        read=lambda held, options: text.distinct(
            held.texts, order=options["n"], per=options["per"]
        ),
        source="Li et al., NAACL 2016; both forms in Gu et al. (DialogWAE), ICLR 2019; n=4: "
        f"{JMLR}",
        blind=f"{SENSE}; falls with length and with the number of texts alone",
        takes=(
            order(1),
            Option(
                name="per",
                usual="system",
                tells="over all texts together, or the mean over texts",
                words=("system", "sample"),
            ),
        ),
        shown=("distinct:n=2", "distinct:n=2:sample"),
        sized=lambda options: options["per"] == "system",
    ),
    TextMetric(
        name="expectation_adjusted_distinct",
        family="diversity",
        tells="different n-grams, relative to those expected at this length",
        read=lambda held, options: text.expectation_adjusted_distinct(
            held.texts, order=options["n"], vocabulary=options["vocabulary"]
        ),
        source="Liu et al., ACL 2022, equation 3",
        blind=f"{SENSE}; expects all words to be equally frequent, which natural ones are not",
        takes=(
            order(1),
            Option(
                name="vocabulary",
                usual=50_257,
                tells="how many n-grams there are to draw from; the same for all sets",
                least=2,
            ),
        ),
        range=FROM_ZERO,
        sized=True,
    ),
    TextMetric(
        name="moving_average_ttr",
        family="diversity",
        tells="share of different tokens in a window of fixed length; texts of any length compare",
        read=lambda held, options: text.moving_average_ttr(held.texts, window=options["window"]),
        source="Covington and McFall, Journal of Quantitative Linguistics 2010",
        blind=f"{SENSE}; whether one text repeats another; texts shorter than the window",
        takes=(Option(name="window", usual=50, tells="tokens of a window"),),
    ),
    TextMetric(
        name="self_bleu",
        family="diversity",
        tells="how much of each text is found in the other texts of its set; high is monotonous",
        read=lambda held, options: text.self_bleu(
            held.texts,
            order=options["n"],
            average=options["average"],
            sample=options["sample"] or None,
            others=options["others"] or None,
            seed=held.seed,
            threads=held.threads,
        ),
        source="Zhu et al. (Texygen), SIGIR 2018; sample=1000:others=4999: Holtzman et al., ICLR "
        f"2020, and {JMLR}",
        blind="sense and paraphrase; rises with the number of texts alone",
        takes=(
            order(4),
            Option(
                name="average",
                usual="all",
                tells="against all other texts at once, or the mean over pairs of texts",
                words=("all", "pairwise"),
            ),
            Option(name="sample", usual=0, tells="texts that are scored, 0 for all", least=0),
            Option(
                name="others",
                usual=0,
                tells="other texts that each is held against, 0 for all",
                least=0,
            ),
        ),
        sized=True,
    ),
    TextMetric(
        name="compression",
        family="diversity",
        tells="how many times smaller the set becomes when it is compressed; high is monotonous",
        read=lambda held, options: text.compression_ratio(held.texts, codec=options["codec"]),
        source="Shaib et al., arXiv 2403.00553, 2024",
        blind="sense; repeats farther apart than gzip looks back (32 KiB); the order of texts",
        takes=(
            Option(
                name="codec",
                usual="gzip",
                tells="what compresses; zstd looks back much farther",
                words=("gzip", "zstd"),
            ),
        ),
        range=FROM_ZERO,
        sized=True,
        ordered=True,
    ),
    TextMetric(
        name="vendi",
        family="diversity",
        tells="how many different texts a set holds in effect, by their n-grams",
        read=lambda held, options: text.vendi_score(
            held.texts, q=options["q"], threads=held.threads
        ),
        source=f"{FRIEDMAN}; of other orders Pasarkar and Dieng, AISTATS 2024",
        blind=f"{SENSE}; likeness beyond the words themselves; grows with the number of texts",
        takes=(
            Option(
                name="q",
                usual=1.0,
                tells="order of the entropy; a large one counts only what is common",
                least=0,
                whole=False,
            ),
        ),
        on_request=True,
        range=FROM_ONE,
        sized=True,
    ),
    TextMetric(
        name="rke",
        family="diversity",
        tells="how many modes a set of texts has, by their n-grams",
        read=lambda held, _: text.rke(held.texts, threads=held.threads),
        source="Jalali, Li and Farnia, NeurIPS 2023 (Rényi kernel entropy)",
        blind=f"{SENSE}; rare kinds of texts; grows with the number of texts",
        on_request=True,
        range=FROM_ONE,
        sized=True,
    ),
)
