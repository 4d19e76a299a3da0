"""The outputs of a command: options, early checks, and delivery that attempts every file."""

from __future__ import annotations

import glob
import inspect
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from calipers.assets import PLOTLY
from calipers.cli.options import complete, parameter
from calipers.cli.streams import calm, write_bytes_of, write_error
from calipers.errors import (
    CalipersError,
    InputError,
    MissingExtraError,
    check_installed,
    either,
)
from calipers.options.option import OUTPUT
from calipers.progress import Progress, Silent
from calipers.whole_files import write_text_atomically

STDIO = "-"
FILES = (
    *("save", "output", "table", "inspect", "every_eval_ever", "eval_results"),
    *("json", "junit", "csv", "markdown", "latex", "plot"),
    "html",
)
"""All outputs, in the order in which they are written: first what cannot be made from another."""

FORMATS = ("html", "json", "save", "markdown", "latex", "csv")
"""What every command that gives a result can write."""

COMMON = ("output", "plot", "html", "json", "save", "explain", "quiet")
"""Those that the short help of a command lists."""

PAGE = ("redact", "map")
"""What a report with texts and pictures can be asked for beside that."""

EXPLAIN = "explain"
INSPECT = "inspect"
EVERY_EVAL_EVER = "every_eval_ever"
EVAL_RESULTS = "eval_results"
SHARED = (EVERY_EVAL_EVER, EVAL_RESULTS)
"""Scores of one system for the places where people share them."""

SYSTEM = "{system}"
"""The part of a file's name that is replaced by the name of each system."""

HINTS = {"html": ": open it in a browser"}


Layout = Literal["pca", "umap"]

MAPS: Sequence[Layout] = ("pca", "umap")
FIGURES = (".png", ".pdf", ".svg")

OTHERS = {
    "save": "a zip file",
    "output": "a file that is not text",
    "table": "a table for data frames",
    "inspect": "records that inspect reads from a file",
    "every_eval_ever": "a file for each system",
    "eval_results": "a file for each system",
    "plot": "a figure",
}
"""Outputs that are no text, and what they are: standard output is not for them."""


ROWS = (".parquet", ".arrow")
"""Endings of tables for data frames."""

RECORDS = (".json", ".jsonl")
"""Endings of records for inspect."""

YAML = (".yaml", ".yml")


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Show only errors: no progress, no warnings, no list of the files written.",
        rich_help_panel=OUTPUT,
    ),
]


def _file(name: str, text: str, *, metavar: str = "FILE") -> Any:
    option = typer.Option(name, metavar=metavar, help=text, rich_help_panel=OUTPUT)
    return Annotated[str | None, option]


Html = _file(
    "--html",
    "Write the tables as an HTML page, which opens offline in any browser.",
)
Pictures = _file(
    "--html",
    "Write an HTML report: tables, curves, topics, the worst samples and a map of all samples. It "
    "is one file that opens offline in any browser. It contains texts; --redact leaves them out.",
)
Json = _file(
    "--json",
    "Write all scores as JSON. With - they go to standard output, in place of the table.",
)
Markdown = _file("--markdown", "Write the table as Markdown; - is standard output.")
Latex = _file("--latex", "Write the table as LaTeX, for a paper; - is standard output.")
Csv = _file("--csv", "Write one row for each score as CSV; - is standard output.")
TableFile = _file(
    "--table",
    "Write one row for each score, or with --per-sample for each sample, as .parquet or .arrow for "
    "data frames.",
)
Inspect = _file(
    "--inspect",
    "Write values of each sample of a log of inspect (in the support, realism, nearest reference "
    "sample) as records that its precomputed_scores() reads: .json or .jsonl. For several "
    "systems, {system} in the name stands for the name of each.",
)
EveryEvalEver = _file(
    "--every-eval-ever",
    "Write the scores of a system as JSON of Every Eval Ever (schema 0.3.0), for its shared "
    "database. For several systems, {system} in the name stands for the name of each.",
)
EvalResults = _file(
    "--eval-results",
    "Write the scores of a system as YAML for the folder .eval_results of a model on the Hugging "
    "Face Hub; needs --benchmark. For several systems, {system} in the name stands for the name "
    "of each.",
)
Benchmark = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        metavar="ORG/NAME",
        help="The data set of the Hugging Face Hub, registered there as a benchmark, whose tasks "
        "the scores of --eval-results are, by their keys.",
        rich_help_panel=OUTPUT,
    ),
]
Save = _file(
    "--save",
    "Save the result, so that `calipers show` can show it again or write it in another format.",
    metavar="RUN.zip",
)
SaveAll = _file(
    "--save",
    "Save the whole result (scores, curves, texts, vectors), so that `calipers show`, `calipers "
    "report` and `calipers plot` can use it later.",
    metavar="RUN.zip",
)
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Leave texts, and the folders of files, out of --html and every other output, so that "
        "they can be shared. Names, group labels and the keywords of topics stay. Cannot be "
        "combined with --save, which keeps all texts.",
        rich_help_panel=OUTPUT,
    ),
]
Map = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="|".join(MAPS),
        help="How the map of --html places the samples: by principal component analysis (pca), or "
        "by UMAP (umap), which needs the package umap-learn. [default: pca]",
        rich_help_panel=OUTPUT,
        autocompletion=complete(*MAPS),
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Show below the tables, for each system, which topics are significantly under- or "
        "over-represented in it, and its samples that are least like the reference.",
        rich_help_panel=OUTPUT,
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace output files that exist. By default an existing file is an error.",
        rich_help_panel=OUTPUT,
    ),
]

