"""Streams of samples: data sets and loaders of PyTorch, streamed data sets, generators.

None of these libraries is imported: what is theirs is known by its class, where they are loaded.
A batch that a loader gives is taken apart; of a pair, such as a sample with its label, the first is
the sample. Texts and token ids are stored as they come; vectors and images are gathered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from calipers.errors import InputError
from calipers.numeric.arrays import is_array
from calipers.samples.image_files import is_pillow
from calipers.samples.readers.frames import DataFrameTable, read_frame
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source


def is_torch_data(value: object) -> bool:
    """Tell whether a value is a data set or a loader of PyTorch."""
    data: Any = sys.modules.get("torch.utils.data")
    return data is not None and isinstance(value, data.Dataset | data.DataLoader)


def torch_samples(value: Any, where: str) -> Iterator[Any]:
    """Yield the samples of a data set or loader of PyTorch one by one.

    Raises
    ------
    InputError
        If a data set tells neither how long it is nor how to go through it.
    """
    data: Any = sys.modules["torch.utils.data"]
    if isinstance(value, data.DataLoader):
        one_by_one = value.batch_sampler is None
        return (
            _sample(item)
            for batch in value
            for item in ([_unlisted(batch)] if one_by_one else _taken_apart(batch))
        )
    if isinstance(value, data.IterableDataset):
        return map(_sample, value)
    try:
        size = len(value)
    except (TypeError, NotImplementedError):
        raise InputError(
            f"{where}: is a {type(value).__name__} without a length; give it one (__len__), or a "
            "list of its samples"
        ) from None
    return (_sample(value[place]) for place in range(size))


def _sample(item: Any) -> Any:
    return item[0] if isinstance(item, tuple) and item else item


def _unlisted(item: Any) -> Any:
    """Return a sample that a loader passed on unbatched: it makes lists of pairs."""
    pair = isinstance(item, list) and item and (isinstance(item[0], str) or is_array(item[0]))
    return item[0] if pair else item


def _taken_apart(batch: Any) -> Iterable[Any]:
    """Return the samples of a batch: those of its first part where it has several."""
    if isinstance(batch, Mapping):
        columns = [_taken_apart(column) for column in batch.values()]
        return (dict(zip(batch, row, strict=True)) for row in zip(*columns, strict=True))
    if isinstance(batch, tuple | list) and batch:
        first = batch[0]
        if isinstance(first, tuple | list) and all(isinstance(column, str) for column in first):
            return first
        if getattr(first, "ndim", 0) > 1 and not _are_images(batch):
            return list(first)
    return list(batch)


def _are_images(batch: Iterable[Any]) -> bool:
    """Tell whether a list holds images of one size or several, and no columns of a batch."""
    return all(getattr(sample, "ndim", 0) == 3 for sample in batch)


def holds_arrays(row: Mapping[str, Any]) -> bool:
    """Tell whether a row holds arrays, tensors or images besides plain values."""
    return any(is_array(cell) or is_pillow(cell) for cell in row.values())


def read_stream(rows: Iterable[dict[str, Any]], kind: str, source: Source) -> SampleSet:
    """Read a sample, or several, from each row of an iterable that is read once.

    Parameters
    ----------
    rows
        Each a dict by column; its cells may be arrays or images.
    kind
        What a person calls the whole.
    source
        Where the sample and its labels are in the rows.

    Raises
    ------
    InputError
        If there is none, or one has no such column.
    """
    stream = iter(rows)
    first = next(stream, None)
    if first is None:
        raise source.error("holds no samples")
    return read_frame(DataFrameTable.streamed(kind, first, chain([first], stream)), source)
