"""Entries of the metrics that look for copies."""

from __future__ import annotations

from calipers.metrics.copying import authenticity_score, near_copies_score
from calipers.metrics.entries.metric import Metric

COPIES = "copied fragments in an otherwise new sample; hold it against held-out samples"

ENTRIES = (
    Metric(
        name="authenticity",
        family="copying",
        tells="share of generated samples that are no closer to the reference than its own samples",
        read=lambda pair, _: authenticity_score(pair.neighbourhoods),
        source="Alaa et al., ICML 2022, section 4.3",
        blind=COPIES,
        equal=0.0,
    ),
    Metric(
        name="near_copies",
        family="copying",
        tells="share of generated samples that nearly repeat a reference sample",
        read=lambda pair, _: near_copies_score(pair.neighbourhoods),
        source="a distance within the closest 1 % of the reference's own",
        blind=COPIES,
        better="lower",
        equal=1.0,
    ),
)
