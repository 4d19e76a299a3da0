"""What text metrics, their options and families are called where a person reads them."""

from __future__ import annotations

from calipers.report.names import clean

FAMILIES = {
    "words": "lengths and words",
    "diversity": "diversity",
    "repetition": "repetition",
    "copies": "copies",
    "strings": "n-grams of the whole reference",
    "aligned": "the reference of the same row",
}
"""Family of a metric to the heading of its rows."""

LABELS = {
    "mean_length": ("words", "Length"),
    "vocabulary_size": ("words", "Vocabulary"),
    "zipf_coefficient": ("words", "Zipf coefficient"),
    "distinct": ("diversity", "Distinct"),
    "expectation_adjusted_distinct": ("diversity", "Adjusted distinct"),
    "moving_average_ttr": ("diversity", "Moving TTR"),
    "self_bleu": ("diversity", "Self-BLEU"),
    "compression": ("diversity", "Compression"),
    "vendi": ("diversity", "Vendi"),
    "rke": ("diversity", "RKE"),
    "repetition_frequency": ("repetition", "Ends repeating"),
    "rep_n": ("repetition", "Rep"),
    "self_repetition": ("repetition", "Self-repetition"),
    "non_termination": ("repetition", "Cut off"),
    "median_length": ("words", "Median length"),
    "length_spread": ("words", "Spread of lengths"),
    "exact_duplicates": ("copies", "Duplicates"),
    "near_duplicates": ("copies", "Near duplicates"),
    "novelty": ("copies", "Novelty"),
    "longest_copied_span": ("copies", "Longest copy"),
    "corpus_match_bleu": ("strings", "Corpus BLEU"),
    "string_precision": ("strings", "String precision"),
    "string_recall": ("strings", "String recall"),
    "string_mauve": ("strings", "String MAUVE"),
    "string_density": ("strings", "String density"),
    "string_coverage": ("strings", "String coverage"),
    "bleu": ("aligned", "BLEU"),
    "chrf": ("aligned", "chrF"),
    "ter": ("aligned", "TER"),
    "rouge": ("aligned", "ROUGE"),
    "bert_score_precision": ("aligned", "BERTScore P"),
    "bert_score_recall": ("aligned", "BERTScore R"),
    "bert_score_f1": ("aligned", "BERTScore F1"),
}
"""Name of a metric to its family and to what its row is called."""

ORDERS = {
    "near_duplicates": 5,
    "distinct": 1,
    "expectation_adjusted_distinct": 1,
    "self_bleu": 4,
    "rep_n": 4,
    "self_repetition": 4,
    "novelty": 4,
    "corpus_match_bleu": 4,
}
"""The usual order of the metrics of n-grams, which stands in their name."""

WORDS = {
    "sample": "in a text",
    "train": "to training",
    "reference": "to reference",
    "idf": "idf",
    **{f"rouge{n}": f"-{n}" for n in range(1, 10)},
    "rougeLsum": "-Lsum",
}
"""An option to what it is called in a row; others are called by their own word."""

UNRANKED = ("novelty", "longest_copied_span")
"""Where no end is good: loops are new too, and short texts copy less."""


def text_label(key: str) -> str:
    """Name a text metric for a row; an unknown key is its own name.

    Examples
    --------
    >>> text_label("distinct:n=2:sample")
    'Distinct-2 in a text'
    >>> text_label("self_bleu"), text_label("compression:zstd"), text_label("rouge:rouge1:recall")
    ('Self-BLEU-4', 'Compression zstd', 'ROUGE-1 recall')
    """
    name, _, option = key.removeprefix("text.").partition(":")
    if name not in LABELS:
        return clean(key)
    words = [word for word in option.split(":") if word]
    sizes = [word.removeprefix("n=") for word in words if word.startswith("n=")]
    order = next(iter(sizes), str(ORDERS.get(name, "")))
    label = LABELS[name][1] + (f"-{clean(order)}" if order else "")
    rest = [WORDS.get(word, clean(word)) for word in words if not word.startswith("n=")]
    if name == "rouge" and not any(word.startswith("-") for word in rest):
        label += "-L"
    return " ".join([label, *rest]).replace(" -", "-")


def family_of(key: str) -> str:
    """The family of a key, which may be unknown."""
    return LABELS.get(key.partition(":")[0], ("", ""))[0]


def is_unranked(key: str) -> bool:
    """Whether neither a high nor a low value of a text metric is good."""
    return key.removeprefix("text.").partition(":")[0] in UNRANKED
