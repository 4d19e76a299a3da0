"""All metrics on texts, in the order of tables and lists.

What all metrics of a family have in common stands before its entries.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from calipers.catalogue.keys import Option
from calipers.catalogue.metric import FROM_ONE, FROM_ZERO, Family, Metric

LONGEST = 100
"""Most tokens of an n-gram, since all shorter ones are numbered on the way."""

PILLUTLA = "Pillutla et al., JMLR 2023"
JMLR = f"{PILLUTLA}, section 6.3"
BASELINES = f"{PILLUTLA}, section 7.5.4"
FRIEDMAN = "Friedman and Dieng, TMLR 2023"
ZHANG = "Zhang et al., ICLR 2020"

SENSE = "sense: random words look the most varied"
SPARSE = "sense; where few texts share an n-gram, balls hold everything and it measures nothing"
WORDING = "sense: a good text in other words scores low"
LEVEL = "fluency, order, facts; its level depends on the model: 0.8 need not be high"

PERCENT = (0.0, 100.0)
SIGNED_UNIT = (-1.0, 1.0)

TEXT_FAMILIES = {
    family.name: family
    for family in (
        Family(
            name="words",
            members="mean_length, vocabulary_size, zipf_coefficient, ...",
            question="how long are the texts, and which words do they use?",
            heading="lengths and words",
        ),
        Family(
            name="diversity",
            members="distinct, self_bleu, compression, moving_average_ttr, ...",
            question="how varied are the texts of one set?",
            heading="diversity",
        ),
        Family(
            name="repetition",
            members="repetition_frequency, rep_n, self_repetition, non_termination",
            question="do texts repeat themselves, or not end?",
            heading="repetition",
        ),
        Family(
            name="copies",
            members="exact_duplicates, near_duplicates; with --reference or --train novelty, "
            "longest_copied_span",
            question="are texts repeated, or taken from elsewhere?",
            heading="copies",
        ),
        Family(
            name="strings",
            members="with --reference: corpus_match_bleu, ...",
            question="how close are the two sets by their n-grams?",
            heading="n-grams of the whole reference",
        ),
        Family(
            name="aligned",
            members="with --aligned: bleu, chrf, rouge; slow: ter, bert_score_f1, ...",
            question="how close is each text to the reference of its own row?",
            heading="the reference of the same row",
        ),
    )
}
"""Families by name, each with the question that it answers."""


def order(default: int, *, labelled: bool = True) -> Option:
    """Make the option for the number of tokens of an n-gram."""
    return Option(
        name="n",
        default=default,
        tells="tokens of an n-gram",
        most=LONGEST,
        labels={"": "-{}"} if labelled else {},
    )


AGAINST = Option(
    name="against",
    default="reference",
    tells="which set the texts are compared with",
    words=("reference", "train"),
    labels={"train": "to training"},
    phrases={"reference": "the reference", "train": "the training set"},
)
UNIT_OF_LENGTH = Option(
    name="unit",
    default="tokens",
    tells="what is counted",
    words=("tokens", "words", "characters"),
)
KERNEL = Option(
    name="kernel",
    default="ngram",
    tells="by the n-grams that texts share, or by subsequences with gaps, which is slow",
    words=("ngram", "subsequence"),
    phrases={"ngram": "n-grams", "subsequence": "subsequences with gaps"},
)
WEIGHTS = Option(
    name="weights",
    default="even",
    tells="whether rare tokens count more",
    words=("even", "idf"),
)

_words = partial(Metric, family="words", side="own", range=FROM_ZERO, better="closest")
WORDS = (
    _words(
        name="mean_length",
        label="Length",
        meaning="mean number of {unit} of a text",
        tells="mean length of a text",
        read="calipers.text.lengths:read_mean_length",
        replicates="calipers.text.replicates:mean_replicates",
        source="a count; Le Bronnec et al., ACL 2024, and Pillutla et al., JMLR 2023, report it",
        blind="everything but length",
        options=(UNIT_OF_LENGTH,),
    ),
    _words(
        name="median_length",
        label="Median length",
        meaning="median length of a text in {unit}",
        tells="median length of a text",
        read="calipers.text.lengths:read_median_length",
        replicates="calipers.text.lengths:median_length_replicates",
        source="a count",
        blind="everything but length; how long the longest are",
        options=(UNIT_OF_LENGTH,),
        on_request=True,
    ),
    _words(
        name="length_spread",
        label="Spread of lengths",
        meaning="standard deviation of the lengths in {unit}",
        tells="standard deviation of the lengths; near 0 if all were cut at one length",
        read="calipers.text.lengths:read_length_spread",
        replicates="calipers.text.lengths:length_spread_replicates",
        source="a count",
        blind="everything but length",
        options=(UNIT_OF_LENGTH,),
        on_request=True,
    ),
    _words(
        name="vocabulary_size",
        label="Vocabulary",
        meaning="different tokens of the whole set",
        tells="how many different tokens a set uses",
        read="calipers.text.lengths:read_vocabulary_size",
        replicates="calipers.text.lengths:vocabulary_size_replicates",
        source="a count; it grows with the number of tokens (Heaps' law)",
        blind="how often each is used; longer texts alone raise it",
        sized=True,
    ),
    _words(
        name="zipf_coefficient",
        label="Zipf coefficient",
        meaning="how steeply frequency falls with rank; about 1 in human texts",
        tells="how steeply frequency falls from common to rare tokens",
        read="calipers.text.zipf:read_zipf_coefficient",
        replicates="calipers.text.zipf:zipf_coefficient_replicates",
        source="Holtzman et al., ICLR 2020; Pillutla et al., JMLR 2023, section 6.3",
        blind="word order and meaning: shuffled words score the same",
        options=(
            Option(name="top", default=5000, tells="most frequent tokens that are fitted", least=2),
        ),
        sized=True,
    ),
)
_diversity = partial(Metric, family="diversity", side="own", better="closest")
DIVERSITY = (
    _diversity(
        name="distinct",
        label="Distinct",
        meaning="share of the n-grams of the whole set that are different",
        meanings={"sample": "within each text, averaged: share of its n-grams that are different"},
        tells="share of n-grams that are different, over the whole set or within each text",
        read="calipers.text.distinct_ngrams:read_distinct",
        replicates="calipers.text.distinct_ngrams:distinct_replicates",
        source="Li et al., NAACL 2016; both forms in Gu et al. (DialogWAE), ICLR 2019; n=4: "
        f"{JMLR}",
        blind=f"{SENSE}; falls with length and with the number of texts alone",
        options=(
            order(1),
            Option(
                name="per",
                default="system",
                tells="over all texts together, or the mean over texts",
                words=("system", "sample"),
                labels={"sample": "in a text"},
            ),
        ),
        shown=("distinct:n=2", "distinct:n=2:sample"),
        sized=("system",),
    ),
    _diversity(
        name="expectation_adjusted_distinct",
        label="Adjusted distinct",
        meaning="different n-grams over those expected at this length",
        tells="different n-grams, relative to those expected at this length",
        read="calipers.text.distinct_ngrams:read_expectation_adjusted_distinct",
        replicates="calipers.text.distinct_ngrams:expectation_adjusted_distinct_replicates",
        source="Liu et al., ACL 2022, equation 3",
        blind=f"{SENSE}; expects all words to be equally frequent, which natural ones are not",
        options=(
            order(1),
            Option(
                name="vocabulary",
                default=50_257,
                tells="number of possible n-grams; the same for all sets",
                least=2,
            ),
        ),
        range=FROM_ZERO,
        sized=True,
    ),
    _diversity(
        name="moving_average_ttr",
        label="Moving TTR",
        meaning="share of different tokens in a window of {window}",
        tells="share of different tokens in a window of fixed length; texts of any length compare",
        read="calipers.text.type_token:read_moving_average_ttr",
        replicates="calipers.text.replicates:mean_replicates",
        source="Covington and McFall, Journal of Quantitative Linguistics 2010",
        blind=f"{SENSE}; whether one text repeats another; texts shorter than the window",
        options=(Option(name="window", default=50, tells="tokens of a window"),),
    ),
    _diversity(
        name="self_bleu",
        label="Self-BLEU",
        meaning="how much of a text is found in the others of its set; high is repetitive",
        meanings={
            "pairwise": "how much two texts of the set share, over all pairs; high is repetitive"
        },
        tells="how much of each text is found in the other texts of its set; high is repetitive",
        read="calipers.text.bleu_sentences:read_self_bleu",
        replicates="calipers.text.bleu_sentences:self_bleu_replicates",
        source="Zhu et al. (Texygen), SIGIR 2018; sample=1000:others=4999: Holtzman et al., ICLR "
        f"2020, and {JMLR}",
        blind="sense and paraphrase; rises with the number of texts alone",
        options=(
            order(4),
            Option(
                name="average",
                default="all",
                tells="against all other texts at once, or the mean over pairs of texts",
                words=("all", "pairwise"),
            ),
            Option(name="sample", default=0, tells="texts that are scored, 0 for all", least=0),
            Option(
                name="others",
                default=0,
                tells="other texts that each text is compared with, 0 for all",
                least=0,
            ),
        ),
        sized=True,
    ),
    _diversity(
        name="compression",
        label="Compression",
        meaning="compression ratio of the set; high is repetitive",
        tells="ratio of the size of the set before and after compression; high is repetitive",
        read="calipers.text.compression:read_compression",
        replicates="calipers.text.compression:compression_replicates",
        source="Shaib et al., arXiv 2403.00553, 2024",
        blind="sense; repeats farther apart than gzip looks back (32 KiB); the order of texts",
        options=(
            Option(
                name="codec",
                default="gzip",
                tells="compressor; zstd finds repeats that are much farther apart",
                words=("gzip", "zstd"),
            ),
        ),
        range=FROM_ZERO,
        sized=True,
        ordered=True,
        option_extras={"zstd": ("parquet", "pyarrow")},
    ),
    _diversity(
        name="vendi",
        label="Vendi",
        meaning="effective number of different texts, by shared n-grams",
        tells="effective number of different texts, by their n-grams",
        read="calipers.text.vendi:read_vendi",
        replicates="calipers.text.vendi:vendi_replicates",
        source=f"{FRIEDMAN}; of other orders Pasarkar and Dieng, AISTATS 2024",
        blind=f"{SENSE}; likeness beyond the words themselves; grows with the number of texts",
        options=(
            Option(
                name="q",
                default=1.0,
                tells="order of the entropy; a large one counts only what is common",
                least=0,
                whole=False,
            ),
        ),
        on_request=True,
        range=FROM_ONE,
        sized=True,
    ),
    _diversity(
        name="rke",
        label="RKE",
        meaning="effective number of modes, by shared n-grams",
        tells="effective number of modes of a set, by their n-grams",
        read="calipers.text.vendi:read_rke",
        replicates="calipers.text.vendi:rke_replicates",
        source="Jalali, Li and Farnia, NeurIPS 2023 (Rényi kernel entropy)",
        blind=f"{SENSE}; rare kinds of texts; grows with the number of texts",
        on_request=True,
        range=FROM_ONE,
        sized=True,
    ),
)
_repetition = partial(Metric, family="repetition", side="own", better="closest")
REPETITION = (
    _repetition(
        name="repetition_frequency",
        label="Ends repeating",
        meaning="share of texts that end in a repeated phrase",
        tells="share of texts that end in a repeated phrase",
        read="calipers.text.repetition:read_repetition_frequency",
        replicates="calipers.text.replicates:mean_replicates",
        source="Pillutla et al., JMLR 2023, section 6.3, after Holtzman et al., ICLR 2020",
        blind="repeats that do not reach the end of the text, or vary a word",
    ),
    _repetition(
        name="rep_n",
        label="Rep",
        meaning="share of the n-grams of a text that occur earlier in the text",
        tells="share of the n-grams of a text that occur earlier in the text",
        read="calipers.text.repetition:read_rep_n",
        replicates="calipers.text.replicates:mean_replicates",
        source="Welleck et al. (unlikelihood training), ICLR 2020",
        blind="repeats across texts; rises with length alone",
        options=(order(4),),
    ),
    _repetition(
        name="self_repetition",
        label="Self-repetition",
        meaning="how often the n-grams of a text occur in others of its set",
        tells="how often the n-grams of a text occur in other texts of its set",
        read="calipers.text.shared_ngrams:read_self_repetition",
        replicates="calipers.text.shared_ngrams:self_repetition_replicates",
        source="Salkar et al., AACL 2022",
        blind="paraphrase; rises with length and with the number of texts alone",
        options=(order(4),),
        range=FROM_ZERO,
        sized=True,
    ),
    _repetition(
        name="non_termination",
        label="Cut off",
        meaning="share of texts that were truncated{limit}",
        tells="share of texts that were truncated before they ended",
        read="calipers.text.termination:read_non_termination",
        replicates="calipers.text.replicates:mean_replicates",
        source="Welleck et al., EMNLP 2020, by a limit; else by the last character",
        blind="a text cut right after a full stop; titles, verse and lists count as cut off",
        options=(
            Option(
                name="limit",
                default=0,
                tells="number of tokens at which generation was stopped; 0 if not known",
                least=0,
                phrases={"0": "", "": " at {} tokens"},
            ),
        ),
        on_request=True,
    ),
)
_copies = partial(Metric, family="copies")
COPIES = (
    _copies(
        name="exact_duplicates",
        label="Duplicates",
        meaning="share of texts that are duplicates of an earlier one, {compare}",
        tells="share of texts that are exact duplicates of an earlier text of the set",
        read="calipers.text.duplicates:read_exact_duplicates",
        replicates="calipers.text.duplicates:exact_duplicates_replicates",
        source="a count",
        blind="copies that differ in a single character",
        side="own",
        options=(
            Option(
                name="compare",
                default="exact",
                tells="whether letter case and white space matter",
                words=("exact", "folded"),
                phrases={
                    "exact": "character for character",
                    "folded": "but for case and white space",
                },
            ),
        ),
        sized=True,
        better="closest",
    ),
    _copies(
        name="near_duplicates",
        label="Near duplicates",
        meaning="share of texts that nearly repeat {against}",
        tells="share of texts that share most of their n-grams with another text",
        read="calipers.text.near_texts:read_near_duplicates",
        replicates="calipers.text.near_texts:near_duplicates_replicates",
        source="Broder, SEQUENCES 1997 (MinHash); Lee et al., ACL 2022",
        blind="paraphrase; misses some pairs near the threshold, by chance",
        side="own",
        options=(
            order(5),
            Option(
                name="threshold",
                default=0.8,
                tells="Jaccard similarity from which two texts count as near duplicates",
                least=0.01,
                most=1,
                whole=False,
            ),
            Option(
                name="against",
                default="itself",
                tells="in which set near copies are looked for",
                words=("itself", "reference", "train"),
                labels={"train": "to training", "reference": "to reference"},
                phrases={
                    "itself": "another",
                    "reference": "one of the reference",
                    "train": "one of the training set",
                },
            ),
        ),
        shown=("near_duplicates", "near_duplicates:train"),
        on_request=True,
        sized=("itself",),
        extra="duplicates",
        package="datasketch",
        better="closest",
    ),
    _copies(
        name="novelty",
        label="Novelty",
        meaning="share of {of} that are not in {against}; repetitions are new too",
        ranked=False,
        tells="share of n-grams that do not occur in the reference, or in the training set",
        read="calipers.text.ngram_novelty:read_novelty",
        replicates="calipers.text.ngram_novelty:novelty_replicates",
        source="McCoy et al. (RAVEN), TACL 2023",
        blind="ideas copied in other words; falls as the other set grows",
        side="against",
        options=(
            order(4),
            Option(
                name="of",
                default="tokens",
                tells="whether an n-gram counts each time that it occurs, or once",
                words=("tokens", "types"),
                phrases={"tokens": "n-grams", "types": "different n-grams"},
            ),
            AGAINST,
        ),
        shown=("novelty", "novelty:train"),
        sized=("types",),
    ),
    _copies(
        name="longest_copied_span",
        label="Longest copy",
        meaning="tokens of the longest passage of a text that is also in {against}; shorter texts "
        "copy less",
        meanings={"largest": "tokens of the longest passage of any text that is also in {against}"},
        ranked=False,
        tells="tokens of the longest passage of a text that also occurs in the other set",
        read="calipers.text.copied:read_longest_copied_span",
        replicates="calipers.text.copied:longest_copied_span_replicates",
        source="after Carlini et al., ICLR 2023, and McCoy et al. (RAVEN), TACL 2023",
        blind="copies with a changed word in each line; common phrases count as copies",
        side="against",
        options=(
            Option(
                name="over",
                default="mean",
                tells="the mean over texts, or the longest of all",
                words=("mean", "largest"),
            ),
            AGAINST,
        ),
        shown=("longest_copied_span", "longest_copied_span:train"),
        range=FROM_ZERO,
        better="lower",
        sized=("largest",),
    ),
)
_strings = partial(Metric, family="strings", side="against")
_string_kernel = partial(_strings, blind=SPARSE, options=(KERNEL,), on_request=True, sized=True)
STRINGS = (
    _strings(
        name="corpus_match_bleu",
        label="Corpus BLEU",
        meaning="how much of a text is found anywhere in the reference (quality)",
        tells="how much of each text is found anywhere in the reference: quality",
        read="calipers.text.bleu_sentences:read_corpus_match_bleu",
        replicates="calipers.text.bleu_sentences:corpus_match_bleu_replicates",
        source="Yu et al. (SeqGAN), AAAI 2017; Zhu et al. (Texygen), SIGIR 2018, section 2.3",
        blind="missing variety: many copies of one good text score high; sense",
        options=(order(4),),
    ),
    _strings(
        name="overused_phrases",
        label="Over-used",
        meaning="share of texts with a phrase {where} that the reference has less often",
        tells="share of texts with a phrase that is used more often than in the reference",
        read="calipers.text.overused:read_overused_phrases",
        replicates="none",
        source="Fisher's exact test by phrase, corrected as Tarone, Biometrics 1990",
        blind="phrases in which a word varies; topics that the reference lacks look overused",
        options=(
            order(3),
            Option(
                name="where",
                default="anywhere",
                tells="whether any n-gram counts, or the first n tokens of a text alone",
                words=("anywhere", "opening"),
                labels={"opening": "opening"},
                phrases={"anywhere": "anywhere in them", "opening": "at their start"},
            ),
        ),
        better="lower",
        sized=True,
    ),
    _string_kernel(
        name="string_mauve",
        label="String MAUVE",
        meaning="how close the two sets are, by shared {kernel}; 1 is no gap",
        tells="how close the two sets are by nearest texts under a string kernel",
        read="calipers.text.string_metrics:read_string_mauve",
        source=BASELINES,
    ),
    _string_kernel(
        name="string_precision",
        label="String precision",
        meaning="share of texts inside the reference's support, by shared {kernel}",
        tells="share of texts inside the reference's support under a string kernel: quality",
        read="calipers.text.string_metrics:read_string_precision",
        source=f"{BASELINES}, with Kynkäänniemi et al., NeurIPS 2019, equation 1",
    ),
    _string_kernel(
        name="string_recall",
        label="String recall",
        meaning="share of the reference inside the texts' support, by shared {kernel}",
        tells="share of the reference inside the texts' support under a string kernel: diversity",
        read="calipers.text.string_metrics:read_string_recall",
        source=f"{BASELINES}, with Kynkäänniemi et al., NeurIPS 2019, equation 2",
    ),
    _string_kernel(
        name="string_density",
        label="String density",
        meaning="how densely the reference surrounds the texts, by shared {kernel}",
        tells="how many references surround a text under a string kernel, relative to k: quality",
        read="calipers.text.string_metrics:read_string_density",
        source=f"{BASELINES}, with Naeem et al., ICML 2020, equation 3",
        range=FROM_ZERO,
    ),
    _string_kernel(
        name="string_coverage",
        label="String coverage",
        meaning="share of the reference with a text nearby, by shared {kernel}",
        tells="share of references with a text nearby under a string kernel: diversity",
        read="calipers.text.string_metrics:read_string_coverage",
        source=f"{BASELINES}, with Naeem et al., ICML 2020, equation 4",
    ),
)
_aligned = partial(Metric, family="aligned", side="aligned")
_bert_score = partial(
    _aligned,
    replicates="calipers.text.bertscore:bert_score_replicates",
    source=f"{ZHANG}, section 3",
    blind=LEVEL,
    options=(WEIGHTS,),
    on_request=True,
    slow=True,
    range=SIGNED_UNIT,
    extra="models",
    package="torch",
)
ALIGNED = (
    _aligned(
        name="bleu",
        label="BLEU",
        meaning="n-grams shared with the reference of the row, over the corpus",
        tells="words and phrases in common with the reference of the row, over the whole set",
        read="calipers.text.aligned:read_bleu",
        replicates="calipers.text.aligned:bleu_replicates",
        source="Papineni et al., ACL 2002; as sacrebleu computes it (Post, WMT 2018)",
        blind=WORDING,
        options=(
            order(4, labelled=False),
            Option(
                name="tokenizer",
                default="auto",
                tells=(
                    "sacrebleu's tokenizer, whatever --tokenizer says; auto is 13a, or zh, "
                    "ja-mecab or char for references in a script without spaces"
                ),
                words=(
                    *("auto", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"),
                    *("spm", "flores101", "flores200", "spBLEU-1K"),
                ),
            ),
            Option(
                name="weights",
                default="equal",
                tells="how much each of the n orders of n-grams counts; divided by their sum",
                words=("equal",),
                article="the weights of the orders",
                weighted=("weights",),
                example="0.4/0.3/0.2/0.1",
                parse="calipers.text.bleu_weights:parse_weights",
            ),
        ),
        range=PERCENT,
        extra="bleu",
        package="sacrebleu",
    ),
    _aligned(
        name="chrf",
        label="chrF",
        meaning="{words} in common with the reference of the row",
        tells="sequences of characters in common with the reference of the row",
        read="calipers.text.aligned:read_chrf",
        replicates="calipers.text.aligned:chrf_replicates",
        source="Popović, WMT 2015 and 2017; as sacrebleu computes it",
        blind=WORDING,
        options=(
            Option(
                name="words",
                default=0,
                tells="longest n-grams of words that count too; 2 is chrF++",
                least=0,
                most=LONGEST,
                phrases={"0": "characters", "": "characters and words"},
            ),
        ),
        range=PERCENT,
        extra="bleu",
        package="sacrebleu",
    ),
    _aligned(
        name="ter",
        label="TER",
        meaning="edits from the text to the reference of the row, per 100 words of it",
        tells="edits that turn texts into their references, per 100 words of these; slow",
        read="calipers.text.aligned:read_ter",
        replicates="calipers.text.aligned:ter_replicates",
        source="Snover et al., AMTA 2006; as sacrebleu computes it",
        blind=WORDING,
        on_request=True,
        slow=True,
        range=FROM_ZERO,
        better="lower",
        extra="bleu",
        package="sacrebleu",
    ),
    _aligned(
        name="rouge",
        label="ROUGE",
        meaning="{kind} in common with the reference of the row ({part})",
        tells="how much of its reference a text contains, by n-grams or the longest common "
        "subsequence",
        read="calipers.text.aligned_rouge:read_rouge",
        replicates="calipers.text.replicates:row_mean_replicates",
        source="Lin, 2004; as rouge-score computes it, ascii with its own tokens",
        blind=WORDING,
        options=(
            Option(
                name="tokens",
                default="unicode",
                tells="letters and digits of any script, or rouge-score's own: a-z and 0-9 alone",
                words=("unicode", "ascii"),
                labels={"ascii": "of a-z, 0-9"},
            ),
            Option(
                name="kind",
                default="rougeL",
                tells="what is compared with the reference",
                words=("rougeL", *(f"rouge{n}" for n in range(1, 10)), "rougeLsum"),
                labels={f"rouge{part}": f"-{part}" for part in ("L", *range(1, 10), "Lsum")},
                phrases={
                    **{f"rouge{n}": f"runs of {n} words" for n in range(3, 10)},
                    "rouge1": "words",
                    "rouge2": "pairs of words",
                    "rougeL": "words in one order",
                    "rougeLsum": "words in one order, sentence by sentence,",
                },
            ),
            Option(
                name="part",
                default="f1",
                tells="which side's share",
                words=("f1", "precision", "recall"),
                phrases={
                    "f1": "F1",
                    "precision": "share of the text's",
                    "recall": "share of the reference's",
                },
            ),
        ),
        extra="bleu",
        package="rouge_score",
    ),
    _bert_score(
        name="bert_score_precision",
        label="BERTScore P",
        meaning="how well each token is matched by one of the reference's",
        tells="how well each token of a text is matched by one of its reference",
        read="calipers.text.bertscore:read_bert_score_precision",
    ),
    _bert_score(
        name="bert_score_recall",
        label="BERTScore R",
        meaning="how well each token of the reference is matched by one of the text's",
        tells="how well each token of the reference is matched by one of the text",
        read="calipers.text.bertscore:read_bert_score_recall",
    ),
    _bert_score(
        name="bert_score_f1",
        label="BERTScore F1",
        meaning="how well tokens match in both directions, by their meaning in context",
        tells="how well tokens match in both directions, by their meaning in context",
        read="calipers.text.bertscore:read_bert_score_f1",
    ),
    _aligned(
        name="mover_score",
        label="MoverScore",
        meaning="how little must be moved to turn a text into its reference ({n}); 1 is nothing",
        tells="how little must be moved to turn a text into its reference, by tokens in context",
        read="calipers.text.moverscore:read_mover_score",
        replicates="calipers.text.bertscore:bert_score_replicates",
        source="Zhao et al., EMNLP 2019, section 3; Kusner et al., ICML 2015",
        blind=LEVEL,
        options=(
            Option(
                name="n",
                default=1,
                tells="tokens of an n-gram",
                most=4,
                phrases={"1": "word by word", "": "by runs of {} tokens"},
            ),
            replace(WEIGHTS, default="idf", words=("idf", "even")),
        ),
        on_request=True,
        slow=True,
        extra="models",
        package="torch",
    ),
)

TEXT_METRICS = {
    metric.name: metric for metric in (*WORDS, *DIVERSITY, *REPETITION, *COPIES, *STRINGS, *ALIGNED)
}
"""Every metric on texts by name."""
