"""From the scores of a sweep to its curves, each with one signature line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.embed import Embeddings
from calipers.evaluate.scoring import pins_for, pins_of
from calipers.evaluate.sweep_passes import Plan, Rows
from calipers.evaluate.sweep_signature import merge_signatures
from calipers.results.sweep import Curve
from calipers.score import join_signature, signature


def make_curve(
    metric: str,
    rows: Rows,
    view: str,
    plan: Plan,
    *,
    reference: Embeddings,
    reference_hash: str,
    files: Sequence[Embeddings],
) -> Curve:
    """Bring the scores of one metric of a system together."""
    scores = [score for row in rows for score in row]
    shared = pins_of(reference, view, plan.settings, reference=reference_hash[:16])
    shared |= {} if plan.over == "k" else {"scope": "subsample"}
    return Curve(
        values=np.array(plan.values, np.int64),
        replicates=np.array([[score.value for score in row] for row in rows], np.float64),
        signature=join_signature(
            merge_signatures(score.signature for score in scores),
            signature(_own_pins(plan, len(files), len(rows))),
            signature(pins_for(metric, scores[0], shared, plan.settings)),
        ),
        range=scores[0].range,
        better=scores[0].better,
        reason=next((score.reason for score in scores if score.reason), None),
        tolerance=plan.tolerance,
    )


def _own_pins(plan: Plan, files: int, orders: int) -> dict[str, object]:
    """What pins the replicates: the files, and the random orders of nested subsamples."""
    pins: dict[str, object] = {"over": plan.over, "files": files}
    return pins if plan.over == "k" else pins | {"orders": orders}
