"""Common metrics of generated text: a post on perplexity, BLEU and Distinct-n."""

from __future__ import annotations

from reproduction.item import Item, Source

SOURCE = Source(
    "perplexity_bleu",
    "Common Metrics of Generated Text Evaluation",
    "A post on perplexity, BLEU and Distinct-n",
    "It has no table, no figure and no number, only equations. Each is evaluated by hand, as "
    "fractions of\n"
    "counts that can be checked on the page, and by Calipers.",
    (
        Item(
            "post-perplexity",
            "Perplexity",
            "The exponential of the mean negative log-likelihood of a token.",
            "own experiment",
            "runs_posts:perplexity",
            "A bigram-like table of four known probabilities stands for the model. The post sums "
            "from the "
            "first token and divides by t; tokens are scored given those before them, so t of t + "
            "1 count.",
            see=("likelihood.md",),
        ),
        Item(
            "post-cross-entropy",
            "Perplexity as cross-entropy",
            "The same number as the exponential of the cross-entropy of data and model.",
            "own experiment",
            "runs_posts:cross_entropy",
            see=("likelihood.md",),
        ),
        Item(
            "post-bleu-precision",
            "Modified n-gram precision",
            "Matches of a phrase count at most as often as one reference has it.",
            "own experiment",
            "runs_posts:bleu_precision",
            "BLEU of order 1 without a brevity penalty is that precision; Calipers scales by 100.",
            see=("text.md",),
        ),
        Item(
            "post-bleu-brevity",
            "Brevity penalty",
            "1 for a corpus longer than its closest references, exp(1 - r/c) for a shorter one.",
            "own experiment",
            "runs_posts:bleu_brevity",
            see=("text.md",),
        ),
        Item(
            "post-bleu",
            "BLEU",
            "The weighted geometric mean of the precisions, times the brevity penalty.",
            "own experiment",
            "runs_posts:bleu",
            "Weights 1/4 for the orders 1 to 4, which the post leaves open; no smoothing.",
            see=("text.md",),
        ),
        Item(
            "post-distinct-sample",
            "Distinct-n per sample",
            "Different n-grams over all n-grams within each text, averaged over the texts.",
            "own experiment",
            "runs_posts:distinct_sample",
            see=("text.md",),
        ),
        Item(
            "post-distinct-system",
            "Distinct-n over the system",
            "Different n-grams over all n-grams of all texts together.",
            "own experiment",
            "runs_posts:distinct_system",
            see=("text.md",),
        ),
    ),
)
