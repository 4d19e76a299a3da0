"""Entries of the statistics of one set by itself: T(Q) beside T(P), at one size."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from calipers.metrics.entries.metric import Metric
from calipers.metrics.keys import Options
from calipers.numeric.subsample import subsample_rows
from calipers.score import Score, signature

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair

BLIND = "whether the samples are any good: noise is varied too; grows with the number of samples"
FROM_ONE = (1.0, inf)


def _beside(metric: str, q: float) -> Callable[[Pair, Options], Score]:
    """Measure both sets, the larger cut to the size of the smaller."""

    def read(pair: Pair, _: Options) -> Score:
        from calipers.metrics.vendi import vendi_score

        settings = pair.settings
        n, m = (len(rows) for rows in pair.embedded)
        sides = (
            rows[subsample_rows(len(rows), min(n, m), seed=settings.seed)] for rows in pair.embedded
        )
        known, found = (vendi_score(each, q=q, threads=settings.threads).value for each in sides)
        d = pair.embedded[0].shape[1]
        pins = {"metric": metric, "q": q, "kernel": "cosine", "d": d, "each": min(n, m)}
        return Score(
            found,
            range=FROM_ONE,
            better="closest",
            signature=signature(pins | {"n": n, "m": m}),
            reference=known,
        )

    return read


ENTRIES = (
    Metric(
        name="vendi",
        family="variety",
        tells="effective number of different samples, by cosine similarity, beside the reference's",
        read=_beside("vendi", 1.0),
        source="Friedman and Dieng, TMLR 2023",
        blind=BLIND,
        on_request=True,
        range=FROM_ONE,
        better="closest",
    ),
    Metric(
        name="rke",
        family="variety",
        tells="effective number of modes (Vendi score of order 2), beside the reference's",
        read=_beside("rke", 2.0),
        source="Jalali et al., NeurIPS 2023; Pasarkar and Dieng, AISTATS 2024",
        blind=f"{BLIND}; rare modes",
        on_request=True,
        range=FROM_ONE,
        better="closest",
    ),
)
