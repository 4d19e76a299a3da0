"""``calipers annotate``: its arguments, and how it makes, serves and exports a study."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.outputs import Outputs, Results, check_outputs
from calipers.cli.sides import with_reference
from calipers.cli.streams import calm, write, write_error
from calipers.commands.annotate.options import AnnotateOptions
from calipers.errors import CalipersError, InputError
from calipers.options.option import INPUT, OUTPUT
from calipers.wording.cells import cell_len, padded

if TYPE_CHECKING:
    from calipers.annotation.study import AnnotationStudy

SERVER = "Server"
HOST, PORT, MOST_PORT = "127.0.0.1", 8765, 65_535


def _port(text: object) -> int:
    """Read a port; typer would put words of its own around another error."""
    if not re.fullmatch("[0-9]{1,5}", str(text)) or int(str(text)) > MOST_PORT:
        raise CalipersError(
            f"--port must be a whole number from 0 to {MOST_PORT:,}; found {text!r}"
        )
    return int(str(text))


StudyFile = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="File of the study, such as study.sqlite. With samples it is made; without them the "
        "study that is there goes on.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Generated = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[GENERATED]",
        help="What the systems wrote: FILE, or NAME=FILE to name a system; FILE@FIELD names the "
        "field of its texts. File formats: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Where to listen. With another address than this machine's own, such as 0.0.0.0, "
        "others on the network can reach the page. [default: 127.0.0.1]",
        rich_help_panel=SERVER,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="N",
        parser=_port,
        help="Port of the address; 0 takes any that is free. [default: 8765]",
        rich_help_panel=SERVER,
    ),
]
AddAnnotators = Annotated[
    str | None,
    typer.Option(
        "--add-annotators",
        metavar="N|NAMES",
        help="Add annotators to a study that is there, print their links, and end.",
        rich_help_panel=SERVER,
    ),
]
Status = Annotated[
    bool,
    typer.Option(
        "--status",
        help="Show how far the study is, with the agreement of annotators where several rate an "
        "item, and end.",
        rich_help_panel=OUTPUT,
    ),
]
Export = Annotated[
    str | None,
    typer.Option(
        "--export",
        metavar="FILE",
        help="Write all judgements as .csv, or with the texts as .jsonl, for calipers rank "
        "--judgements, with a manifest of the questions, the annotators and their agreement "
        "beside them, and end.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write what --status shows as JSON, and end; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]
LabelStudio = Annotated[
    str | None,
    typer.Option(
        "--label-studio",
        metavar="FILE.json",
        help="Write the items as tasks for Label Studio, with a labelling configuration beside "
        "them, and end.",
        rich_help_panel=OUTPUT,
    ),
]
ImportLabelStudio = Annotated[
    str | None,
    typer.Option(
        "--import-label-studio",
        metavar="FILE.json",
        help="Take the answers of a Label Studio export (in its format JSON) into the study, and "
        "end.",
        rich_help_panel=INPUT,
    ),
]

EXAMPLES = (
    (
        "Five people compare two models and real texts, 90 ratings of each pair:",
        "calipers annotate study.sqlite -r human.jsonl a.jsonl b.jsonl --annotators 5",
    ),
    (
        "Continue another day; export the answers:",
        "calipers annotate study.sqlite\n"
        "    calipers annotate study.sqlite --export judgements.csv",
    ),
    (
        "Show the progress, and add two more people:",
        "calipers annotate study.sqlite --status\n"
        "    calipers annotate study.sqlite --add-annotators ada,grace",
    ),
    (
        "Colleagues on the same network; each item is rated by three of them:",
        "calipers annotate study.sqlite -r human.jsonl a.jsonl b.jsonl --annotators 12 \\\n"
        "      --ratings-per-item 3 --host 0.0.0.0",
    ),
    (
        "Rank metrics by what people prefer:",
        "calipers rank scores.json --judgements judgements.csv",
    ),
)


@command(
    AnnotateOptions,
    json=Json,
    reads=("generated",),
    serves=True,
    stopped=(
        "stopped. Every answer that was sent is in the study; the same command without samples "
        "continues."
    ),
    shown=EXAMPLES,
    common=("host", "export", "status", "add_annotators"),
)
def annotate(
    study: StudyFile,
    generated: Generated = None,
    *,
    options: AnnotateOptions,
    outputs: Outputs,
    host: Host = HOST,
    port: Port = PORT,
    add_annotators: AddAnnotators = None,
    status: Status = False,
    export: Export = None,
    label_studio: LabelStudio = None,
    import_label_studio: ImportLabelStudio = None,
) -> None:
    """Have people judge samples, on a page that this machine serves.

    Makes a study of texts, prints a link for each annotator, and serves the pages until Ctrl-C.
    Annotators compare continuations of the same prompt side by side, with sides and order drawn
    at random, and can stop and come back at any time. Every answer is on disk before the next page
    is shown.
    """
    written = [("--export", export), ("--label-studio", label_studio)]
    if label_studio is not None:
        if not label_studio.lower().endswith(".json"):
            raise InputError(
                f"--label-studio must name a file ending in .json; found {label_studio!r}"
            )
        written.append(("--label-studio", str(Path(label_studio).with_suffix(".xml"))))
    if export is not None:
        from calipers.annotation.exchange import manifest_of
        from calipers.judgements.tables import check_path

        check_path(export)
        written.append(("--export", str(manifest_of(export))))
    named = [(flag, path) for flag, path in written if path is not None]
    check_outputs(named, [study, *(generated or ())], force=outputs.force)
    work = bool(named or add_annotators or status or import_label_studio or outputs.paths)
    if not work:
        from calipers.annotation.server import check_server

        check_server(host, port)
    with calm(quiet=outputs.quiet):
        opened = _open(study, generated, options)
    with opened:
        if work:
            if add_annotators is not None:
                _add(opened, add_annotators, host, port)
            if import_label_studio is not None:
                _import(opened, import_label_studio)
            if export is not None:
                opened.export(export)
                about = f"{manifest_of(export)}, who answered and how far they agree"
                _tell(outputs, f"wrote {export}, {_count(opened)}, and {about}")
            if label_studio is not None:
                from calipers.annotation.exchange import write_tasks

                config = write_tasks(opened, label_studio)
                _tell(outputs, f"wrote {label_studio}, and its labelling configuration {config}")
            if status or outputs.paths:
                _status(opened, outputs)
            return
        _serve(opened, host, port, outputs)


def _open(study: str, generated: list[str] | None, options: AnnotateOptions) -> AnnotationStudy:
    from calipers.commands.annotate.run import annotate as run

    if not generated:
        return run(study, options=options)
    from calipers.samples import read_systems

    # Not read where the study is there already, which is refused
    options, beside = with_reference(options, generated)
    read = read_systems(generated, field=options.field, beside=beside)
    return run(study, options=options.changed(generated=read))


def _add(opened: AnnotationStudy, typed: str, host: str, port: int) -> None:
    from calipers.annotation.server import addresses

    names: Any = int(typed) if typed.isdecimal() and len(typed) < 10 else typed.split(",")
    if isinstance(names, list):
        names = [name.strip() for name in names]
    added = {annotator.name for annotator in opened.add_annotators(names)}
    links = opened.links_at(addresses(host, port)[0])
    write(_table({name: link for name, link in links.items() if name in added}))


def _import(opened: AnnotationStudy, path: str) -> None:
    from calipers.annotation.exchange import import_annotations
    from calipers.samples.wording import counted

    taken, notes = import_annotations(opened, path)
    write(f"{counted(taken, 'answer')} taken into {opened.path}.")
    for note in notes:
        write(f"Note: {note}.")


def _status(opened: AnnotationStudy, outputs: Outputs) -> None:
    status = opened.status()

    def json() -> str:
        from calipers.report import json_text

        return json_text(status.to_dict())

    outputs.deliver(
        Results(
            show=lambda: write(str(status)), warnings=lambda: status.notes, texts={"json": json}
        )
    )


def _serve(opened: AnnotationStudy, host: str, port: int, outputs: Outputs) -> None:
    from calipers.annotation.server import is_open, serve

    def ready(address: str) -> None:
        status = opened.status(agreement=False)
        write(f"{opened.path}: {status.sentence}")
        for note in opened.settings.notes:
            write(f"Note: {note}.")
        write("\nGive each annotator one of these links:\n")
        write(_table(opened.links_at(address)))
        write(f"\nYour own, with progress and all answers:\n\n  {opened.overview_at(address)}\n")
        if is_open(host):
            write_error(
                "warning: everybody on this network can reach this page. Links are sent without "
                "encryption, so that others on the network could read them and the answers: use "
                "it on a network that you trust"
            )
        write("Serving until Ctrl-C; every answer is on disk when it is sent.")

    with suppress(KeyboardInterrupt):
        serve(opened, host=host, port=port, ready=_flushed(ready))
    status = opened.status(agreement=False)
    _tell(outputs, f"\nstopped. {status.sentence} `calipers annotate {opened.path}` goes on.")


def _flushed(ready: Any) -> Any:
    """Show what was written at once, also where it goes to a file."""
    import sys

    def run(address: str) -> None:
        ready(address)
        sys.stdout.flush()

    return run


def _count(opened: AnnotationStudy) -> str:
    from calipers.samples.wording import counted

    return counted(len(opened.judgements()), "judgement")


def _tell(outputs: Outputs, text: str) -> None:
    if not outputs.quiet:
        write_error(text)


def _table(links: dict[str, str]) -> str:
    width = max(map(cell_len, links), default=0)
    return "\n".join(f"  {padded(name, width)}  {link}" for name, link in links.items())
