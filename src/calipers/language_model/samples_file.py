"""The samples of a model on disk: a complete file or none, and a journal to resume from.

While texts are written, samples or the answers of a judge, each is appended to ``NAME.part`` as
soon as it is whole, behind a first line that holds the configuration of the run. A run that was
killed reads it and asks for what is missing, so that nothing is generated, or paid for, twice. At
the end all go to the file in the order of their numbers, and the configuration with the counts to
``NAME.manifest.json`` beside it. A file or journal of another configuration is refused, never
mixed.

A run that replaces a file (`overwrite`) leaves it as it is until its own samples are whole, and
goes on from its own journal as any other does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from calipers.errors import InputError
from calipers.files import at_home, check_plain
from calipers.language_model.model import Completion, LanguageModel
from calipers.service.refusal import is_count

Row = dict[str, Any]

COUNTED = ("n",)
"""What of a configuration may differ: a longer run goes on where a shorter one ended."""

REMEDY = "choose another `output`, or replace it with `overwrite=True`"
"""What to do about a file that holds something else."""

NEEDED = ("id", "text", "finish_reason", "tokens")
"""What every line has; of what it may have, `RULES` says what it must be."""

DEEPEST = 32
"""Levels of lists and objects that a line may have: what is read must be written again."""


@dataclass(frozen=True)
class SamplesFile:
    """The files of the samples of one configuration.

    Attributes
    ----------
    path
        Of the JSON lines.
    configuration
        All that a sample depends on, and ``n``, the number of samples; plain data.
    remedy
        What to do where the file holds something else.
    noun, command
        What each line is, and which command writes it, in the words of messages.
    """

    path: Path
    configuration: Mapping[str, Any]
    remedy: str = REMEDY
    noun: str = "sample"
    command: str = "generate"

    @classmethod
    def at(
        cls,
        path: str | Path,
        configuration: Mapping[str, Any],
        remedy: str = REMEDY,
        *,
        noun: str = "sample",
        command: str = "generate",
    ) -> SamplesFile:
        """Return the file of a configuration.

        Raises
        ------
        InputError
            If it is not a file of JSON lines, or cannot be written.
        """
        check_output(path)
        plain = json.loads(json.dumps(configuration))
        return cls(at_home(path), plain, remedy, noun, command)

    @property
    def journal(self) -> Path:
        """Path of the journal that holds samples during generation."""
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def manifest(self) -> Path:
        """Path of the configuration and the counts."""
        return self.path.with_name(f"{self.path.name}.manifest.json")

    def known(self, *, overwrite: bool = False) -> dict[int, Row]:
        """Read the samples that earlier runs of this configuration wrote, by number.

        Parameters
        ----------
        overwrite
            Whether samples of another configuration are given up: those of the file are replaced
            when the new ones are whole, those of a journal at once.

        Raises
        ------
        InputError
            If the file or the journal is of another configuration, or of no run at all.
        """
        known_rows: dict[int, Row] = {}
        if self.path.exists():
            try:
                known_rows.update(self._finished())
            except InputError:
                if not overwrite:
                    raise
        if self.journal.exists():
            try:
                known_rows.update(self._begun())
            except InputError:
                if not overwrite or self.journal.is_dir():
                    raise
                self._give_up()
        return known_rows

    @contextmanager
    def writing(self, known: Mapping[int, Row]) -> Iterator[Journal]:
        """Open the journal; meanwhile no other run may write to it.

        Raises
        ------
        InputError
            If another run writes to it, or it cannot be written.
        """
        try:
            file = open(self.journal, "ab", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"{self.journal}: cannot be written: {error.strerror}") from error
        with file:
            self._lock(file)
            whole = _whole_lines(self.journal)
            file.truncate(whole)
            journal = Journal(file, self.journal)
            if whole == 0:
                journal.write({"configuration": dict(self.configuration)})
                for row in known.values():
                    journal.write(row)
            yield journal

    def finish(self, rows: Iterable[Row], counts: Mapping[str, Any]) -> None:
        """Write the samples and the manifest atomically, and remove the journal.

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

    def _give_up(self) -> None:
        """Take a journal away, unless another run is writing to it."""
        with open(self.journal, "ab") as file:
            self._lock(file)
            self.journal.unlink()

    def _finished(self) -> dict[int, Row]:
        if not self.manifest.exists():
            raise InputError(
                f"{self.path}: the file already exists and was not written by calipers "
                f"{self.command}; {self.remedy}"
            )
        manifest = _json(_content(self.manifest), f"{self.manifest}:", self.remedy)
        self._check(manifest, self.path)
        return self._rows(_content(self.path).splitlines(), self.path, 1)

    def _begun(self) -> dict[int, Row]:
        check_plain(self.journal)
        content = _content(self.journal)
        whole = content[: content.rfind(b"\n") + 1].splitlines()
        if len(whole) < 2:  # a run that ended before its first sample
            return {}
        self._check(_json(whole[0], f"{self.journal}: line 1", self.remedy), self.journal)
        return self._rows(whole[1:], self.journal, 2)

    def _check(self, header: Any, place: Path) -> None:
        """Refuse what another configuration wrote; names the first difference."""
        other = header.get("configuration") if isinstance(header, dict) else None
        if not isinstance(other, dict):
            raise InputError(
                f"{place}: is damaged, since its run names no configuration; {self.remedy}"
            )
        for name in dict.fromkeys((*self.configuration, *other)):
            if name not in COUNTED and self.configuration.get(name) != other.get(name):
                raise InputError(
                    f"{place}: holds {self.noun}s of another configuration: {name} is "
                    f"{_shown(other.get(name))} there and {_shown(self.configuration.get(name))} "
                    f"here; {self.remedy}"
                )

    def _rows(self, lines: Sequence[bytes], path: Path, first: int) -> dict[int, Row]:
        """Read what was written by its number; `first` is the number of the first line."""
        rows = {}
        mend = f"delete the line, and its {self.noun} is written again"
        for number, line in enumerate(lines, start=first):
            place = f"{path}: line {number}"
            row = _json(line, place, mend)
            if not isinstance(row, dict) or not set(NEEDED) <= row.keys():
                raise InputError(f"{place} is damaged: it is not a {self.noun}; {mend}")
            for name in (name for name in RULES if name in row):
                rule, fits = RULES[name]
                if not fits(row[name]):
                    raise InputError(
                        f"{place} is damaged: {name} must be {rule}; found {_shown(row[name])}; "
                        f"{mend}, or correct the field"
                    )
            rows[row["id"]] = row
        return rows

    def _lock(self, file: BinaryIO) -> None:
        """Keep other runs from the journal, where the system knows locks."""
        with suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"{self.journal}: another run is writing these {self.noun}s; wait for it, or "
                    "choose another `output`"
                ) from None


