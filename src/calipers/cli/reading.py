"""The samples that a command line names, all read before anything long begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calipers.samples import SampleSet, System


def read_sides(
    reference: str,
    generated: Sequence[str],
    *,
    field: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    skip_bad: bool = False,
) -> tuple[SampleSet, tuple[System, ...]]:
    """Read both sides first: a misspelt last file should not cost the work on the others."""
    from calipers.samples import read_samples, read_systems

    return (
        read_samples(
            reference,
            field=field,
            group=group,
            cluster=cluster,
            cluster_needed=False,
            skip_bad=skip_bad,
        ),
        read_systems(generated, field=field, group=group, cluster=cluster, skip_bad=skip_bad),
    )
