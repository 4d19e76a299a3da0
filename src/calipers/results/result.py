"""The base class of all results: printed, saved to one zip, and loaded again."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from calipers._version import __version__
from calipers.command import Command, kinds
from calipers.errors import InputError, check_keywords, checks_keywords
from calipers.files import check_plain, fitting_in_memory
from calipers.memory import uncollected
from calipers.results.sets import SetSummary
from calipers.results.settings import check_settings
from calipers.serialise import Plain, parsed_json, read
from calipers.wording.short_names import among

if TYPE_CHECKING:
    from calipers.report.table import Document
    from calipers.results.archive import Archive, Draft
    from calipers.results.rows import Row, Wide


class Result(Plain):
    """The result of a command: immutable, complete, and usable without further computation."""

    kind: ClassVar[str]
    """What an archive calls it."""

    def __str__(self) -> str:
        return str(self.document())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def to_frame(self, *, wide: bool = False, per_sample: bool = False) -> Any:
        """Return the numbers as a tidy data frame; docs/exports.md describes the columns.

        Parameters
        ----------
        wide
            Fewer and longer rows: of a comparison a row for each set, with a column for the value
            of each score.
        per_sample
            A row for each sample and score in place of that, where a metric has one value for
            each.

        Returns
        -------
        pandas.DataFrame
            None or NaN for missing measurements.

        Raises
        ------
        InputError
            If there are no per-sample values, or these are requested in wide form.
        MissingExtraError
            If pandas is not installed.
        """
        from calipers.results.rows import data_frame, wide_rows

        if per_sample and wide:
            raise InputError("wide and per_sample exclude each other; give one of them")
        rows = self._sample_rows() if per_sample else self._rows()
        return data_frame(wide_rows(rows, *self._wide()) if wide else rows)

    def document(self, **options: Any) -> Document:
        """Return the tables and notes that printing shows, as values.

        Parameters
        ----------
        options
            Of the document of its kind, such as ``details=True`` of a comparison.
        """
        document: Document = self._report("document")(self, **options)
        return document

    def summary(self, **options: Any) -> Document:
        """Return the tables for a paper or a notebook, and how to read them.

        Parameters
        ----------
        options
            Of the document of its kind, such as ``sort="name"`` of a comparison.
        """
        part = "summarised" if _record(self.kind).summarised else "document"
        document: Document = self._report(part)(self, **options)
        return document

    def paged(self) -> Document:
        """Return all tables, as on the HTML page."""
        part = "paged" if _record(self.kind).paged else "document"
        document: Document = self._report(part)(self)
        return document

    def _report(self, part: str) -> Any:
        """Import what shows results of its kind, by the address in the record of its command.

        Results stand below what shows them, so this is the only way there.
        """
        record = _record(self.kind)
        show = record.load(getattr(record, part))
        known = list(inspect.signature(show).parameters)

        def shown(*given: Any, **options: Any) -> Any:
            if "options" not in known:
                check_keywords(part, options, known)
            with among(names_of(self)):
                return show(*given, **options)

        return shown

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the result from :meth:`to_dict`, or from the JSON of a command.

        Raises
        ------
        InputError
            If a field is missing or invalid; the message names it.
        """
        return read(cls, data)

    def save(self, path: str | Path) -> None:
        """Save the result in one zip of JSON, arrays and texts, without pickles.

        Raises
        ------
        CalipersError
            If it cannot be written there; an older file is then left unchanged.
        """
        from calipers.results.archive import writing

        with writing(Path(path), self.kind) as draft:
            self._pack(draft)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a result saved by :meth:`save`, without computation.

        Called on ``Result``, it loads any kind of result; on another class, one of that class.

        Raises
        ------
        InputError
            If the file is missing or damaged, holds another kind of result, or declares more than
            the memory that may be taken.
        """
        from calipers.results.archive import opened

        with uncollected(), opened(Path(path), getattr(cls, "kind", None)) as archive:
            return cast(Self, class_of(archive.kind)._unpacked(archive))

    def _rows(self) -> Iterable[Row]:
        """Return the numbers as tidy rows."""
        raise NotImplementedError

    def _wide(self) -> Wide:
        """Name what the rows of a wide data frame are, what its columns, and what its values."""
        raise NotImplementedError

    def _sample_rows(self) -> Iterable[Row]:
        """Return the values of every sample as tidy rows."""
        raise InputError(f"a {self.kind} has no values for each sample; leave per_sample out")

    def _pack(self, draft: Draft) -> None:
        """Write the parts of the archive."""
        draft.add_json(f"{self.kind}.json", self.to_dict())

    @classmethod
    def _unpacked(cls, archive: Archive) -> Self:
        """Read the parts of the archive."""
        return cls.from_dict(archive.json(f"{cls.kind}.json"))

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**data, "version": data["calipers"]}

    def _stamp(self) -> dict[str, Any]:
        """What the data of every result begin with: the version that made it, and its kind."""
        return {"calipers": getattr(self, "version", __version__), "kind": self.kind}

    _needed: ClassVar[tuple[str, ...]] = ()
    """The settings that every result of the kind has."""

    def _check(self) -> None:
        check_settings(getattr(self, "settings", {}), self._needed)


class Drawn(Result):
    """A result with a plot of its own."""

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the result as ``calipers plot`` does; save it as .png, .pdf or .svg if asked.

        Parameters
        ----------
        path
            Where the figure is kept, besides being returned.

        Returns
        -------
        calipers.report.plots.Figure
            Which a notebook displays.

        Raises
        ------
        InputError
            If it lacks what is drawn, or the file has another ending.
        """
        record = _record(self.kind)
        assert record.plot is not None
        with among(names_of(self)):
            return record.load(record.plot.drawn_by)(self).figure(path)