_KINDS = {
    "html": Html,
    "json": Json,
    "save": Save,
    "markdown": Markdown,
    "latex": Latex,
    "csv": Csv,
    "table": TableFile,
    INSPECT: Inspect,
    EVERY_EVAL_EVER: EveryEvalEver,
    EVAL_RESULTS: EvalResults,
}
_WITH_PICTURES = {"html": Pictures, "save": SaveAll}
_PAGE: dict[str, tuple[Any, Any]] = {
    "redact": (Redact, False),
    "map": (Map, None),
    EXPLAIN: (Explain, False),
}
_ALWAYS: dict[str, tuple[Any, Any]] = {"force": (Force, False), "quiet": (Quiet, False)}


def output_parameters(*names: str, **worded: Any) -> list[inspect.Parameter]:
    """Return the typer parameters of the outputs.

    Parameters
    ----------
    names
        Which ones, such as ``"json"``; ``--force`` and ``--quiet`` come with every choice.
    worded
        Options that the command words in its own way, by name: an annotated type, or a pair of
        it and the default.
    """
    pairs = {
        name: kind if isinstance(kind, tuple) else (kind, None) for name, kind in worded.items()
    }
    kinds = _KINDS | (_WITH_PICTURES if "redact" in names else {})
    written = [name for name in (*names, *pairs) if name not in _PAGE]
    files = {name: pairs.get(name) or (kinds[name], None) for name in written}
    options = files | {name: _PAGE[name] for name in names if name in _PAGE} | _ALWAYS
    return [parameter(name, kind, default) for name, (kind, default) in options.items()]


@dataclass(frozen=True)
class Results:
    """The result of a command, with the functions that render it.

    Attributes
    ----------
    show
        Shows it on standard output.
    warnings
        Gives what is to be written to standard error where a file takes standard output.
    texts
        By the name of an output, what makes its text.
    files
        By the name of an output that is no text, what writes it to a path.
    before
        By the name of an output, what is computed before it is written, with progress of its own.
    """

    show: Callable[[], None]
    warnings: Callable[[], Iterable[str]]
    texts: Mapping[str, Callable[[], str]]
    files: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    before: Mapping[str, Callable[[], object]] = field(default_factory=dict)

    def prepare(self, name: str) -> None:
        """Compute what an output needs."""
        if name in self.before:
            self.before[name]()


