"""Sample sets from files and objects: formats by suffix, and generated systems.

A generated system on the command line is a file, or a pattern whose files are its seeds.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePath
from typing import BinaryIO

from calipers.errors import InputError, checks_keywords, either, require
from calipers.files import at_home, check_there, fitting_in_memory
from calipers.memory import reading
from calipers.progress import Progress
from calipers.samples import compression
from calipers.samples.in_memory import hold
from calipers.samples.joined_sets import joined_sets
from calipers.samples.readers.addresses import Remote, is_address, read_remote
from calipers.samples.readers.csv_files import read_csv, read_tsv
from calipers.samples.readers.datasets import is_dataset, read_dataset
from calipers.samples.readers.image_folder import (
    is_image_name,
    one_image,
    read_image_files,
    read_image_folder,
)
from calipers.samples.readers.inspect_logs import read_eval
from calipers.samples.readers.json_files import read_json, read_jsonl
from calipers.samples.readers.shards import (
    are_parts,
    are_shards_of_one_set,
    check_alike,
    check_complete,
    find_shards,
    holds_shards_of_lines,
    holds_texts,
    natural,
    read_shards,
    shard_paths,
    shards_of_pattern,
)
from calipers.samples.readers.text_files import read_lines, read_standard_input
from calipers.samples.readers.text_folder import has_texts, read_text_folder
from calipers.samples.readers.vectors import read_numpy, read_safetensors
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import (
    Source,
    check_lines_fit,
    is_compressed,
    lines_size,
    open_seekable,
    open_stream,
    rows_size,
    split_suffix,
)
from calipers.samples.specs import (
    STANDARD_INPUT,
    Spec,
    called_apart,
    check_names,
    default_name,
    one_set,
    system_spec,
)
from calipers.samples.wording import counted, names


def _read_parquet(path: Path, source: Source) -> SampleSet:
    """Read a sample from each row of a parquet file, if pyarrow is there."""
    require("pyarrow", extra="parquet", purpose=f"{source.path}: a parquet file")
    from calipers.samples.readers import tables

    return tables.read_parquet(path, source)


def _read_arrow(path: Path, source: Source) -> SampleSet:
    """Read a sample from each row of an Arrow file, if pyarrow is there."""
    require("pyarrow", extra="parquet", purpose=f"{source.path}: an Arrow file")
    from calipers.samples.readers import tables

    return tables.read_arrow(path, source)


_STREAMED: dict[str, Callable[[BinaryIO, Source], SampleSet]] = {
    ".txt": read_lines,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".csv": read_csv,
    ".tsv": read_tsv,
}
_TABLES: dict[str, Callable[[Path, Source], SampleSet]] = {
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
}
_SEEKING: dict[str, Callable[[BinaryIO, Source], SampleSet]] = {".eval": read_eval}
_MAPPED: dict[str, Callable[[Path, Source], SampleSet]] = {
    ".npy": read_numpy,
    ".npz": read_numpy,
    ".safetensors": read_safetensors,
}

SUFFIXES = (*_STREAMED, *_TABLES, *_SEEKING, *_MAPPED)
"""The kinds of files that can be read, each also compressed, with ``.gz`` or the like behind it."""


def can_be_read(path: PurePath) -> bool:
    """Tell whether a file can be read, by its name."""
    return split_suffix(path)[1] in SUFFIXES


@checks_keywords
def read_samples(
    path: str | Path,
    *,
    name: str | None = None,
    field: str | None = None,
    group: str | None = None,
    group_needed: bool = True,
    cluster: str | None = None,
    cluster_needed: bool = True,
    skip_bad: bool = False,
    quotes: bool = True,
    progress: Progress | None = None,
) -> SampleSet:
    """Read the samples of a file, a folder of images, a saved dataset or standard input.

    Texts are read from ``.txt`` (one sample per line), ``.jsonl``, ``.ndjson``, ``.json``,
    ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` and ``.feather`` files and from folders saved by
    Hugging Face
    ``datasets``, and so are token ids, where a field holds lists of whole numbers. Embeddings are
    read from ``.npy``, ``.npz`` and ``.safetensors``, where arrays with three or four axes are
    images, and from fields of parquet and Arrow that hold lists of floats. All other folders are
    searched for image files, with all folders beneath them; in a folder without images the
    ``.npy``, ``.safetensors``, ``.parquet``, ``.arrow`` or ``.feather`` files that lie in it are
    the shards of one set, as are files that match a pattern; or each ``.txt`` file is one text,
    in the order of their names. A file may be compressed, with ``.gz``, ``.bz2``,
    ``.xz`` or ``.zst`` behind its name.
    Sample logs of lm-evaluation-harness and output files of OpenAI's batch interface are
    recognised by their rows; every repeat and every choice is a sample. Logs of inspect
    (``.eval``, or ``.json``) give the completion of every sample.
    What begins like ``s3://`` is read from there by fsspec: parquet, also in shards, and files of
    lines, JSON, CSV and ``.eval``.
    No more is read than fits into half of the free memory, or into what
    :func:`calipers.memory_limit` allows.

    Parameters
    ----------
    path
        A file, a folder, a pattern of shards such as ``"vectors/*.npy"``, an address such as
        ``"s3://bucket/reference.parquet"``, or ``"-"`` for standard input (JSON lines, JSON or
        text). A string may begin with ``NAME=``, and end with ``@FIELD``.
    name
        The name of the set; by default the file's name without its suffixes.
    field
        Where the text is in a row, such as ``"text"``, ``"a.b[0]"`` or ``"choices[*].text"``; by
        default the only field, or the only one with a usual name, or else ``input_ids``,
        ``token_ids`` or ``tokens``. For ``.npz`` and ``.safetensors`` the name of the
        array. Formats without fields do not look at it.
    group
        Path of a field whose value is the group of the row's samples; for ``.npz`` the name of
        the array that holds a group for each sample; ``"folder"`` for images, whose groups are
        the sub-folders of the folder in which they lie.
    group_needed
        Whether a file that has no such field at all is refused; otherwise its samples have no
        groups. Where some rows have the field, all must have it.
    cluster, cluster_needed
        The same of the field whose value names the cluster that the row's samples were drawn with,
        such as their prompt or document.
    skip_bad
        Whether image files that cannot be read are left out, with a note, instead of refused.
    quotes
        Whether quotation marks enclose values in CSV and TSV, or are part of the texts.
    progress
        Display of the progress of the first check of image files.

    Raises
    ------
    InputError
        If the file is missing, empty, damaged, of an unknown kind or too large for the memory
        that may be taken, or a row holds no text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import calipers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "model.txt"
    ...     _ = file.write_text("one text", "utf-8")
    ...     samples = calipers.read_samples(file)
    >>> samples.name, list(samples.texts)
    ('model', ['one text'])
    """
    spec = _asked_for(path)
    source = Source(
        spec.paths[0],
        name or spec.name,
        spec.field or field,
        group,
        group_needed,
        cluster,
        cluster_needed,
        skip_bad=skip_bad,
        progress=progress,
    )
    return _read_source(source if quotes else replace(source, quotes=False))


def _asked_for(path: str | Path) -> Spec:
    """Read the name and the field that a string gives with its file; a path is one alone."""
    if isinstance(path, Path):
        return Spec("", (str(path),))
    return one_set(path, can_be_read)


def _read_source(source: Source) -> SampleSet:
    """Read what a source names, under its name or, where that is empty, the file's own."""
    if source.path == STANDARD_INPUT:
        source = replace(source, path="standard input", name=source.name or "stdin")
        with reading():
            return _with_labels(read_standard_input(source), source)
    if is_address(source.path):
        return _read_address(source)
    path = Path(source.path)
    if shards := shards_of_pattern(source.path):
        name = source.name or default_name(shards[0].parent)
        return _read_shards(shards, replace(source, name=name))
    source = replace(source, path=str(path), name=source.name or default_name(path))
    _check_there(path, source)
    read = _read_folder if path.is_dir() else _read_file
    with reading(), fitting_in_memory(path):
        return _with_labels(read(path, source), source)


def _read_address(source: Source) -> SampleSet:
    """Read the file, or the parquet shards, that an address with ``://`` leads to."""
    place = Remote.at(source.path)
    source = replace(source, name=source.name or place.name)
    with reading(), fitting_in_memory(source.path):
        return _with_labels(read_remote(place, source, _STREAMED, _SEEKING), source)


def _read_shards(paths: Sequence[Path], source: Source) -> SampleSet:
    with reading():
        if len(paths) == 1:
            return _read_source(replace(source, path=str(paths[0])))
        with fitting_in_memory(paths[0].parent):
            if holds_texts(paths):
                return _read_text_shards(paths, source)
            return _with_labels(read_shards(paths, source), source)


def _read_text_shards(paths: Sequence[Path], source: Source) -> SampleSet:
    """Read files of texts as one set; messages name the file and count its own lines."""
    check_alike(paths, source)
    parts = [_read_source(replace(source, path=str(path))) for path in paths]
    return joined_sets(parts, source)


def as_sample_set(
    value: object,
    *,
    name: str | None = None,
    field: str | None = None,
    group: str | None = None,
    group_needed: bool = True,
    cluster: str | None = None,
    cluster_needed: bool = True,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> SampleSet:
    """Make a sample set from an object in memory, such as a list, an array or a data frame.

    Parameters
    ----------
    value
        A path, or a list of the paths of shards; a list or column of strings, or of lists of token
        ids; a list of dicts, a data frame of pandas or polars (also a lazy one), an Arrow table or
        a dataset of Hugging Face ``datasets``, held or streamed; a data set or a loader of PyTorch,
        of which batches are taken apart, and pairs give their first item; an array or tensor of
        shape (n, d), a data frame of numbers or an Arrow array of lists of floats, which are
        embeddings; an array of shape (n, height, width) or (n, height, width, c), a list of arrays
        or of Pillow images, or a list of paths of image files; or a sample set, which is returned
        as it is.
    name
        The name of the set; by default a file's name, or the kind of the samples.
    field, group, group_needed, cluster, cluster_needed, skip_bad, progress
        For a file, a folder or a table: where the text and its labels are in its rows, and so on;
        as in :func:`read_samples`.

    Raises
    ------
    InputError
        If it is something else, or breaks the rules of its kind.

    Examples
    --------
    >>> samples = as_sample_set(["one text", "another"])
    >>> len(samples), samples.kind
    (2, 'texts')
    """
    samples = getattr(value, "samples", None)
    if isinstance(samples, SampleSet):  # a reference that is embedded once, or samples with vectors
        value = getattr(value, "embeddings", samples)
        name = samples.name if name is None else name
    if isinstance(value, SampleSet):
        return value if name is None else value.renamed(name)
    source = Source(
        "",
        name or "",
        field,
        group,
        group_needed,
        cluster,
        cluster_needed,
        skip_bad=skip_bad,
        progress=progress,
    )
    if isinstance(value, str | Path):
        spec = _asked_for(value)
        field = spec.field or field
        named = source.name or spec.name
        return _read_source(replace(source, path=spec.paths[0], name=named, field=field))
    if paths := shard_paths(value):
        where = f"{paths[0]} and {len(paths) - 1} more" if len(paths) > 1 else str(paths[0])
        return _read_shards(paths, replace(source, path=where, name=source.name or "shards"))
    return hold(value, source)


def _with_labels(samples: SampleSet, source: Source) -> SampleSet:
    """Return the set, unless labels were needed and its format has no fields to hold them."""
    columns = {"group": samples.groups, "cluster": samples.clusters}
    for wanted in source.labels:
        if wanted.needed and columns[wanted.kind] is None:
            raise source.error(
                f"has no fields, so none is the {wanted}; give JSON lines, CSV or "
                "parquet with such a field, embeddings as .npz with such an array, or labels in "
                f"Python: SampleSet.with_{wanted.kind}s"
            )
    return samples


def _check_there(path: Path, source: Source) -> None:
    check_there(path)
    if path.is_file() and path.stat().st_size == 0:
        raise source.error("is empty")


def _read_folder(path: Path, source: Source) -> SampleSet:
    if is_dataset(path):
        return read_dataset(path, source)
    images = read_image_folder(path, source)
    if images is not None:
        return images
    # A single text, such as readme.txt, is about the shards
    texts = has_texts(path, source, least=2) and not holds_shards_of_lines(path)
    if texts or (shards := find_shards(path, source)) is None:
        samples = read_text_folder(path, source)
        return read_dataset(path, source) if samples is None else samples
    files, notes = shards
    if len(files) == 1:
        file_source = replace(source, path=str(files[0]))
        _check_there(files[0], file_source)
        return _read_file(files[0], file_source).noting(*notes)
    if holds_texts(files):
        return _read_text_shards(files, source).noting(*notes)
    return read_shards(files, source).noting(*notes)


def _read_file(path: Path, source: Source) -> SampleSet:
    suffix = split_suffix(path)[1]
    if is_image_name(path.name):
        raise one_image(source)
    if suffix in _MAPPED or suffix in _TABLES:
        return {**_MAPPED, **_TABLES}[suffix](path, source)
    if suffix in _SEEKING:
        with open_seekable(path) as stream:
            return _SEEKING[suffix](stream, source)
    if suffix not in _STREAMED:
        ending = f"suffix {suffix!r}" if suffix else "no suffix"
        packed = f" before {path.suffix}" if is_compressed(path) else ""
        also = either(compression.SUFFIXES)
        raise source.error(
            f"a file with {ending}{packed} cannot be read; possible are {', '.join(SUFFIXES)}, "
            f"each also with {also}; images are read from a folder"
        )
    if suffix == ".txt":
        check_lines_fit(path, lines_size)
    if suffix in (".jsonl", ".ndjson") and "*" not in (source.field or ""):
        check_lines_fit(path, rows_size)
    with open_stream(path) as stream:
        return _STREAMED[suffix](stream, source)


@dataclass(frozen=True)
class System:
    """A generated system: its samples, or those of each of its seeds.

    Attributes
    ----------
    name
        Its name in tables.
    sets
        One sample set, or one for each seed, in the order of their paths.
    """

    name: str
    sets: tuple[SampleSet, ...]


def read_systems(
    specs: Sequence[str],
    *,
    field: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
    beside: Sequence[str] = (),
) -> tuple[System, ...]:
    """Read the generated systems named on a command line.

    Parameters
    ----------
    specs
        Each is ``FILE``, named after the file, or ``NAME=PATTERN``, where several files that
        match the pattern are the system's seeds, in sorted order; but image files that match it
        are one set together, as are shards (``x-00000-of-00008``, ``part-00000``). What exists as
        a path is a file even if it has an equals sign in it. Files of one name are named after the
        folders that tell them apart. Behind either may be ``@FIELD``, which says where the text is
        in the rows of these files.
    field
        Where the text is in the rows of the files that have none of their own.
    group
        Where the group is, in those files that have it.
    cluster
        Where the cluster is, in those files that have it.
    skip_bad
        Whether image files that cannot be read are left out, with a note, instead of refused.
    progress
        Display of the progress of the first check of image files.
    beside
        Files that are shown beside the systems, such as a reference: one of the same name makes
        the folders tell them apart.

    Raises
    ------
    InputError
        If a pattern matches nothing, two systems have the same name, or a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for seed in (1, 2):
    ...         _ = (Path(folder) / f"model-{seed}.txt").write_text("one text", "utf-8")
    ...     (system,) = read_systems([f"model={folder}/model-*.txt"])
    >>> system.name, len(system.sets)
    ('model', 2)
    """
    parsed = [system_spec(spec, can_be_read) for spec in specs]
    others = [one_set(other, can_be_read) for other in beside]
    others = [replace(one, name=default_name(Path(one.paths[0]))) for one in others if not one.name]
    parsed = called_apart([*parsed, *others])[: len(specs)]
    if are_shards_of_one_set(specs):
        raise InputError(
            f"{specs[0]} and {len(specs) - 1} more are shards of one set by their names, not "
            "systems of their own; give the folder that holds them, or a pattern in quotes: "
            f"NAME='{os.path.join(os.path.dirname(specs[0]), '*')}'"
        )
    check_names(specs, parsed)
    asked = Source(
        "", "", field, group, False, cluster, False, skip_bad=skip_bad, progress=progress
    )
    return tuple(
        System(system.name, _read(system, replace(asked, field=system.field or field)))
        for system in parsed
    )


def _read(spec: Spec, asked: Source) -> tuple[SampleSet, ...]:
    if any(map(_is_image, spec.paths)) and spec.pattern:
        return (_read_images(spec, asked),)
    if spec.pattern and are_parts(spec.paths):
        whole = replace(asked, path=spec.pattern, name=spec.name)
        note = f"{counted(len(spec.paths), 'file')} read as one set, by their names"
        if is_address(spec.pattern):
            return (_read_address(whole).noting(note),)
        paths = natural(map(Path, spec.paths))
        check_complete(paths, whole)
        return (_read_shards(paths, whole).noting(note),)
    name = spec.name if len(spec.paths) == 1 else ""
    return tuple(_read_source(replace(asked, path=path, name=name)) for path in spec.paths)


def _read_images(spec: Spec, asked: Source) -> SampleSet:
    """Read the image files that match a pattern as one set, since none of them is one alone."""
    # Two stars match the folders on the way too.
    paths = [path for path in spec.paths if not ("**" in spec.pattern and os.path.isdir(path))]
    if len(paths) == 1:
        raise InputError(
            f"{spec.name}={spec.pattern}: matches only one image, but a set needs many"
        )
    others = [path for path in paths if not _is_image(path)]
    if others:
        raise InputError(
            f"{spec.name}={spec.pattern}: matches "
            f"{counted(len(paths) - len(others), 'image file')} and "
            f"{counted(len(others), 'other path')} ({names(others, limit=3)}); give a pattern that "
            "matches images alone, or the folder that holds them"
        )
    return read_image_files(
        paths, _base(spec.pattern), replace(asked, path=spec.pattern, name=spec.name)
    )


def _is_image(path: str) -> bool:
    return is_image_name(path) and not os.path.isdir(path)


def _base(pattern: str) -> Path:
    """Return the folder from which a pattern goes on: the parts in front of its first star."""
    parts = at_home(pattern).parts
    plain = list(takewhile(lambda part: not glob.has_magic(part), parts))
    return Path(*plain)
