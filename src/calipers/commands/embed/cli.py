"""``calipers embed``: its arguments, and the file that it writes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.outputs import STDIO, Outputs, Results
from calipers.cli.sides import name_fields
from calipers.cli.streams import calm, write, write_error
from calipers.commands.embed.options import EmbedOptions
from calipers.options.option import INPUT, OUTPUT
from calipers.options.rules import whole

if TYPE_CHECKING:
    from calipers.commands.embed.run import EmbeddedSet

Samples = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Texts, token ids or images, in any format that calipers compare reads; - is standard "
        "input.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="VECTORS",
        help="File to write the vectors to: .npy (one view), .npz or .safetensors (one array for "
        "each view), or with --shards a new folder. Of .safetensors and shards calipers compare "
        "knows the embedder.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Shards = Annotated[
    str | None,
    typer.Option(
        "--shards",
        metavar="N",
        help="Write N .safetensors files of as many rows each, to the folder that --output names.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write sizes, signatures and warnings as JSON; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Vectors of one file, for comparisons without the model:",
        "calipers embed texts.jsonl --embedder gpt2-large --output vectors.npy",
    ),
    (
        "Both views of the default embedder in one file:",
        "calipers embed texts.jsonl --output vectors.npz",
    ),
    (
        "TF-IDF fitted to the reference, so that vectors of both files are comparable:",
        "calipers embed a.jsonl --embedder tfidf --fit-on human.jsonl -o a.npy",
    ),
    (
        "A folder of 16 files, for sets that are too large for one:",
        "calipers embed corpus/ --field text --shards 16 -o vectors",
    ),
    (
        "A folder of images:",
        "calipers embed images/ --embedder ./dinov2-base -o images.safetensors",
    ),
)


@command(
    EmbedOptions,
    output=(Output, inspect.Parameter.empty),
    json=Json,
    reads=("samples",),
    checked=False,
    common=("shards",),
    shown=EXAMPLES,
)
def embed(
    samples: Samples, *, options: EmbedOptions, shards: Shards = None, outputs: Outputs
) -> None:
    """Turn samples into vectors and write them to a file.

    This is the first step of every comparison, on its own: for vectors that another program uses,
    or that are made on a machine with a GPU and compared elsewhere. A job that was stopped
    continues where it was.
    """
    output = outputs.paths["output"]
    from calipers.embedders.vectors import check_format, check_new

    parts = None if shards is None else _number(shards)
    if parts is None:
        check_format(output, 1)
    else:
        check_new(output)
    outputs.check([path for path in (samples, options.fit_on) if path not in (None, STDIO)])
    with calm(quiet=outputs.quiet):
        from calipers.commands.embed.run import embed as run

        embedded = run(samples, options=options)
        name_fields([embedded.samples], quiet=outputs.quiet)
    outputs.deliver(_results(embedded, _views(embedded, options.view, output), outputs, parts))


def _number(shards: str) -> int:
    """Read how many shards are asked for."""
    rule = whole(1)
    number: int = rule.value_of("--shards", shards)
    if not rule.fits(number):
        raise rule.error("--shards", shards)
    return number


def _views(embedded: EmbeddedSet, view: str | None, output: str) -> list[str]:
    known = list(embedded.embeddings.views)
    if view is not None:
        return [view]
    return known[:1] if output.lower().endswith(".npy") else known


def _results(
    embedded: EmbeddedSet, views: list[str], outputs: Outputs, shards: int | None
) -> Results:
    from calipers.report import json_text

    data = _data(embedded, views, outputs.paths["output"])

    def show() -> None:
        write(_lines(data))
        for warning in embedded.warnings if not outputs.quiet else ():
            write_error(f"warning: {warning}")

    return Results(
        show=show,
        warnings=lambda: embedded.warnings,
        texts={"json": lambda: json_text(data)},
        files={"output": lambda path: _write(embedded, views, path, shards)},
    )


def _write(embedded: EmbeddedSet, views: list[str], path: str, shards: int | None) -> None:
    from calipers.embedders.vectors import write_shards, write_vectors

    arrays = {name: embedded.embeddings.views[name] for name in views}
    about = embedded.about(views)
    if shards is None:
        write_vectors(path, arrays, about=about)
    else:
        write_shards(path, arrays, shards=shards, about=about)


def _data(embedded: EmbeddedSet, views: list[str], output: str) -> dict[str, Any]:
    from calipers.evaluate.embedding import chosen_setting

    return {
        "output": output,
        "n": len(embedded.samples),
        "content_hash": embedded.samples.content_hash,
        "embedding": dict(embedded.embeddings.signature),
        "views": {
            name: {
                "shape": list(embedded.embeddings.views[name].shape),
                "dtype": str(embedded.embeddings.views[name].dtype),
                "signature": embedded.signature(name),
            }
            for name in views
        },
        "reading": embedded.reading and embedded.reading.to_dict(),
        **chosen_setting(embedded.chosen),
        "warnings": list(embedded.warnings),
    }


def _lines(data: dict[str, Any]) -> str:
    shown = [f"{data['output']}: vectors of {data['n']:,} samples"]
    chosen = data.get("chosen")
    if chosen and chosen["embedder"] != "minilm":
        shown.append(f"  {chosen['embedder']}: {chosen['reason']}")
    for name, view in data["views"].items():
        rows, columns = view["shape"]
        shown += [f"  {name}  {rows:,} x {columns:,} {view['dtype']}", f"    {view['signature']}"]
    return "\n".join(shown)