@dataclass(frozen=True)
class Outputs:
    """The outputs of a command.

    Attributes
    ----------
    paths
        Name of an output, such as ``"json"``, to its path; ``-`` is standard output, which then
        holds nothing else.
    force
        Whether files that are there may be replaced.
    quiet
        Whether standard error stays empty, short of errors.
    redact
        Whether files hold no texts.
    layout
        How the map of the report lays out the samples, ``"pca"`` or ``"umap"``; None where nobody
        said.
    pictures
        Whether ``html`` is the report with pictures.
    explain
        Whether the screen shows which topics and samples cause the gap.
    """

    paths: Mapping[str, str]
    force: bool = False
    quiet: bool = False
    redact: bool = False
    layout: Layout | None = None
    pictures: bool = False
    explain: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Outputs:
        """Make outputs from what was given; files are written in the order of `FILES`."""
        return cls(
            {name: given[name] for name in FILES if given.get(name) is not None},
            force=given.get("force", False),
            quiet=given.get("quiet", False),
            redact=given.get("redact", False),
            layout=given.get("map"),
            pictures="redact" in given,
            explain=given.get(EXPLAIN, False),
        )

    @property
    def on_screen(self) -> str | None:
        """The output that goes to standard output."""
        return next((name for name, path in self.paths.items() if path == STDIO), None)

    def check(self, inputs: Sequence[str] = ()) -> None:
        """Refuse outputs that cannot be written, before the work; `inputs` are the files read."""
        _check_standard_output(self.paths)
        _check_page(self)
        check_outputs(self._named(), inputs, force=self.force)

    def of_systems(
        self, names: Sequence[str], inputs: Sequence[str] = (), *, output: str = INSPECT
    ) -> Outputs:
        """Return outputs with one file for each system, where a format needs that.

        Parameters
        ----------
        names
            What stands for the place in the file's name, one for each.
        inputs
            The files that are read.
        output
            Which output has a file for each.

        Raises
        ------
        InputError
            If the name has no such place and there are several systems, two would get one file, or
            a file is there.
        """
        given = self.paths.get(output)
        if given is None:
            return self
        if SYSTEM not in given and len(names) > 1:
            why = "inspect reads one file for each log" if output == INSPECT else "each has a file"
            raise InputError(
                f"{_option(output)} must have {SYSTEM} in its name where several sets are compared "
                f"({len(names)}): {why}; found {given}"
            )
        of_systems = {
            f"{output}:{place}": given.replace(SYSTEM, _plain(name))
            for place, name in enumerate(names)
        }
        paths = {
            name: path
            for which, whole in self.paths.items()
            for name, path in (of_systems if which == output else {which: whole}).items()
        }
        made = replace(self, paths=paths)
        check_outputs(made._named(), inputs, force=self.force)
        return made

    def _named(self) -> list[tuple[str, str]]:
        """The option and the path of every file that is known by now."""
        return [
            (_option(name), path)
            for name, path in self.paths.items()
            if path != STDIO and not (name in (INSPECT, *SHARED) and SYSTEM in path)
        ]

    def progress(self) -> Progress:
        """Return the progress display on standard error, unless quiet."""
        from calipers.cli.progress import RichProgress

        return Silent() if self.quiet else RichProgress()

    @contextmanager
    def running(self, command: str) -> Iterator[None]:
        """Write a line per minute to a log while the command runs, even between tasks."""
        from calipers.cli.heartbeat import LINES

        if self.quiet or sys.stderr.isatty():
            yield
            return
        with LINES.task(f"calipers {command}", None, whole=True):
            yield

    def deliver(self, results: Results) -> None:
        """Write the files, show the results, and report what was written.

        Every output is tried before the first failure is raised: an hour of work is not lost to
        one full disk.
        """
        attempts, written = Attempts(), list[str]()
        try:
            for name, path in self.paths.items():
                if path != STDIO:
                    with attempts.one(), calm(quiet=self.quiet):
                        self._write(name, path, results)
                        written.append(name)
            with attempts.one():
                self._show(results)
        except KeyboardInterrupt:
            paths = ", ".join(self.paths[name] for name in written) or "nothing"
            raise KeyboardInterrupt(
                f"stopped while writing the output files; written: {paths}"
            ) from None
        for name in written if not self.quiet else ():
            self._tell(name)
        attempts.settle()

    def _write(self, name: str, path: str, results: Results) -> None:
        results.prepare(name)
        with self.progress().task(f"Writing {Path(path).name}", None):
            if name in results.texts:
                write_text_atomically(path, results.texts[name]())
                return
            try:
                results.files[name](path)
            except BrokenPipeError:
                raise
            except OSError as error:
                why = error.strerror or error
                raise InputError(f"{_option(name)} {path}: cannot be written: {why}") from error

    def _show(self, results: Results) -> None:
        if self.on_screen is None:
            results.show()
            return
        with calm(quiet=self.quiet):
            results.prepare(self.on_screen)
            text = results.texts[self.on_screen]()
        write_bytes_of(text)
        for warning in results.warnings() if not self.quiet else ():
            write_error(f"warning: {warning}")

    def _tell(self, name: str) -> None:
        """Say how large a file has become; a pipe or device has no size."""
        path = Path(self.paths[name])
        if path.is_file():
            size = size_words(path.stat().st_size)
            write_error(f"wrote {path}, {size}{HINTS.get(name, '')}")


