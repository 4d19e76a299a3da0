"""The stage of a sweep between the embeddings and the result: every system, view by view."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.catalogue.choosing import Choice, key
from calipers.embed import Embeddings
from calipers.evaluate.intake import Entry, Intake, length_warnings, summarise, trust_warnings
from calipers.evaluate.stages import Embedded
from calipers.evaluate.sweep_curves import make_curve
from calipers.evaluate.sweep_passes import Plan, score_replicates
from calipers.progress import Advance, Progress
from calipers.results import SetSummary
from calipers.results.sweep import Curve, Sweep, SweptSystem

Wanted = dict[str, list[Choice]]
"""Metrics by view."""


def sweep_systems(
    intake: Intake, embedded: Embedded, wanted: Wanted, plan: Plan, progress: Progress
) -> Sweep:
    """Sweep every system; the settings are left for the caller to fill."""
    notes = embedded.own_notes([embedded.reference])
    about = summarise([intake.reference], name=intake.reference.samples.name, notes=notes)
    steps = len(wanted) * sum(plan.steps(len(entry.cuts)) for entry in intake.systems)
    systems = []
    with progress.task("Sweeping", steps) as advance:
        for entry, files in zip(intake.systems, embedded.systems, strict=True):
            curves = _curves(embedded.reference, files, wanted, plan, about, advance)
            systems.append(_system(entry, curves, about, embedded.own_notes(files), plan))
    return Sweep(
        over=plan.over,
        reference=about,
        systems=tuple(systems),
        settings={},
        warnings=embedded.shared_notes,
    )


def _curves(
    reference: Embeddings,
    files: Sequence[Embeddings],
    wanted: Wanted,
    plan: Plan,
    about: SetSummary,
    advance: Advance,
) -> dict[str, Curve]:
    views = tuple(reference.views)
    curves = {}
    for view, metrics in wanted.items():
        found = score_replicates(reference, files, view, metrics, plan, advance)
        for metric, rows in found.items():
            curves[key(view, metric, views)] = make_curve(
                metric,
                rows,
                view,
                plan,
                reference=reference,
                reference_hash=about.content_hash,
                files=files,
            )
    return curves


def _system(
    entry: Entry,
    curves: dict[str, Curve],
    reference: SetSummary,
    notes: tuple[str, ...],
    plan: Plan,
) -> SweptSystem:
    summary = summarise(entry.cuts, name=entry.name, notes=notes)
    largest = plan.values[-1] if plan.over == "k" else plan.k
    return SweptSystem(
        summary=summary,
        curves=curves,
        seeds=tuple(cut.samples.source for cut in entry.cuts) if len(entry.cuts) > 1 else (),
        warnings=(
            *length_warnings(reference, summary),
            *trust_warnings(reference, summary, largest),
        ),
    )
