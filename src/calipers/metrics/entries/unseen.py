"""What a metric does not detect, by the estimator that it is read from."""

from __future__ import annotations

from collections.abc import Callable

from calipers.metrics.keys import COUNTING, Options

CELLS = "differences within a cell; depends on buckets"

AXES = "beyond the 10 leading axes"

UNSEEN = {
    "knn": f"anything finer than 50 neighbours, or {AXES}",
    "kde": f"anything finer than its kernel, or {AXES}; a set against itself does not score best",
    "classifier": "what no plane separates",
    "boosted": "small differences on small sets",
    "gaussian": "all but mean and covariance of the 10 leading axes",
}
"""What an estimator that counts no cells does not see."""


def by_estimator(cells: str, *, before: str = "", after: str = "") -> Callable[[Options], str]:
    """Say what is not detected by any estimator.

    Parameters
    ----------
    cells
        All that is not detected where cells are counted.
    before, after
        What is not detected by the other estimators, besides what they do not see themselves.
    """

    def blinded(options: Options) -> str:
        if options.estimator == COUNTING:
            return cells
        return "; ".join(filter(None, (before, UNSEEN[options.estimator], after)))

    return blinded