def size_words(size: int) -> str:
    """Write a number of bytes: ``"312 bytes"``, ``"12 kB"``, ``"9.1 MB"``."""
    if size < 1_000:
        return f"{size} byte{'s' if size != 1 else ''}"
    if size < 999_500:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e6:.1f} MB"


def _option(name: str) -> str:
    """Return the option of an output, which may be the file of one system."""
    return f"--{name.partition(':')[0].replace('_', '-')}"


def _plain(name: str) -> str:
    """Return the name of a system as part of the name of a file."""
    return "".join(sign if sign.isalnum() or sign in "-_.+= " else "_" for sign in name)


def _check_standard_output(paths: Mapping[str, str]) -> None:
    """Refuse what standard output cannot take; `paths` are the outputs by name."""
    taken = [name for name, path in paths.items() if path == STDIO]
    for name in taken:
        if name in OTHERS:
            raise InputError(
                f"{_option(name)} writes {OTHERS[name]}, which cannot go to standard output"
            )
    if len(taken) > 1:
        raise InputError(
            "only one output can go to standard output (-); found "
            f"{' and '.join(f'--{name}' for name in taken)}"
        )


def _check_page(outputs: Outputs) -> None:
    """Refuse figures of unknown kinds, and options of the report that have nothing to act on."""
    paths = outputs.paths
    figure = paths.get("plot", FIGURES[0])
    if not figure.lower().endswith(FIGURES):
        raise InputError(f"--plot must name a file ending in {either(FIGURES)}; found {figure}")
    table = paths.get("table", ROWS[0])
    if not table.lower().endswith(ROWS):
        raise InputError(f"--table must name a file ending in {either(ROWS)}; found {table}")
    records = paths.get(INSPECT, RECORDS[0])
    if not records.lower().endswith(RECORDS):
        raise InputError(f"--inspect must name a file ending in {either(RECORDS)}; found {records}")
    if not paths.get(EVERY_EVAL_EVER, ".json").lower().endswith(".json"):
        raise InputError(
            f"--every-eval-ever must name a file ending in .json; found {paths[EVERY_EVAL_EVER]}"
        )
    if not paths.get(EVAL_RESULTS, YAML[0]).lower().endswith(YAML):
        raise InputError(
            f"--eval-results must name a file ending in {either(YAML)}; found {paths[EVAL_RESULTS]}"
        )
    if "table" in paths:
        check_installed("pyarrow", extra="parquet", purpose="--table")
    if outputs.redact:
        _check_redact(paths, explain=outputs.explain)
    if outputs.explain and outputs.on_screen is not None:
        raise InputError(
            "--explain adds to the tables on standard output, where "
            f"--{outputs.on_screen} - leaves no room for it; give --{outputs.on_screen} a file"
        )
    if outputs.layout is not None:
        _check_layout(outputs.layout)
        if "html" not in paths:
            raise InputError(
                "--map needs --html FILE: it places the samples in the map of the report"
            )
    if "html" in paths and outputs.pictures:
        _check_packages(outputs.layout)


def _check_redact(paths: Mapping[str, str], *, explain: bool) -> None:
    if "save" in paths:
        raise InputError(
            "--redact cannot be combined with --save, which keeps all texts; leave out one "
            "of them. calipers report RUN.zip --redact makes a report without texts from a "
            "saved run"
        )
    if not paths and not explain:
        raise InputError(
            "--redact needs an output file from which texts are left out, such as --html FILE"
        )


def _check_layout(layout: str) -> None:
    if layout not in MAPS:
        raise InputError(f"--map must be {' or '.join(MAPS)}; found {layout!r}")