def names_of(result: Result) -> Iterator[str]:
    """Return the names of sets, systems and runs of a result, which documents keep distinct."""
    for part in ("reference", "systems", "sets", "runs"):
        members = getattr(result, part, ())
        for member in members if isinstance(members, tuple | list) else (members,):
            name = getattr(member, "name", member)
            if isinstance(name, str):
                yield name


@checks_keywords
def load(path: str | Path) -> Result:
    """Load the saved result of any command: a zip from ``save``, or JSON.

    Raises
    ------
    InputError
        If the file is missing or damaged, or holds no result.

    Examples
    --------
    >>> import calipers
    >>> import tempfile
    >>> systems = {"model": ["a b", "a b c"]}
    >>> result = calipers.measure_texts(systems, metrics="mean_length", level=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/run.zip")
    ...     print(calipers.load(f"{folder}/run.zip")["model"]["mean_length"].value)
    2.5
    """
    import zipfile

    place = Path(path)
    check_plain(place)
    if place.suffix.lower() != ".json" or zipfile.is_zipfile(place):
        return Result.load(place)
    from calipers.memory import budget, json_size, read_whole, reading

    def refusal(problem: str) -> InputError:
        return InputError(f"{place}: {problem}")

    with fitting_in_memory(place), reading():
        try:
            with open(place, "rb") as file:
                content = read_whole(file, refusal)
            budget().take(json_size(content), refusal)
            data = parsed_json(content)
        except OSError as error:
            raise InputError(f"{place}: cannot be read: {error.strerror or error}") from error
        except InputError:
            raise
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}: is not valid JSON: {error!s:.200}") from error
    return of_json(data, place)


def of_json(data: Any, place: str | Path) -> Result:
    """Make a result from the parsed JSON of a command; messages name the file.

    Raises
    ------
    InputError
        If it holds no result, or one that cannot be.
    """
    if not isinstance(data, Mapping) or "calipers" not in data or "kind" not in data:
        raise InputError(f"{place}: is not a result of calipers")
    kind = str(data["kind"])
    try:
        return class_of(kind).from_dict(data)
    except InputError as error:
        raise InputError(f"{place}: is not a {kind} of calipers, or is damaged: {error}") from error


def class_of(kind: str) -> type[Result]:
    """Return the class of a kind of results, imported on first use.

    Raises
    ------
    InputError
        If no command gives results of this kind.
    """
    record = _record(kind)
    home: type[Result] = record.load(record.result)
    return home


def _record(kind: str) -> Command:
    """The record of the command that gives results of a kind."""
    if kind not in kinds():
        raise InputError(f"it holds {kind!r:.100}, none of {', '.join(kinds())}")
    return kinds()[kind]


def with_warnings(summary: SetSummary) -> dict[str, Any]:
    """Write a set of samples, with its notes as warnings, as most results do."""
    return {**summary._outline(), "warnings": summary.warnings}


def of_system(summary: SetSummary, **more: Any) -> dict[str, Any]:
    """Write a system as data, its set first; ``warnings`` combine those of both."""
    data = {**summary._outline(), **more}
    return {**data, "warnings": (*summary.warnings, *more["warnings"])}


def system_from(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a system from data; all warnings are assigned to it."""
    return {**data, "summary": {**data, "warnings": ()}}
