"""Evaluating text generation in large language models: a post on BERTScore and MAUVE."""

from __future__ import annotations

from reproduction.item import Item, Source

GPT2 = (
    "GPT-2 (small, medium, large, xl) and Grover (base, large, mega) with their published samples"
)

SOURCE = Source(
    "bertscore_mauve",
    "Evaluating Text Generation in Large Language Models",
    "A post on BERTScore and MAUVE",
    "Its formulas and tables are pictures, and its text prints no number. The formulas are those "
    "of the\n"
    "papers that it explains. One slip: it calls KL(P‖Q) the error of type I; by its own words, "
    "and in\n"
    "the paper, that is KL(Q‖P).",
    (
        Item(
            "post-bertscore-cosines",
            "Picture of token similarities",
            "Cosines of the tokens of *the weather is cold today* and *it is freezing today*.",
            "other models or data",
            "runs_posts:bertscore_cosines",
            "Token states of MiniLM, layer 5, in place of BERT's.",
            needs=(
                "bert-base-uncased, or whichever model drew the picture: the post does not say",
            ),
            would="calipers text freezing.txt -r cold.txt --metrics bert_score_f1",
            see=("text.md",),
        ),
        Item(
            "post-bertscore",
            "Precision, recall and F1",
            "Mean of the best cosine of every token, from either side, and their harmonic mean.",
            "own experiment",
            "runs_posts:bertscore",
            see=("text.md",),
        ),
        Item(
            "post-bertscore-idf",
            "Formula of the idf, and recall with it",
            "Rare words weigh more: -log of the share of reference sentences that hold a word, +1 "
            "smoothed.",
            "own experiment",
            "runs_posts:bertscore_idf",
            "The +1 is added to both counts, as bert-score does, so that a word of all sentences "
            "weighs 0.",
            see=("text.md",),
        ),
        Item(
            "post-kl",
            "Table of two discrete distributions, and their KL divergences",
            "A binomial distribution with probability 0.4 and a uniform one over three outcomes.",
            "own experiment",
            "runs_posts:kl_example",
            "The number of trials is in the picture alone; three outcomes make it 2.",
            see=("divergences.md",),
        ),
        Item(
            "post-kl-infinite",
            "KL divergence where supports differ",
            "It is infinite, and finite against a mixture of both.",
            "own experiment",
            "runs_posts:kl_infinite",
            see=("divergences.md",),
        ),
        Item(
            "post-mauve-curve",
            "Formulas of the mixture, of the curve and of MAUVE",
            "The curve of exp(-c KL) to mixtures of both, and the area under it.",
            "own experiment",
            "runs_posts:mauve_curve",
            see=("divergences.md",),
        ),
        Item(
            "post-mauve-estimate",
            "How MAUVE is estimated",
            "Embed, cluster, count the cells of each side.",
            "own experiment",
            "runs_posts:mauve_estimate",
            "Both sides are clustered together, as in the paper. The post speaks of clustering "
            "each by "
            "itself, which would give cells that cannot be compared.",
            see=("scores.md",),
        ),
        Item(
            "post-mauve-figure",
            "Picture of divergence curves of GPT-2 and Grover",
            "Larger models and nucleus sampling are closer to human text.",
            "other models or data",
            "runs_decoding:nucleus_and_size",
            "The n-gram model of orders 1, 2 and 3 on AG News stands for models of three sizes.",
            needs=(GPT2, "the WebText and RealNews test sets"),
            would="calipers compare -r webtext.jsonl small.jsonl large.jsonl xl.jsonl "
            "--embedder ./gpt2-large --metrics mauve_star --save run.zip\ncalipers plot curves "
            "run.zip --output curves.pdf",
            see=("decoding.md",),
        ),
    ),
)
