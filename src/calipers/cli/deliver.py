"""Delivery of a result: to the screen, and to every file that was requested.

All commands deliver in this one way: a result gives a document and data, and each format is written
from one of them.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from calipers.cli.command_line import with_study
from calipers.cli.outputs import EVAL_RESULTS, INSPECT, SHARED, Outputs, Results
from calipers.cli.streams import encodable, line_width, told_of_output, write, write_error
from calipers.errors import InputError
from calipers.memory import uncollected
from calipers.wording.cells import filled, isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from calipers.report.table import Document
    from calipers.results.comparison import Comparison
    from calipers.results.result import Result


def deliver(
    result: Result,
    outputs: Outputs,
    *,
    per_sample: bool = False,
    details: bool = False,
    sort: str | None = None,
    all_systems: bool = False,
    before: str = "",
    after: str = "",
    inspect_value: str | None = None,
    benchmark: str | None = None,
    screen: bool = True,
    plot: Callable[[str], object] | None = None,
) -> None:
    """Write the files of a result, and print its tables.

    The page and the zip hold explanations and maps: what was not kept of them is made before either
    is written.

    Parameters
    ----------
    result
        The result.
    outputs
        Where it goes.
    per_sample
        Whether the JSON holds one value for each sample too.
    details
        Whether the differences of all pairs of systems are shown.
    sort, all_systems
        In which order systems are shown, and whether all of many are, as of the document of a
        comparison.
    before, after
        Words that come before and after the tables.
    inspect_value
        The one value of each record for inspect; all of them if None.
    benchmark
        The data set of the Hub whose tasks the scores are.
    screen
        Whether the tables are shown at all.
    plot
        Draws the figure of the command into a file.

    Raises
    ------
    InputError
        If texts are to be left out of a result that is no comparison, or its samples laid out, or
        its systems sorted.
    """
    result = with_study(result)
    comparison = _comparison(result)
    if comparison is None:
        _check_page(result.kind, outputs, sort=sort, all_systems=all_systems)
    records, outputs = _records(result, outputs, inspect_value)
    shared, outputs = _shared(result, outputs, benchmark)
    whole: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if comparison is not None:
        whole = {"details": True}
        options = {"details": details, "sort": sort, "all_systems": all_systems}
    shown = result if comparison is None else _public(comparison, outputs)

    def document() -> Document:
        return shown.document(**options)

    @cache
    def complete() -> Result:
        if comparison is None:
            return result
        return comparison.explained(map_method=outputs.layout, progress=outputs.progress())

    def show() -> None:
        if before:
            write(_wrapped(before) + "\n")
        with uncollected():
            show_document(document())
        if outputs.explain and comparison is not None:
            write("")
            show_document(_explanation(comparison, outputs))
        if after:
            write("\n" + _wrapped(after))

    outputs.deliver(
        Results(
            show=show if screen else lambda: None,
            warnings=lambda: shown.document(**whole).warnings,
            texts=_texts(shown, complete, outputs, per_sample=per_sample, sort=sort),
            files={
                "save": lambda path: complete().save(path),
                "table": lambda path: _write_rows(
                    result, path, redact=outputs.redact, per_sample=per_sample
                ),
                **records,
                **shared,
                **({} if plot is None else {"plot": plot}),
            },
            before={"html": complete, "save": complete},
        )
    )


def show_document(document: Document) -> None:
    """Print a document: styled on a terminal, as plain text elsewhere."""
    from rich.console import Console

    from calipers.report.render.text import Screen, plain

    console, text = Console(), plain(document, width=line_width())
    marked = isolated(text)  # the marks of direction need an encoding that has them
    if console.is_terminal and encodable(marked, sys.stdout) == marked:
        with told_of_output():
            console.print(Screen(document))
    else:
        write(text)


def check_sort(result: Result, sort: str | None) -> None:
    """Refuse an order that a saved result does not support, before any file is written.

    Raises
    ------
    InputError
        If no system has the score to sort by.
    """
    comparison = _comparison(result)
    if sort is not None and comparison is not None:
        from calipers.evaluate.order import order

        order(comparison, sort)


def possible_sort(comparison: Comparison, sort: str | None, *, quiet: bool) -> str | None:
    """Return a sort order, or the default one where no system has the score."""
    try:
        check_sort(comparison, sort)
    except InputError as error:
        if not quiet:
            write_error(f"warning: --sort {sort}: {error}; sorted as usual")
        return None
    return sort


def _comparison(result: Result) -> Comparison | None:
    """Return a result that has a report with texts and pictures of samples; None for any other."""
    from calipers.results import Comparison

    return result if isinstance(result, Comparison) else None


def _public(comparison: Comparison, outputs: Outputs) -> Comparison:
    """Return what may be shown of a comparison: all of it, or without texts where these are not."""
    if not outputs.redact:
        return comparison
    from calipers.report.redacted import without_texts

    return without_texts(comparison)


def _explanation(comparison: Comparison, outputs: Outputs) -> Document:
    """Return which topics and samples cause the gaps of a comparison."""
    from calipers.report.comparison import explanation

    return explanation.document(_public(comparison.with_explanations(), outputs))


def _texts(
    shown: Result,
    complete: Callable[[], Result],
    outputs: Outputs,
    *,
    per_sample: bool,
    sort: str | None,
) -> dict[str, Callable[[], str]]:
    """Return what makes the text of each format; `complete` gives the result with explanations."""
    order = {} if _comparison(shown) is None else {"sort": sort}

    def json() -> str:
        from calipers.report import json_text
        from calipers.serialise import plain

        return json_text(plain(shown, per_sample=per_sample))

    def markdown() -> str:
        from calipers.report import markdown

        return markdown(shown.summary(**order))

    def latex() -> str:
        from calipers.report import latex

        return latex(shown.summary(**order))

    def csv() -> str:
        from calipers.report.render.csv import scores_csv, tables_csv
        from calipers.report.scored import Scored

        return scores_csv(shown) if isinstance(shown, Scored) else tables_csv(shown.summary())

    def html() -> str:
        comparison = _comparison(complete())
        if comparison is not None:
            from calipers.report.html import html_page

            return html_page(comparison, redact=outputs.redact, sort=sort)
        from calipers.report.render.html import page

        return page(shown.paged(), figure=_page_figure(shown))

    def junit() -> str:
        written: str = vars(type(shown))["junit"](shown)
        return written

    made = {"json": json, "markdown": markdown, "latex": latex, "csv": csv, "html": html}
    return {**made, "junit": junit} if shown.kind == "check" else made


def _page_figure(result: Result) -> bytes:
    """Draw what the page of a result shows of it, as SVG; empty where that is nothing."""
    from calipers.command import kinds

    record = kinds()[result.kind]
    if record.plot is None or not record.plot.paged:
        return b""
    from calipers.report.plots.fonts import letters_kept
    from calipers.report.plots.style import figure_bytes

    with letters_kept():
        return figure_bytes(record.load(record.plot.drawn_by)(result).figure(), ".svg")


def _write_rows(result: Any, path: str, *, redact: bool, per_sample: bool) -> None:
    from calipers.results.rows import sample_rows, score_rows, write_rows

    rows = sample_rows(result) if per_sample else score_rows(result)
    if redact:
        from calipers.report.redacted import Redaction

        rows = Redaction.of(result).value(rows)
    write_rows(rows, path)


def _records(
    result: Result, outputs: Outputs, value: str | None
) -> tuple[dict[str, Callable[[str], None]], Outputs]:
    """Return what writes the records of each set, and the outputs with a file for each of them."""
    from calipers.results import Comparison

    if INSPECT not in outputs.paths:
        return {}, outputs
    if not isinstance(result, Comparison):
        raise InputError(
            f"--inspect writes values of the samples of a comparison; this is a {result.kind}"
        )
    sets = [(system.name, file) for system in result.systems for file in range(len(system.samples))]
    laid = outputs.of_systems(names_of_sets(sets))

    def writer(system: str, file: int) -> Callable[[str], None]:
        from calipers.results.inspect_scores import inspect_records, write_records

        def write(path: str) -> None:
            records = inspect_records(result, system, file=file, value=value, redact=outputs.redact)
            write_records(records, path)

        return write

    writers = {f"{INSPECT}:{place}": writer(*one) for place, one in enumerate(sets)}
    return writers, laid


def _shared(
    result: Result, outputs: Outputs, benchmark: str | None
) -> tuple[dict[str, Callable[[str], None]], Outputs]:
    """Return what writes the shared scores of each system, and the outputs with a file for each."""
    from calipers.results import Comparison

    asked = [name for name in SHARED if name in outputs.paths]
    check_shared(outputs, benchmark)
    if not asked:
        return {}, outputs
    if not isinstance(result, Comparison):
        option = asked[0].replace("_", "-")
        raise InputError(f"--{option} writes scores of a comparison; this is a {result.kind}")
    names = [system.name for system in result.systems]

    def writer(output: str, system: str) -> Callable[[str], None]:
        from calipers.results import shared_scores as shared

        def write(path: str) -> None:
            if output == EVAL_RESULTS:
                entries = shared.hub_results(result, system, benchmark=str(benchmark))
                shared.write_hub_results(entries, path)
            else:
                shared.write_every_eval_ever(shared.every_eval_ever(result, system), path)

        return write

    writers: dict[str, Callable[[str], None]] = {}
    for output in asked:
        outputs = outputs.of_systems(names, output=output)
        writers |= {f"{output}:{at}": writer(output, name) for at, name in enumerate(names)}
    return writers, outputs


def check_shared(outputs: Outputs, benchmark: str | None) -> None:
    """Refuse scores for the Hub without a benchmark, and a benchmark without scores for the Hub."""
    if (EVAL_RESULTS in outputs.paths) != (benchmark is not None):
        raise InputError(
            "--eval-results FILE and --benchmark ORG/NAME go together: the file names the data "
            "set of the Hub whose tasks the scores are"
        )
    if benchmark is not None:
        from calipers.results.shared_scores import check_benchmark

        check_benchmark(benchmark)


def names_of_sets(sets: Sequence[tuple[str, int]]) -> list[str]:
    """Name sets by their systems, and by file number where a system has several files.

    Examples
    --------
    >>> names_of_sets([("a", 0), ("b", 0), ("b", 1)])
    ['a', 'b-1', 'b-2']
    """
    systems = [name for name, _ in sets]
    return [name if systems.count(name) == 1 else f"{name}-{file + 1}" for name, file in sets]


def _check_page(kind: str, outputs: Outputs, *, sort: str | None, all_systems: bool) -> None:
    """Refuse for another result what only the report of a comparison can be asked for."""
    asked = {
        "--redact": outputs.redact,
        "--map": outputs.layout is not None,
        "--explain": outputs.explain,
        "--sort": sort is not None,
        "--all-systems": all_systems,
    }
    for what in (what for what, given in asked.items() if given):
        raise InputError(
            f"{what} applies to the report of calipers compare; this is a result of another "
            f"kind, {kind}"
        )


def _wrapped(text: str) -> str:
    """Fill each paragraph to the width of the screen; indented lines stay as they are."""
    width = min(line_width(), 100)
    lines = text.split("\n")
    return "\n".join(
        line if line.startswith(" ") else "\n".join(filled(line, width)) for line in lines
    )
