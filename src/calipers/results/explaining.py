"""A system's result ──► the evidence that its explanation is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.explain import Evidence, Explanation, explain_pair
from calipers.explain.evidence import OF_GENERATED, OF_REFERENCE
from calipers.results.samples import Samples
from calipers.results.system import SystemResult

Distance = Literal["euclidean", "cosine"]
Projection = Literal["none", "union"]


@dataclass(frozen=True, eq=False)
class Against:
    """What a system was held against, and how.

    Attributes
    ----------
    samples
        The reference.
    k, distance, projection
        Neighbours that span a ball, how they were found, and where.
    """

    samples: Samples
    k: int
    distance: Distance = "euclidean"
    projection: Projection = "none"

    @classmethod
    def of(cls, samples: Samples, settings: Mapping[str, Any]) -> Against:
        """Take the choices from the settings of a run."""
        distance: Distance = "cosine" if settings.get("distance") == "cosine" else "euclidean"
        # Runs that were kept before there was a choice looked for neighbours on the joint axes
        projection: Projection = "none" if settings.get("projection") == "none" else "union"
        return cls(samples, int(settings["k"]), distance, projection)


def view_of(system: SystemResult, view: str | None) -> str:
    """Name the view that is meant: the first one unless another is named.

    Raises
    ------
    InputError
        If there is no such view, or the samples were not kept.
    """
    if system.against is None or not system.samples:
        raise InputError(
            f"{system.name}: cannot be explained without its samples and the reference; take the "
            "result from a comparison"
        )
    views = list(system.samples[0].vectors)
    if view is not None and view not in views:
        raise unknown_name(f"view of {system.name!r}", view, views)
    return views[0] if view is None else view


def explain(system: SystemResult, view: str) -> Explanation:
    """Explain the first file of a system, by a view that :func:`view_of` gave."""
    if system.against is None:
        raise ValueError("nothing is known of the reference")
    main = next(iter(system.samples[0].vectors)) == view
    return explain_pair(_evidence(system, system.against, view, main=main), view=view)


def _evidence(system: SystemResult, against: Against, view: str, *, main: bool) -> Evidence:
    own = system.samples[0]
    rows = against.samples.vectors[view], own.vectors[view]
    n, m = map(len, rows)
    lie = _of_view(system.neighbours, "" if main else f"{view}.")
    near = {name: lie[name][:n] for name in OF_REFERENCE if name in lie}
    near |= {name: lie[name][:m] for name in OF_GENERATED if name in lie}
    realism = system.scores.get("realism" if main else f"{view}.realism")
    each = None if realism is None else realism.per_sample
    return Evidence(
        *rows,
        reference_texts=against.samples.listed,
        generated_texts=own.listed,
        reference_words=against.samples.words,
        generated_words=own.words,
        neighbours=near,
        realism=None if each is None else each[:m],
        reference_cells=lie["reference_cells"][:n] if "reference_cells" in lie else None,
        generated_cells=lie["generated_cells"][:m] if "generated_cells" in lie else None,
        cells=int(lie["cell_count"][0]) if "cell_count" in lie else None,
        k=against.k,
        distance=against.distance,
        projection=against.projection,
        rows=None if system.compared is None else system.compared(view),
    )


def _of_view(neighbours: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """What is known by one view, without its name; other views have a dot in theirs."""
    found = {}
    for key, each in neighbours.items():
        name = key.removeprefix(prefix)
        if key == prefix + name and "." not in name:
            found[name] = each
    return found
