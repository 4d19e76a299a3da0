"""Sets of texts or token ids joined from their parts, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from calipers.samples.columns import StringColumn
from calipers.samples.kinds import SampleData, TextData, TokenData, read_only
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import KINDS


def joined_sets(parts: Sequence[SampleSet], source: Source) -> SampleSet:
    """Join sets read from the files of one set.

    Groups, clusters and prompts are kept where all parts have them. Notes name their file.

    Raises
    ------
    InputError
        If the parts are of several kinds, or their texts stand in different fields.
    """
    first = parts[0]
    for part in parts[1:]:
        names = [PurePath(one.source).name for one in (first, part)]
        if part.kind != first.kind:
            raise source.error(
                f"{names[0]} holds {KINDS[first.kind]}, and {names[1]} {KINDS[part.kind]}; all "
                "files of a set must hold samples of one kind"
            )
        if part.field != first.field:
            raise source.error(
                f"the texts of {names[0]} stand in the field {first.field!r}, those of {names[1]} "
                f"in {part.field!r}; all files of a set must have the same fields"
            )
    return replace(
        first,
        name=source.name,
        source=source.path,
        data=_data([part.data for part in parts]),
        groups=_column([part.groups for part in parts]),
        clusters=_column([part.clusters for part in parts]),
        prompts=_column([part.prompts for part in parts]),
        reading_notes=tuple(
            f"{PurePath(part.source).name}: {note}" for part in parts for note in part.reading_notes
        ),
    )


def _data(parts: Sequence[SampleData]) -> SampleData:
    texts = [part.column for part in parts if isinstance(part, TextData)]
    if texts:
        return TextData(StringColumn.joined(texts))
    tokens = [part for part in parts if isinstance(part, TokenData)]
    lengths = np.concatenate([np.diff(part.ends) for part in tokens])
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return TokenData(read_only(np.concatenate([part.ids for part in tokens])), read_only(ends))


def _column(columns: Sequence[StringColumn | None]) -> StringColumn | None:
    known = [column for column in columns if column is not None]
    return StringColumn.joined(known) if len(known) == len(columns) else None