@dataclass(frozen=True)
class Journal:
    """An open journal without a buffer, so that written lines survive this process."""

    file: BinaryIO
    path: Path

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one line.

        Raises
        ------
        InputError
            If there is no room for it; the lines before it are kept.
        """
        left = f"{json.dumps(row, ensure_ascii=True)}\n".encode("ascii")
        try:
            while left:
                left = left[self.file.write(left) :]
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be written: {error.strerror or error}; what was written is "
                "kept, and the same command continues from there"
            ) from error


def kept_first(
    model: LanguageModel,
    completions: Iterator[Completion],
    row_of: Callable[[Completion], Row],
    journal: Journal | None,
) -> Generator[Row, None, None]:
    """Yield rows of texts as they arrive, each saved first, including those after a stop.

    Parameters
    ----------
    model
        What writes them.
    completions
        The texts, as the model gives them.
    row_of
        Makes the row of a text.
    journal
        Where rows are kept; None for nowhere.
    """
    pending: Completion | None = None
    try:
        for completion in completions:
            pending = completion
            row = row_of(completion)
            if journal is not None:
                journal.write(row)
            pending = None
            yield row
    finally:
        if isinstance(completions, Generator):
            completions.close()
        late, model.unclaimed = list(model.unclaimed), []
        if journal is not None:
            for arrived in [*late, *([] if pending is None else [pending])]:
                journal.write(row_of(arrived))


def check_output(given: str | Path) -> None:
    """Refuse a path that samples cannot be written to, before any work.

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


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count_or_none(value: Any) -> bool:
    return value is None or is_count(value)


_COUNT = ("a whole number of at least 0 and below 2**53", is_count)
_COUNT_OR_NONE = (f"{_COUNT[0]}, or null", _is_count_or_none)
_TEXT = ("a text", _is_text)

RULES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("id", "repeat", "attempt"), _COUNT),
    **dict.fromkeys(("tokens", "prompt_tokens"), _COUNT_OR_NONE),
    **dict.fromkeys(("text", "finish_reason", "item", "first", "time", "refusal"), _TEXT),
}
"""What the fields of a line must be, where it has them: in words, and as a test."""


def _json(line: bytes, place: str, mend: str) -> Any:
    """Read what may be written again: JSON without numbers that JSON lacks, of a few levels."""
    try:
        value = json.loads(line, parse_constant=_refused)
        shallow = _is_shallow(value, DEEPEST)
    except RecursionError:
        shallow = False
    except ValueError:
        raise InputError(f"{place} is damaged: it is not JSON; {mend}") from None
    if not shallow:
        raise InputError(f"{place} is damaged: it has more than {DEEPEST} levels; {mend}")
    return value


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in inside)


def _whole_lines(path: Path) -> int:
    """Bytes up to the end of the last whole line: a killed run may leave a part of one.

    0 where there is but one, of the configuration, which is written anew.
    """
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    return end if content.count(b"\n") > 1 else 0


def _shown(value: Any) -> str:
    if type(value) is int and abs(value) >= 10**80:
        return "a number of more than 80 digits"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
