"""``calipers plot``: figures for papers and notebooks, drawn from what other commands kept."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from calipers.cli import plot_options as its
from calipers.cli.guard import guarded
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs, Results
from calipers.cli.page import examples
from calipers.cli.plot_inputs import blaming, read_input
from calipers.cli.shell import REQUIRED
from calipers.cli.streams import calm, write_error
from calipers.errors import InputError
from calipers.report.plot_kinds import draw, kind_of

if TYPE_CHECKING:
    from calipers.report.plots import Figure

EXAMPLES = examples(
    (
        (
            "Precision against recall, from a comparison that was kept:",
            "calipers compare -r human.jsonl a.jsonl b.jsonl --save run.zip\n"
            "    calipers plot plane run.zip --output plane.pdf",
        ),
        (
            "Which topics one system misses and invents, by its style:",
            "calipers plot cells run.zip --system a --view form -o topics.pdf",
        ),
        (
            "Scores against top-p, of systems named nucleus-0.8, nucleus-0.9, ...:",
            "calipers plot parameter run.zip --x-label 'top-p' -o top-p.pdf",
        ),
        (
            "Against text length, from runs with --match-length 64 and 128:",
            "calipers plot parameter 64.zip 128.zip --x match_length -o length.pdf",
        ),
    )
)


@with_outputs(output=(its.Output, REQUIRED))
def plot(
    kind: its.Kind,
    inputs: its.Inputs,
    *,
    view: its.View = None,
    system: its.System = None,
    metrics: its.Metrics = None,
    x: its.X = None,
    by: its.By = None,
    x_label: its.XLabel = None,
    y: its.Y = None,
    join: its.Join = False,
    curve: its.Curve = None,
    scale: its.Scale = None,
    regions: its.Regions = None,
    limit: its.Limit = None,
    outputs: Outputs,
) -> None:
    """Draw a figure from what another command kept.

    Publication quality, in colours that all eyes tell apart, as .pdf, .svg or .png. Nothing is
    measured again.
    """
    with guarded("stopped."):
        kind_of(kind)
        options: dict[str, Any] = {
            "view": view,
            "system": system,
            "metrics": its.read_metrics(metrics),
            "x_label": x_label,
            "y": y,
            "join": "family" if join else None,
            "curve": curve,
            "scale": its.read_word("--scale", scale, its.SCALES),
            "regions": its.read_word("--regions", regions, its.REGIONS),
            "limit": its.read_limit(limit),
        }
        way = its.read_word("--by", by, its.LINES)
        _check_options(kind, {**options, "x": x, "by": way})
        its.check_figure(outputs.paths["output"])
        outputs.check([*inputs, *([x] if x else [])])
        _check_count(kind, inputs)
        with calm(quiet=outputs.quiet):
            options |= its.read_x(x, way)
            figure = _drawn(kind, inputs, options)
        outputs.deliver(_results(figure, quiet=outputs.quiet))


def _check_options(kind: str, given: dict[str, Any]) -> None:
    known = kind_of(kind).options
    for name, value in given.items():
        if value is not None and name not in known:
            its_own = ", ".join(map(_option, known)) or "none"
            raise InputError(
                f"{_option(name)} does not go with the plot {kind!r}; it has {its_own}"
            )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check_count(kind: str, inputs: list[str]) -> None:
    if len(inputs) > 1 and not kind_of(kind).several:
        raise InputError(f"the plot {kind!r} is drawn from one input; found {len(inputs)}")


def _drawn(kind: str, inputs: list[str], options: dict[str, Any]) -> Figure:
    data = [read_input(path, kind) for path in inputs]
    with blaming(inputs):
        return draw(kind, data, **options)


def _results(figure: Figure, *, quiet: bool) -> Results:
    """Write the figure; there is nothing to show on the screen."""
    return Results(
        show=lambda: None,
        warnings=lambda: (),
        texts={},
        files={"output": lambda path: _save(figure, path, quiet=quiet)},
    )


def _save(figure: Figure, path: str, *, quiet: bool) -> None:
    from calipers.report.plots import save_figure

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        save_figure(figure, path)
    boxes = not path.lower().endswith(".svg")
    if boxes and not quiet and any("missing from font" in str(each.message) for each in found):
        write_error(
            "warning: the figure's font lacks some signs of a name or word; they show as boxes. "
            "As .svg they stay text, and a browser finds a font for them"
        )
