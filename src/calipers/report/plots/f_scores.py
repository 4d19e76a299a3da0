"""The plot of F_8 against F_1/8: paper 001, figure 7, a whole curve in two numbers."""

from __future__ import annotations

from calipers.errors import InputError
from calipers.report.plots.panels import Plot
from calipers.report.plots.plane import Families, Plane, planes
from calipers.results.comparison import Comparison

CURVES = ("prd", "frontier")


def f_scores_plot(
    comparison: Comparison,
    *,
    view: str | None = None,
    curve: str = "prd",
    join: Families = (),
    labels: bool | None = None,
    whole: bool = False,
) -> Plot:
    """Show every system by the best F_8 and F_1/8 on its curve, a panel for each view.

    F_8, which weighs recall, to the right, and F_1/8, precision, upwards: systems below the
    diagonal have more recall than precision, those above it more precision than recall (Sajjadi et
    al., NeurIPS 2018, section 4.3).

    Parameters
    ----------
    comparison
        With both scores of some system.
    view
        Draw this view alone; all that have both scores by default.
    curve
        What they are read from: ``"prd"``, the precision-recall curve, or ``"frontier"``, which
        tells quality from diversity less well (Le Bronnec et al., ACL 2024, figure A.4); with
        options, as in ``"prd:knn"``.
    join, labels
        As :func:`calipers.report.plots.plane.plane_plot` has them.
    whole
        Show both scores from 0 to 1, not just where the systems are.

    Raises
    ------
    InputError
        If a view, a curve or a system is unknown, or no system has both scores.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, rows = np.random.default_rng(0).normal(size=(2, 60, 2))
    >>> run = calipers.compare(real, {"model": rows}, metrics="prd", level=None, floor=False)
    >>> axes = f_scores_plot(run).axes()
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('$F_8$ (recall)', '$F_{1/8}$ (precision)')
    """
    name, colon, options = curve.partition(":")
    if name not in CURVES:
        known = " or ".join(CURVES)
        raise InputError(f"curve must be {known}, with options such as :knn; found {curve!r}")
    plane = Plane(
        f"{name}_f8{colon}{options}",
        f"{name}_f1_8{colon}{options}",
        join,
        labels,
        whole=whole,
        x_name="$F_8$ (recall)",
        y_name="$F_{1/8}$ (precision)",
        alike=True,
    )
    return planes(comparison, view, plane)
