"""Generated samples on disk: a file that is whole or not there, and a journal to go on from.

While samples are written, each is appended to ``NAME.part`` as soon as it is whole, behind a first
line that holds the configuration of the run. A run that was killed reads it and asks for what is
missing, so that nothing is generated, or paid for, twice. At the end the samples go to the file in
the order of their numbers, and the configuration with the counts to ``NAME.manifest.json`` beside
it. A file or journal of another configuration is refused, never mixed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from calipers.errors import InputError
from calipers.files import at_home, check_plain

Row = dict[str, Any]

COUNTED = ("n",)
"""What of a configuration may differ: a longer run goes on where a shorter one ended."""


@dataclass(frozen=True)
class SamplesFile:
    """Where the samples of one configuration are kept.

    Attributes
    ----------
    path
        Of the JSON lines.
    configuration
        All that a sample depends on, and ``n``, the number of samples; plain data.
    """

    path: Path
    configuration: Mapping[str, Any]

    @classmethod
    def at(cls, path: str | Path, configuration: Mapping[str, Any]) -> SamplesFile:
        """Name the file of a configuration.

        Raises
        ------
        InputError
            If it is no file of JSON lines, or cannot be written.
        """
        check_output(path)
        return cls(at_home(path), json.loads(json.dumps(configuration)))

    @property
    def journal(self) -> Path:
        """Where samples are kept while they are written."""
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def manifest(self) -> Path:
        """Where the configuration and the counts are."""
        return self.path.with_name(f"{self.path.name}.manifest.json")

    def known(self, *, overwrite: bool = False) -> dict[int, Row]:
        """Read the samples that an earlier run of this configuration wrote, by their numbers.

        Parameters
        ----------
        overwrite
            Whether samples of another configuration are given up; they are replaced when the new
            ones are whole.

        Raises
        ------
        InputError
            If the file or the journal is of another configuration, or of no run at all.
        """
        found: dict[int, Row] = {}
        try:
            if self.path.exists():
                found.update(self._finished())
            if self.journal.exists():
                found.update(self._begun())
        except InputError:
            if not overwrite:
                raise
            self.journal.unlink(missing_ok=True)
            return {}
        return found

    @contextmanager
    def writing(self, known: Mapping[int, Row]) -> Iterator[Journal]:
        """Open the journal; no other run may write to it meanwhile.

        Raises
        ------
        InputError
            If another run writes to it, or it cannot be written.
        """
        try:
            file = open(self.journal, "a+", encoding="utf-8", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise InputError(f"{self.journal}: cannot be written: {error.strerror}") from error
        with file:
            _lock(file, self.journal)
            file.truncate(_whole_lines(self.journal))
            journal = Journal(file)
            if file.tell() == 0:
                journal.write({"configuration": dict(self.configuration)})
                for row in known.values():
                    journal.write(row)
            yield journal

    def finish(self, rows: Iterable[Row], counts: Mapping[str, Any]) -> None:
        """Write the samples and the manifest, each whole, and take the journal away.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        from calipers.whole_files import write_text_atomically

        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        manifest = {"configuration": dict(self.configuration), **counts}
        write_text_atomically(self.path, lines)
        write_text_atomically(
            self.manifest, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        )
        self.journal.unlink(missing_ok=True)

    def _finished(self) -> dict[int, Row]:
        if not self.manifest.exists():
            raise InputError(
                f"{self.path}: there is such a file already, which calipers generate did not "
                "write; choose another --output, or replace it with --force (overwrite=True)"
            )
        manifest = _json(self.manifest, self.manifest.read_text("utf-8"))
        self._check(manifest, self.path)
        with open(self.path, encoding="utf-8") as lines:
            return _by_number(_json(self.path, line) for line in lines)

    def _begun(self) -> dict[int, Row]:
        check_plain(self.journal)
        with open(self.journal, "rb") as file:
            whole = [line for line in file if line.endswith(b"\n")]
        if len(whole) < 2:  # a run that ended before its first sample
            self.journal.unlink(missing_ok=True)
            return {}
        head, *rows = (_json(self.journal, line.decode("utf-8", "replace")) for line in whole)
        self._check(head, self.journal)
        return _by_number(rows)

    def _check(self, found: Any, place: Path) -> None:
        """Refuse what another configuration wrote; names the first difference."""
        other = found.get("configuration") if isinstance(found, dict) else None
        if not isinstance(other, dict):
            raise InputError(f"{place}: is damaged: it holds no configuration of a run")
        for name in dict.fromkeys((*self.configuration, *other)):
            if name not in COUNTED and self.configuration.get(name) != other.get(name):
                raise InputError(
                    f"{place}: holds samples of another configuration: {name} is "
                    f"{_shown(other.get(name))} there and {_shown(self.configuration.get(name))} "
                    "here; choose another --output, or replace it with --force (overwrite=True)"
                )


@dataclass(frozen=True)
class Journal:
    """A journal that is open."""

    file: TextIO

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one line, and see that it outlives this process."""
        self.file.write(f"{json.dumps(row, ensure_ascii=True)}\n")
        self.file.flush()


def check_output(given: str | Path) -> None:
    """Refuse a place that no samples can be written to, before any work.

    Raises
    ------
    InputError
        Names the path and the rule.
    """
    path = at_home(given)
    if path.suffix != ".jsonl":
        raise InputError(f"{path}: samples are written as JSON lines, to a file ending in .jsonl")
    if path.is_dir():
        raise InputError(f"{path}: samples are written to a file, but this is a folder")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} cannot be written to")


def _by_number(rows: Iterable[Any]) -> dict[int, Row]:
    return {row["id"]: row for row in rows if isinstance(row, dict) and "id" in row}


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: is damaged: {error!s:.200}") from None


def _whole_lines(path: Path) -> int:
    """Bytes up to the end of the last whole line: a killed run may leave a part of one."""
    content = path.read_bytes()
    return content.rfind(b"\n") + 1


def _lock(file: TextIO, path: Path) -> None:
    """Keep other runs from the journal, where the system knows locks."""
    with suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{path}: another run is writing these samples; wait for it, or choose another "
                "--output"
            ) from None


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
