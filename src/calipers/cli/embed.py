"""``calipers embed``: vectors alone, for this program or another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli import checks
from calipers.cli import compare_options as its
from calipers.cli.embedder_options import Embedding
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import INPUT, OUTPUT
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs, Results
from calipers.cli.page import examples
from calipers.cli.shell import REQUIRED
from calipers.cli.streams import calm, write, write_error

if TYPE_CHECKING:
    from calipers.evaluate.embed_run import Embedded

EXAMPLES = examples(
    (
        (
            "Vectors of a file, then comparisons without the model:",
            "calipers embed texts.jsonl --embedder gpt2-large --output vectors.npy",
        ),
        (
            "Both views of the default embedder in one file:",
            "calipers embed texts.jsonl --output vectors.npz",
        ),
        (
            "TF-IDF fitted to the reference, so that both files fit together:",
            "calipers embed a.jsonl --embedder tfidf --fit-on human.jsonl -o a.npy",
        ),
        (
            "A folder of images:",
            "calipers embed images/ --embedder ./dinov2-base -o images.safetensors",
        ),
    )
)

Samples = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Texts, token ids or images, in any form that calipers compare reads; - is standard "
        "input.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
FitOn = Annotated[
    str | None,
    typer.Option(
        "--fit-on",
        metavar="FILE",
        help="For tfidf: fit it to these samples, the reference of the comparison to come; by "
        "default to FILE itself.",
        rich_help_panel=INPUT,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="VECTORS",
        help="Where the vectors go: .npy (one view), .npz or .safetensors (each view an array).",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write sizes, signatures and warnings as JSON; - writes them to standard output.",
        rich_help_panel=OUTPUT,
    ),
]
View = Annotated[
    str | None,
    typer.Option(
        "--view",
        metavar="NAME",
        help="Write this view alone; by default the main one to .npy, all to .npz and "
        ".safetensors.",
        rich_help_panel=OUTPUT,
    ),
]


@with_outputs(output=(Output, REQUIRED), json=Json)
def embed(
    samples: Samples,
    *,
    field: its.Field = None,
    fit_on: FitOn = None,
    skip_bad: its.SkipBad = False,
    embedding: Embedding,
    outputs: Outputs,
    view: View = None,
) -> None:
    """Turn samples into vectors and keep them in a file.

    The first step of every comparison, alone: for vectors that another program shall use, or that
    are made once on a machine with a GPU and compared anywhere. A job that was stopped goes on
    where it was.
    """
    with guarded(STOPPED if embedding.cached else STOPPED_UNCACHED):
        how = embedding.options()
        output = outputs.paths["output"]
        _check_format(output)
        outputs.check([each for each in (samples, fit_on) if each not in (None, checks.STDIO)])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate.embed_run import embed as run
            from calipers.samples import read_samples

            base = None if fit_on is None else read_samples(fit_on, field=field, skip_bad=skip_bad)
            found = run(
                read_samples(samples, field=field, skip_bad=skip_bad),
                fit_on=base,
                view=view,
                progress=outputs.progress(),
                **how,
            )
        views = _views(found, view, output)
        outputs.deliver(_results(found, views, outputs))


def _check_format(output: str) -> None:
    from calipers.embed.vectors import check_format

    check_format(output, 1)


def _views(found: Embedded, view: str | None, output: str) -> list[str]:
    known = list(found.embeddings.views)
    if view is not None:
        return [view]
    return known[:1] if output.lower().endswith(".npy") else known


def _results(found: Embedded, views: list[str], outputs: Outputs) -> Results:
    from calipers.report import json_text

    data = _data(found, views, outputs.paths["output"])

    def show() -> None:
        write(_lines(data))
        for warning in found.warnings if not outputs.quiet else ():
            write_error(f"warning: {warning}")

    return Results(
        show=show,
        warnings=lambda: found.warnings,
        texts={"json": lambda: json_text(data)},
        files={"output": lambda path: _write(found, views, path)},
    )


def _write(found: Embedded, views: list[str], path: str) -> None:
    from calipers.embed.vectors import write_vectors

    arrays = {name: found.embeddings.views[name] for name in views}
    write_vectors(path, arrays, about={name: found.signature(name) for name in views})


def _data(found: Embedded, views: list[str], output: str) -> dict[str, Any]:
    return {
        "output": output,
        "n": len(found.samples),
        "content_hash": found.samples.content_hash,
        "embedding": dict(found.embeddings.signature),
        "views": {
            name: {
                "shape": list(found.embeddings.views[name].shape),
                "dtype": str(found.embeddings.views[name].dtype),
                "signature": found.signature(name),
            }
            for name in views
        },
        "warnings": list(found.warnings),
    }


def _lines(data: dict[str, Any]) -> str:
    shown = [f"{data['output']}: vectors of {data['n']:,} samples"]
    for name, view in data["views"].items():
        rows, columns = view["shape"]
        shown += [f"  {name}  {rows:,} x {columns:,} {view['dtype']}", f"    {view['signature']}"]
    return "\n".join(shown)
