"""Every metric by name, in the order in which tables and lists show them."""

from __future__ import annotations

from calipers.metrics.entries import (
    classifier,
    copying,
    frontier,
    kernel,
    prd,
    robust,
    support,
    transport,
    variety,
)
from calipers.metrics.entries.metric import Family, Metric

__all__ = ["FAMILIES", "METRICS", "Family", "Metric"]

FAMILIES: dict[Family, str] = {
    "support": "does each sample lie where the other set has samples?",
    "copying": "are generated samples new?",
    "frontier": "how far apart are the two distributions, by mixtures of both?",
    "prd": "how much of either distribution can the other make up (precision-recall curve)?",
    "classifier": "can a model tell the two sets apart?",
    "ot": "how far must samples be moved (optimal transport)?",
    "mmd": "do means over pairs of samples agree (kernels and distances)?",
    "variety": "how many different samples does each set hold, in effect?",
}
"""Families by name, each with the question that it answers."""

METRICS: dict[str, Metric] = {
    metric.name: metric
    for entries in (support, robust, copying, frontier, prd, classifier, transport, kernel, variety)
    for metric in entries.ENTRIES
}
