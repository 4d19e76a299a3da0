"""
Perplexity against entropy
==========================

Systems whose texts are as predictable as human ones, and as varied within a text, lie at the cross
of the reference.
"""

import calipers
from calipers.demo.systems import systems
from calipers.report.plot_kinds import draw

human, generated = systems(seed=0)
likelihood = calipers.likelihood(
    generated,
    reference=human[:169],
    model="ngram:order=3",
    fit_on=human[169:],
    metrics=["perplexity", "unigram_entropy"],
)

draw("entropy-plane", likelihood)