def _check_packages(layout: str | None) -> None:
    """Refuse a report that could not be made in the end.

    Raises
    ------
    MissingExtraError
        If something that it needs is not installed; says which pip command brings it.
    """
    PLOTLY.require("--html")
    if layout == "umap" and not _installed("umap"):
        raise MissingExtraError(
            "--map umap needs the package 'umap-learn', which is not installed. Install it with: "
            "pip install umap-learn; or use --map pca, which needs no other package"
        )


def _installed(module: str) -> bool:
    """Tell without importing it."""
    return find_spec(module) is not None


def check_outputs(
    outputs: Iterable[tuple[str, str]], specs: Sequence[str] = (), *, force: bool = False
) -> None:
    """Refuse output files that cannot be written, already exist, or would overwrite an input.

    Pipes and devices, such as ``/dev/null``, are written to and never replaced; they may be there.

    Parameters
    ----------
    outputs
        Pairs of an option and the path that it was given.
    specs
        The inputs as they were given: a path, or ``NAME=GLOB``, or either with ``@FIELD``.
    force
        Whether a file that is there may be replaced; an input never is.

    Raises
    ------
    InputError
        Names the option and the file.
    """
    checked: list[tuple[str, Path]] = []
    for option, given in outputs:
        path = Path(given)
        for other_option, other in checked:
            if _same(path, other) and not _special(path):
                raise InputError(f"{option} and {other_option} name the same file: {given}")
        if any(_same(path, source) for source in _sources(specs)):
            raise InputError(f"{option} would overwrite an input: {given}")
        _check_file(option, path, force)
        checked.append((option, path))


def _check_file(option: str, path: Path, force: bool) -> None:
    """Try out, before the long work, what the writing at the end will need."""
    try:
        if path.is_dir():
            raise InputError(f"{option} must name a file; {path} is a folder")
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {str(path.parent)!r}")
        if path.is_file():
            _check_there(option, path, force)
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{option} {path}: the file exists and is read-only")
        if not _special(path):
            with tempfile.TemporaryFile(dir=target.parent):
                pass
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be written: {error.strerror}") from error


def _check_there(option: str, path: Path, force: bool) -> None:
    if _is_stdout(path):
        raise InputError(
            f"{option} {path}: standard output is redirected to this file; to write only this "
            f"output there, give {option} -"
        )
    if not force:
        raise InputError(f"{option} {path}: the file already exists; --force replaces it")


def _is_stdout(path: Path) -> bool:
    """Tell whether standard output was redirected to this file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def _special(path: Path) -> bool:
    """Tell whether it is a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _sources(specs: Sequence[str]) -> Iterator[Path]:
    for spec in specs:
        # Whatever a mark in it means: the whole, what stands in front of it, what behind a name
        ends = [place for place, letter in enumerate(spec) if letter == "@"]
        for text in (spec, *(spec[:end] for end in ends)):
            yield Path(text)
            pattern = text.partition("=")[2]
            if pattern:
                yield Path(pattern)
                yield from map(Path, glob.glob(pattern, recursive=True))


def _same(left: Path, right: Path) -> bool:
    try:
        return os.path.samefile(left, right)
    except (OSError, ValueError):
        return os.path.realpath(left) == os.path.realpath(right)


class Attempts:
    """Collects errors of several steps, so that one failure does not prevent the others."""

    def __init__(self) -> None:
        self._failures: list[Exception] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        """Attempt one step; a closed pipe is no failure."""
        try:
            yield
        except BrokenPipeError:
            pass
        except Exception as failure:
            self._failures.append(failure)

    def settle(self) -> None:
        """Report the errors, and raise the gravest; a bug in Calipers keeps its traceback.

        Raises
        ------
        Exception
            A fault before what a person can put right.
        """
        if not self._failures:
            return
        *others, gravest = sorted(self._failures, key=_is_fault)
        for failure in others:
            write_error(f"calipers: {failure}")
        raise gravest


def _is_fault(failure: Exception) -> bool:
    return not isinstance(failure, CalipersError)


def check_per_sample(paths: Mapping[str, str], *, per_sample: bool) -> None:
    """Refuse ``--per-sample`` where no JSON is written; `paths` are the outputs by name."""
    if per_sample and not {"json", "table"} & set(paths):
        raise InputError(
            "--per-sample needs --json FILE or --table FILE: it adds the values of the "
            "samples to them"
        )
