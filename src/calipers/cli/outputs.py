"""The files that a command was asked for: refused early, all tried, told of at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from calipers.cli.attempts import Attempts
from calipers.cli.checks import STDIO
from calipers.cli.output_checks import check_outputs
from calipers.cli.output_rules import Layout, check_page, check_standard_output
from calipers.cli.streams import calm, write_bytes_of, write_error
from calipers.errors import InputError
from calipers.progress import Progress, Silent

FILES = ("save", "output", "json", "csv", "markdown", "latex", "plot", "html")
"""All outputs, in the order in which they are written: first what cannot be made from another."""

HINTS = {"html": ": open it in a browser"}


@dataclass(frozen=True)
class Results:
    """What a command found, as the functions that put it into form.

    Attributes
    ----------
    show
        Shows it on standard output.
    warnings
        Gives what is to be told on standard error where a file takes standard output.
    texts
        By the name of an output, what makes its text.
    files
        By the name of an output that is no text, what writes it to a path.
    """

    show: Callable[[], None]
    warnings: Callable[[], Iterable[str]]
    texts: Mapping[str, Callable[[], str]]
    files: Mapping[str, Callable[[str], None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Outputs:
    """Where results go.

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
    """

    paths: Mapping[str, str]
    force: bool = False
    quiet: bool = False
    redact: bool = False
    layout: Layout | None = None

    @property
    def on_screen(self) -> str | None:
        """The output that takes standard output."""
        return next((name for name, path in self.paths.items() if path == STDIO), None)

    def check(self, inputs: Sequence[str] = ()) -> None:
        """Refuse early what could not be written late; `inputs` are the files that are read."""
        check_standard_output(self.paths)
        check_page(self.paths, redact=self.redact, layout=self.layout)
        named = [(f"--{name}", path) for name, path in self.paths.items() if path != STDIO]
        check_outputs(named, inputs, force=self.force)

    def progress(self) -> Progress:
        """Give what shows progress on standard error, unless quiet was asked for."""
        from calipers.cli.progress import RichProgress

        return Silent() if self.quiet else RichProgress()

    def deliver(self, results: Results) -> None:
        """Write the files, then show the results, and tell what was written.

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
            kept = ", ".join(self.paths[name] for name in written) or "nothing"
            raise KeyboardInterrupt(f"stopped while writing; written: {kept}") from None
        for name in written if not self.quiet else ():
            self._tell(name)
        attempts.settle()

    def _write(self, name: str, path: str, results: Results) -> None:
        with self.progress().task(f"Writing {_printable(Path(path).name)}", None):
            if name in results.texts:
                from calipers import report

                report.write_text_atomically(path, results.texts[name]())
                return
            try:
                results.files[name](path)
            except OSError as error:
                why = error.strerror or error
                raise InputError(f"--{name} {path}: cannot be written: {why}") from error

    def _show(self, results: Results) -> None:
        if self.on_screen is None:
            results.show()
            return
        with calm(quiet=self.quiet):
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


def _printable(name: str) -> str:
    """Give a name without characters that could steer a terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)
